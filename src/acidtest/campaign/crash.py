"""A DBMS inside a worker's process takes the process along when it crashes. Which case did it is known from
its position, so it can be made again and told, though nothing of its run is left."""

import signal
from itertools import islice

from acidtest import __version__
from acidtest.campaign.plan import Chunk, Settings
from acidtest.campaign.statistics import CRASH
from acidtest.casefile import print_case
from acidtest.findings.finding import Finding
from acidtest.findings.places import StatementClass
from acidtest.findings.signature import Crash, Signature
from acidtest.generate import flavour_of
from acidtest.instrument import Server
from acidtest.model import Case, CrashWitness, Violation, ViolationKind, violated
from acidtest.pipeline import Instrumentation, make_cases
from acidtest.report import verdict_to_json
from acidtest.report.signatures import describe
from acidtest.targets.resolve import dbms_of

CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
"""Signals by which a process dies of its own fault. Others are sent by somebody, e.g. for want of memory."""

BROKEN_OFF = "it ends the process it runs in"


def crash_of(exit_code: int | None) -> str | None:
    """The name of the signal, if a process with that exit code crashed."""
    return next((one.name for one in CRASHES if exit_code == -one), None)


def case_at(chunk: Chunk, position: int, settings: Settings, version: str) -> Case:
    """The case at that position of a chunk, on a server of that version."""
    flavour = flavour_of(dbms_of(chunk.cell.target), version)
    dice, profile = chunk.dice(settings.seed), settings.generator_profile()
    server = Server(dbms_of(chunk.cell.target), version, {}, chunk.cell.levels[0])
    instrumentation = Instrumentation(settings.instrument, server)
    cases = make_cases(dice, profile, flavour, chunk.cell.levels, chunk.name, instrumentation)
    return next(islice(cases, position, None))[0]


def crash_finding(case: Case, target: str, version: str, seed: int, crash: str) -> Finding:
    """What a case comes to that ended its process by this signal. It is not run again: it would end ours."""
    observed = f"the process that it runs in died of {crash}"
    because = "the process ended while this case or variants of it were run; its answers are lost"
    witness = CrashWitness(died=True, code=crash, message=observed)
    verdict = violated(CRASH, Violation(ViolationKind.CRASH, None, witness, because))
    signature = Signature(ViolationKind.CRASH, Crash(died=True, signal=crash), StatementClass.SERVER)
    levels = {transaction.level.short for transaction in case.transactions if transaction.level is not None}
    text = print_case(case)
    return Finding(
        signature=describe(signature),
        digest=signature.digest,
        identity=signature,
        kind=str(verdict.kind),
        target=target,
        dbms=dbms_of(target),
        version=version,
        settings={},
        level=levels.pop() if len(levels) == 1 else "mixed",
        oracles=(CRASH,),
        summary=f"{verdict.kind}: {observed}",
        minimal=text,
        observed=f"{text}-- verdicts\n-- {CRASH}: VIOLATION, {verdict.kind}: {observed}\n",
        original=text,
        verdicts=(verdict_to_json(verdict),),
        explanation=(f"By {crash} {because}.",),
        shown=0,
        runs=0,
        reduction="none",
        seed=seed,
        case=case.id,
        broken_off=BROKEN_OFF,
        acidtest=__version__,
    )
