"""Kill trainings, grids, encodings and evaluations at random times, and compare their ends with
those of undisturbed ones, byte by byte.

    python benchmarks/kills.py --data DIR --kills 140 --seed 1 --write

Everything runs on the STS sets and the first rows of the other corpora of DIR, and starts from a
small random encoder. A round types one command again and again, each time in a new
process that is killed by SIGKILL after a random share of the time that the undisturbed command
takes, and lets it end after `--in-a-row` kills.
"""

import argparse
import hashlib
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from real_lab import SETTINGS, add_data_option, cut_corpora, frequent_words, write_encoder
from record import Measured, write

SHORT = [
    "--set",
    "stage.0.data.rows=96",
    "--set",
    "optim.batch_size=16",
    "--set",
    "evaluate.every=0.34",
    "--set",
    "evaluate.keep=best",
    "--set",
    'evaluate.tasks=["geometry"]',
]
PACKAGES = ("embedlab", "torch", "transformers", "polars", "safetensors")

GRID = """summary = "Two rates, to be killed"
base = "snli-ce"
seeds = [1]
tasks = ["geometry"]

[set]
"data.rows" = 96
"optim.batch_size" = 16
"evaluate.every" = 0.34

[axes]
"optim.lr" = [1e-5, 2e-5]
"""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What is killed: a command typed in a folder, and the bytes that it leaves there."""

    name: str
    command: Sequence[str]
    prepare: Callable[[Path], None]
    remains: Callable[[Path], dict[str, str]]


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """How the kills of one kind went."""

    kind: str
    kills: int
    rounds: int
    equal: int  # rounds whose end is that of the undisturbed command
    longest_s: float
    faults: tuple[str, ...]


def main() -> int:
    """Run all campaigns and print their table; with --write it is stored among the results."""
    typed = _arguments()
    rng = random.Random(typed.seed)
    place = Path(tempfile.mkdtemp(prefix="embedlab-kills-"))
    os.environ |= {
        "XDG_CACHE_HOME": str(place / "cache"),
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": "1",
    }
    corpora = cut_corpora(typed.data, place / "corpora")
    write_encoder(place / "model", frequent_words(corpora))
    os.environ |= {**SETTINGS, "EMBEDLAB_DATA": str(corpora)}
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["embedlab.cli.app", "torch", "transformers", "polars", "embedlab.encoders.checkpoint"]
    )
    kinds = _kinds(place)
    shares = {
        kind: typed.kills * share // 100 for kind, share in zip(kinds, (15, 5, 50, 30), strict=True)
    }
    shares["encode"] += typed.kills - sum(shares.values())
    campaigns = [
        _campaign(kind, shares[name], typed, rng, place, context)
        for name, kind in kinds.items()
        if shares[name] and name in (typed.only or kinds)
    ]
    shutil.rmtree(place, ignore_errors=True)
    measured, notes = _table(campaigns)
    for one in measured:
        print(f"{one.what}: {one.ours} {one.unit}".rstrip())
    print(*notes, sep="\n")
    if typed.write:
        write(typed.name, "Kills", measured, packages=PACKAGES, notes=notes)
    return 0 if all(one.equal == one.rounds for one in campaigns) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--kills", type=int, default=140, help="in all")
    parser.add_argument("--seed", type=int, default=1, help="of the times of the kills")
    parser.add_argument("--in-a-row", type=int, default=4, help="kills before a command may end")
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="for each kind; after it no round begins"
    )
    parser.add_argument("--only", action="append", help="one kind: train, grid, encode or evaluate")
    parser.add_argument("--name", default="kills", help="of the file of results")
    parser.add_argument("--write", action="store_true", help="store the table among the results")
    return parser.parse_args()


def _kinds(place: Path) -> dict[str, Kind]:
    encoder = ("--encoder", str(place / "model"))
    train = ("train", "snli-ce", *encoder, "--threads", "1", "--resume", *SHORT)
    grid = ("grid", "run", "killed.toml", *encoder, "--workers", "1", "--threads", "1")
    encode = (
        "encode",
        f"{place / 'model'}?pooling=mean",
        str(place / "lines.txt"),
        "-o",
        "vectors.npy",
        "--threads",
        "1",
        "--force",
    )
    evaluate = (
        "evaluate",
        f"{place / 'model'}?pooling=mean",
        "--task",
        "sts12",
        "--threads",
        "1",
    )
    return {
        "train": Kind(name="training", command=train, prepare=_nothing, remains=_models),
        "grid": Kind(name="grid of two cells", command=grid, prepare=_grid_file, remains=_models),
        "encode": Kind(
            name="encoding of 10,000 sentences",
            command=encode,
            prepare=lambda _: _inputs(place),
            remains=_vectors,
        ),
        "evaluate": Kind(
            name="evaluation on a dataset", command=evaluate, prepare=_own_cache, remains=_scores
        ),
    }


def _nothing(folder: Path) -> None:
    """A command that needs no file of its own."""


def _grid_file(folder: Path) -> None:
    (folder / "killed.toml").write_text(GRID)


def _own_cache(folder: Path) -> None:
    """So that what one round has cached is not there in the next."""
    os.environ["EMBEDLAB_CACHE"] = str(folder / "cache")
    _inputs(folder.parent)


def _inputs(place: Path) -> None:
    """The sentences that are encoded, once for all rounds."""
    if (place / "lines.txt").exists():
        return
    words = random.Random(0)
    lines = (
        " ".join(words.choice(("a", "man", "dog", "red", "runs", "sees", "the")) for _ in range(12))
        for _ in range(10_000)
    )
    (place / "lines.txt").write_text("\n".join(lines) + "\n")


def _models(folder: Path) -> dict[str, str]:
    """The tensors of every run's model and heads."""
    return {
        str(path.relative_to(folder)): _digest(path)
        for path in sorted(folder.glob("runs/*/seed-*/**/*.safetensors"))
    }


