"""`acidtest evaluate txcheck`: orders that show a bug, and cycles between transactions."""

import json

from click.testing import CliRunner

from acidtest.cli import cli
from acidtest.cli.evaluate import FORMAT
from acidtest.evaluation import PAPER, evaluate_planted
from acidtest.oracles.statement_order import all_orders, count_orders


def test_the_first_random_case_that_shows_a_fault_is_evaluated() -> None:
    found = list(evaluate_planted(["one-writer"], seed=1, cases_max=4, orders_max=20))
    assert found
    assert len({one.target for one in found}) == len(found)
    for one in found:
        assert one.planted
        assert one.by_cycle or 0 < one.tried <= min(one.orders, 20)
        assert 0 <= one.triggered <= one.tried
    assert any(one.triggered for one in found)


def test_every_order_is_listed_once() -> None:
    edges = [(1, 2), (0, 3)]
    orders = list(all_orders(range(4), edges))
    assert len(orders) == len(set(orders)) == count_orders(range(4), edges, 100) == 6
    assert all(order.index(1) < order.index(2) and order.index(0) < order.index(3) for order in orders)


def test_the_paper_stands_beside() -> None:
    assert [sum(column) for column in zip(*((row.cases, row.cyclic) for row in PAPER), strict=True)] == [
        19,
        6,
    ]
    assert sum(row.with_orders for row in PAPER) == 18
    assert sum(row.always for row in PAPER) == 17


def test_it_is_told_as_tables_and_as_json() -> None:
    arguments = ["evaluate", "txcheck", "-t", "sqlite", "--engine", "one-writer", "--cases", "2"]
    text = CliRunner().invoke(cli, [*arguments, "--orders", "5"], standalone_mode=False)
    assert text.exception is None
    assert "planted faults" in text.output
    assert "paper, mariadb      4             2   50 %" in text.output
    told = CliRunner().invoke(cli, [*arguments, "--orders", "5", "--json"], standalone_mode=False)
    document = json.loads(told.stdout)
    assert document["format"] == FORMAT
    assert document["cases"]
