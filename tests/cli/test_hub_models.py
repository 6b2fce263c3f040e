"""Models of the hub, named as a user names them: fetched when first needed, and one snapshot for a
whole command.
"""

import shutil
from pathlib import Path

import pytest

from embedlab.core.errors import MissingError
from embedlab.models import hub
from tests.cli.conftest import Embedlab

pytestmark = pytest.mark.usefixtures("small_world")

WORDS = ("evaluate", "org/model?pooling=mean", "--data", "tiny", "--threads", "1", "--json")


@pytest.fixture
def snapshots(tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What the hub's main is, and was; the first of them is what it gives, and nothing is on this
    machine before the first request.
    """
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    newer = tmp_path / "newer"
    shutil.copytree(tiny_encoder, newer)
    (newer / "config.json").write_text((newer / "config.json").read_text() + "\n")
    main, fetched = [tiny_encoder, newer], list[Path]()

    def snapshot(repository: str, revision: str, offline: bool) -> Path:
        if offline and not fetched:
            raise MissingError(
                f"{repository!r} is not on this machine and --offline is set", hint="give a folder"
            )
        if not offline:
            fetched.append(main[0])
        return fetched[-1]

    monkeypatch.setattr(hub, "_snapshot", snapshot)
    return main


def test_a_model_that_was_never_used_is_fetched(embedlab: Embedlab, snapshots: list[Path]) -> None:
    assert "not on this machine" in embedlab(*WORDS, "--task", "sts12", "--offline").err
    answer = embedlab(*WORDS, "--task", "sts12")
    assert answer.code == 0, answer.err
    assert answer.rows[0]["score"] is not None
    assert embedlab(*WORDS, "--task", "sts12", "--offline").rows == answer.rows


def test_a_newer_snapshot_has_scores_of_its_own(
    embedlab: Embedlab, snapshots: list[Path], tmp_path: Path
) -> None:
    embedlab(*WORDS, "--task", "sts12")
    snapshots.reverse()
    embedlab(*WORDS, "--task", "sts13")
    files = list((tmp_path / "cache" / "models").glob("*/evaluations/sts/*.parquet"))
    assert {file.stem for file in files} == {"sts12", "sts13"}
    assert len({file.parent for file in files}) == len(files) == 2
