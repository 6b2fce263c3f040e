"""What the tests of commands share."""

from pathlib import Path

import pytest

from embedlab.api import NotebookSession
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """`--data tiny`, with runs and a cache of this test."""
    return Settings(data=TINY_FOLDER, runs=tmp_path / "runs", cache=tmp_path / "cache")


@pytest.fixture
def session(settings: Settings) -> NotebookSession:
    """A session of a program with these settings."""
    return NotebookSession(settings=settings)
