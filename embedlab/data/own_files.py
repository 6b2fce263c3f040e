"""A user's own file where a dataset is expected: scored pairs, queries with their texts, the rows
of a training, sentences or definitions.

Files are TSV, CSV, JSONL or parquet with columns that are detected or said, or text with a sentence
a line. Errors name the line, or a parquet file's row; rows without a text, a score or a label are
left out and counted with their places.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import polars as pl

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.first_few import first_few
from embedlab.core.foreign_files import refuse_foreign
from embedlab.core.hints import Hint, RecipeValue
from embedlab.data.dataset import COLUMNS, DatasetKind, ParsedRows, Part
from embedlab.data.definitions import WORD_SPLITS
from embedlab.data.file_name import TEXT_FILE, file_path, is_pair_file, is_query_folder
from embedlab.data.own_columns import (
    LABELLED,
    LISTS,
    PAIRS,
    SCORED,
    SENTENCES,
    TRIPLETS,
    OwnData,
    no_labels,
    own_data,
    refuse_fields,
    selected_rows,
    splits_in,
)
from embedlab.data.queries import Queries, open_query_folder, queries_of_pairs
from embedlab.data.shipped import shipped
from embedlab.data.table_file import (
    NOTHING,
    PLACE,
    TABLES,
    class_texts,
    full_rows,
    number_of,
    read_rows,
    refuse_nested,
    refuse_rows,
    rows_with,
)
from embedlab.data.text_file import read_whole_lines
from embedlab.data.topics import is_held_out

GOLD_OF_LABEL = {"entailment": 1.0, "neutral": 0.5, "contradiction": 0.0}
EQUAL, TWICE = "anchor equals its positive", "repeated pair"
_REQUIRED = ("sentence1", "sentence2", "score")
_PAIR = _REQUIRED[:2]
# The corpus whose files a user's own file of a kind is like, with the split that is read where it
# has none.
_LIKE: Mapping[DatasetKind, tuple[str, str]] = MappingProxyType(
    {
        "definitions": ("definitions", "all"),
        "sentences": ("wiki-1m", "train"),
        "triplets": ("nli-triplets", "train"),
    }
)
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
    if path.is_dir():
        raise MissingError(
            f"{str(path)!r} is a folder, not a file of rows", hint="give the path of a file in it"
        )
    refuse_foreign(path)
    if not path.is_file():
        raise MissingError(
            f"no file {str(path)!r}",
            hint="a dataset is a name from `embedlab data ls` or the path of a file",
        )
    corpus, its_split = _LIKE[kind]
    if kind == "definitions":
        its_split = split or "all"
        if its_split not in WORD_SPLITS:
            raise UsageError(
                f"definitions have no split {split!r}",
                hint=f"their splits: {', '.join(WORD_SPLITS)}",
            )
    rows = shipped(corpus).splits[its_split].layouts[0].read([path])
    return Part.of_file(path, rows, name=name, split=its_split if kind == "definitions" else "all")


def open_evaluated_file(name: str) -> Part:
    """Return the pairs by which models are evaluated on a user's own file: scored ones, or those of
    queries and relevant texts.
    """
    return open_query_file(name).part if holds_queries(name) else open_pair_file(name)


def read_texts(data: OwnData) -> ParsedRows:
    """Return the rows of a file with all its columns, a text a row: those that its name selects and
    holds out. Others without a text are counted.
    """
    file = data.file
    rows = selected_rows(file.path, read_rows(file.path, needed=data.texts), file.where, file.drop)
    rows, skipped = full_rows(file.path, rows, data.texts, lists=data.lists)
    if file.held_out:
        rows = rows.filter(is_held_out(rows, data.texts, file.held_out))
    return ParsedRows(frame=rows, skipped=skipped)


def open_pair_file(path: Path | str) -> Part:
    """Return the pairs of a user's own file with scores, or with labels, of which the gold score
    follows: 1 for entailment, 0.5 neutral, 0 contradiction.
    """
    name = str(path)
    data = own_data(name)
    if data.kind not in {SCORED, LABELLED}:
        hint = (
            "`embedlab evaluate MODEL FILE` chooses the task for a file"
            if data.kind != SENTENCES
            else "give pairs, with scores or without; sentences are only trained on"
        )
        raise MissingError(f"{name} holds {data.kind.title}, not scored pairs", hint=hint)
    texts = read_texts(data)
    rows, skipped, source = texts.frame, dict(texts.skipped), data.file.source or "source"
    if data.kind == LABELLED:
        column = data.columns["label"]
        rows, blank = rows_with(data.file.path, rows, column, without=no_labels(data.labels))
        skipped |= blank
        gold = _gold_of_labels(data.file.path, rows, column, data.labels)
    else:
        gold = rows[data.columns["score"]]
    pairs = pl.DataFrame(
        [
            rows[PLACE],
            *(
                rows[data.columns[role]].alias(ours)
                for role, ours in zip(data.kind.texts, _REQUIRED, strict=False)
            ),
            gold.alias("score"),
            *([rows[source].alias("source")] if source in rows.columns else []),
        ]
    )
    scored = scored_pairs(data.file.path, pairs)
    together = ParsedRows(frame=scored.frame, skipped={**skipped, **scored.skipped})
    return Part.of_file(data.file.path, together, name=data.file.dataset)


def _gold_of_labels(
    path: Path, rows: pl.DataFrame, column: str, meaning: Mapping[str, str]
) -> pl.Series:
    """Return the gold score of each label."""
    label = class_texts(rows[column]).replace(dict(meaning))
    refuse_rows(
        path,
        rows.with_columns(label.alias(column)),
        ~pl.col(column).is_in([*GOLD_OF_LABEL]),
        f"{column} is not one of {', '.join(GOLD_OF_LABEL)}",
        column,
    )
    return label.replace_strict(GOLD_OF_LABEL, default=None, return_dtype=pl.Float64)


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
    columns = [name for name in frame.columns if name != PLACE]
    if absent := [name for name in _REQUIRED if name not in frame.columns]:
        raise MissingError(
            f"{title} has no column {absent[0]!r}: found {first_few(columns)}",
            hint=f"name its columns {', '.join(_REQUIRED)}",
        )
    if frame.is_empty():
        raise MissingError(f"{title} holds no pairs", hint="give one pair a row")
    frame, skipped = full_rows(title, frame, _PAIR)
    refuse_nested(title, frame, [*_REQUIRED[2:], "source"])
    frame, blank = rows_with(title, frame, "score", without=NOTHING)
    gold = number_of("score")
    refuse_rows(title, frame, ~gold.is_finite().fill_null(False), "score is not a number", "score")
    if scale is not None:
        low, high = scale
        refuse_rows(
            title,
            frame,
            ~gold.is_between(low, high),
            f"score is not from {low:g} to {high:g}",
            "score",
            hint="correct it, or state the scale: scale=LOW-HIGH",
        )
    source = pl.col("source") if "source" in frame.columns else pl.lit(None)
    pairs = frame.select("sentence1", "sentence2", gold.alias("gold"), source.alias("source")).cast(
        dict(COLUMNS["sts"])  # type: ignore[arg-type]
    )
    return ParsedRows(frame=pairs, skipped={**skipped, **blank})


def holds_queries(name: str) -> bool:
    """Return whether a dataset's NAME is a user's own file with pairs of anchor and positive, or
    triplets, or queries in a folder.
    """
    if is_query_folder(name):
        return True
    if not is_pair_file(name):
        return False
    try:
        return own_data(name).kind in {PAIRS, TRIPLETS}
    except (EmbedlabError, OSError):  # whoever opens it as pairs says why
        return False


def open_query_file(name: str) -> Queries:
    """Return the queries of the file that NAME means with the texts that are relevant to each: the
    candidates are all its different positives and negatives.

    A row whose anchor and positive are equal says nothing of a model, and is skipped and counted,
    as is a pair that occurs again.
    """
    if is_query_folder(name):
        return open_query_folder(name)
    data = own_data(name)
    rows = read_texts(data)
    anchor, positive, *negative = (rows.frame[column].cast(pl.String) for column in data.texts)
    pairs = pl.DataFrame({_PAIR[0]: anchor, _PAIR[1]: positive})
    if data.lists:  # a positive is there with each negative
        pairs = pairs.unique(maintain_order=True)
    others = pairs.filter(pl.col(_PAIR[0]) != pl.col(_PAIR[1]))
    distinct = others.unique(maintain_order=True)
    if distinct.is_empty():
        raise MissingError(
            f"{name} holds no pair of different texts",
            hint="give one anchor and its positive a row",
        )
    counts = {EQUAL: pairs.height - others.height, TWICE: others.height - distinct.height}
    skipped = {**rows.skipped, **{reason: count for reason, count in counts.items() if count}}
    candidates = pl.concat([positive, *negative]).unique(maintain_order=True)
    part = Part.of_file(
        data.file.path, ParsedRows(frame=distinct, skipped=skipped), name=data.file.dataset
    )
    return queries_of_pairs(part, candidates.to_list())


@dataclass(frozen=True, kw_only=True)
class RowShape:
    """The columns that a training reads, by what they hold."""

    texts: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # column → its classes; none: any text
    numbers: Mapping[str, float | None] = field(
        default_factory=dict
    )  # column → its largest absolute value; None: any

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of all columns."""
        return (*self.texts, *self.labels, *self.numbers)


