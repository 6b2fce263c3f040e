"""Whether two checkouts print the same JSON: some 65 commands on one lab of real corpora, with the
differences that are intended.

    python benchmarks/same_answers.py OLD NEW --data DIR [--lab FOLDER] [--only TEXT…]

DIR has real corpora in their own layouts, of which the lab gets the STS sets whole and the first
rows of the others. OLD makes the lab once: runs of six recipes from a small random encoder, two of
them with two seeds, a grid and files of a user's own. Then three copies of it answer every command:
OLD and NEW with nothing stored, and NEW with what OLD has stored. Counts, text and scores must be
equal to the bit, letters and marks too; what is derived from a variance (intervals, p, design
effects) to 1e-12. Each difference that is intended is a row of
benchmarks/intended_differences.toml with its reason; any other ends the program with 1.
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

from real_lab import (
    SETTINGS,
    add_data_option,
    cut_corpora,
    frequent_words,
    write_encoder,
    write_queries,
)

INTENDED = Path(__file__).with_name("intended_differences.toml")
TOLERANCE = 1e-12
PAGE = "page.html"
FORKS = """
import json, os, sys
import polars, torch, transformers
from embedlab.cli.app import main
for line in sys.stdin:
    folder, *words = json.loads(line)
    if (child := os.fork()) == 0:
        os.chdir(folder)
        for number, name in ((1, "../stdout"), (2, "../stderr")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        try:
            code = int(main(words))
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
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
    "--encoder",
    "tiny",
    "--max-steps",
    "6",
    "--set",
    "evaluate.dev=none",
    "--set",
    "evaluate.keep=last",
    "--set",
    "evaluate.tasks=[]",
    "--precision",
    "float32",
)
LAB: tuple[tuple[str, ...], ...] = (
    ("train", "snli-ce", *SHORT, "--name", "ce", "--seeds", "2"),
    ("train", "snli-supcl", *SHORT, "--name", "supcl", "--seeds", "2"),
    ("train", "defsent", *SHORT, "--name", "def"),
    ("train", "glue-finetune", *SHORT, "--name", "cola"),
    ("train", "multitask", *SHORT, "--name", "heads"),
    ("train", "pairs.csv", *SHORT, "--name", "own"),
    ("grid", "run", "rates.toml", "--encoder", "tiny", "--workers", "1", "--precision", "float32"),
)
PAIRS = "sentence1,sentence2,score\n" + "".join(
    f"a {subject} {verb} here,the {subject} {other},{(3 * number + 2 * place) % 6}\n"
    for number, subject in enumerate(("dog", "cat", "man", "woman", "child"))
    for place, (verb, other) in enumerate(
        (("sleeps", "runs"), ("eats", "eats"), ("sings", "is quiet"), ("reads", "reads a book"))
    )
)
QUESTIONS = "question,answer\n" + "".join(
    f"where is the {thing}?,the {thing} is in the {place}\n"
    for thing, place in (("dog", "garden"), ("cat", "kitchen"), ("man", "street"), ("girl", "car"))
)
SENTENCES = "a dog sleeps\na cat sleeps\nthe man sings\n"
SHORT_SETTING = ("--setting", "prototyping")

