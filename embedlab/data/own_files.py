"""A user's own file where a dataset is expected: scored pairs, queries with their texts, the rows
of a training, sentences or definitions.

Files are TSV, CSV, JSONL or parquet with columns that are detected or said, or text with a sentence
a line. Errors name the line, or a parquet file's row; rows without a text, a score or a label are
left out and counted with their places.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from embedlab.core.errors import (
    EmbedlabError,
    Hint,
    MissingError,
    NamedOption,
    RecipeValue,
    UsageError,
)
from embedlab.core.foreign_files import refuse_foreign, refuse_other_content
from embedlab.core.printable import first_few
from embedlab.core.recipe import DataSection
from embedlab.data.column_names import no_labels, split_column
from embedlab.data.corpus_file import WORD_SPLITS, shipped_corpus
from embedlab.data.dataset import DatasetKind, ParsedRows, Part, rows_of_kind
from embedlab.data.file_name import (
    TEXT_FILE,
    file_path,
    is_pair_file,
    is_query_folder,
    parse_file_name,
)
from embedlab.data.overlaps import held_out_rows
from embedlab.data.own_columns import (
    LABELLED,
    LISTS,
    PAIRS,
    SCORED,
    SENTENCES,
    TRIPLETS,
    OwnData,
    own_data,
    read_own_rows,
    refuse_table,
)
from embedlab.data.queries import Queries, open_query_folder, queries_of_pairs
from embedlab.data.table_file import (
    TABLES,
    as_texts,
    class_texts,
    full_rows,
    no_rows,
    read_rows,
    refuse_json_numbers,
    refuse_nested,
    refuse_rows,
    require_columns,
    require_file,
    rows_with,
    selected_rows,
    with_numbers,
)
from embedlab.data.text_file import PLACE, bad_line, not_utf8, read_lines

GOLD_OF_LABEL = {"entailment": 1.0, "neutral": 0.5, "contradiction": 0.0}
EQUAL, TWICE = "anchor equals its positive", "repeated pair"
_HEAD = 65536  # bytes
_DESCRIPTORS = Path("/dev/fd")  # what a shell names <(command): its writer is there
_REQUIRED = ("sentence1", "sentence2", "score")
_PAIR = _REQUIRED[:2]
# The corpus whose files a user's own file of a kind is like, with the split that is read where it
# has none.
_LIKE: Mapping[DatasetKind, tuple[str, str]] = {
    "definitions": ("definitions", "all"),
    "sentences": ("wiki-1m", "train"),
    "triplets": ("nli-triplets", "train"),
}
# Under these names the corpora that embedlab reads have the columns: the pair files, SNLI and
# SimCSE's triplets.
_PUBLISHED = {
    "gold": "score",
    "label": "gold_label",
    "premise": "sentence1",
    "hypothesis": "sentence2",
    "anchor": "sent0",
    "positive": "sent1",
    "negative": "hard_neg",
}


def open_own_file(name: str, kind: DatasetKind = "sts", split: str | None = None) -> Part:
    """Return the rows of the file that NAME means: definitions, plain sentences or triplets for
    that KIND, otherwise pairs.

    Definitions are split by word into SPLIT (default: all); other files have no splits. A path
    without a file is a MissingError.
    """
    path = file_path(name)
    if kind not in _LIKE:
        return open_pair_file(name)
    require_file(path)
    if not parse_file_name(name).is_plain:
        raise UsageError(
            f"{name!r}: what is said of it is not read of {kind}", hint=f"give the file: {path}"
        )
    corpus, its_split = _LIKE[kind]
    its_split = split if split and kind == "definitions" else its_split
    if its_split not in shipped_corpus(corpus).splits:
        raise UsageError(
            f"{kind} have no split {split!r}", hint=f"their splits: {', '.join(WORD_SPLITS)}"
        )
    rows = shipped_corpus(corpus).splits[its_split].layouts[0].read([path])
    return Part.of_file(path, rows, name=name, split=its_split if kind == "definitions" else "all")


def open_evaluated_file(name: str) -> Part:
    """Return the pairs on which models are evaluated in a user's own file: scored pairs, or queries
    with their relevant texts.
    """
    return open_query_file(name).part if holds_queries(name) else open_pair_file(name)


def open_pair_file(path: Path | str) -> Part:
    """Return the pairs of a user's own file with scores, or with labels that decide the score: 1
    for entailment, 0.5 neutral, 0 contradiction.
    """
    name = str(path)
    data = own_data(name)
    if data.kind not in {SCORED, LABELLED}:
        hint = "`embedlab evaluate MODEL FILE` chooses the task for a file"
        if data.kind == SENTENCES:
            hint = "give pairs, with scores or without; sentences are only trained on"
        raise MissingError(f"{name} holds {data.kind.title}, not scored pairs", hint=hint)
    rows = data.frame
    if data.kind == LABELLED:
        labels = class_texts(rows[data.columns["label"]]).replace(dict(data.labels))
        gold = labels.replace_strict(GOLD_OF_LABEL, return_dtype=pl.Float64)
    else:
        gold = rows[data.columns["score"]]
    columns: dict[str, Any] = {**dict(zip(_PAIR, data.texts, strict=True)), "score": gold}
    if (source := data.file.source or "source") in rows.columns:
        columns["source"] = source
    parsed = scored_pairs(data.file.path, rows.select(PLACE, **columns))
    pairs = ParsedRows(frame=parsed.frame, skipped={**data.skipped, **parsed.skipped})
    return Part.of_file(data.file.path, pairs, name=data.file.dataset, notes=data.doubts)


def scored_pairs(
    title: Path | str,
    frame: pl.DataFrame,
    *,
    scale: tuple[float, float] | None = None,
) -> ParsedRows:
    """Return the pairs of FRAME, with the places of its rows, from the file or dataset TITLE.

    A score outside SCALE or another fault is an error with its place; a pair without a sentence or
    a score is skipped and counted.
    """
    require_columns(title, frame, _REQUIRED, hint=f"name its columns {', '.join(_REQUIRED)}")
    if frame.is_empty():
        raise MissingError(f"{title} holds no pairs", hint="give one pair a row")
    frame, skipped = full_rows(title, frame, _PAIR)
    refuse_nested(title, frame, [*_REQUIRED[2:], "source"])
    hint = "correct it, or state the scale: scale=LOW-HIGH"
    frame = with_numbers(title, frame, "score", scale, hint, skipped)
    pairs = rows_of_kind(frame.with_columns(gold="score"), "sts")
    return ParsedRows(frame=pairs, skipped=skipped)


def holds_queries(name: str) -> bool:
    """Return whether a dataset's NAME is a user's own file with pairs of anchor and positive, or
    triplets, or queries in a folder.
    """
    if is_query_folder(name):
        return True
    data = own_data_or_none(name)
    return data is not None and data.kind in {PAIRS, TRIPLETS}


def own_data_or_none(name: str) -> OwnData | None:
    """Return what a dataset's NAME holds if it is a user's own file; None too where it cannot be
    read: whoever opens it says why.
    """
    with suppress(EmbedlabError, OSError):
        return own_data(name) if is_pair_file(name) else None
    return None


def open_query_file(name: str) -> Queries:
    """Return the queries of the file that NAME means with the texts that are relevant to each: the
    candidates are all its different positives and negatives.

    A row whose anchor and positive are equal says nothing of a model, and is skipped and counted,
    as is a pair that occurs again.
    """
    if is_query_folder(name):
        return open_query_folder(name)
    data = own_data(name)
    anchor, positive, *negative = (data.frame[column] for column in data.texts)
    pairs = pl.DataFrame({_PAIR[0]: anchor, _PAIR[1]: positive})
    if (source := data.file.source or "source") in data.frame.columns:
        pairs = pairs.with_columns(source=data.frame[source].cast(pl.String))
    if data.lists:  # a positive is there with each negative
        pairs = pairs.unique(_PAIR, keep="first", maintain_order=True)
    different = pairs.filter(pl.col(_PAIR[0]) != pl.col(_PAIR[1]))
    distinct = different.unique(_PAIR, keep="first", maintain_order=True)
    if distinct.is_empty():
        raise MissingError(
            f"{name} holds no pair of different texts",
            hint="give one anchor and its positive a row",
        )
    counts = {EQUAL: pairs.height - different.height, TWICE: different.height - distinct.height}
    skipped = {**data.skipped, **{reason: count for reason, count in counts.items() if count}}
    candidates = pl.concat([positive, *negative]).unique(maintain_order=True)
    part = Part.of_file(
        data.file.path,
        ParsedRows(frame=distinct, skipped=skipped),
        name=data.file.dataset,
        notes=data.doubts,
    )
    return queries_of_pairs(part, candidates)


@dataclass(frozen=True, kw_only=True)
class RowShape:
    """The columns that a training reads, by what they hold."""

    texts: tuple[str, ...]
    # column → its classes; none: any text
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # column → its largest absolute value; None: any
    numbers: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of all columns."""
        return (*self.texts, *self.labels, *self.numbers)