@dataclass(frozen=True, kw_only=True)
class ColumnMap:
    """What a user says of the files of a training: the names of their columns, the meaning of their
    labels, and which rows are read.
    """

    columns: Mapping[str, str] = field(default_factory=dict)  # ours → theirs
    labels: Mapping[str, str] = field(default_factory=dict)  # theirs → ours
    where: Mapping[str, str] = field(default_factory=dict)  # column → values of rows that are read
    drop: Mapping[str, str] = field(default_factory=dict)  # column → values of rows that are not


def open_own_rows(
    path: Path, shape: RowShape, named: ColumnMap, held_out: float | None = None
) -> Part:
    """Return the rows of the file at PATH with the columns of SHAPE, found where NAMED says, or
    under their own or published names.

    The share of them that is HELD_OUT for evaluation, whole topics, is not among them; a share that
    gives no rows is refused.
    """
    named = replace(named, columns=_by_our_names(named.columns, shape))
    if path.suffix.lower() == TEXT_FILE:
        rows = _lines(path, shape)
        if held_out is not None:
            left = _without_held_out(path, rows.frame, shape.texts, held_out)
            rows = replace(rows, frame=left)
    else:
        rows = _rows(path, shape, named, held_out)
    return Part.of_file(path, rows, name=path.name)


