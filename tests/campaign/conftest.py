"""Campaigns that end with their test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.campaign.campaigns import Campaigns


@pytest.fixture
def campaigns(tmp_path: Path) -> Iterator[Campaigns]:
    campaigns = Campaigns(tmp_path)
    yield campaigns
    campaigns.stop()
