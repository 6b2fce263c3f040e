"""A folder of all that is stored, as the version before there was one store wrote it, in one
archive.

    mkdir before && git archive f5cc6ae | tar x -C before && cp tests/stores_of_before.py
    before/tests && cd before
    python -m tests.stores_of_before FOLDER            works in FOLDER, writes
    before/tests/stores_of_before.tar.xz

It holds a finished run, one that was interrupted at a checkpoint, a grid with one cell done and one
to do, stored scores and answers, vectors, tokens, links between similar sentences, a pair table and
a comparison of the dashboard, a named selection, a note on a pair and what is trusted; with what
was printed of the results. Everything is of the sample world and of an encoder of 4,000 numbers.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import tarfile
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

ARCHIVE = Path(__file__).with_suffix(".tar.xz")
SMALL = (
    "--set",
    "evaluate.dev=none",
    "--set",
    "evaluate.tasks=[]",
    "--set",
    "data.rows=160",
    "--set",
    "optim.batch_size=4",
)
OPTIONS = ("--sample", "--threads", "1", *SMALL)
CUT = ("--name", "cut", "--max-steps", "20")
WORDS = ("a", "the", "dog", "cat", "boy", "man", "sleeps", "runs", "is")
SETTING = ("--setting", "prototyping")
PRINTED = {
    "pairs.json": (
        "compare",
        "dice",
        "tiny?pooling=mean",
        "whole",
        "--task",
        "sts12",
        "--sample",
        "--threads",
        "1",
        "--json",
    ),
    "answers.json": (
        "compare",
        "tiny?pooling=mean",
        "whole",
        "--task",
        "cr",
        *SETTING,
        "--sample",
        "--threads",
        "1",
        "--json",
    ),
}
GRID_RUN = ("grid", "run", "rates.toml", "--encoder", "tiny", "--sample", "--threads", "1")
GRID = """
summary = "Two learning rates."
base = "snli-supcl"
seeds = [1]
tasks = ["geometry"]

[set]
"evaluate.dev" = "none"
"data.rows" = 160
"optim.batch_size" = 4

[axes]
"optim.lr" = [1e-3, 3e-3]
"""
NOTE, SELECTION = "quoted in the paper", "dice < 0.3"
STATE = f"""
from embedlab.analysis.named_selections import store_selection
from embedlab.analysis.pair_notes import PairNotes
from embedlab.core.settings import Settings
from embedlab.data import pair_parts
from embedlab.tui.compare.model import ComparisonRequest, compare_slices
from embedlab.tui.pair_table.data import with_models
from embedlab.tui.pair_table.saved_tables import cache_file, open_pairs, store
from embedlab.tui.state import Memory
from embedlab.tui.stored_models import stored_models
from pathlib import Path

pair_parts.shipped_names = lambda kind: ["sts12"]  # one dataset, for a small archive
settings = Settings(sample=True, cache=Path("cache"), runs=Path("runs"))
models = stored_models(settings)[0]
data = with_models(open_pairs(settings), models)
compare_slices(data, ComparisonRequest(by="dataset", aggregate="all", reference="whole"), cache=settings.cache)
first = data.table.row(0, named=True)
PairNotes.load().change(first["sentence1"], first["sentence2"], {NOTE!r})
store_selection("little", {SELECTION!r})
memory = Memory.load(sample=True)
memory.state = type(memory.state)(theme="textual-light", mode="compare")
memory.write()
"""


def write(folder: Path) -> None:
    """Train, interrupt, run half of the grid, compare and use the dashboard's functions in FOLDER,
    as a user types it.
    """
    from embedlab.encoders.random_encoder import build_random_encoder

    build_random_encoder(folder / "tiny", seed=1, layers=1, hidden=8, heads=2, vocabulary=WORDS)
    train = ("train", "snli-supcl", "--encoder", "tiny", *OPTIONS)
    finish(start(folder, *train, "--name", "whole", "--max-steps", "6"))
    cut = start(folder, *train, *CUT)
    events = folder / "runs-sample" / "cut" / "seed-1" / "events.jsonl"
    while not events.exists() or events.read_text().count("step") < 3:
        time.sleep(0.02)
    cut.send_signal(signal.SIGINT)
    cut.wait()
    (folder / "rates.toml").write_text(GRID)
    grid = start(folder, *GRID_RUN, "--workers", "1")
    while not cells_done(folder / "runs-sample" / "grids" / "rates" / "queue.sqlite"):
        time.sleep(0.02)
    grid.send_signal(signal.SIGINT)
    grid.wait()
    for name, words in PRINTED.items():
        with (folder / name).open("w") as file:
            finish(start(folder, *words, stdout=file))
    (folder / "plugin.py").write_text("PLUGINS = {}\n")
    finish(start(folder, "trust", "plugin.py"))
    finish(run(folder, "-c", STATE))


def cells_done(queue: Path) -> int:
    """The number of the cells that are done."""
    with suppress(sqlite3.DatabaseError):
        connection = sqlite3.connect(f"file:{queue}?mode=ro", uri=True)
        try:
            return int(
                connection.execute("SELECT count(*) FROM cells WHERE state = 'done'").fetchone()[0]
            )
        finally:
            connection.close()
    return 0


def start(
    folder: Path, *words: str, stdout: IO[str] | int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """A command of embedlab in FOLDER."""
    return run(folder, "-m", "embedlab", *words, stdout=stdout)


def run(
    folder: Path, *words: str, stdout: IO[str] | int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """A program of Python in FOLDER, with its cache and state there."""
    own = {
        "EMBEDLAB_CACHE": "cache",
        "XDG_STATE_HOME": str(folder / "state"),
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }
    return subprocess.Popen(
        [sys.executable, *words], cwd=folder, env=os.environ | own, stdout=stdout
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
    """Pack FOLDER with the vectors of one encoder alone, those with fewest bytes."""
    sizes = {
        path: sum(file.stat().st_size for file in path.iterdir())
        for path in sorted(folder.glob("cache/embeddings/*"))
    }
    left_out = {*sorted(sizes, key=lambda path: sizes[path])[1:]}
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.parent not in left_out:
                archive.add(path, path.relative_to(folder))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
    pack(Path(sys.argv[1]))
