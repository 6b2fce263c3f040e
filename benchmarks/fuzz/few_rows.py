"""Files of a user that are in order but say little: few rows, equal rows, one class, one anchor,
constant or undefined scores, through whole commands.

    python benchmarks/fuzz/few_rows.py [--cases 600] [--seed 21] [--write]

Each file is of pairs, ratings, labels, queries or contrasts; a command shows, compares or explains
word overlap, word vectors and scores of a file on it. Warnings of other packages count as faults.
"""

import contextlib
import io
import random
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from campaign import Case, arguments, generator, report, timed

from embedlab.cli.app import main
from embedlab.core.errors import UsageError

SENTENCES = (
    "a cat sleeps on the mat",
    "the dog runs",
    "two men play chess",
    "it rains again",
    "a woman plays the violin",
    "x",
    "a cat sleeps",
    "he did not call her",
)
Row = tuple[str, ...]


def pairs(values: Sequence[str]) -> Callable[[random.Random, int], list[Row]]:
    """Makes rows of two sentences and one of VALUES."""
    return lambda rng, n: [
        (rng.choice(SENTENCES), rng.choice(SENTENCES), rng.choice(values)) for _ in range(n)
    ]


def several(width: int) -> Callable[[random.Random, int], list[Row]]:
    """Makes rows of WIDTH sentences."""
    return lambda rng, n: [tuple(rng.sample(SENTENCES, width)) for _ in range(n)]


KINDS: Mapping[str, tuple[Row, Callable[[random.Random, int], list[Row]]]] = {
    "scored pairs": (("sentence1", "sentence2", "score"), pairs(("0.5", "1", "3", "4.5", "5"))),
    "pairs of two labels": (("sentence1", "sentence2", "label"), pairs(("0", "1"))),
    "labelled pairs": (
        ("premise", "hypothesis", "label"),
        pairs(("entailment", "neutral", "contradiction")),
    ),
    "queries": (("anchor", "positive"), several(2)),
    "contrasts": (("anchor", "positive", "negative"), several(3)),
    "classes": (
        ("text", "label"),
        lambda rng, n: [(rng.choice(SENTENCES), rng.choice(("a", "b", "c"))) for _ in range(n)],
    ),
}


def as_they_are(rows: list[Row], _: random.Random) -> list[Row]:
    """Nothing is changed."""
    return rows


def one_first(rows: list[Row], _: random.Random) -> list[Row]:
    """All rows have one first sentence."""
    return [(rows[0][0], *row[1:]) for row in rows]


def one_last(rows: list[Row], _: random.Random) -> list[Row]:
    """All rows have one value or sentence in the last column."""
    return [(*row[:-1], rows[0][-1]) for row in rows]


def equal(rows: list[Row], _: random.Random) -> list[Row]:
    """All rows are equal."""
    return [rows[0]] * len(rows)


def identical_sentences(rows: list[Row], _: random.Random) -> list[Row]:
    """The first two sentences of a row are equal."""
    return [(row[0], row[0], *row[2:]) if len(row) > 2 else row for row in rows]


def without_words(rows: list[Row], rng: random.Random) -> list[Row]:
    """Some first sentences have no word."""
    return [(rng.choice(("?!", "…", row[0])), *row[1:]) for row in rows]


def chain(rows: list[Row], _: random.Random) -> list[Row]:
    """Each row shares a sentence with the next."""
    return [(row[0], rows[(at + 1) % len(rows)][0], *row[2:]) for at, row in enumerate(rows)]


def one_differs(rows: list[Row], _: random.Random) -> list[Row]:
    """The last column has one value but in the first row."""
    return [rows[0], *((*row[:-1], rows[-1][-1]) for row in rows[1:])]


