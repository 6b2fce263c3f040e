"""Natural language inference: SNLI, MultiNLI and the counterfactually revised SNLI.

Columns: premise, hypothesis, label (entailment, neutral or contradiction). Pairs without agreement among the annotators have the
label "-"; they are skipped and counted.
"""

import json
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.plain_values import quote
from embedlab.data.dataset import NLI_LABELS, Dataset, Expected, FileLayout, HubSource, ParsedRows, Split
from embedlab.data.text_file import bad_line, empty_file, read_fields, read_lines, read_text, text_fault

_FIELDS = {"sentence1": "premise", "sentence2": "hypothesis", "gold_label": "label"}
_LABELS = (*NLI_LABELS, "-")
_NO_LABEL = "label '-'"
_LIKE_JSON = r"(?s)^\s*(-?[0-9][0-9.eE+-]*|\[.*\]|\{.*\}|true|false)\s*$"  # what polars makes of values that are not texts


def read_jsonl(paths: Sequence[Path]) -> ParsedRows:
    """Return the pairs of a file with one JSON object a line, whose keys include gold_label, sentence1 and sentence2."""
    (path,) = paths
    with path.open("rb") as file:
        is_marked = file.read(len(BOM_UTF8)) == BOM_UTF8
    try:
        # polars reads a byte order mark as a broken line.
        frame = pl.read_ndjson(read_text(path).encode() if is_marked else path.read_bytes(), schema=dict.fromkeys(_FIELDS, pl.String))
    except pl.exceptions.PolarsError:
        frame = None  # polars does not name the line
    if frame is None or not _is_sound(frame):
        raise _jsonl_fault(path)
    refuse_json_values(path, frame, tuple(_FIELDS))
    return _labelled(frame)


def _is_sound(frame: pl.DataFrame) -> bool:
    """Return whether each row has its texts and a known label."""
    if frame.is_empty() or sum(frame.null_count().row(0)) or not frame["gold_label"].is_in(_LABELS).all():
        return False
    return not frame.select(pl.any_horizontal(pl.all().str.contains("\0", literal=True)).any()).item()


def write_jsonl(frame: pl.DataFrame) -> tuple[str, ...]:
    """Return the text of a file that `read_jsonl` reads back."""
    theirs = {ours: name for name, ours in _FIELDS.items()}
    return (frame.rename(theirs).select(sorted(_FIELDS)).write_ndjson(),)


def read_tsv(paths: Sequence[Path]) -> ParsedRows:
    """Return the pairs of a tab-separated file with the header sentence1, sentence2, gold_label."""
    (path,) = paths
    frame = read_fields(path, list(_FIELDS), line_shape="sentence1, sentence2, gold_label")
    wrong = frame.filter(~pl.col("gold_label").is_in(_LABELS))
    if not wrong.is_empty():
        raise _wrong_label(path, wrong["line"][0], wrong["gold_label"][0])
    return _labelled(frame)


def json_object(path: Path, number: int, line: str) -> dict[str, Any]:
    """Return the JSON object in the LINE of a file; anything else is an error at its number."""

    def refuse(name: str) -> None:
        raise bad_line(path, number, f"{name} is not JSON")  # Python's json module writes it nevertheless

    try:
        row = json.loads(line, parse_constant=refuse)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at").removesuffix(" starting")
        raise bad_line(path, number, f"broken JSON at character {error.pos + 1}: {what}") from error
    except RecursionError as error:
        raise bad_line(path, number, "its JSON is nested too deep") from error
    except ValueError as error:  # Python refuses integers of more than 4,300 digits
        raise bad_line(path, number, "a number with too many digits") from error
    if not isinstance(row, dict):
        raise bad_line(path, number, "not a JSON object")
    for key, text in row.items():
        if fault := text_fault(key) or (isinstance(text, str) and text_fault(text)):
            raise bad_line(path, number, f"{fault} under {key!a}")
    return row


def refuse_json_values(path: Path, frame: pl.DataFrame, columns: Sequence[str]) -> None:
    """Raise for the first line with a number, a list or an object under one of COLUMNS, which hold texts; FRAME is what polars read.

    polars makes texts of them: "5.1" of 5.10. Only lines whose texts look so are parsed again.
    """
    is_nested = any(frame.schema[name].is_nested() for name in columns)  # then each of its texts is
    looks_so = pl.any_horizontal(pl.col(*columns).cast(pl.String).str.contains(_LIKE_JSON))
    rows = set(range(len(frame)) if is_nested else frame.select(pl.arg_where(looks_so)).to_series())
    if not rows:
        return
    for row, (number, line) in enumerate((number, line) for number, line in enumerate(read_lines(path), 1) if line.strip()):
        if row not in rows:
            continue
        values = json_object(path, number, line)
        for name in columns:
            if not isinstance(value := values.get(name), str | None):
                raise bad_line(path, number, f"{name!r} is {quote(value)}, not a text")


