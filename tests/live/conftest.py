"""Fixtures of the tests on real servers."""

from collections.abc import Iterator

import pytest

from tests.live.bench import Benches


@pytest.fixture(scope="module")
def benches() -> Iterator[Benches]:
    """Targets with oracles, shared by the tests of a file."""
    opened = Benches()
    yield opened
    opened.close()
