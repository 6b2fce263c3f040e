"""A folder of what users have stored, as main of 2026-11-27 wrote it, in one archive.

The script that wrote it is this file as commit 2450d392 has it.

It holds finished runs with each kind of head, one of them of two seeds, a run that was interrupted
at a checkpoint and the same one that was not, a grid with one cell done and one to do, an exported
model, cached scores and the user's settings, with what was printed of them and the vectors of each
run. The encoder has some thousand numbers and lies where the hub's library keeps models, so that no
path is stored.
"""

import tarfile
from pathlib import Path

ARCHIVE = Path(__file__).with_suffix(".tar.xz")
ENCODER = "lab/tiny"
SMALL = (
    *("--encoder", ENCODER, "--set", "evaluate.dev=none", "--set", "evaluate.keep=last"),
    *("--set", "evaluate.tasks=[]", "--set", "stages.optim.batch_size=8"),
)
LONGER = ("train", "snli-supcl", *SMALL, "--set", "optim.epochs=8")
CUT = (*LONGER, "--name", "cut")
RUNS = {
    "whole": LONGER,
    "pairs": ("train", "snli-ce", *SMALL, "--max-steps", "6", "--seeds", "2"),
    "words": ("train", "defsent", *SMALL, "--set", "optim.lr=0.01", "--set", "optim.epochs=8"),
    "glue": ("train", "glue-finetune", *SMALL, "--set", "optim.lr=0.01"),
    "tasks": ("train", "multitask", *SMALL, "--max-steps", "6"),
}
GRID_RUN = ("grid", "run", "rates.toml", "--encoder", ENCODER, "--workers", "1")
PRINTED = {
    "pairs.json": ("evaluate", "pairs", "--task", "sts-benchmark"),
    "glue.json": ("evaluate", "glue", "--suite", "glue"),
    "tasks.json": ("evaluate", "tasks", "--suite", "multitask"),
    "words.json": ("evaluate", "words", "--task", "word_prediction"),
    "exported.json": ("evaluate", "exported", "--task", "sts-benchmark"),
}


def environment(folder: Path) -> dict[str, str]:
    """Return where a user of FOLDER has settings, models and states."""
    return {
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_STATE_HOME": str(folder / "state"),
        "HF_HOME": str(folder / "huggingface"),
        "HF_HUB_OFFLINE": "1",
    }


def unpack(folder: Path) -> None:
    """Unpack the archive into FOLDER."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