def _without_held_out(
    path: Path, rows: pl.DataFrame, texts: Sequence[str], share: float
) -> pl.DataFrame:
    is_left_out = is_held_out(rows, texts, share)
    if not is_left_out.any():
        message = (
            f"{path}: cannot hold out {share:.0%} of its {rows.height} rows without "
            f"separating rows that share a sentence"
        )
        raise UsageError(
            message,
            hint=Hint(
                "remove data.held_out, and name a dev file: ", RecipeValue("evaluate.dev", "FILE")
            ),
        )
    return rows.filter(~is_left_out)


def _by_our_names(columns: Mapping[str, str], shape: RowShape) -> Mapping[str, str]:
    """Return COLUMNS with the objective's own names as keys, where they may be those that published
    corpora have.
    """
    ours = {_PUBLISHED[name]: name for name in shape.columns if name in _PUBLISHED} | {
        name: name for name in shape.columns
    }
    if unread := next((name for name in columns if name not in ours), None):
        raise UsageError(
            f"data.columns names {unread!r}, which the objective does not read",
            hint=f"it reads {', '.join(shape.columns)}",
        )
    by_our_names: dict[str, str] = {}
    for name, theirs in columns.items():
        if by_our_names.setdefault(ours[name], theirs) != theirs:
            fault = (
                f"data.columns names both {by_our_names[ours[name]]!r} and {theirs!r} as "
                f"{ours[name]!r}"
            )
            raise UsageError(
                fault, hint=Hint("name one: ", RecipeValue(f"data.columns.{ours[name]}", theirs))
            )
    return by_our_names


