"""What is wrong with files of one's own, row by row and split against split: duplicates, near
duplicates, contradictory gold, values out of scale, and text of the test in the training.

Texts are equal if their case-folded words are. Rows are nearly equal if the weighted words of all
their texts have a cosine of at least 0.8.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from embedlab.analysis.near_duplicates import similar_pairs
from embedlab.core.errors import MissingError
from embedlab.core.printable import one_line
from embedlab.data.column_names import split_column
from embedlab.data.dataset import NLI_LABELS
from embedlab.data.file_name import TEXT_FILE, parse_file_name
from embedlab.data.own_columns import LABELLED, SCORED, own_data
from embedlab.data.score_scale import ScoreScale, unusual_scores
from embedlab.data.table_file import (
    TABLES,
    class_texts,
    number_of,
    read_rows,
    row_places,
    selected_rows,
)
from embedlab.data.text_file import PLACE
from embedlab.data.words import normalise

NEAR = 0.8
MOST_NEAR = 100_000  # rows; of more, near duplicates are not looked for
_TRAIN = ("train", "training", "trn")


@dataclass(frozen=True, kw_only=True)
class AuditFinding:
    """Rows of a split in which one thing is wrong."""

    split: str
    check: str  # such as "duplicate" or "leak"
    rows: int
    note: str


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnSplit:
    """The rows of one split: its texts in words, as one key a row, and its gold."""

    name: str  # of the file, with what selects its rows
    split: str
    # place, texts (List of the words of each), key (of all texts in their order), gold (a label or
    # score as text, null without), shown (the first text)
    rows: pl.DataFrame
    scores: ScoreScale | None


def own_splits(name: str) -> list[OwnSplit]:
    """Return the splits of a folder, by the names of its files; of a file with a column of splits,
    by its values; otherwise the rows of the file.
    """
    path = parse_file_name(name).path
    if not path.is_dir():
        return _splits_of_file(name, path.stem)
    files = [file for file in sorted(path.iterdir()) if file.suffix.lower() in {*TABLES, TEXT_FILE}]
    if not files:
        raise MissingError(
            f"no file of rows in {str(path)!r}", hint=f"a file ends in {', '.join(TABLES)}"
        )
    return [split for file in files for split in _splits_of_file(str(file), file.stem)]


def _splits_of_file(name: str, split: str) -> list[OwnSplit]:
    file = parse_file_name(name)
    if not file.is_table:
        return [_read_split(name, split)]
    settled_columns = [PLACE, *file.where, *file.drop, *file.roles.values()]
    rows = selected_rows(file.path, read_rows(file.path, needed=()), file.where, file.drop)
    column, counts = split_column(rows, settled_columns) or ("", {})
    if len(counts) < 2:
        return [_read_split(name, split)]
    filters = {value: {**file.where, column: value} for value in counts}
    return [_read_split(file.with_options(where=filters[value]).text, value) for value in filters]


def _read_split(name: str, split: str) -> OwnSplit:
    data = own_data(name)
    texts = [data.frame[column].to_list() for column in data.texts]
    words = [[normalise(text) or text for text in row] for row in zip(*texts, strict=True)]
    gold: pl.Expr | pl.Series = pl.lit(None, pl.String)
    if data.kind == SCORED:
        gold = number_of(data.columns["score"]).cast(pl.String)
    elif data.kind == LABELLED:
        gold = class_texts(data.frame[data.columns["label"]]).replace(dict(data.labels))
    rows = data.frame.select(PLACE, texts=pl.Series(words), gold=gold, shown=data.texts[0])
    keyed = rows.with_columns(key=pl.col("texts").list.join("\0"))
    return OwnSplit(name=name, split=split, rows=keyed, scores=data.scores)


def findings_of(splits: Sequence[OwnSplit]) -> Iterator[AuditFinding]:
    """Yield what is wrong in each of the SPLITS of one folder or file, then between them: the
    training against the others, or the first against the rest.
    """
    for split in splits:
        yield from _findings_within(split)
    train = next((candidate for candidate in splits if candidate.split.lower() in _TRAIN), None)
    reference = train or next(iter(splits), None)
    for split in splits:
        if reference is not None and split is not reference:
            yield from _findings_between(reference, split)
    scales = {split.split: split.scores.suggested for split in splits if split.scores is not None}
    if len({*scales.values()}) > 1:
        listing = ", ".join(f"{name} {low:g}-{high:g}" for name, (low, high) in scales.items())
        yield AuditFinding(split="", check="other scale", rows=len(splits), note=listing)


def _findings_within(split: OwnSplit) -> Iterator[AuditFinding]:
    rows = split.rows
    repeated = rows.filter(~pl.col("key").is_first_distinct())
    yield from _finding(split, "duplicate", repeated, "a row has the texts of an earlier one")
    # a pair in the other order is the same pair
    pair = pl.col("texts").list.sort().list.join("\0")
    golds = pl.col("gold").drop_nulls().n_unique().over(pair)
    contradictory = rows.filter((golds > 1) & pl.col("gold").is_not_null()).sort(pair, PLACE)
    values = " and ".join(contradictory["gold"].head(2).to_list())
    yield from _finding(split, "contradictory gold", contradictory, f"the same texts have {values}")
    has_equal_texts = pl.col("texts").list.n_unique() < pl.col("texts").list.len()
    equal = rows.filter(has_equal_texts)
    if split.scores is not None:
        threshold = split.scores.suggested[1] / 2
        equal = equal.filter(pl.col("gold").cast(pl.Float64, strict=False) < threshold)
        yield from _finding(split, "contradictory gold", equal, "two equal texts have a low score")
        yield from _out_of_scale(split)
    elif rows["gold"].count():
        not_entailed = equal.filter(pl.col("gold") != NLI_LABELS[0])
        yield from _finding(
            split, "contradictory gold", not_entailed, "two equal texts are not entailment"
        )
    else:
        yield from _finding(split, "equal texts", equal, "texts of one row are equal")
    yield from _near_findings(split, split)


def _out_of_scale(split: OwnSplit) -> Iterator[AuditFinding]:
    """Yield the scores outside the usual scale of nearly all others."""
    usual_scale, is_outside = unusual_scores(split.rows["gold"].cast(pl.Float64))
    if usual_scale is not None:
        outside = split.rows.filter(is_outside)
        values = ", ".join(outside["gold"].head(3))
        note = f"nearly all scores are {usual_scale}, these {values}"
        yield from _finding(split, "out of scale", outside, note)


def _findings_between(reference: OwnSplit, split: OwnSplit) -> Iterator[AuditFinding]:
    """Yield the rows of a SPLIT whose texts are in the REFERENCE, whole, in part or nearly."""
    rows = split.rows
    location = f"in {reference.split}"
    is_leaked = pl.col("key").is_in(reference.rows["key"].implode())
    texts = reference.rows["texts"].explode()
    has_shared_text = pl.col("texts").list.eval(pl.element().is_in(texts.implode())).list.any()
    yield from _finding(split, "leak", rows.filter(is_leaked), f"the same texts are {location}")
    partial = rows.filter(has_shared_text & ~is_leaked)
    yield from _finding(split, "shared text", partial, f"a text is {location}")
    yield from _near_findings(reference, split)
    labels = {*reference.rows["gold"].drop_nulls()}
    if split.scores is None and labels:
        unlabelled = rows.filter(pl.col("gold").is_not_null() & ~pl.col("gold").is_in([*labels]))
        yield from _finding(split, "other label", unlabelled, f"a label is not {location}")


def _near_findings(reference: OwnSplit, split: OwnSplit) -> Iterator[AuditFinding]:
    """Yield the rows of a SPLIT that are nearly an earlier row of it, or a row of another split,
    the REFERENCE.
    """
    both = pl.concat([reference.rows, split.rows])
    rows = both.unique("key", keep="first", maintain_order=True)
    if rows.height > MOST_NEAR:
        return
    links = similar_pairs(rows["key"].str.replace_all("\0", " ", literal=True))
    earlier, later = np.sort([links.first, links.second], axis=0)
    is_near = links.cosine >= NEAR
    check, location = "near duplicate", "an earlier row"
    if split is not reference:
        check, location = "near leak", f"a row of {reference.split}"
        reference_rows = reference.rows["key"].n_unique()
        is_near &= (earlier < reference_rows) & (later >= reference_rows)
    near_rows = rows[np.unique(later[is_near])]
    yield from _finding(split, check, near_rows, f"nearly the texts of {location}")


def _finding(split: OwnSplit, check: str, rows: pl.DataFrame, note: str) -> Iterator[AuditFinding]:
    if rows.height:
        path = Path(parse_file_name(split.name).path)
        sample = one_line(rows["shown"][0])[:60]
        count = f"{rows.height} of {split.rows.height} rows"
        note = f"{note}: {count}, {row_places(path, rows)}, the first {sample!r}"
        yield AuditFinding(split=split.split, check=check, rows=rows.height, note=note)


def query_findings(queries: Mapping[str, Sequence[str]]) -> Iterator[AuditFinding]:
    """Yield the QUERIES of each split of a collection that the training has too."""
    keys = {split: [normalise(text) for text in texts] for split, texts in queries.items()}
    train = next((split for split in keys if split.lower() in _TRAIN), None)
    for split, split_keys in keys.items():
        repeats = len(split_keys) - len({*split_keys})
        if repeats:
            note = f"a query has the words of another: {repeats} of {len(split_keys)}"
            yield AuditFinding(split=split, check="duplicate", rows=repeats, note=note)
        if train is not None and split != train:
            known = {*keys[train]}
            leaked = sum(key in known for key in split_keys)
            if leaked:
                note = f"a query is in {train}: {leaked} of {len(split_keys)}"
                yield AuditFinding(split=split, check="leak", rows=leaked, note=note)
