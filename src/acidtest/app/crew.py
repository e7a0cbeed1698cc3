"""The workers of an exploration: a thread for each operation that is a plain function, tasks on one event
loop for those that are coroutines. They live as long as the exploration, so that connections of a thread are
kept."""

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import Any

from acidtest.app.board import Part
from acidtest.app.conductor import AbandonedError, Conductor, StoppedError
from acidtest.app.errors import kind_of_error
from acidtest.app.gate import WORKER, Link, LinkError
from acidtest.app.operation import Operation
from acidtest.app.script import Script
from acidtest.app.values import comparable
from acidtest.errors import AcidtestError
from acidtest.model import ErrorKind, TransactionState
from acidtest.model.application import RETRYABLE, End, Result

Task = Callable[[], None]


class Worker:
    """A thread that runs one thing after another."""

    def __init__(self, name: str) -> None:
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=f"acidtest-{name}", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            copy_context().run(task)

    def start(self, task: Task) -> None:
        """Run a task when those before it are done."""
        self._tasks.put(task)

    def wait(self, task: Task) -> None:
        """Run a task and wait for it."""
        done = threading.Event()

        def run() -> None:
            try:
                task()
            finally:
                done.set()

        self.start(run)
        done.wait()

    def stop(self) -> None:
        """End the thread after its last task."""
        self._tasks.put(None)
        self._thread.join()


class Crew:
    """Runs operations under a conductor."""

    def __init__(
        self,
        operations: Sequence[Operation],
        conductor: Conductor,
        at_end: Callable[[], None],
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._operations = operations
        self._conductor = conductor
        self._at_end = at_end  # called in each worker when it ends, to close what belongs to its thread
        self._given_loop = loop
        self._own_loop: asyncio.AbstractEventLoop | None = None
        self._loop_worker: Worker | None = None
        self._workers: dict[str, Worker] = {}
        self.problem: AcidtestError | None = None
        """What acidtest itself has to say against going on."""
        self.lost = False
        """Whether an operation of the last run lost its connection."""

    def run(self, script: Script, names: Sequence[str]) -> tuple[dict[str, Result], Any, Any]:
        """Run these operations as the script wants: results by operation, calls, and what prevented the
        order."""
        results: dict[str, Result] = {}
        self.lost = False
        operations = {one.name: one for one in self._operations}
        self._conductor.begin(script, names, lambda name: self._start(operations[name], script, results))
        calls, prevented, hung = self._conductor.conduct()
        for name in names:
            if name in hung:
                results[name] = Result(End.HUNG)
                self._workers.pop(name, None)  # it can not be ended; another takes its place
            else:
                results.setdefault(name, Result(End.DIED))
        return {name: results[name] for name in names}, calls, prevented

    def roll_back(self) -> None:
        """End the transactions that operations left open; their locks would hold up whoever looks."""
        for link in self._conductor.all_links():
            if link.transaction() is TransactionState.NONE:
                continue
            with suppress(LinkError):  # a connection that is lost took its transaction along
                self._roll_back(link)

    def _roll_back(self, link: Link) -> None:
        if link.is_async:
            asyncio.run_coroutine_threadsafe(_roll_back(link), self._loop()).result()
        else:
            link.ask("ROLLBACK")

    def _start(self, operation: Operation, script: Script, results: dict[str, Result]) -> None:
        if operation.is_async:
            loop = self._loop()
            asyncio.run_coroutine_threadsafe(
                self._run_async(operation, script, results, self._conductor.part(operation.name)), loop
            )
            return
        worker = self._workers.get(operation.name)
        if worker is None:
            worker = self._workers[operation.name] = Worker(operation.name)
        part = self._conductor.part(operation.name)
        worker.start(lambda: self._run_sync(operation, script, results, part))

    def _loop(self) -> asyncio.AbstractEventLoop:
        if self._given_loop is not None:
            return self._given_loop
        if self._own_loop is None:
            self._own_loop = asyncio.new_event_loop()
            self._loop_worker = Worker("loop")
            self._loop_worker.start(self._own_loop.run_forever)
        return self._own_loop

    def _run_sync(self, operation: Operation, script: Script, results: dict[str, Result], part: Part) -> None:
        WORKER.set(part)
        attempts = 0
        while True:
            attempts += 1
            try:
                value = operation.call()
                for link in _held(part):
                    link.ask("COMMIT")
                    link.released()
                result = Result(End.RETURNED, comparable(value), attempts=attempts)
            except BaseException as error:
                for link in _held(part):
                    link.ask("ROLLBACK")
                    link.released()
                result = self._raised(error, attempts)
            if result.kind in RETRYABLE and attempts <= script.retries:
                continue
            break
        results[operation.name] = result
        WORKER.set(None)
        if result.end is End.STOPPED:
            self._at_end()  # its connections are in no state to be used again
        self._conductor.finished(part, result.end is End.RETURNED)

    async def _run_async(
        self, operation: Operation, script: Script, results: dict[str, Result], part: Part
    ) -> None:
        WORKER.set(part)
        attempts = 0
        while True:
            attempts += 1
            try:
                value = await operation.call()
                for link in _held(part):
                    await link.ask_async("COMMIT")
                result = Result(End.RETURNED, comparable(value), attempts=attempts)
            except BaseException as error:
                for link in _held(part):
                    await link.ask_async("ROLLBACK")
                result = self._raised(error, attempts)
            if result.kind in RETRYABLE and attempts <= script.retries:
                continue
            break
        results[operation.name] = result
        self._conductor.finished(part, result.end is End.RETURNED)

    def _raised(self, error: BaseException, attempts: int) -> Result:
        if isinstance(error, AcidtestError):
            self.problem = error
        if isinstance(error, StoppedError | AbandonedError):
            return Result(End.STOPPED, attempts=attempts)
        end = End.RAISED if isinstance(error, Exception) else End.DIED
        kind = kind_of_error(self._conductor.guest, error)
        self.lost = self.lost or kind in (ErrorKind.CONNECTION_LOST, ErrorKind.CANCELLED, None)
        return Result(
            end, comparable(list(error.args)), type(error).__name__, str(error).strip(), kind, attempts
        )

    def close(self) -> None:
        """End all workers, each after it closed what is its own."""
        for worker in self._workers.values():
            worker.wait(self._at_end)
            worker.stop()
        if self._own_loop is not None and self._loop_worker is not None:
            self._own_loop.call_soon_threadsafe(self._own_loop.stop)
            self._loop_worker.stop()
            self._own_loop.close()


def _held(part: Part) -> list[Link]:
    """The connections on which the gate holds a transaction open; it does so no longer."""
    held = [link for link in part.links if link.held_open]
    for link in held:
        link.held_open = False
    return held


async def _roll_back(link: Link) -> None:
    await link.ask_async("ROLLBACK")
