"""The check of a history: read it, trace its reads, look for cycles, and say which models it keeps."""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from acidtest.errors import UsageError
from acidtest.histories.anomalies import Anomaly, Basis, Link, Relation, severity
from acidtest.histories.columns import Source, Workload
from acidtest.histories.cycles import Cycle, search, shortest_commit_cycle
from acidtest.histories.fast import clean
from acidtest.histories.formats import open_history
from acidtest.histories.graphs import Graph, previous_in_session, strong_parts
from acidtest.histories.lists import Lists
from acidtest.histories.models import IMPLIED, MODELS, Model, Standing, standings, violated
from acidtest.histories.registers import Assumption, Registers
from acidtest.histories.resolved import INITIAL, Pair, Resolved
from acidtest.histories.rules import Must, Rule, commit_order
from acidtest.histories.serial import is_serial
from acidtest.model import Phenomenon

Say = Callable[[str], object]
_EVERY = 100_000
_NO_TIMES = "the format has no times, so nothing is known of real-time order"
_CLOCKS_MAX = 1000
"""Transactions up to which each may have a clock of its own."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a history shows. `lines` says where each transaction stands, `gaps` what could not be decided."""

    path: Path
    format: str
    workload: Workload
    transactions: int
    committed: int
    anomalies: tuple[Anomaly, ...]
    models: Mapping[str, Standing]
    gaps: tuple[str, ...]
    lines: Mapping[int, int]
    by_line: bool
    sessions: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Options:
    """What to look for. With a model only that is looked for which the model excludes."""

    model: Model | None = None
    format: str | None = None
    assume: Assumption = Assumption.NOTHING
    fast: bool = True
    """Whether to try arrays first, where the extra for them is installed."""


def check_file(path: Path, options: Options, say: Say) -> Checked:
    """Check the history in a file or folder."""
    source = open_history(path, options.format)
    with _without_collector():
        say(f"reading {source.format}, {source.workload.value}")
        quick = clean(source, options.model, say) if options.fast else None
        if quick is not None:
            return _clean(source, options.model, *quick)
        resolved = _read(source, options, say)
        if not len(resolved.transactions):
            raise UsageError(f"{path} holds no transactions of clients: there is nothing to check")
        return _judge(source, resolved, options, say)


def _clean(source: Source, model: Model | None, transactions: int, committed: int) -> Checked:
    """Nothing is wrong, as arrays have shown."""
    asked = {one.name for one in MODELS} if model is None else IMPLIED[model.name]
    models = {one.name: Standing.HOLDS if one.name in asked else Standing.UNKNOWN for one in MODELS}
    return Checked(
        source.path,
        source.format,
        source.workload,
        transactions,
        committed,
        (),
        models,
        () if source.timed else (_NO_TIMES,),
        {},
        source.by_line,
        {},
    )