# Each is typed with --json. `page.html` is written anew by each command that has it, and compared.
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("compare", "ce", "supcl", "dice"),
    ("compare", "ce", "supcl", "--task", "sts12", "--by", "source", "--html", PAGE),
    ("compare", "ce", "supcl", "dice", "--task", "sts12", "--by", "dice"),
    ("compare", "ce", "supcl", "--task", "sts13", "--by", "negation", "--where", "words<12"),
    ("compare", "ce", "dice", "--aggregate", "wmean"),
    ("compare", "ce", "dice", "--aggregate", "mean", "--task", "sts14"),
    ("compare", "ce@1", "supcl@1", "--task", "sts15"),
    ("compare", "ce", "supcl", "--equivalent", "2", "--task", "sts16"),
    ("compare", "ce"),
    ("compare", "wordllama", "dice", "--task", "starter", "--by", "length"),
    ("compare", "ce", "dice", "--task", "pairs.csv"),
    ("compare", "ce", "wordllama", "questions.csv"),
    ("compare", "ce@1", "supcl@1", "--suite", "transfer", *SHORT_SETTING),
    ("compare", "ce", "supcl", "--task", "sts12", "--task", "cr", *SHORT_SETTING),
    ("compare", "ce@1", "supcl@1", "--task", "cr", *SHORT_SETTING),
    ("compare", "ce", "supcl", "--task", "sick-r-supervised", *SHORT_SETTING),
    ("compare", "cola", "--suite", "glue"),
    ("compare", "heads", "--suite", "multitask"),
    ("compare", "ce", "wordllama", "--task", "retrieval:queries"),
    ("compare", "ce", "wordllama", "--suite", "contrast"),
    ("compare", "ce", "dice", "--task", "geometry", "--task", "sts13"),
    ("compare", "average:ce,def", "concat:ce,def"),
    ("why", "ce", "wordllama", "--task", "sts12"),
    ("why", "ce", "supcl", "--task", "mr", *SHORT_SETTING),
    ("explain", "A cat sleeps here.", "The cat is awake.", "--model", "ce", "--model", "dice"),
    ("explain", "A cat sleeps.", "No cat sleeps.", "--model", "supcl", "--reference", "sts12"),
    ("evaluate", "ce", "dice"),
    ("evaluate", "supcl", "--by", "source"),
    ("evaluate", "supcl", "--by", "dice", "--task", "sts12"),
    ("evaluate", "supcl", "--metric", "pearson"),
    ("evaluate", "def", "--suite", "transfer", *SHORT_SETTING),
    ("evaluate", "ce", "--task", "mrpc", *SHORT_SETTING),
    ("evaluate", "cola", "--suite", "glue"),
    ("evaluate", "heads", "--suite", "multitask"),
    ("evaluate", "ce", "--task", "geometry"),
    ("evaluate", "def", "--task", "word_prediction"),
    ("evaluate", "ce", "wordllama", "--task", "retrieval:queries"),
    ("evaluate", "supcl", "wordllama", "--suite", "contrast"),
    ("evaluate", "own", "pairs.csv", "questions.csv"),
    ("verify", *2 * ("runs/cola/seed-1/evaluations/glue.json",)),
    (
        "verify",
        "runs/cola/seed-1/evaluations/glue.json",
        "runs/heads/seed-1/evaluations/multitask.json",
    ),
    ("power", "ce", "supcl"),
    ("power", "ce@1", "supcl@1", "--dataset", "sts12", "--detect", "2"),
    ("pairs", "ce", "supcl", "--task", "sts12", "--sort", "gap", "--limit", "8"),
    ("pairs", "ce", "--task", "sts12", "--where", "dice>0.5 gold<2", "--limit", "8"),
    ("nearest", "a dog sleeps", "sentences.txt", "--model", "ce"),
    ("nearest", "a dog sleeps", "--model", "ce"),
    ("score", "A cat sleeps.", "A cat is awake.", "--model", "supcl", "--model", "dice"),
    ("train", "snli-supcl", "--encoder", "tiny", "--dry-run"),
    ("train", "multitask", "--encoder", "tiny", "--dry-run"),
    ("train", "pairs.csv", "--encoder", "tiny", "--dry-run"),
    ("reproduce", "liao", "table7", "--published-only"),
    ("reproduce", "tsukagoshi", "table2", "--published-only"),
    ("reproduce", "sedghamiz", "table1", "--published-only"),
    ("reproduce", "chen", "table1", "--published-only"),
    ("grid", "table", "rates"),
    ("grid", "status", "rates"),
    ("runs", "show", "ce@1"),
    ("runs", "ls"),
    ("data", "overlaps", "snli", "sts12", "sts13"),
    ("data", "check"),
    ("data", "ls"),
    ("models", "ls"),
    ("recipes",),
    ("recipes", "snli-supcl"),
)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a command printed, and how it ended."""

    code: int
    answer: Any  # the JSON, or the text where it is none
    page: list[str]  # the words of the page that it wrote
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


class Checkout:
    """A process that has loaded a checkout, and forks for each command: loading it anew would take
    most of the time.
    """

    def __init__(self, checkout: Path) -> None:
        own = {"PYTHONPATH": str(checkout), "COLUMNS": "200", "EMBEDLAB_DATA": "corpora"}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", FORKS],
            env=os.environ | SETTINGS | own,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def answer(self, folder: Path, *words: str) -> Answer:
        """Run one command in FOLDER."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        (folder / PAGE).unlink(missing_ok=True)
        self._process.stdin.write(json.dumps([str(folder), *words]) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        out, err, page = (
            path.read_text(encoding="utf-8").replace(str(folder), "LAB") if path.exists() else ""
            for path in (folder.parent / "stdout", folder.parent / "stderr", folder / PAGE)
        )
        try:
            answer = json.loads(out)
        except ValueError:
            answer = out
        return Answer(code=code, answer=answer, errors=err.strip()[-300:], page=words_of_page(page))


def words_of_page(page: str) -> list[str]:
    """Return the texts of a page, without scripts, styles and what differs from day to day."""
    bare = re.sub(r"(?s)<(script|style|svg).*?</\1>", "", page)
    texts = (text.strip() for text in re.split(r"<[^>]+>", bare))
    return [text for text in texts if text and not re.search(r"\d{4}-\d\d-\d\d|seconds", text)]


def make_lab(checkout: Checkout, folder: Path, data: Path) -> None:
    """Train the runs and write a user's own files, by one checkout."""
    corpora = cut_corpora(data, folder / "corpora")
    write_queries(data, folder / "queries")
    write_encoder(folder / "tiny", frequent_words(corpora))
    (folder / "questions.csv").write_text(QUESTIONS)
    (folder / "rates.toml").write_text(GRID.replace("[set]", '[set]\n"max_steps" = 6'))
    (folder / "pairs.csv").write_text(PAIRS)
    (folder / "sentences.txt").write_text(SENTENCES)
    for words in LAB:
        if (made := checkout.answer(folder, *words)).code:
            sys.exit(f"{' '.join(words)} of the old checkout ended with {made.code}: {made.errors}")


def without_stored(lab: Path, folder: Path) -> Path:
    """Return a copy of the lab in FOLDER in which nothing is stored but the runs, and what the
    grid's table is made of.
    """
    shutil.copytree(lab, folder)
    shutil.rmtree(folder / "cache", ignore_errors=True)
    for name in ("evaluations",):
        for path in sorted(folder.glob(f"runs/[!r]*/**/{name}")):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return folder


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


def compared(
    what: str, command: str, old: Answer, new: Answer, intended: Sequence[Intended]
) -> int:
    """Print the differences of two answers that are not intended, and return their number."""
    found = [("exit code", f"{old.code}, now {new.code}: {new.errors}")]
    found = [] if old.code == new.code else found
    found += [*differences(old.answer, new.answer), *differences(old.page, new.page, "page")]
    open_ = {
        place: text
        for place, text in found
        if not any(one.allows(command, place) for one in intended)
    }
    for place, text in open_.items():
        print(f"{what}: {command}: {place or 'answer'}: {text}", flush=True)
    return len(open_)


def main() -> None:
    """Run both and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkouts", nargs=2, type=Path, metavar="CHECKOUT")
    add_data_option(parser)
    parser.add_argument(
        "--lab", type=Path, help="where the lab is, or is made, so that a second run need not train"
    )
    parser.add_argument("--only", nargs="+", default=[""], help="only commands with one of these")
    arguments = parser.parse_args()
    rows = tomllib.loads(INTENDED.read_text()).get("difference", [])
    intended = [Intended(**row) for row in rows]
    chosen = [
        words for words in COMMANDS if any(text in " ".join(words) for text in arguments.only)
    ]
    old, new = (Checkout(path.absolute()) for path in arguments.checkouts)
    counts = {"refused by the old checkout": 0, "nothing stored": 0, "stored by the old": 0}
    with tempfile.TemporaryDirectory() as scratch:
        lab = (arguments.lab or Path(scratch) / "lab").absolute()
        if not lab.exists():
            make_lab(old, lab, arguments.data)
        first, second = (without_stored(lab, Path(scratch) / name / "lab") for name in ("a", "b"))
        before: dict[tuple[str, ...], Answer] = {}
        for words in chosen:
            command = " ".join(words)
            before[words] = old.answer(first, *words, "--json")
            if before[words].code:
                counts["refused by the old checkout"] += 1
                print(f"the old checkout refuses {command}: {before[words].errors}", flush=True)
            now = new.answer(second, *words, "--json")
            counts["nothing stored"] += compared(
                "nothing stored", command, before[words], now, intended
            )
            print(f"{len(before)} of {len(chosen)}: {command}", file=sys.stderr, flush=True)
        for words in chosen:
            counts["stored by the old"] += compared(
                "stored by the old",
                " ".join(words),
                before[words],
                new.answer(first, *words, "--json"),
                intended,
            )
    print(f"{len(chosen)} commands; kinds of unintended differences:", counts)
    sys.exit(any(counts.values()))


if __name__ == "__main__":
    main()