def _labelled(frame: pl.DataFrame) -> ParsedRows:
    """Return the pairs with a label; the others are counted."""
    labelled = frame.filter(pl.col("gold_label") != "-")
    skipped = len(frame) - len(labelled)
    return ParsedRows(
        frame=labelled.select(pl.col(theirs).alias(ours) for theirs, ours in _FIELDS.items()),
        skipped={_NO_LABEL: skipped} if skipped else {},
    )


def _jsonl_fault(path: Path) -> MissingError:
    """Find the fault of a file line by line: polars names no line, and skips blank ones without counting them."""
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        row = json_object(path, number, line)
        absent = [key for key in _FIELDS if not isinstance(row.get(key), str)]
        if absent:
            return bad_line(path, number, f"no text under {absent[0]!r}")
        if row["gold_label"] not in _LABELS:
            return _wrong_label(path, number, row["gold_label"])
    return empty_file(path)


def _wrong_label(path: Path, line: int, label: str) -> MissingError:
    return bad_line(path, line, f"label {label!r} is none of {', '.join(NLI_LABELS)} and '-'")


def _jsonl_split(file: str, folders: Sequence[str], rows: int, classes: Sequence[int], hub: HubSource) -> Split:
    layouts = tuple(FileLayout(files=(f"{folder}/{file}",), read=read_jsonl, write=write_jsonl) for folder in folders)
    return Split(layouts=layouts, expected=Expected(rows=rows, classes=dict(zip(NLI_LABELS, classes, strict=True)), empty=None), hub=hub)


_SNLI_FOLDERS, _MULTINLI_FOLDERS = ("SNLI", "snli_1.0"), ("MultiNLI", "multinli_1.0")


def _hub(repository: str, revision: str, split: str) -> HubSource:
    columns = {"premise": "premise", "hypothesis": "hypothesis", "label": "label"}
    return HubSource(repository=repository, revision=revision, split=split, columns=columns, labels=NLI_LABELS)


def _snli(split: str, hub_split: str, rows: int, *classes: int) -> Split:
    hub = _hub("stanfordnlp/snli", "cdb5c3d5eed6ead6e5a341c8e56e669bb666725b", hub_split)
    return _jsonl_split(f"snli_1.0_{split}.jsonl", _SNLI_FOLDERS, rows, classes, hub)


def _multinli(split: str, hub_split: str, rows: int, *classes: int) -> Split:
    hub = _hub("nyu-mll/multi_nli", "da70db2af9d09693783c3320c4249840212ee221", hub_split)
    return _jsonl_split(f"multinli_1.0_{split}.jsonl", _MULTINLI_FOLDERS, rows, classes, hub)


def _counterfactual(split: str, rows: int) -> Split:
    return Split(
        layouts=(FileLayout(files=(f"SNLI_counterfactual/all_combined_{split}.tsv",), read=read_tsv),), expected=Expected(rows=rows)
    )


_SNLI_SPLITS: Mapping[str, Split] = {
    "train": _snli("train", "train", 549_367, 183_416, 182_764, 183_187),
    "dev": _snli("dev", "validation", 9_842, 3_329, 3_235, 3_278),
    "test": _snli("test", "test", 9_824, 3_368, 3_219, 3_237),
}
_MULTINLI_SPLITS: Mapping[str, Split] = {
    "train": _multinli("train", "train", 392_702, 130_899, 130_900, 130_903),
    "dev-matched": _multinli("dev_matched", "validation_matched", 9_815, 3_479, 3_123, 3_213),
    "dev-mismatched": _multinli("dev_mismatched", "validation_mismatched", 9_832, 3_463, 3_129, 3_240),
}

DATASETS = (
    Dataset(
        name="snli",
        kind="nli",
        summary="Stanford natural language inference: captions and three hypotheses each (Bowman 2015)",
        home="https://nlp.stanford.edu/projects/snli",
        splits=_SNLI_SPLITS,
    ),
    Dataset(
        name="multinli",
        kind="nli",
        summary="natural language inference over ten genres (Williams 2018)",
        home="https://cims.nyu.edu/~sbowman/multinli",
        splits=_MULTINLI_SPLITS,
    ),
    Dataset(
        name="snli-counterfactual",
        kind="nli",
        summary="SNLI pairs and revisions of them that change the label (Kaushik 2020)",
        home="https://github.com/acmi-lab/counterfactually-augmented-data",
        splits={"train": _counterfactual("train", 8_330), "dev": _counterfactual("dev", 1_000), "test": _counterfactual("test", 2_000)},
    ),
)