def _vectors(folder: Path) -> dict[str, str]:
    """The written file; a kill while the folder of its chunks is removed may leave that."""
    return {path.name: _digest(path) for path in folder.glob("vectors*") if path.is_file()}


def _scores(folder: Path) -> dict[str, str]:
    """Every stored outcome of the tasks."""
    import polars as pl

    return {
        str(path.relative_to(folder)): hashlib.sha256(
            pl.read_parquet(path, glob=False).write_csv().encode()
        ).hexdigest()
        for path in sorted(folder.glob("cache/models/*/evaluations/**/*.parquet"))
    }


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _campaign(
    kind: Kind, kills: int, typed: argparse.Namespace, rng: random.Random, place: Path, context: Any
) -> Campaign:
    """Kill a kind of command until KILLS are done, in rounds that each begin in an empty folder."""
    expected, whole_s, faults = _undisturbed(kind, place, context)
    done, rounds, equal, longest_s = 0, 0, 0, 0.0
    end_s = time.monotonic() + 60 * typed.minutes
    while done < kills and time.monotonic() < end_s:
        folder = _folder(place, f"round-{rounds}", kind)
        for _ in range(min(typed.in_a_row, kills - done)):
            longest_s = max(longest_s, after_s := rng.uniform(0.0, whole_s))
            if _run(kind, folder, context, kill_after_s=after_s)[0] is not None:
                break  # it came to its end before it was killed
            done += 1
        code, err = _run(kind, folder, context)
        found = kind.remains(folder)
        is_equal = found == expected
        if not is_equal:
            faults += (
                f"{kind.name}, round {rounds}: exit {code}, {len(found)} of {len(expected)} "
                f"files: {err[-300:]}",
            )
        rounds, equal = rounds + 1, equal + is_equal
        shutil.rmtree(folder, ignore_errors=True)
        print(
            f"{kind.name}: {done} of {kills} kills, {equal} of {rounds} ends equal",
            file=sys.stderr,
            flush=True,
        )
    return Campaign(
        kind=kind.name, kills=done, rounds=rounds, equal=equal, longest_s=longest_s, faults=faults
    )