@contextmanager
def _without_collector() -> Iterator[None]:
    """Nothing here refers to itself, and the collector would walk over millions of lists again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _read(source: Source, options: Options, say: Say) -> Resolved:
    where = str(source.path)
    taking_in: Lists | Registers
    if source.workload is Workload.LISTS:
        taking_in = Lists(where, source.timed)
    else:
        taking_in = Registers(where, source.timed, source.initial, options.assume)
    told = 0
    try:
        for batch in source.batches():
            taking_in.add(batch)
            count = len(taking_in.transactions)
            if count - told >= _EVERY:
                told = count
                say(f"{count:,} transactions read")
        say(f"tracing the reads of {len(taking_in.transactions):,} transactions")
        return taking_in.finish()
    except TypeError as error:  # a list where a value should be cannot be looked up
        raise UsageError(
            f"{where}: a {source.workload.value} history has no such values ({error}); --format may help"
        ) from error


def _judge(source: Source, resolved: Resolved, options: Options, say: Say) -> Checked:
    transactions = resolved.transactions
    previous = previous_in_session(transactions, resolved.taking_part)
    wanted = _wanted(options.model)
    anomalies = list(resolved.anomalies)
    gaps: list[str] = []
    undecided: set[str] = set()
    say("looking for cycles")
    graph = Graph(
        transactions,
        {Relation.WW: resolved.ww, Relation.WR: resolved.wr}
        | ({Relation.RW: resolved.rw} if wanted.cycles else {}),
        resolved.hubs if wanted.cycles else (),
        previous,
        timed=transactions.timed and wanted.time,
    )
    cycles, complete = _cycles(graph)
    anomalies += _with_evidence(cycles, resolved)
    if not complete:
        gaps.append("a part of the graph is too large to look for every kind of cycle in it")
        undecided |= {"consistent-view", "monotonic-view"}
    if not transactions.timed:
        gaps.append(_NO_TIMES)
        undecided |= {model.name for model in MODELS if model.basis is Basis.REALTIME}
    if any(one.name is Phenomenon.G_SINGLE and one.basis is Basis.DATA for one in anomalies):
        undecided.add("monotonic-view")
    if source.workload is Workload.REGISTERS and not resolved.ordered and wanted.cycles:
        undecided |= _unordered(resolved, previous, gaps, say)
    proved = wanted.cycles and _is_proved("strong-session-snapshot-isolation", anomalies, undecided)
    if not proved:
        anomalies += _by_rules(resolved, previous, options.model, say)
    if options.model is not None:
        undecided |= {model.name for model in MODELS} - IMPLIED[options.model.name]
        anomalies = violated(options.model, anomalies)
    anomalies.sort(key=severity)
    return _checked(source, resolved, anomalies, standings(anomalies, undecided), gaps)


@dataclass(frozen=True, slots=True)
class _Wanted:
    cycles: bool
    time: bool


def _wanted(model: Model | None) -> _Wanted:
    """Which edges can matter to a model."""
    if model is None:
        return _Wanted(cycles=True, time=True)
    names = IMPLIED[model.name]
    return _Wanted(
        cycles=bool(names & {"cursor-stability", "monotonic-view"}), time=model.basis is Basis.REALTIME
    )


def _cycles(graph: Graph) -> tuple[list[Cycle], bool]:
    """One cycle of each kind, the shortest of all parts; and whether the search was complete."""
    best: dict[tuple[Phenomenon, Basis], Cycle] = {}
    complete = True
    for part in strong_parts(graph):
        searched = search(graph, part)
        complete = complete and searched.complete
        for cycle in searched.cycles:
            before = best.get((cycle.name, cycle.basis))
            if before is None or len(cycle.steps) < len(before.steps):
                best[cycle.name, cycle.basis] = cycle
    return list(best.values()), complete


def _with_evidence(cycles: Iterable[Cycle], resolved: Resolved) -> list[Anomaly]:
    found = list(cycles)
    if not found:
        return []
    pairs: list[Pair] = [step for cycle in found for step in cycle.steps]
    evidence = resolved.explain(pairs)
    return [
        Anomaly(cycle.name, cycle.basis, tuple(evidence.get(step) or Link(*step) for step in cycle.steps))
        for cycle in found
    ]


_FREE_OF_ORDER = frozenset(
    {
        "read-uncommitted",
        "read-committed",
        "strong-session-read-uncommitted",
        "strong-session-read-committed",
        "strong-read-uncommitted",
        "strong-read-committed",
        "session-read-committed",
        "read-atomic",
        "causal",
    }
)
"""Models that do not ask for the order of versions: some order that fits can always be chosen."""


def _unordered(resolved: Resolved, previous: list[int], gaps: list[str], say: Say) -> set[str]:
    """Models that are undecided without the order of versions, unless a serial order is found."""
    say("looking for a serial order")
    if is_serial(resolved, previous):
        return set()
    data = {model.name for model in MODELS if model.basis is Basis.DATA}
    if is_serial(resolved, [-1] * len(previous), in_time=False):
        gaps.append("a serial order was found, but none that keeps the order of sessions and of time")
        return {model.name for model in MODELS if model.name not in _FREE_OF_ORDER | data}
    gaps.append(
        "the order of the versions of a register is not known, so models from cursor stability on can be "
        "refuted but not proved"
    )
    return {model.name for model in MODELS if model.name not in _FREE_OF_ORDER}


def _by_rules(
    resolved: Resolved,
    previous: list[int],
    model: Model | None,
    say: Say,
) -> list[Anomaly]:
    """What the rules for read atomic, causal and the like find; where one holds the weaker ones do."""
    found: list[Anomaly] = []
    names = IMPLIED[model.name] if model else IMPLIED["causal"]
    for rule in (Rule.CAUSAL, Rule.ATOMIC, Rule.COMMITTED):
        if rule.value not in names:
            continue
        say(f"checking {rule.value}")
        broken = _broken(rule, resolved, previous, resolved.transactions.sessions)
        if broken is None:
            break
        found.append(_by_data_alone(rule, resolved, broken))
    return found


def _by_data_alone(rule: Rule, resolved: Resolved, broken: Anomaly) -> Anomaly:
    """The same anomaly without any help of sessions, if there is one: then no session is to blame."""
    count = len(resolved.transactions)
    if rule is Rule.CAUSAL and count > _CLOCKS_MAX:
        return broken
    alone = _broken(rule, resolved, [-1] * count, range(count))
    return broken if alone is None else replace(alone, basis=Basis.DATA)


def _is_proved(model: str, anomalies: Iterable[Anomaly], undecided: Iterable[str]) -> bool:
    return standings(anomalies, undecided)[model] is Standing.HOLDS


def _broken(
    rule: Rule, resolved: Resolved, previous: Sequence[int], sessions: Sequence[int]
) -> Anomaly | None:
    must = commit_order(rule, resolved, previous, sessions)
    if INITIAL in must[1]:
        at = must[1].index(INITIAL)
        source, reader = must[0][at], must[2][at]
        return Anomaly(rule.flaw, Basis.SESSION, (_commit_link(source, INITIAL, reader, resolved),))
    graph = Graph(
        resolved.transactions,
        {Relation.WW: resolved.ww, Relation.WR: resolved.wr, Relation.COMMIT: must[:2]},
        (),
        previous,
    )
    for part in strong_parts(graph):
        steps = shortest_commit_cycle(graph, part)
        if steps is not None:
            return Anomaly(rule.flaw, Basis.SESSION, _commit_links(steps, must, resolved))
    return None


def _commit_links(steps: tuple[Pair, ...], must: Must, resolved: Resolved) -> tuple[Link, ...]:
    evidence = resolved.explain([step for step in steps if step[0] is not Relation.COMMIT])
    readers = {(one, two): reader for one, two, reader in zip(*must, strict=True)}
    return tuple(
        _commit_link(step[1], step[2], readers[step[1], step[2]], resolved)
        if step[0] is Relation.COMMIT
        else evidence.get(step) or Link(*step)
        for step in steps
    )


def _commit_link(source: int, target: int, reader: int, resolved: Resolved) -> Link:
    """The key: one that the source wrote and that the reader read of the target."""
    written = resolved.written()[source]
    key = next(
        (
            key
            for one, key, writer in zip(*resolved.external(), strict=True)
            if one == reader and writer == target and key in written
        ),
        None,
    )
    return Link(Relation.COMMIT, source, target, key, reader=reader)


def _checked(
    source: Source,
    resolved: Resolved,
    anomalies: list[Anomaly],
    models: Mapping[str, Standing],
    gaps: list[str],
) -> Checked:
    transactions = resolved.transactions
    named = {number for one in anomalies for number in _named(one) if number >= 0}
    return Checked(
        source.path,
        source.format,
        source.workload,
        len(transactions),
        transactions.fates.count(0),
        tuple(anomalies),
        models,
        tuple(gaps),
        {number: transactions.lines[number] for number in named},
        source.by_line,
        {number: transactions.sessions[number] for number in named},
    )


def _named(anomaly: Anomaly) -> Iterator[int]:
    for link in anomaly.cycle:
        yield link.source
        yield link.target
        if link.reader is not None:
            yield link.reader
    if (seen := anomaly.observation) is not None:
        yield seen.transaction
        if seen.writer is not None:
            yield seen.writer
        if seen.other is not None:
            yield seen.other


def verdict(checked: Checked, model: Model) -> Standing:
    """What a history says about one model."""
    return checked.models[model.name]


def against(checked: Checked, model: Model) -> list[Anomaly]:
    """The anomalies that break a model."""
    return violated(model, checked.anomalies)
