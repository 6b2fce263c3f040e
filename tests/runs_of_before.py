"""A folder of runs, caches and a grid as the commit before the layout changed wrote it, in one
archive.

    python -m tests.runs_of_before FOLDER            works in FOLDER, writes
    tests/runs_of_before.tar.xz

It holds a finished run, one that was interrupted at a checkpoint, a grid of two cells, stored
scores of the encoder they start from, and what was printed of them; everything is of the sample
world and of an encoder of 4,000 numbers.
"""

import os
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import IO

ARCHIVE = Path(__file__).with_suffix(".tar.xz")
OPTIONS = ("--sample", "--threads", "1", "--set", "evaluate.dev=none")
CUT = ("--name", "cut", "--set", "evaluate.tasks=[]", "--max-steps", "20")
WORDS = ("a", "the", "dog", "cat", "boy", "man", "sleeps", "runs", "is")
PRINTED = {
    "compare.json": (
        "compare",
        "dice",
        "tiny?pooling=mean",
        "whole",
        "--sample",
        "--threads",
        "1",
        "--json",
    ),
    "grid.json": ("grid", "table", "rates", "--sample", "--json"),
}
GRID = """
summary = "Two learning rates."
base = "snli-supcl"
seeds = [1]
tasks = ["sts"]

[set]
"evaluate.dev" = "none"

[axes]
"optim.lr" = [1e-3, 3e-3]
"""


def write(folder: Path) -> None:
    """Train, interrupt, run the grid and compare in FOLDER, as a user types it."""
    from embedlab.encoders.random_encoder import build_random_encoder

    build_random_encoder(folder / "tiny", seed=1, layers=1, hidden=8, heads=2, vocabulary=WORDS)
    train = ("train", "snli-supcl", "--encoder", "tiny", *OPTIONS)
    finish(start(folder, *train, "--name", "whole", "--max-steps", "6"))
    cut = start(folder, *train, *CUT)
    events = folder / "runs-sample" / "cut" / "seed-1" / "events.jsonl"
    while not events.exists() or events.read_text().count("step") < 3:
        time.sleep(0.05)
    cut.send_signal(signal.SIGINT)
    cut.wait()
    (folder / "rates.toml").write_text(GRID)
    finish(
        start(
            folder, "grid", "run", "rates.toml", "--encoder", "tiny", "--sample", "--threads", "1"
        )
    )
    for name, words in PRINTED.items():
        with (folder / name).open("w") as file:
            finish(start(folder, *words, stdout=file))


def start(
    folder: Path, *words: str, stdout: IO[str] | int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """A command of embedlab in FOLDER, with its cache there."""
    own = {"EMBEDLAB_CACHE": "cache", "PYTHONPATH": str(Path(__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, "-m", "embedlab", *words], cwd=folder, env=os.environ | own, stdout=stdout
    )


def finish(process: subprocess.Popen[bytes]) -> None:
    """Wait for its end, which must be a success."""
    if process.wait():
        sys.exit(f"{process.args!r} ended with {process.returncode}")


def unpack(folder: Path) -> None:
    """Unpack the archive into FOLDER."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")


def pack(folder: Path) -> None:
    """Pack FOLDER without caches that are computed again at once."""
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not {"embeddings", "tokens"} & {*path.relative_to(folder).parts}:
                archive.add(path, path.relative_to(folder))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
    pack(Path(sys.argv[1]))