def open_own_rows(path: Path, shape: RowShape, section: DataSection) -> Part:
    """Return the rows of the file at PATH with the columns of SHAPE, in the file's columns that the
    SECTION of a recipe names, or under their own or published names.

    Rows that are held out for evaluation, in whole topics, are left out. A share of held-out rows
    that no whole topics give is refused.
    """
    columns = _by_objective_names(section.columns or {}, shape)
    meanings = section.labels or {}
    held_out = section.held_out
    if path.suffix.lower() == TEXT_FILE and len(shape.columns) == 1:
        columns = {shape.texts[0]: "sentence"}
    rows, skipped, column_of = _table_rows(path, shape, columns, section)
    if held_out is not None:
        hint = Hint(
            "remove data.held_out, and name a dev file: ", RecipeValue("evaluate.dev", "FILE")
        )
        texts = [column_of[name] for name in shape.texts]
        rows = rows.filter(~held_out_rows(path, rows, texts, held_out, hint=hint))
    for name, classes in shape.labels.items():
        column = column_of[name]
        none = no_labels(meanings) if classes and "-" not in classes else ()
        rows = rows_with(path, rows, column, none, skipped)
        labels = class_texts(rows[column]).replace(meanings)
        rows = rows.with_columns(labels.alias(column))
        if classes:
            meaning = RecipeValue("data.labels.LABEL", "MEANING")
            hint = Hint("correct it, or say what it means: ", meaning)
            fault = f"{column} is not one of {', '.join(classes)}"
            refuse_rows(path, rows, ~pl.col(column).is_in(classes), fault, column, hint=hint)
    for name, largest in shape.numbers.items():
        bounds = None if largest is None else (-largest, largest)
        scale = "correct it, or state the scale of the scores in the objective's options"
        rows = with_numbers(path, rows, column_of[name], bounds, scale, skipped)
    frame = rows.select(pl.col(column).alias(name) for name, column in column_of.items())
    return Part.of_file(path, ParsedRows(frame=frame, skipped=skipped), name=path.name)


