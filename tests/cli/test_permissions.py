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
    for folder in (
        config,
        Path("model"),
        Path("data/STS/STSBenchmark"),
        Path("runs"),
        Path("closed"),
    ):
        folder.mkdir(parents=True)
    for file in (
        config / "embedlab.toml",
        Path("recipe.toml"),
        Path("model/config.json"),
        Path("data/STS/STSBenchmark/sts-test.csv"),
    ):
        file.write_text("" if file.suffix == ".toml" else "{}")
    for ending in ("tsv", "csv", "jsonl", "parquet", "txt"):
        Path(f"p.{ending}").write_text("sentence1\n")
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
        **{
            f"p.{ending}": ["pairs", "dice", "--dataset", f"./p.{ending}"]
            for ending in ("tsv", "csv", "jsonl", "parquet")
        },
        "p.txt": ["encode", WORDS, "p.txt", "-o", "v.npy"],
        "model/config.json": ["score", "a", "b", "-m", "./model"],
        "data/STS/STSBenchmark": ["pairs", "dice", "--data", "data", "--dataset", "sts-benchmark"],
        "runs": ["runs", "ls", "--runs", "runs"],
        "closed": ["encode", WORDS, "words.txt", "-o", "closed/v.npy"],
    }
    for forbidden in commands:
        Path(forbidden).chmod(0)
    ended = embedlab_at_once(*commands.values(), has_rights=False)
    for name, one in zip(commands, ended, strict=True):
        assert one.code == 3, (name, one)
        assert len(one.err.splitlines()) == 2, (name, one)
        assert one.err.startswith("embedlab: error: "), (name, one)
    for closed in (home / "embedlab" / "embedlab.toml", home / "embedlab", home):
        closed.chmod(0)
        (one,) = embedlab_at_once(["recipes"], has_rights=False)
        closed.chmod(0o755)
        assert one.code == 3, (closed, one)
        assert len(one.err.splitlines()) == 2, (closed, one)
        assert "Permission denied" in one.err
