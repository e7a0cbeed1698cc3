"""The serial oracle on real DBMSs. Violations are real: a weaker level runs, and SERIALIZABLE is claimed."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from acidtest import corpus
from acidtest.casefile import parse_case
from acidtest.errors import UsageError
from acidtest.execute import Executor
from acidtest.model import FailedOrder, History, Judgement, Level, OrdersWitness, ViolationKind
from acidtest.oracles import serial
from acidtest.oracles.registry import ORACLES, check_names
from acidtest.oracles.serial import SerialOracle
from acidtest.oracles.walks import Walks
from acidtest.targets.resolve import open_target

SER, RC, RR = Level.SERIALIZABLE, Level.READ_COMMITTED, Level.REPEATABLE_READ

SPECS = [
    "sqlite",
    pytest.param("postgres", marks=pytest.mark.live("postgres")),
    pytest.param("mariadb@10.11", marks=pytest.mark.live("mariadb@10.11")),
]
WITH_LEVELS = SPECS[1:]


@pytest.fixture(scope="module")
def opened() -> Iterator[dict[str, tuple[Executor, SerialOracle]]]:
    found: dict[str, tuple[Executor, SerialOracle]] = {}
    yield found
    for executor, oracle in found.values():
        oracle.close()
        executor.close()
        executor.target.close()


Opened = dict[str, tuple[Executor, SerialOracle]]


def open_(opened: Opened, spec: str) -> tuple[Executor, SerialOracle]:
    if spec not in opened:
        target = open_target(spec)
        opened[spec] = Executor(target), SerialOracle(target)
    return opened[spec]


def claimed_serializable(history: History) -> History:
    return replace(history, levels=dict.fromkeys(history.levels, SER))


def anomaly(name: str, level: Level, executor: Executor) -> History:
    case = next(case for case in corpus.anomalies() if case.id == name)
    return executor.run(case.at_level(level))


@pytest.mark.parametrize("spec", SPECS)
def test_serializable_histories_pass(spec: str, opened: Opened) -> None:
    executor, oracle = open_(opened, spec)
    for case in corpus.anomalies():
        verdict = oracle.judge(executor.run(case.at_level(SER)))
        assert verdict is not None
        assert verdict.judgement is Judgement.PASS, (case.id, verdict.reason)


@pytest.mark.parametrize("spec", WITH_LEVELS)
def test_other_levels_are_none_of_its_business(spec: str, opened: Opened) -> None:
    executor, oracle = open_(opened, spec)
    assert oracle.judge(anomaly("g2-item-write-skew", RR, executor)) is None


@pytest.mark.parametrize("spec", WITH_LEVELS)
@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("g2-item-write-skew", RR),
        ("g2-anti-dependency-cycle", RR),
        ("g2-read-only-anomaly", RR),
        ("p2-fuzzy-read", RC),
        ("p3-phantom", RC),
        ("p4-lost-update", RC),
        ("g-single-read-skew", RC),
        ("otv-observed-transaction-vanishes", RC),
    ],
)
def test_a_weaker_level_is_not_serializable(spec: str, name: str, level: Level, opened: Opened) -> None:
    executor, oracle = open_(opened, spec)
    verdict = oracle.judge(claimed_serializable(anomaly(name, level, executor)))
    assert verdict is not None
    assert (verdict.judgement, verdict.kind) == (Judgement.VIOLATION, ViolationKind.NOT_SERIALIZABLE)


def test_each_order_that_was_tried_is_explained(opened: Opened) -> None:
    executor, oracle = open_(opened, "sqlite")
    case = parse_case(
        "-- setup\nCREATE TABLE t (id INT, v INT);\nINSERT INTO t VALUES (1, 10);\n-- schedule\n"
        "/* tx1 */ UPDATE t SET v = v + 1;\n/* tx2 */ UPDATE t SET v = v * 2;\n",
        "order",
    )
    history = executor.run(case)
    verdict = oracle.judge(history)
    assert verdict is not None
    assert verdict.judgement is Judgement.PASS
    lost = oracle.judge(replace(history, final={"t": ((1, 20),)}))
    assert lost is not None
    assert lost.violation is not None
    assert lost.violation.witness == OrdersWitness(
        (
            FailedOrder(("tx1", "tx2"), None, "it leaves t: (1,22)"),
            FailedOrder(("tx2", "tx1"), None, "it leaves t: (1,21)"),
        )
    )


def many(count: int) -> str:
    lines = [f"/* tx{i} */ INSERT INTO t VALUES ({i}, {i});" for i in range(count)]
    return "-- setup\nCREATE TABLE t (id INT, v INT);\n-- schedule\n" + "\n".join(lines) + "\n"


def test_more_transactions_than_can_be_tried_are_unknown_if_the_likely_orders_fail(opened: Opened) -> None:
    executor, oracle = open_(opened, "sqlite")
    history = executor.run(parse_case(many(serial.TRANSACTIONS_MAX + 1), "many"))
    passed = oracle.judge(history)
    assert passed is not None
    assert passed.judgement is Judgement.PASS
    wrong = oracle.judge(replace(history, final={"t": ()}))
    assert wrong is not None
    assert wrong.judgement is Judgement.UNKNOWN


def test_the_registry_makes_every_oracle_and_refuses_others(opened: Opened) -> None:
    executor, _ = open_(opened, "sqlite")
    for name, entry in ORACLES.items():
        oracle = entry.make(executor.target, Walks(), None)
        assert oracle.name == name
        oracle.close()
    with pytest.raises(UsageError, match="unknown oracle 'nope'; known are solver, graph, views, serial"):
        check_names(["nope"])
