"""Each field of a claim decides something: with another value some golden history is judged otherwise."""

from dataclasses import fields

import pytest

from acidtest.claims import Claim
from acidtest.model import History
from tests.golden.fields import LABELS, Changed, read_table, said_now, said_under
from tests.golden.store import histories_of
from tests.golden.told import TOLD

FIELDS = [field.name for field in fields(Claim) if field.name not in LABELS]

TABLE = read_table()


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_with_another_value_changes_a_verdict(field: str) -> None:
    kept = {one: name for one, name in TABLE.items() if one.field == field}
    told = [one for one in TOLD if one.field == field]
    assert kept or told, "python -m tests.golden.fields, or a history in told.py"
    assert [one for one, name in kept.items() if not _tells(one, name)] == []
    assert [one for one in told if not _differs(one.history, field, one.value)] == []


def _tells(changed: Changed, name: str) -> bool:
    history = next(one.history for one in histories_of(changed.server) if one.id == name)
    return _differs(history, changed.field, changed.value)


def _differs(history: History, field: str, value: str) -> bool:
    return said_under(history, field, value) != said_now(history)


def test_the_table_is_about_fields_that_there_are() -> None:
    assert {one.field for one in TABLE} | {one.field for one in TOLD} == set(FIELDS)