def _by_objective_names(columns: Mapping[str, str], shape: RowShape) -> dict[str, str]:
    """Return COLUMNS with the objective's names as keys in place of names of published corpora."""
    our_names = {_PUBLISHED.get(name, name): name for name in shape.columns}
    our_names |= zip(shape.columns, shape.columns, strict=True)
    columns_by_name: dict[str, str] = {}
    for name, column in columns.items():
        if name not in our_names:
            raise UsageError(
                f"data.columns names {name!r}, which the objective does not read",
                hint=f"it reads {', '.join(shape.columns)}",
            )
        earlier = columns_by_name.setdefault(our_names[name], column)
        if earlier != column:
            hint = Hint("name one: ", RecipeValue(f"data.columns.{our_names[name]}", column))
            fault = f"data.columns names both {earlier!r} and {column!r} as {our_names[name]!r}"
            raise UsageError(fault, hint=hint)
    return columns_by_name


def _table_rows(
    path: Path, shape: RowShape, columns: Mapping[str, str], section: DataSection
) -> tuple[pl.DataFrame, dict[str, int], dict[str, str]]:
    """Return the selected rows of a file that have all texts of SHAPE, how many others there are,
    and the file's name of each of our columns.
    """
    require_file(path)
    rows = read_own_rows(path, needed=[*columns.values(), *shape.columns])
    column_of = {}
    for our_name in shape.columns:
        column_of[our_name] = columns.get(our_name, our_name)
        if our_name not in {*columns, *rows.columns} and _PUBLISHED.get(our_name) in rows.columns:
            column_of[our_name] = _PUBLISHED[our_name]
        hint = Hint("say which holds it: ", RecipeValue(f"data.columns.{our_name}", "NAME"))
        if path.suffix.lower() == TEXT_FILE:
            hint = Hint(f"give a file that ends in {', '.join(TABLES)}")
        require_columns(path, rows, [column_of[our_name]], hint=hint)
    if rows.is_empty():
        raise no_rows(path)
    where, drop = section.where or {}, section.drop or {}
    settled_columns = [PLACE, *where, *drop, *column_of.values()]
    if (named_counts := split_column(rows, settled_columns)) is not None:
        column, counts = named_counts
        value = next(iter(counts))
        fault = f"{column!r} says which split a row is in: {first_few([*counts])}"
        advice = "say which rows are read: "
        if len(counts) == 1:
            fault = f"every row says {value!r} in {column!r}: no row is for training"
            advice = "to train on them all the same: "
        hint = Hint(advice, RecipeValue(f"data.where.{column}", value))
        raise UsageError(f"{path}: {fault}", hint=hint)
    rows = selected_rows(path, rows, where, drop)
    lists = [column_of[name] for name in LISTS if name in column_of]
    texts = [column_of[name] for name in shape.texts]
    rows, skipped = full_rows(path, rows, texts, lists=lists)
    refuse_nested(path, rows, [column_of[name] for name in (*shape.labels, *shape.numbers)])
    return rows, skipped, column_of