SHAPES = (
    as_they_are,
    one_first,
    one_last,
    equal,
    identical_sentences,
    without_words,
    chain,
    one_differs,
)
ROWS = (1, 2, 3, 4, 6, 12, 40)
TWO = ("dice", "wordllama")
COMMANDS: Sequence[Sequence[str]] = (
    ("evaluate", "wordllama", "dice", "--task", "FILE"),
    ("evaluate", "wordllama", "--task", "FILE", "--json"),
    ("evaluate", "wordllama", "--task", "FILE", "--by", "dice"),
    ("evaluate", "wordllama", "dice", "--task", "FILE", "--where", "dice>0.2"),
    ("evaluate", "wordllama", "dice", "--task", "FILE", "--common"),
    ("compare", *TWO, "--task", "FILE"),
    ("compare", *TWO, "--task", "FILE", "--notes"),
    ("compare", *TWO, "--task", "FILE", "--by", "dice"),
    ("compare", *TWO, "--task", "FILE", "--by", "words"),
    ("compare", *TWO, "--task", "FILE", "--where", "dice>0.2"),
    ("compare", *TWO, "wordllama?dim=64", "--task", "FILE", "--letters"),
    ("compare", *TWO, "--task", "FILE", "--margin", "1", "--json"),
    ("why", *TWO, "--task", "FILE"),
    ("why", *TWO, "--task", "FILE", "--json"),
    ("compare", *TWO, "--task", "FILE", "--task", "OTHER"),
    ("compare", *TWO, "--task", "FILE", "--task", "OTHER", "--where", "dice<0.9"),
    ("evaluate", *TWO, "--task", "FILE", "--task", "OTHER"),
    ("why", *TWO, "--task", "FILE", "--task", "OTHER"),
    ("power", *TWO, "--task", "FILE"),
    ("pairs", *TWO, "--task", "FILE"),
    ("data", "check", "FILE"),
    ("train", "FILE", "--dry-run", "--data", "tiny"),
)


def case(number: int, seed: int, folder: Path) -> Case:
    """One command on one file, or on two of any kinds."""
    rng = generator(seed, number)
    words = rng.choice(COMMANDS)
    files: dict[str, str] = {}
    kinds, shapes = [], []
    for word in ("FILE", "OTHER"):
        if word in words:
            kind, shape = rng.choice([*KINDS]), rng.choice(SHAPES)
            header, make = KINDS[kind]
            rows = shape(make(rng, rng.choice(ROWS)), rng)
            name = str(folder / f"{number}-{word.lower()}.tsv")
            files[word] = name
            Path(name).write_text("".join("\t".join(row) + "\n" for row in (header, *rows)))
            kinds.append(kind)
            shapes.append(shape.__name__.replace("_", " "))

    def run() -> None:
        code, said, out = typed(words, files)
        for word, name in files.items():
            if code == 2 and (meant := re.search(re.escape(name) + r"\?[^']+", said)):
                files[word] = meant[0]  # as its hint says
                code, said, out = typed(words, files)
        if code not in {0, 2, 3, 5} or "unforeseen" in said or "Warning" in said or "nan" in out:
            contents = [Path(name.partition("?")[0]).read_text() for name in files.values()]
            raise RuntimeError("\n".join([f"{code}: {words} {files}", *contents, said, out]))
        if code in {2, 3} and not out:
            message, _, hint = said.partition("\nhint: ")
            raise UsageError(message.rpartition("\n")[2], hint=hint.partition("\n")[0])

    return Case(target=f"{words[0]} {' and '.join(kinds)}", mutation=shapes[-1], run=run)


def typed(words: Sequence[str], files: Mapping[str, str]) -> tuple[int, str, str]:
    """How a command on FILES ends: its exit code, what it says, and its answer."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error", RuntimeWarning)
        try:
            code = main([files.get(word, word) for word in words])
        except SystemExit as ended:
            code = int(ended.code or 0)
    return code, err.getvalue(), out.getvalue()


def run() -> int:
    """Run the campaign; the exit code is 1 where a case ended with a fault."""
    options = arguments(__doc__ or "", 600)
    with tempfile.TemporaryDirectory() as folder:
        cases = [case(number, options.seed, Path(folder)) for number in range(options.cases)]
        outcomes, seconds = timed(cases, limit_s=max(options.limit_s, 120))
    return report(
        "few_rows",
        "Files with few rows",
        outcomes,
        seconds=seconds,
        notes=("a fault is an end that was not foreseen, a warning, or nan in an answer",),
        write=options.write,
    )


if __name__ == "__main__":
    raise SystemExit(run())
