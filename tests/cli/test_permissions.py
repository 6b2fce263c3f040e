"""What may not be read or written is said in two lines, with exit code 3, wherever it is."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import embedlab_at_once


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder in which all that is forbidden can be removed afterwards."""
    monkeypatch.chdir(tmp_path)
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "embedlab"
    for folder in (config, Path("model"), Path("runs"), Path("closed")):
        folder.mkdir(parents=True)
    for name in (config / "embedlab.toml", "recipe.toml", "p.tsv", "p.parquet", "p.txt"):
        Path(name).touch()
    Path("model/config.json").write_text("{}")
    Path("words.txt").write_text("a 1\n")
    yield tmp_path
    for folder, names, _ in os.walk(tmp_path):
        for name in names:
            (Path(folder) / name).chmod(0o755)


WORDS = "word-vectors:words.txt"


def test_everything_forbidden_is_two_lines(place: Path) -> None:
    home = Path(os.environ["XDG_CONFIG_HOME"])
    commands = {
        "recipe.toml": ["train", "./recipe.toml", "--dry-run", "--data", "tiny"],
        "p.tsv": ["pairs", "dice", "--dataset", "./p.tsv"],
        "p.parquet": ["pairs", "dice", "--dataset", "./p.parquet"],
        "p.txt": ["encode", WORDS, "p.txt", "-o", "v.npy"],
        "model/config.json": ["score", "a", "b", "-m", "./model"],
        "runs": ["runs", "ls", "--runs", "runs"],
        "closed": ["encode", WORDS, "words.txt", "-o", "closed/v.npy"],
    }
    for forbidden in commands:
        Path(forbidden).chmod(0)
    ended = embedlab_at_once(*commands.values(), has_rights=False)
    for closed in (home / "embedlab" / "embedlab.toml", home):
        closed.chmod(0)
        ended += embedlab_at_once(["recipes"], has_rights=False)
        closed.chmod(0o755)
    for one in ended:
        assert (one.code, len(one.err.splitlines())) == (3, 2), one
        assert one.err.startswith("embedlab: error: "), one