def _undisturbed(
    kind: Kind, place: Path, context: Any
) -> tuple[dict[str, str], float, tuple[str, ...]]:
    """What the command leaves when it is not killed, and how long it takes the second time, when
    its processes are warm.
    """
    whole_s, found = 0.0, [{}, {}]
    for number in range(2):
        folder = _folder(place, f"undisturbed-{number}", kind)
        began = time.monotonic()
        code, err = _run(kind, folder, context)
        whole_s = time.monotonic() - began
        found[number] = kind.remains(folder)
        if code != 0 or not found[number]:
            raise SystemExit(f"{kind.name}: the undisturbed command failed: exit {code}\n{err}")
    if found[0] != found[1]:
        raise SystemExit(f"{kind.name}: two undisturbed ends differ: {found}")
    return found[0], whole_s, ()


def _folder(place: Path, name: str, kind: Kind) -> Path:
    folder = place / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ["EMBEDLAB_CACHE"] = str(place / "cache" / "embedlab")
    kind.prepare(folder)
    return folder


def _run(
    kind: Kind, folder: Path, context: Any, *, kill_after_s: float | None = None
) -> tuple[int | None, str]:
    """The exit code of the command, None where it was killed with all that it started, and what it
    wrote to stderr.
    """
    process = context.Process(
        target=_child, args=(list(kind.command), str(folder), dict(os.environ))
    )
    process.start()
    process.join(kill_after_s)
    if process.exitcode is None:
        _kill_all(process.pid)
        process.join()
    code = None if process.exitcode == -signal.SIGKILL else process.exitcode
    return code, (folder / "err.txt").read_text() if (folder / "err.txt").exists() else ""


def _kill_all(pid: int) -> None:
    """Kill a process and those that it has started, also in sessions of their own."""
    with suppress(psutil.NoSuchProcess):
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(family[1:], timeout=30)


def _child(command: list[str], folder: str, environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    out, err = (
        os.open(os.devnull, os.O_WRONLY),
        os.open("err.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    )
    os.dup2(out, 1)
    os.dup2(err, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    from embedlab.cli.app import main as program
    from embedlab.encoders import partial_vectors
    from embedlab.training import loop

    partial_vectors.CHUNK = 1_000  # so that kills fall between chunks too
    loop.CHECKPOINT_S, loop.CHECKPOINT_SHARE = (
        0.0,
        0.5,
    )  # and between the checkpoints of a training of seconds

    code = int(program(command))
    sys.stderr.flush()
    os._exit(code)


def _table(campaigns: Sequence[Campaign]) -> tuple[list[Measured], list[str]]:
    """The counts of all campaigns, and what is said of each."""
    kills, rounds, equal = (
        sum(getattr(one, key) for one in campaigns) for key in ("kills", "rounds", "equal")
    )
    measured = [
        Measured(what=f"{one.kind}: kills", ours=one.kills, unit="kills", limit="")
        for one in campaigns
    ]
    limit = (
        "≥ 130" if len(campaigns) > 1 else ""
    )  # a single kind is an addition to a whole campaign
    measured.append(Measured(what="in all", ours=kills, unit="kills", limit=limit))
    measured += [
        Measured(
            what=f"{one.kind}: ends that differ", ours=one.rounds - one.equal, unit="", limit="0"
        )
        for one in campaigns
    ]
    notes = [
        f"{one.kind}: {one.rounds} rounds, {one.equal} with the undisturbed end; kills up to "
        f"{one.longest_s:.1f} s"
        for one in campaigns
    ]
    notes += [
        f"{equal} of {rounds} ends are those of the undisturbed command, bit by bit.",
        *(text for one in campaigns for text in one.faults),
    ]
    return measured, notes


if __name__ == "__main__":
    sys.exit(main())
