"""Reading histories: the oddities that files in the wild have, and what cannot be read."""

import struct
from pathlib import Path

import pytest
from click.testing import CliRunner

from acidtest.cli import cli
from acidtest.errors import UsageError
from acidtest.histories import Standing, open_history
from acidtest.histories.columns import ABORTED, COMMITTED, INDETERMINATE, Batch
from acidtest.histories.formats import recognise
from tests.unit.foreign_histories import check, cobra, dbcop, labels, told


def _batch(path: Path) -> Batch:
    """All transactions of a history."""
    found = Batch()
    for batch in open_history(path).batches():
        rows = zip(
            batch.fates, batch.sessions, batch.began, batch.ended, batch.lines, batch.operations, strict=True
        )
        for row in rows:
            found.add(*row)
    return found


def _written(tmp_path: Path, text: str | bytes, name: str = "history.edn") -> Path:
    path = tmp_path / name
    if isinstance(text, str):
        path.write_text(text, encoding="utf-8")
    else:
        path.write_bytes(text)
    return path


WAYS = {
    "a map a line": (
        "{:index 0, :time 1, :type :invoke, :process 3, :f :txn, :value [[:append 18 1] [:r 2 nil]]}\n"
        "{:index 1, :time 2, :type :ok, :process 3, :f :txn, :value [[:append 18 1] [:r 2 [1 4]]]}\n"
    ),
    "another order of keys": (
        "{:process 3, :type :invoke, :f :txn, :value [[:append 18 1] [:r 2 nil]], :index 0}\n"
        "{:process 3, :type :ok, :f :txn, :value [[:append 18 1] [:r 2 [1 4]]], :index 1, :time 5}\n"
    ),
    "no :f, no index, spaces": (
        "{:type :invoke :process 3 :value [[ :append 18 1 ] [:r 2 nil]]}\n"
        "{:type   :ok    :process 3 :value [[:append  18 1] [ :r 2 [ 1 4 ] ] ] }\n"
    ),
    "commas": (
        "{:type :invoke, :process 3, :value [[:append, 18, 1], [:r, 2, nil]]}\n"
        "{:type :ok, :process 3, :value [[:append, 18, 1], [:r, 2, [1, 4]]]}\n"
    ),
    "one vector": (
        "[{:type :invoke, :process 3, :value [[:append 18 1] [:r 2 nil]]}\n"
        " {:type :ok, :process 3, :value [[:append 18 1] [:r 2 [1 4]]]}]"
    ),
    "a list of records with tags, on one line": (
        "(#jepsen.history.Op{:type :invoke, :process 3, :value [[:append 18 1] [:r 2 nil]]} "
        "#jepsen.history.Op{:type :ok, :process 3, :value [[:append 18 1] [:r 2 [1 4]]]})"
    ),
    "a comment, an empty line, the nemesis": (
        "; recorded in Bremen\n\n"
        "{:type :info, :process :nemesis, :f :start, :value [:isolated {3 #{1}}]}\n"
        "{:type :invoke, :process 3, :f :txn, :value [[:append 18 1] [:r 2 nil]]}\n"
        "{:type :ok, :process 3, :f :txn, :value [[:append 18 1] [:r 2 [1 4]]]}\n"
    ),
    "the nemesis among lines of the usual form": (
        "{:type :invoke, :process 3, :f :txn, :value [[:append 18 1] [:r 2 nil]]}\n"
        '{:type :info, :process :nemesis, :f :kill, :value "n1 :type :ok"}\n'
        '{:type :ok, :process 3, :f :txn, :value [[:append 18 1] [:r 2 [1 4]]], :error #object[x "]]"]}\n'
    ),
    "carriage returns": (
        "{:type :invoke, :process 3, :f :txn, :value [[:append 18 1] [:r 2 nil]]}\r\n"
        "{:type :ok, :process 3, :f :txn, :value [[:append 18 1] [:r 2 [1 4]]]}\r\n"
    ),
    "no line end at the end, a byte order mark at the begin": (
        "\ufeff{:type :invoke, :process 3, :f :txn, :value [[:append 18 1] [:r 2 nil]]}\n"
        "{:type :ok, :process 3, :f :txn, :value [[:append 18 1] [:r 2 [1 4]]]}"
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_edn_is_read_in_whatever_way_it_is_written(name: str, tmp_path: Path) -> None:
    batch = _batch(_written(tmp_path, WAYS[name]))
    assert batch.operations == [[[1, 18, 1], [0, 2, [1, 4]]]]
    assert batch.fates == [COMMITTED]
    assert batch.began[0] < batch.ended[0] or "on one line" in name


def test_keys_are_numbers_keywords_and_strings(tmp_path: Path) -> None:
    text = (
        '{:type :ok, :process 0, :value [[:append :x 1] [:append "y \\"z\\"" 2] [:r 3 nil] [:append -4 5]]}\n'
        "{:type :ok, :process 0, :value [[:append :r2 1] [:r :append/x [1]]]}\n"
    )
    batch = _batch(_written(tmp_path, text))
    assert batch.operations[0] == [[1, ":x", 1], [1, 'y "z"', 2], [0, 3, None], [1, -4, 5]]
    assert batch.operations[1] == [[1, ":r2", 1], [0, ":append/x", [1]]]


def test_what_failed_or_never_ended_keeps_its_writes_alone(tmp_path: Path) -> None:
    text = (
        "{:type :invoke, :process 0, :f :txn, :value [[:append 1 1] [:r 2 nil]]}\n"
        "{:type :invoke, :process 1, :f :txn, :value [[:append 1 2] [:r 2 nil]]}\n"
        "{:type :invoke, :process 2, :f :txn, :value [[:append 1 3] [:r 2 nil]]}\n"
        '{:type :fail, :process 0, :f :txn, :value [[:append 1 1] [:r 2 nil]], :error [:conflict "lock"]}\n'
        "{:type :info, :process 1, :f :txn, :value [[:append 1 2] [:r 2 nil]], :error :timeout}\n"
    )
    batch = _batch(_written(tmp_path, text))
    assert batch.fates == [ABORTED, INDETERMINATE, INDETERMINATE]
    assert batch.operations == [[[1, 1, 1]], [[1, 1, 2]], [[1, 1, 3]]]
    # The one that never ended counts if it was seen, and does not if it was not.
    seen = text + "{:type :ok, :process 7, :f :txn, :value [[:r 1 [3]]]}\n"
    assert labels(check(_written(tmp_path, seen))) == set()
    seen = text + "{:type :ok, :process 7, :f :txn, :value [[:r 1 [1]]]}\n"
    assert labels(check(_written(tmp_path, seen))) == {"G1a"}


_INVOKE = '{"type":"invoke","process":1,"value":[["r",253,null]]}'
_OK = '{"type":"ok","process":1,"f":"txn","value":[["r",253,[1]]]}'
JSON_WAYS = {
    "an object a line": f"{_INVOKE}\n{_OK}\n",
    "an array, an object a line": f"[{_INVOKE},\n{_OK}]\n",
    "an array on one line": f"[{_INVOKE},{_OK}]",
    "pretty": '[\n {\n  "type": "ok",\n  "process": 1,\n  "value": [["r", 253, [1]]]\n }\n]\n',
}


@pytest.mark.parametrize("name", JSON_WAYS)
def test_json_is_read_in_whatever_way_it_is_written(name: str, tmp_path: Path) -> None:
    path = _written(tmp_path, JSON_WAYS[name], "history.json")
    assert recognise(path) == "json"
    assert _batch(path).operations == [[[0, 253, [1]]]]


def test_plume_oddities(tmp_path: Path) -> None:
    path = _written(tmp_path, "w(1,5,0,0)\n\n r(1, 5, 1, 7) \nw(1,6,1,-1)\nw(2,7,1,-1)\nr(2,0,1,8)", "h.txt")
    batch = _batch(path)
    assert batch.fates == [COMMITTED, COMMITTED, ABORTED, ABORTED, COMMITTED]
    assert labels(check(path)) == set()


def test_cobra_with_timestamps_and_collector_reads(tmp_path: Path) -> None:
    record = (
        b"S" + struct.pack(">qq", 1, 10**9) + b"W" + struct.pack(">3q", 5, 77, 1)
        + b"R" + struct.pack(">4q", 0, 0xBEBEEBEE, 78, 1) + b"R" + struct.pack(">4q", 0, 0x23332333, 79, 1)
        + b"C" + struct.pack(">qq", 1, 10**9 + 1)
    )  # fmt: skip
    (tmp_path / "0.log").write_bytes(record)
    batch = _batch(tmp_path)
    assert batch.operations == [[[1, 77, 5], [0, 78, None]]]


BAD = {
    "empty": (b"", "is empty"),
    "nothing that is known": (b"once upon a time", "begins no known history"),
    "gzip": (b"\x1f\x8b\x08\x00", "gunzip"),
    "UTF-16": ("{:type :ok}".encode("utf-16"), "iconv"),
    "EDN cut off": (b"{:type :ok, :process 0, :value [[:append 1 1]", "line 1"),
    "a vector cut off": (b"[{:type :ok, :process 0, :value [[:append 1 1]]}\n", "] at the end is missing"),
    "a later line cut off": (
        b"{:type :ok, :process 0, :value [[:append 1 1]]}\n{:type :ok, :process 0, :value [[:app",
        "line 2",
    ),
    "another type": (b"{:type :done, :process 0, :value [[:append 1 1]]}", "invoke, ok, fail or info"),
    "another operation": (b"{:type :ok, :process 0, :value [[:cas 1 [1 2]]]}", "is no read, write or append"),
    "no clients": (b"{:type :info, :process :nemesis, :value nil}", "no transactions of clients"),
    "twice": (
        b"{:type :ok, :process 0, :value [[:append 1 1]]}\n{:type :ok, :process 0, :value [[:append 1 1]]}",
        "a second time (first on line 1)",
    ),
    "a number where a list should be": (
        b"{:type :ok, :process 0, :value [[:append 1 1]]}\n{:type :ok, :process 0, :value [[:r 1 1]]}",
        "reads give lists",
    ),
    "a list where a value should be": (
        b"{:type :ok, :process 0, :value [[:w 1 1]]}\n{:type :ok, :process 0, :value [[:r 1 [1]]]}",
        "no such values",
    ),
    "JSON cut off": (b'{"type":"ok","process":1,"value":[]}\n{"type":"o', "line 2"),
    "JSON of something else": (b'{"name": "x"}\n', "the type of an operation is missing"),
    "Plume": (b"w(1,2,3,4)\nw(1,3,x,5)\n", "line 2"),
    "Plume torn": (b"w(1,2,3,4)\nw(1,3,3,5)\nw(1,4,3,4)\n", "have to stand together"),
    "AWDIT": (b"w 1 2\nx 1 2\n", "line 2"),
    "AWDIT foreign": (b"w 1 2\nw \xff 3\n", "line 2: not UTF-8"),
    "hist": (b"[x:=1]\n[x=1]\n", "line 2"),
    "binary": (b"\x01\0\0\0\0\0\0\0\x02", "ends too soon"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_told_in_one_sentence(name: str, tmp_path: Path) -> None:
    data, expected = BAD[name]
    path = _written(tmp_path, data, "history")
    with pytest.raises(UsageError) as caught:
        check(path)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("size", [1, 5, 40])
def test_binary_histories_that_are_cut_off(size: int, tmp_path: Path) -> None:
    facts = told("0 ok: w x 5\n1 ok: r x 5, w x 1")
    path = dbcop(facts, tmp_path)
    path.write_bytes(path.read_bytes()[:-size])
    with pytest.raises(UsageError, match="byte"):
        check(path)
    logs = cobra(facts, tmp_path)
    log = logs / "1.log"
    log.write_bytes(log.read_bytes()[: -min(size, 8)])
    with pytest.raises(UsageError, match="cut off"):
        check(logs)


def test_folders_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no"):
        check(tmp_path / "nothing")
    with pytest.raises(UsageError, match=r"neither \*.log"):
        check(tmp_path)


def test_the_command(tmp_path: Path) -> None:
    skew = _written(tmp_path, "[x==? y:=1]\n---\n[y==? x:=1]\n", "skew.hist")
    run = CliRunner()
    found = run.invoke(cli, ["check", str(skew)], standalone_mode=False)
    assert found.return_value == 1
    assert "G2-item, write skew" in found.output
    assert run.invoke(cli, ["check", str(skew), "--model", "causal"], standalone_mode=False).return_value == 0
    serial = run.invoke(cli, ["check", str(skew), "--model", "SER", "--json"], standalone_mode=False)
    assert serial.return_value == 1
    assert '"verdict": "violated"' in serial.output
    wrong = run.invoke(cli, ["check", str(skew), "--model", "nonsense"], standalone_mode=False)
    assert isinstance(wrong.exception, UsageError)
    forced = run.invoke(cli, ["check", str(skew), "--format", "plume"], standalone_mode=False)
    assert isinstance(forced.exception, UsageError)


def test_a_model_that_is_unknown_is_no_violation(tmp_path: Path) -> None:
    path = _written(tmp_path, "w 1 1\n", "h.txt")
    found = CliRunner().invoke(cli, ["check", str(path), "--model", "strict"], standalone_mode=False)
    assert found.return_value == 0
    assert "unknown" in found.output
    assert check(path).models["strict-serializable"] is Standing.UNKNOWN
