"""What is stored can be read back: runs with everything in them, and values of every type."""

import json
import pickle
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidtest import corpus
from acidtest.casefile import load_case
from acidtest.codec import DecodingError, decode, decode_value, encode, encode_value
from acidtest.examine import Examined, Examiner
from acidtest.model import Case, Level, Value
from acidtest.model.verdict import RowDifference
from acidtest.oracles.registry import ORACLES
from acidtest.simulated import FAULTS, Fault, case_file
from acidtest.targets.resolve import open_target


def through_json(data: object) -> object:
    return json.loads(json.dumps(data))


@pytest.mark.parametrize("fault", FAULTS[::3], ids=lambda fault: fault.name)
def test_a_run_with_its_verdicts_is_read_back(fault: Fault) -> None:
    case = load_case(case_file(fault))
    with open_target(f"simulated@{fault.name}") as target, Examiner(target, ORACLES) as examiner:
        examined = examiner.examine(case.at_level(fault.levels[-1]), fresh=True)
    assert decode(through_json(encode(examined)), Examined) == examined
    assert pickle.loads(pickle.dumps(examined)) == examined, "workers send it to the coordinator"


def test_a_forbidden_cycle_is_read_back() -> None:
    (case,) = (one for one in corpus.anomalies() if one.id == "g2-item-write-skew")
    with open_target("simulated") as target, Examiner(target, ("graph",)) as examiner:
        ran = examiner.examine(case.at_level(Level.REPEATABLE_READ))
    assert ran.verdicts[0].occurred
    assert decode(through_json(encode(ran)), Examined) == ran


@pytest.mark.parametrize("case", [*corpus.bugs(), *corpus.anomalies()], ids=lambda case: case.id)
def test_a_case_with_its_expectations_is_read_back(case: Case) -> None:
    assert decode(through_json(encode(case)), Case) == case


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.decimals(allow_nan=False),
    st.text(),
    st.binary(),
    st.dates(),
    st.datetimes(),
    st.times(),
    st.timedeltas(),
)


@given(VALUES)
def test_every_value_of_a_dbms_is_read_back(value: Value) -> None:
    again = decode_value(through_json(encode_value(value)))
    assert again == value
    assert type(again) is type(value)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        (float("inf"), {"type": "double", "value": "inf"}),
        (Decimal("1.10"), {"type": "decimal", "value": "1.10"}),
        (b"\x00\xff", {"type": "bytes", "value": "00ff"}),
        (date(2026, 11, 16), {"type": "date", "value": "2026-11-16"}),
        (datetime(2026, 11, 16, 1, 2), {"type": "timestamp", "value": "2026-11-16 01:02:00"}),
        (
            datetime(2026, 11, 16, 1, 2, tzinfo=timezone.utc),  # noqa: UP017
            {"type": "timestamp", "value": "2026-11-16 01:02:00+00:00"},
        ),
        (time(1, 2, 3), {"type": "time", "value": "01:02:03"}),
        (timedelta(days=-1, seconds=5), {"type": "interval", "value": "-1 day, 0:00:05"}),
    ],
)
def test_values_are_written_as_documented(value: Value, written: object) -> None:
    assert encode_value(value) == written


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ({"row": "x"}, "it.row"),
        ({"extra": 1}, "it.extra"),
        ({"reason": "because"}, "it.reason"),
        ({"step": "3"}, "it.step"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(damage: dict[str, object], complaint: str) -> None:
    good = {"row": [1, None], "extra": True, "reason": "rolled back", "colour": "a later version's"}
    assert decode(good, RowDifference).row == (1, None)
    with pytest.raises(DecodingError, match=complaint):
        decode(good | damage, RowDifference)


@pytest.mark.parametrize("data", [None, 3, [], "x", {}])
def test_what_is_no_object_is_refused(data: object) -> None:
    with pytest.raises(DecodingError):
        decode(data, RowDifference)