def sentences(path: Path, column: str | None = None) -> Iterator[str]:
    """Yield the sentences of a file in order: each line of a text file, which may be a pipe, or
    COLUMN ("sentence" by default) of a table. A table under another name is refused.

    Unreadable lines are errors with their number; blank lines at the end of a table are ignored.
    """
    suffix = path.suffix.lower()
    if suffix in TABLES:
        yield from _column(path, column or "sentence")
        return
    if path.exists() and (suffix == ".npy" or column is not None):
        raise UsageError(
            f"{path}: sentences have columns in {', '.join(TABLES)} files alone",
            hint="give one of them, or text with one sentence a line",
        )
    try:
        if path.parent != _DESCRIPTORS:
            refuse_foreign(path)
        head = _head(path)
        if b"\r" in head and b"\n" not in head:  # as old Macs end lines
            yield from read_lines(path)
            return
        lines = head.decode("utf-8-sig", errors="ignore").split("\n")
        is_cut = len(head) == _HEAD
        refuse_table(path, [*filter(str.strip, lines[:-1] if is_cut else lines)])
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                # as in the corpora's files a byte order mark is not part of the text
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                if "\0" in text:
                    raise bad_line(path, number, "a NUL character")
                if text:  # a file of a byte order mark alone has no line
                    yield text.removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise not_utf8(path, number, line[error.start]) from error
    except OSError as error:
        raise MissingError(
            f"cannot read {str(path)!r}: {error.strerror}",
            hint="give a file with one sentence a line",
        ) from error


def _column(path: Path, name: str) -> list[str]:
    rows = read_rows(path, needed=[name])
    columns = " | ".join(rows.drop(PLACE).columns)
    hint = Hint("name one of its columns by ", NamedOption("--column", "NAME"), f": {columns}")
    require_columns(path, rows, [name], hint=hint, error=UsageError)
    refuse_json_numbers(path, rows, [name])
    texts = as_texts(path, rows, [name])
    if path.suffix.lower() == ".jsonl":
        refuse_rows(path, rows, pl.col(name).is_null(), f"{name!r} is None, not a text", name)
    return texts[name].fill_null("").to_list()


def _head(path: Path) -> bytes:
    """Return how a file begins, nothing of a pipe, which gives its text once; a file that is not
    text is refused.
    """
    if not path.is_file():
        return b""
    refuse_other_content(path)
    with path.open("rb") as file:
        return file.read(_HEAD)
