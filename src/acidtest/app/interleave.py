"""What the fixture `interleave` gives."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acidtest.app.explore import explore, explore_async
from acidtest.app.findings import store
from acidtest.errors import AcidtestError
from acidtest.model.application import Exploration, Judgement
from acidtest.report.application import exploration_text


class InterleavingFailed(AssertionError):
    """An interleaving breaks the data."""

    __module__ = "acidtest"


class Interleave:
    """Call it with operations."""

    def __init__(self, options: dict[str, Any], replay: str | None, findings: str | None) -> None:
        self._options = options
        self._replay = replay
        self._findings = findings
        self.last: Exploration | None = None

    def __call__(self, *calls: Callable[[], Any], **options: Any) -> Exploration:
        """Explore operations; fails the test if an interleaving breaks the data, or nothing can be said."""
        __tracebackhide__ = True
        try:
            found = explore(*calls, **self._merged(options))
        except AcidtestError as error:
            pytest.fail(f"acidtest: {error}", pytrace=False)
        return self._told(found)

    async def run(self, *calls: Callable[[], Any], **options: Any) -> Exploration:
        """The same in a coroutine: operations that are coroutines run on the loop of the test."""
        __tracebackhide__ = True
        try:
            found = await explore_async(*calls, **self._merged(options))
        except AcidtestError as error:
            pytest.fail(f"acidtest: {error}", pytrace=False)
        return self._told(found)

    def _merged(self, options: dict[str, Any]) -> dict[str, Any]:
        merged = {**self._options, **options}
        return merged if self._replay is None else {**merged, "replay": self._replay}

    def _told(self, found: Exploration) -> Exploration:
        __tracebackhide__ = True
        self.last = found
        if found.judgement is Judgement.VIOLATED and self._findings is not None:
            store(found, Path(self._findings))
        if found.judgement is not Judgement.HOLDS:
            raise InterleavingFailed("\n" + exploration_text(found))
        return found
