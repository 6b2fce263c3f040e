"""Models of the hub, named as a user names them: fetched when first needed, and one snapshot for a
whole command.
"""

from pathlib import Path

import pytest

from embedlab.models import hub
from tests.cli.conftest import Embedlab

pytestmark = pytest.mark.usefixtures("small_world")

WORDS = ("evaluate", "org/model?pooling=mean", "--data", "tiny", "--threads", "1", "--json")


@pytest.fixture
def hub_gives(tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is on this machine before the first request."""
    fetched: list[Path] = []

    def snapshot(repository: str, revision: str) -> Path:
        fetched.append(tiny_encoder)
        return tiny_encoder

    monkeypatch.setattr(hub, "_snapshot", snapshot)
    monkeypatch.setattr(hub, "is_reachable", lambda: True)
    monkeypatch.setattr(hub, "downloaded_folder", lambda *_: next(iter(fetched), None))


@pytest.mark.usefixtures("hub_gives")
def test_a_model_that_was_never_used_is_fetched(embedlab: Embedlab) -> None:
    assert "not on this machine" in embedlab(*WORDS, "--task", "sts12", "--offline").err
    answer = embedlab(*WORDS, "--task", "sts12")
    assert answer.code == 0, answer.err
    assert answer.rows[0]["score"] is not None
    assert embedlab(*WORDS, "--task", "sts12", "--offline").rows == answer.rows
