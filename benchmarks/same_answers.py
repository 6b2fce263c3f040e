"""Whether two checkouts print the same JSON: 40 commands on one lab of the sample world, with the
differences that are intended.

    python benchmarks/same_answers.py OLD NEW [--lab FOLDER] [--only WORD]

OLD makes the lab once: runs of three recipes, two of them with two seeds, a grid, scores and
vectors of a user's own. Then three copies of it answer every command: OLD and NEW with nothing
stored, and NEW with what OLD has stored. Counts, text and scores must be equal to the bit, letters
and marks too; what is derived from a variance (intervals, p, design effects) to 1e-12. Each
difference that is intended is a row of benchmarks/intended_differences.toml with its reason; any
other ends the program with 1.
"""

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INTENDED = Path(__file__).with_name("intended_differences.toml")
TOLERANCE = 1e-12
# What is computed from variances; the rest of an answer is compared exactly.
APPROXIMATE = re.compile(
    r"(low|high|p|p_corrected|p_equivalent|sd|design_effect|component_share|detectable|effective_pairs)$"
)
# What differs between two moments and folders, not between two versions.
MOMENTARY = re.compile(
    r"(^|\.)(seconds|time|time_s|started|ended|age|size|bytes|signature|signatures|version|mib|folder|path|pid|checksum)(\.|$|\[)"
)

