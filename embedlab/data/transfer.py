"""SentEval's transfer tasks in its own folder layout: sentences, or pairs of them, each with a class.

Columns: sentence, label; of mrpc and sick-e: sentence1, sentence2, label. MR, CR, SUBJ and MPQA have one split, "all", since they are
scored by cross-validation. SentEval documents MR, CR, SUBJ, MPQA and TREC as Latin-1 (one of TREC's training questions has such a
byte), the others as UTF-8; a copy of a Latin-1 file that is UTF-8 throughout is read as such.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from embedlab.data.dataset import COLUMNS, Dataset, Expected, FileLayout, ParsedRows, Split
from embedlab.data.text_file import Encoding, bad_line, read_fields, read_lines


def read_class_files(paths: Sequence[Path], *, labels: Sequence[str]) -> ParsedRows:
    """Return the sentences of one file per class, in the order of LABELS; a blank line is an empty sentence, as in the published counts."""
    files = zip(paths, labels, strict=True)
    return _rows([(line.strip(), label) for path, label in files for line in _class_file_lines(path)])


def _class_file_lines(path: Path) -> Iterator[str]:
    for number, line in enumerate(read_lines(path, encoding="latin-1"), 1):
        if "\t" in line:
            raise bad_line(path, number, "a tab: expected a sentence alone")
        yield line


def read_class_lines(paths: Sequence[Path], *, line_shape: str, labels: Sequence[str], encoding: Encoding = "utf-8") -> ParsedRows:
    """Return the sentences of a file with a class in each line; the pattern LINE_SHAPE has the groups "sentence" and "label"."""
    (path,) = paths
    rows = []
    for number, line in enumerate(read_lines(path, encoding=encoding), 1):
        match = re.fullmatch(line_shape, line.strip())
        if match is None:
            raise bad_line(path, number, f"{line[:60]!r} is not a sentence with its class")
        if match["label"] not in labels:
            raise bad_line(path, number, f"class {match['label']!r} is none of {', '.join(labels)}")
        rows.append((match["sentence"].strip(), match["label"]))
    return _rows(rows)


def read_pairs(paths: Sequence[Path], *, header: Mapping[str, str], labels: Sequence[str]) -> ParsedRows:
    """Return the pairs of a tab-separated file; HEADER maps its columns to sentence1, sentence2 and label."""
    (path,) = paths
    frame = read_fields(path, list(header), line_shape=", ".join(header)).rename(header)
    frame = frame.with_columns(pl.col("sentence1", "sentence2", "label").str.strip_chars())
    wrong = frame.filter(~pl.col("label").is_in(labels))
    if not wrong.is_empty():
        raise bad_line(path, wrong["line"][0], f"class {wrong['label'][0]!r} is none of {', '.join(labels)}")
    return ParsedRows(frame=frame.select(list(COLUMNS["pair-classification"])))


def _rows(rows: Sequence[tuple[str, str]]) -> ParsedRows:
    return ParsedRows(frame=pl.DataFrame(rows, schema=dict(COLUMNS["classification"]), orient="row"))


_HOME = "https://github.com/facebookresearch/SentEval, data/downstream"
_FOLDERS = ("SentEval/downstream", "downstream")  # next to other corpora, or in SentEval's own data folder


def _split(
    files: Sequence[str],
    read: Callable[[Sequence[Path]], ParsedRows],
    classes: Mapping[str, int],
    folders: Sequence[str] = _FOLDERS,
    empty: int = 0,
) -> Split:
    layouts = tuple(FileLayout(files=tuple(f"{folder}/{file}" for file in files), read=read) for folder in folders)
    return Split(layouts=layouts, expected=Expected(rows=sum(classes.values()), classes=classes, empty=empty))


def _whole(name: str, summary: str, stem: str, *, empty: int = 0, **classes: int) -> Dataset:
    """Return a dataset without splits, in one file STEM.class per class; EMPTY of its published sentences are blank lines."""
    split = _split([f"{stem}.{label}" for label in classes], partial(read_class_files, labels=list(classes)), classes, empty=empty)
    return Dataset(name=name, kind="classification", summary=summary, home=_HOME, splits={"all": split})


def _lines(file: str, line_shape: str, classes: Mapping[str, int], encoding: Encoding = "utf-8") -> Split:
    return _split([file], partial(read_class_lines, line_shape=line_shape, labels=list(classes), encoding=encoding), classes)


def _binary(split: str, *counts: int) -> Split:
    shape = r"(?P<sentence>[^\t]*)\t(?P<label>\S+)"
    return _lines(f"SST/binary/sentiment-{split}", shape, dict(zip("01", counts, strict=True)))


def _fine(split: str, *counts: int) -> Split:
    return _lines(f"SST/fine/sentiment-{split}", r"(?P<label>\S+) (?P<sentence>[^\t]*)", dict(zip("01234", counts, strict=True)))


def _questions(file: str, *counts: int) -> Split:
    coarse = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
    return _lines(f"TREC/{file}", r"(?P<label>[A-Z]+):\S+ (?P<sentence>[^\t]*)", dict(zip(coarse, counts, strict=True)), "latin-1")


def _mrpc(split: str, *counts: int) -> Split:
    header = {"Quality": "label", "#1 String": "sentence1", "#2 String": "sentence2"}
    read = partial(read_pairs, header=header, labels=("0", "1"))
    return _split([f"MRPC/msr_paraphrase_{split}.txt"], read, dict(zip("01", counts, strict=True)))


def _sick(split: str, *counts: int) -> Split:
    header = {"sentence_A": "sentence1", "sentence_B": "sentence2", "entailment_judgment": "label"}
    classes = dict(zip(("CONTRADICTION", "ENTAILMENT", "NEUTRAL"), counts, strict=True))
    folders = [*(f"{folder}/SICK" for folder in _FOLDERS), "SICK"]
    return _split([f"SICK_{split}.txt"], partial(read_pairs, header=header, labels=list(classes)), classes, folders)


DATASETS = (
    _whole("mr", "movie reviews, negative or positive (Pang 2005)", "MR/rt-polarity", neg=5_331, pos=5_331),
    _whole("cr", "customer reviews, negative or positive (Hu 2004)", "CR/custrev", empty=4, neg=1_368, pos=2_407),
    _whole(
        "subj", "sentences of plots and of reviews, objective or subjective (Pang 2004)", "SUBJ/subj", objective=5_000, subjective=5_000
    ),
    _whole("mpqa", "opinion phrases, negative or positive (Wiebe 2005)", "MPQA/mpqa", empty=3, neg=7_294, pos=3_312),
    Dataset(
        name="sst2",
        kind="classification",
        summary="Stanford sentiment treebank, negative or positive, with phrases in train (Socher 2013)",
        home=_HOME,
        splits={"train": _binary("train", 29_780, 37_569), "dev": _binary("dev", 428, 444), "test": _binary("test", 912, 909)},
    ),
    Dataset(
        name="sst5",
        kind="classification",
        summary="Stanford sentiment treebank in five classes (Socher 2013)",
        home=_HOME,
        splits={
            "train": _fine("train", 1_092, 2_218, 1_624, 2_322, 1_288),
            "dev": _fine("dev", 139, 289, 229, 279, 165),
            "test": _fine("test", 279, 633, 389, 510, 399),
        },
    ),
    Dataset(
        name="trec",
        kind="classification",
        summary="questions by the type of their answer, in six classes (Li 2002)",
        home=_HOME,
        splits={
            "train": _questions("train_5500.label", 86, 1_162, 1_250, 1_223, 835, 896),
            "test": _questions("TREC_10.label", 9, 138, 94, 65, 81, 113),
        },
    ),
    Dataset(
        name="mrpc",
        kind="pair-classification",
        summary="Microsoft research paraphrases (Dolan 2004)",
        home=_HOME,
        splits={"train": _mrpc("train", 1_323, 2_753), "test": _mrpc("test", 578, 1_147)},
    ),
    Dataset(
        name="sick-e",
        kind="pair-classification",
        summary="SICK entailment: contradiction, entailment or neutral (Marelli 2014)",
        home="https://zenodo.org/records/2787612",
        splits={
            "train": _sick("train", 665, 1_299, 2_536),
            "dev": _sick("trial", 74, 144, 282),
            "test": _sick("test_annotated", 720, 1_414, 2_793),
        },
    ),
)
