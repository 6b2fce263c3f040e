"""A folder of what users have stored, as main of 2026-11-27 wrote it, in one archive.

    git worktree add ../old 30661a47 && cp tests/stored_world.py ../old/tests
    cd ../old && python -m tests.stored_world FOLDER     writes tests/stored_world.tar.xz

It holds finished runs with each kind of head, one of them of two seeds, a run that was interrupted
at a checkpoint and the same one that was not, a grid with one cell done and one to do, an exported
model, cached scores and the user's settings, with what was printed of them and the vectors of each
run. The encoder has some thousand numbers and lies where the hub's library keeps models, so that no
path is stored.
"""

import os
import signal
import sys
import tarfile
import time
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
FILES = {
    "rates.toml": """
summary = "Two learning rates."
base = "glue-finetune"
seeds = [1]
tasks = ["glue"]

[set]
"evaluate.dev" = "none"
"evaluate.keep" = "last"
"optim.batch_size" = 8
"max_steps" = 12

[axes]
"optim.lr" = [1e-3, 3e-3]
""",
    "config/embedlab/embedlab.toml": """
data = "data"
cache = "cache"
allow_partial = true
threads = 1
precision = "float32"
theme = "textual-light"
""",
    "sentences.txt": "a dog sleeps\nthe cat sings\na man reads the paper\n",
}
WHO = ("a dog", "the cat", "a man", "the girl", "a child", "the old woman")
DOES = ("sleeps", "runs fast", "eats a red apple", "reads the paper", "sings", "is in the garden")
STARTER = (
    "SNLI/snli_1.0_train.jsonl",
    "OEWN/definitions.tsv",
    *(f"STS/STSBenchmark/sts-{split}.csv" for split in ("train", "dev", "test")),
)


def write_data(folder: Path) -> None:
    """Write 60 rows of each file of the starter set, and of other corpora some made sentences."""
    sentences = [f"{who} {does}" for who in WHO for does in DOES]
    pairs = [f"{a}\t{b}" for a, b in zip(sentences, sentences[1:] + sentences[:1], strict=True)]
    rows = {
        "ids-sst": ["sentence\tsentiment", *(f"{s}\t{n % 5}" for n, s in enumerate(sentences))],
        "quora": [
            "sentence1\tsentence2\tis_duplicate",
            *(f"{pair}\t{n % 2}.0" for n, pair in enumerate(pairs)),
        ],
        "sts": [
            "sentence1\tsentence2\tsimilarity",
            *(f"{pair}\t{n % 6}.0" for n, pair in enumerate(pairs)),
        ],
    }
    starter = Path(__file__).parents[1] / "embedlab" / "data" / "starter"
    files = {name: (starter / name).open(encoding="utf-8").readlines()[:60] for name in STARTER}
    for split in ("train", "dev"):
        files[f"GLUE/CoLA/{split}.tsv"] = [
            f"gj04\t{n % 2}\t\t{text}\n" for n, text in enumerate(sentences)
        ]
        for name, (header, *lines) in rows.items():
            files[f"CS224N/{name}-{split}.csv"] = [
                f"\tid\t{header}\n",
                *(f"{n}\t{n:025x}\t{line}\n" for n, line in enumerate(lines)),
            ]
    for name, lines in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(lines), encoding="utf-8")


def write_encoder(hub: Path, data: Path) -> None:
    """Write an encoder with a head for masked words as the hub's library keeps a model."""
    from embedlab.encoders.random_encoder import build_random_encoder

    defined = {line.split("\t")[0] for line in (data / "OEWN" / "definitions.tsv").open()}
    words = {word for text in (*WHO, *DOES) for word in text.split()} | defined
    place, revision = hub / f"models--{ENCODER.replace('/', '--')}", f"{1:040x}"
    build_random_encoder(
        place / "snapshots" / revision,
        seed=1,
        layers=1,
        hidden=8,
        heads=2,
        vocabulary=sorted(words),
    )
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(revision)


def environment(folder: Path) -> dict[str, str]:
    """Return where a user of FOLDER has settings, models and states."""
    return {
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_STATE_HOME": str(folder / "state"),
        "HF_HOME": str(folder / "huggingface"),
        "HF_HUB_OFFLINE": "1",
    }


def start(*words: str, out: Path = Path(os.devnull)) -> int:
    """Start a command in a fork of this process, which need not load torch again."""
    from embedlab.cli.app import main

    if (pid := os.fork()) == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
        os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT), 1)
        code = main(words)
        sys.stdout.flush()
        os._exit(code)
    return pid


def finish(pid: int, code: int = 0) -> None:
    """Wait for the end of a command, which must be CODE."""
    if (found := os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])) != code:
        sys.exit(f"a command ended with {found}")


def interrupt(pid: int, folder: Path, files: str, mark: str) -> None:
    """Type Ctrl-C in a command once one of FILES in FOLDER has MARK."""
    while not any(mark in path.read_text() for path in folder.glob(files)):
        time.sleep(0.01)
    os.kill(pid, signal.SIGINT)
    finish(pid, 130)


def write(folder: Path) -> None:
    """Train, interrupt, run half of the grid, export and evaluate in FOLDER, as a user types it."""
    write_data(folder / "data")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    os.environ |= environment(folder) | {"PYTHONPATH": str(Path(__file__).parents[1])}
    os.chdir(folder)
    write_encoder(folder / "huggingface" / "hub", folder / "data")
    for name, words in RUNS.items():
        finish(start(*words, "--name", name))
    interrupt(start(*CUT), folder, "runs/cut/seed-1/events.jsonl", '"step": 2')
    interrupt(start(*GRID_RUN), folder, "runs/rates.*/seed-1/evaluations/*.json", "scores")
    finish(start("export", "pairs@1", "exported"))
    for name in RUNS:
        finish(start("encode", f"{name}@1", "sentences.txt", "-o", f"{name}.npy"))
    for name, words in PRINTED.items():
        finish(start(*words, "--json", out=folder / name))
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        for path in sorted(folder.rglob("*")):
            place = path.relative_to(folder)
            if path.is_file() and place.parts[:2] not in {
                ("cache", "embeddings"),
                ("cache", "tokens"),
            }:
                archive.add(path, place)


def unpack(folder: Path) -> None:
    """Unpack the archive into FOLDER."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")


if __name__ == "__main__":
    write(Path(sys.argv[1]).absolute())
