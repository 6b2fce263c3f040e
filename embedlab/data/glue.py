"""GLUE's classification tasks in GLUE's own folder layout.

Columns: sentence, label; of pairs: sentence1, sentence2, label, which is null in the test splits. STS-B is the dataset `sts-benchmark`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import polars as pl

from embedlab.data.dataset import Dataset, Expected, FileLayout, ParsedRows, Split
from embedlab.data.text_file import bad_line, read_fields


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of sentences and label in a task's file: names in a header line, or positions without one."""

    sentences: tuple[str | int, ...]
    label: str | int | None  # None: GLUE does not publish test labels
    count: int = 0  # of all columns, for files without a header line


def read_glue(paths: Sequence[Path], *, columns: Columns, labels: Sequence[str]) -> ParsedRows:
    """Return the rows of a tab-separated file in order; a label that is not in LABELS is an error at its line."""
    (path,) = paths
    wanted = [*columns.sentences, *([columns.label] if columns.label is not None else [])]
    frame = read_fields(path, wanted, line_shape=", ".join(map(str, wanted)), fields=(columns.count,))
    names = ["sentence"] if len(columns.sentences) == 1 else ["sentence1", "sentence2"]
    # One selection instead of a renaming: QNLI's second text is called "sentence" in the file.
    rows = frame.select(
        "line",
        *(pl.col(str(theirs)).str.strip_chars().alias(ours) for theirs, ours in zip(columns.sentences, names, strict=True)),
        (pl.col(str(columns.label)).str.strip_chars() if columns.label is not None else pl.lit(None, pl.String)).alias("label"),
    )
    wrong = rows.filter(~pl.col("label").is_in(labels))  # null is neither in the labels nor outside them
    if not wrong.is_empty():
        raise bad_line(path, wrong["line"][0], f"label {wrong['label'][0]!r} is none of {', '.join(labels)}")
    return ParsedRows(frame=rows.select(*names, "label"))


Counts = Mapping[str, int] | int  # rows of each class, or the total where the balance is unknown
_AT_HAND = ("CoLA", "SST-2", "MRPC", "RTE", "WNLI")  # whose published files have no empty sentence
_BINARY = ("0", "1")
_ENTAILMENT = ("entailment", "not_entailment")


def _task(
    name: str,
    folder: str,
    summary: str,
    columns: Columns,
    labels: Sequence[str],
    files: Mapping[str, str | tuple[str, ...]],
    unlabelled: Columns | None = None,
    **counts: Counts,
) -> Dataset:
    """Return a task whose splits are in FILES, several where they are alternatives; its test files may have other columns."""
    test_columns = replace(unlabelled or columns, label=None)

    def split(split_name: str, names: str | tuple[str, ...]) -> Split:
        count = counts[split_name.replace("-", "_")]
        read = partial(read_glue, columns=test_columns if split_name.startswith("test") else columns, labels=labels)
        rows, classes = (count, None) if isinstance(count, int) else (sum(count.values()), count)
        choices = (names,) if isinstance(names, str) else names
        layouts = tuple(FileLayout(files=(f"GLUE/{folder}/{file}",), read=read) for file in choices)
        return Split(layouts=layouts, expected=Expected(rows=rows, classes=classes, empty=0 if folder in _AT_HAND else None))

    return Dataset(
        name=name,
        kind="classification" if len(columns.sentences) == 1 else "pair-classification",
        summary=summary,
        home="https://gluebenchmark.com/tasks",
        splits={split_name: split(split_name, names) for split_name, names in files.items()},
    )


_FILES: Mapping[str, str | tuple[str, ...]] = {"train": "train.tsv", "dev": "dev.tsv", "test": "test.tsv"}
_PAIR = Columns(sentences=("sentence1", "sentence2"), label="label")

DATASETS = (
    _task(
        "glue-cola",
        "CoLA",
        "sentences of linguists, acceptable or not (Warstadt 2019)",
        Columns(sentences=(3,), label=1, count=4),
        _BINARY,
        _FILES,
        train={"0": 2_528, "1": 6_023},
        dev={"0": 322, "1": 721},
        unlabelled=Columns(sentences=("sentence",), label=None),
        test=1_063,
    ),
    _task(
        "glue-sst2",
        "SST-2",
        "phrases of film reviews, negative or positive, as GLUE has them (Socher 2013)",
        Columns(sentences=("sentence",), label="label"),
        _BINARY,
        _FILES,
        train={"0": 29_780, "1": 37_569},
        dev={"0": 428, "1": 444},
        test=1_821,
    ),
    _task(
        "glue-mrpc",
        "MRPC",
        "news sentences, paraphrases or not, in GLUE's splits (Dolan 2005)",
        Columns(sentences=("#1 String", "#2 String"), label="Quality"),
        _BINARY,
        {**_FILES, "test": ("test.tsv", "msr_paraphrase_test.txt")},  # GLUE's script makes the first from the second
        train={"0": 1_194, "1": 2_474},
        dev={"0": 129, "1": 279},
        test=1_725,
    ),
    _task(
        "glue-rte",
        "RTE",
        "news texts and statements, entailed or not",
        _PAIR,
        _ENTAILMENT,
        _FILES,
        train={"entailment": 1_249, "not_entailment": 1_241},
        dev={"entailment": 146, "not_entailment": 131},
        test=3_000,
    ),
    _task(
        "glue-wnli",
        "WNLI",
        "Winograd schemas as inference (Levesque 2011)",
        _PAIR,
        _BINARY,
        _FILES,
        train={"0": 323, "1": 312},
        dev={"0": 40, "1": 31},
        test=146,
    ),
    _task(
        "glue-qnli",
        "QNLI",
        "questions and sentences that answer them or not (Rajpurkar 2016)",
        Columns(sentences=("question", "sentence"), label="label"),
        _ENTAILMENT,
        _FILES,
        train=104_743,
        dev={"entailment": 2_702, "not_entailment": 2_761},
        test=5_463,
    ),
    _task(
        "glue-qqp",
        "QQP",
        "Quora question pairs, duplicates or not, in GLUE's splits",
        Columns(sentences=("question1", "question2"), label="is_duplicate"),
        _BINARY,
        _FILES,
        train={"0": 229_468, "1": 134_378},
        dev={"0": 25_545, "1": 14_885},
        test=390_965,
    ),
    _task(
        "glue-mnli",
        "MNLI",
        "MultiNLI as GLUE has it (Williams 2018)",
        Columns(sentences=("sentence1", "sentence2"), label="gold_label"),
        ("entailment", "neutral", "contradiction"),
        {
            "train": "train.tsv",
            "dev-matched": "dev_matched.tsv",
            "dev-mismatched": "dev_mismatched.tsv",
            "test-matched": "test_matched.tsv",
            "test-mismatched": "test_mismatched.tsv",
        },
        train={"entailment": 130_899, "neutral": 130_900, "contradiction": 130_903},
        dev_matched={"entailment": 3_479, "neutral": 3_123, "contradiction": 3_213},
        dev_mismatched={"entailment": 3_463, "neutral": 3_129, "contradiction": 3_240},
        test_matched=9_796,
        test_mismatched=9_847,
    ),
)