GRID = """
summary = "Two rates with two poolings."
base = "snli-ce"
seeds = [1]
tasks = ["sts"]

[set]
"evaluate.dev" = "none"

[axes]
"optim.lr" = [1e-3, 3e-3]
"encoder.pooling" = ["cls", "mean"]
"""
SHORT = (
    "--sample",
    "--max-steps",
    "8",
    "--set",
    "evaluate.dev=none",
    "--set",
    "evaluate.tasks=[]",
    "--precision",
    "float32",
)
LAB: tuple[tuple[str, ...], ...] = (
    ("train", "snli-ce", *SHORT, "--name", "ce", "--seeds", "2"),
    ("train", "snli-supcl", *SHORT, "--name", "supcl", "--seeds", "2"),
    ("train", "defsent", *SHORT, "--name", "def"),
    ("grid", "run", "rates.toml", "--sample", "--workers", "2", "--precision", "float32"),
)
PAIRS = "sentence1,sentence2,score\n" + "".join(
    f"a {subject} {verb} here,the {subject} {other},{(3 * number + 2 * place) % 6}\n"
    for number, subject in enumerate(("dog", "cat", "man", "woman", "child"))
    for place, (verb, other) in enumerate(
        (("sleeps", "runs"), ("eats", "eats"), ("sings", "is quiet"), ("reads", "reads a book"))
    )
)
SENTENCES = "a dog sleeps\na cat sleeps\nthe man sings\n"

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("compare", "ce", "supcl", "dice", "--sample"),
    ("compare", "ce", "supcl", "--sample", "--task", "sts12", "--by", "source"),
    ("compare", "ce", "supcl", "dice", "--sample", "--task", "sts12", "--by", "dice"),
    ("compare", "ce", "dice", "--sample", "--aggregate", "wmean"),
    ("compare", "ce", "dice", "--sample", "--aggregate", "mean", "--task", "sts14"),
    ("compare", "ce@1", "supcl@1", "--sample", "--test", "williams"),
    ("compare", "ce@1", "supcl@2", "dice", "--sample", "--test", "steiger", "--task", "sts15"),
    ("compare", "ce", "supcl", "--sample", "--equivalent", "2"),
    ("compare", "ce", "--sample"),
    ("compare", "ce", "dice", "--sample", "--task", "pairs.csv"),
    (
        "compare",
        "ce",
        "supcl",
        "--sample",
        "--task",
        "mr",
        "--task",
        "trec",
        "--setting",
        "prototyping",
    ),
    (
        "compare",
        "ce",
        "supcl",
        "--sample",
        "--task",
        "sts12",
        "--task",
        "cr",
        "--setting",
        "prototyping",
    ),
    (
        "compare",
        "ce@1",
        "supcl@1",
        "--sample",
        "--task",
        "cr",
        "--test",
        "mcnemar",
        "--setting",
        "prototyping",
    ),
    ("compare", "ce", "supcl", "--sample", "--task", "sst2", "--setting", "prototyping"),
    ("compare", "ce", "dice", "--sample", "--task", "geometry", "--task", "sts13"),
    ("compare", "average:ce,def", "concat:ce,def", "--sample"),
    (
        "compare",
        "ce",
        "supcl",
        "--sample",
        "--task",
        "sick-r-supervised",
        "--setting",
        "prototyping",
    ),
    ("evaluate", "ce", "dice", "--sample"),
    ("evaluate", "supcl", "--sample", "--by", "source"),
    ("evaluate", "supcl", "--sample", "--by", "dice", "--task", "sts12"),
    ("evaluate", "supcl", "--sample", "--metric", "pearson"),
    ("evaluate", "ce", "--sample", "--task", "mrpc", "--setting", "prototyping"),
    ("evaluate", "ce", "--sample", "--task", "geometry"),
    ("evaluate", "def", "--sample", "--task", "word_prediction"),
    ("evaluate", "ce", "--sample", "--task", "probing", "--setting", "prototyping"),
    ("power", "ce", "supcl", "--sample"),
    ("power", "ce@1", "supcl@1", "--sample", "--dataset", "sts12", "--detect", "2"),
    ("pairs", "ce", "supcl", "--sample", "--sort", "gap", "--limit", "8"),
    ("pairs", "ce", "--sample", "--where", "dice>0.5 gold<2", "--limit", "8"),
    ("nearest", "a dog sleeps", "--model", "ce", "--sample"),
    (
        "score",
        "A cat sleeps.",
        "A cat is awake.",
        "--sample",
        "--model",
        "supcl",
        "--model",
        "dice",
    ),
    ("reproduce", "liao", "table7", "--published-only"),
    ("reproduce", "tsukagoshi", "table2", "--published-only"),
    ("reproduce", "sedghamiz", "table1", "--published-only"),
    ("grid", "table", "rates", "--sample"),
    ("grid", "status", "rates", "--sample"),
    ("runs", "show", "ce@1", "--sample"),
    ("data", "overlaps", "snli", "sts12", "sts13", "--sample"),
    ("data", "check", "--sample"),
    ("recipes",),
)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a command printed, and how it ended."""

    code: int
    answer: Any  # the JSON, or the text where it is none
    errors: str


@dataclass(frozen=True, kw_only=True)
class Intended:
    """A difference that is wanted: in answers of commands that hold COMMAND, at places that PLACE
    matches as a whole.
    """

    command: str
    place: str
    reason: str

    def allows(self, command: str, place: str) -> bool:
        """Return whether it is about this difference."""
        return self.command in command and re.fullmatch(self.place, place) is not None


def embedlab(checkout: Path, folder: Path, *words: str) -> Answer:
    """Run one command of a checkout in FOLDER."""
    environment = os.environ | {
        "PYTHONPATH": str(checkout),
        "EMBEDLAB_CACHE": "cache",
        "EMBEDLAB_THREADS": "1",
        "COLUMNS": "200",
    }
    ended = subprocess.run(
        [sys.executable, "-m", "embedlab", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        answer = json.loads(ended.stdout)
    except ValueError:
        answer = ended.stdout
    return Answer(code=ended.returncode, answer=answer, errors=ended.stderr)


def make_lab(checkout: Path, folder: Path) -> None:
    """Train the runs and write a user's own files, by one checkout."""
    folder.mkdir(parents=True)
    (folder / "rates.toml").write_text(GRID.replace("[set]", '[set]\n"max_steps" = 8'))
    (folder / "pairs.csv").write_text(PAIRS)
    (folder / "sentences.txt").write_text(SENTENCES)
    for words in LAB:
        made = embedlab(checkout, folder, *words)
        if made.code:
            sys.exit(f"{' '.join(words)} of {checkout} ended with {made.code}: {made.errors}")


def without_stored(lab: Path, folder: Path) -> Path:
    """Return a copy of the lab in FOLDER in which nothing is stored but the runs, and what the
    grid's table is made of.
    """
    shutil.copytree(lab, folder)
    shutil.rmtree(folder / "cache", ignore_errors=True)
    for name in ("scores.parquet", "evaluations"):
        for path in sorted(folder.glob(f"runs-sample/[!r]*/**/{name}")):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return folder