def _lines(path: Path, shape: RowShape) -> ParsedRows:
    if len(shape.columns) != 1:
        raise MissingError(
            f"{path}: a text file has sentences alone, but the objective reads "
            f"{', '.join(shape.columns)}",
            hint=f"give a file that ends in {', '.join(TABLES)}",
        )
    refuse_foreign(path)
    if not path.is_file():
        raise MissingError(
            f"no file {str(path)!r}", hint="give the path of a file with one sentence a line"
        )
    rows = read_whole_lines(path)
    refuse_fields(path, rows.frame["sentence"].to_list())
    return ParsedRows(frame=rows.frame.rename({"sentence": shape.texts[0]}), skipped=rows.skipped)


def _rows(path: Path, shape: RowShape, named: ColumnMap, held_out: float | None) -> ParsedRows:
    rows = read_rows(path, needed=[*named.columns.values(), *shape.columns])
    theirs = _columns_of(path, rows, shape, named)
    if rows.is_empty():
        raise MissingError(f"{path} has no rows below its header", hint="give one example a row")
    settled = [PLACE, *named.where, *named.drop, *theirs.values()]
    if (splits := splits_in(rows, settled)) is not None:
        column, counts = splits
        raise UsageError(
            f"{path}: {column!r} says which split a row is in: {first_few([*counts])}",
            hint=Hint(
                "say which rows are read: ", RecipeValue(f"data.where.{column}", next(iter(counts)))
            ),
        )
    rows = selected_rows(path, rows, named.where, named.drop)
    texts = [theirs[name] for name in shape.texts]
    lists = [theirs[name] for name in LISTS if name in theirs]
    rows, skipped = full_rows(path, rows, texts, lists=lists)
    refuse_nested(path, rows, [theirs[name] for name in shape.columns if name not in shape.texts])
    if held_out is not None:
        rows = _without_held_out(path, rows, texts, held_out)
    for name, classes in shape.labels.items():
        column = theirs[name]
        none = () if "-" in classes or not classes else no_labels(named.labels)
        rows, blank = rows_with(path, rows, column, without=none)
        skipped |= blank
        rows = rows.with_columns(
            class_texts(rows[column]).replace(dict(named.labels)).alias(column)
        )
        if classes:
            hint = Hint(
                "correct it, or say what it means: ", RecipeValue("data.labels.LABEL", "MEANING")
            )
            is_other, fault = ~pl.col(column).is_in(classes), f"{column} is not one of "
            refuse_rows(path, rows, is_other, fault + ", ".join(classes), column, hint=hint)
    for name, largest in shape.numbers.items():
        rows, blank = rows_with(path, rows, theirs[name], without=NOTHING)
        skipped |= blank
        rows = rows.with_columns(_numbers(path, rows, theirs[name], largest).alias(theirs[name]))
    columns = {ours: rows[name] for ours, name in theirs.items()}
    frame = pl.DataFrame(
        {
            ours: column.cast(pl.String) if ours in shape.texts else column
            for ours, column in columns.items()
        }
    )
    return ParsedRows(frame=frame, skipped=skipped)


def _columns_of(
    path: Path, rows: pl.DataFrame, shape: RowShape, named: ColumnMap
) -> dict[str, str]:
    """Return the column of the file that holds each of those of SHAPE."""
    columns = [name for name in rows.columns if name != PLACE]
    found = {}
    for ours in shape.columns:
        said = named.columns.get(ours)
        choices = (said,) if said is not None else (ours, _PUBLISHED.get(ours, ours))
        theirs = next((name for name in choices if name in columns), None)
        if theirs is None:
            raise MissingError(
                f"{path} has no column {said or ours!r}: found {first_few(columns)}",
                hint=Hint("say which holds it: ", RecipeValue(f"data.columns.{ours}", "NAME")),
            )
        found[ours] = theirs
    return found


def _numbers(path: Path, frame: pl.DataFrame, column: str, largest: float | None) -> pl.Series:
    number = number_of(column)
    refuse_rows(
        path, frame, ~number.is_finite().fill_null(False), f"{column} is not a number", column
    )
    if largest is not None:
        hint = "correct it, or state the scale of the scores in the objective's options"
        refuse_rows(
            path,
            frame,
            number.abs() > largest,
            f"{column} is not from {-largest:g} to {largest:g}",
            column,
            hint=hint,
        )
    return frame.select(number).to_series()