def answers(checkout: Path, folder: Path, only: str) -> dict[str, Answer]:
    """Return the answer to every command by its words."""
    chosen = [words for words in COMMANDS if only in " ".join(words)]
    return {" ".join(words): embedlab(checkout, folder, *words, "--json") for words in chosen}


def differences(old: Any, new: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield each place where two answers differ, with both values; places in lists have no number,
    so that one row is about all.
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in [*old, *(key for key in new if key not in old)]:
            inner = f"{place}.{key}" if place else str(key)
            if key not in old or key not in new:
                yield inner, f"only in the {'old' if key in old else 'new'} answer"
            else:
                yield from differences(old[key], new[key], inner)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{place}[]", f"{len(old)} entries, now {len(new)}"
            old, new = of_same_rows(old, new)
        for first, second in zip(old, new, strict=False):
            yield from differences(first, second, f"{place}[]")
    elif not is_equal(old, new, place) and not MOMENTARY.search(place):
        yield place, f"{old!r}, now {new!r}"


def of_same_rows(old: list[Any], new: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return those rows of both lists that are of the same dataset and split, in one order; other
    lists as they are.
    """
    named = [
        {(row["dataset"], row["split"]): row for row in rows}
        if all(map(_is_of_split, rows))
        else {}
        for rows in (old, new)
    ]
    both = [name for name in named[0] if name in named[1]]
    return (
        ([named[0][name] for name in both], [named[1][name] for name in both])
        if both
        else (old, new)
    )


def _is_of_split(row: Any) -> bool:
    return isinstance(row, Mapping) and {"dataset", "split"} <= row.keys()


def is_equal(old: Any, new: Any, place: str) -> bool:
    """Return whether two values are the same; to 1e-12 where they come from a variance."""
    if isinstance(old, float) and isinstance(new, float) and APPROXIMATE.search(place):
        return math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return type(old) is type(new) and bool(old == new)


def compare(
    name: str, old: Mapping[str, Answer], new: Mapping[str, Answer], intended: Sequence[Intended]
) -> int:
    """Print the differences of two sets of answers that are not intended, and return their
    number.
    """
    count = 0
    for command, before in old.items():
        now = new[command]
        found = (
            []
            if before.code == now.code
            else [("exit code", f"{before.code}, now {now.code}: {now.errors.strip()[-300:]}")]
        )
        found += differences(before.answer, now.answer)
        open_ = {
            place: text
            for place, text in found
            if not any(one.allows(command, place) for one in intended)
        }
        for place, text in open_.items():
            print(f"{name}: {command}: {place or 'answer'}: {text}")
        count += len(open_)
    print(f"{name}: {len(old)} commands, {count} kinds of unintended differences")
    return count


def main() -> None:
    """Run both and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkouts", nargs=2, type=Path, metavar="CHECKOUT")
    parser.add_argument(
        "--lab", type=Path, help="where the lab is, or is made, so that a second run need not train"
    )
    parser.add_argument("--only", default="", help="only commands with this text")
    arguments = parser.parse_args()
    old, new = (path.absolute() for path in arguments.checkouts)
    intended = [
        Intended(**row) for row in tomllib.loads(INTENDED.read_text()).get("difference", [])
    ]
    with tempfile.TemporaryDirectory() as scratch:
        lab = (arguments.lab or Path(scratch) / "lab").absolute()
        if not lab.exists():
            make_lab(old, lab)
        before = answers(old, without_stored(lab, Path(scratch) / "old" / "lab"), arguments.only)
        failed = {command: answer for command, answer in before.items() if answer.code}
        for command, answer in failed.items():
            print(f"the old checkout refuses {command}: {answer.errors.strip()[-300:]}")
        cold = compare(
            "nothing stored",
            before,
            answers(new, without_stored(lab, Path(scratch) / "new" / "lab"), arguments.only),
            intended,
        )
        warm = Path(scratch) / "warm" / "lab"
        shutil.copytree(Path(scratch) / "old" / "lab", warm)
        stored = compare("stored by the old", before, answers(new, warm, arguments.only), intended)
    sys.exit(bool(cold or stored or failed))


if __name__ == "__main__":
    main()
