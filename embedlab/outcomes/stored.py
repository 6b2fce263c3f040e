"""The outcomes of several members as one frame, from the files that hold them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from embedlab.analysis.near_duplicates import (
    Links,
    NearDuplicates,
    links_key,
    near_duplicates,
    similar_pairs,
)
from embedlab.core.cache import read_cached
from embedlab.core.errors import EmbedlabError
from embedlab.core.frame_files import read_table, write_table
from embedlab.outcomes.frame import ROWS, Block, Outcomes
from embedlab.runs.outcomes import (
    CONTRADICTED,
    PREDICTED,
    SENTENCES,
    TEXT_IDS,
    OutcomeFacts,
    StoredOutcomes,
    stored_facts,
    stored_outcomes,
)

_FEWEST = 200  # sentences; fewer are compared as quickly as a file is read
_SCHEMA = {"first": pl.Int32(), "second": pl.Int32(), "cosine": pl.Float32()}


def _read_links(path: Path, sentences: int) -> Links:
    """Return the links of a table; one that links between SENTENCES cannot make is a ValueError."""
    frame, _ = read_table(path, hint="")
    if dict(frame.schema) != _SCHEMA or sum(frame.null_count().row(0)):
        raise ValueError("not a table of links")
    first, second, cosine = (frame[name].to_numpy() for name in _SCHEMA)
    if len(frame) and not (
        first.min() >= 0 and (first < second).all() and second.max() < sentences
    ):
        raise ValueError("not in order")
    return Links(first=first, second=second, cosine=cosine)


def stored_links(sentences: pl.Series, cache: Path) -> Links:
    """Return the links between SENTENCES, which are distinct, from the folder CACHE, or computed
    and stored there.
    """
    if len(sentences) < _FEWEST:
        return similar_pairs(sentences)
    path = cache / "similar-sentences" / f"{links_key(sentences)}.parquet"
    links = read_cached(path, lambda path: _read_links(path, len(sentences)))
    if links is None:
        links = similar_pairs(sentences)
        columns = {name: getattr(links, name) for name in _SCHEMA}
        with suppress(OSError, EmbedlabError):  # a disk that refuses it costs time alone
            write_table(path, pl.DataFrame(columns, schema=_SCHEMA))
    return links


Stored = Mapping[str, Sequence[StoredOutcomes]]  # by member, one a dataset


def open_outcomes(
    members: Mapping[str, Path],
    tasks: Collection[str],
    datasets: Collection[str] = (),
    cache: Path | None = None,
    is_shown: Callable[[OutcomeFacts], bool] = lambda _: True,
) -> Outcomes | None:
    """Return what is stored of MEMBERS, whose names have their folders of evaluations, on TASKS as
    evaluations name them and on DATASETS, on all without, as far as IS_SHOWN takes it; None where
    nothing is.

    Nothing is computed and no task is loaded. Which sentences are nearly the same is kept in the
    folder CACHE. Of a member that was scored on other data than the first there is nothing.
    """
    stored: dict[str, list[StoredOutcomes]] = {}
    for member, folder in members.items():
        names = tasks or dict.fromkeys(facts.task for facts in stored_facts(folder))
        stored[member] = [
            outcomes
            for task in names
            for outcomes in stored_outcomes(folder, task, names=datasets or None)
            if is_shown(outcomes)
        ]
    return join_members(stored, [*members], cache=cache)


def join_members(
    stored: Stored,
    members: Sequence[str],
    *,
    cache: Path | None = None,
    averages: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    mixed_metrics: Mapping[str, str] | None = None,
    trained: Callable[[Outcomes], pl.Series] | None = None,
) -> Outcomes | None:
    """Return the items that any of MEMBERS was scored on with what each of them got; None where
    there are none.

    Of a dataset there are the items that all members that were scored on it have: those that one of
    them cannot read are left out for all.
    """
    by_name = {
        member: {each.name: each for each in member_outcomes}
        for member, member_outcomes in stored.items()
    }
    first_by_name: dict[str, StoredOutcomes] = {}
    for by_dataset in by_name.values():
        first_by_name = by_dataset | first_by_name
    if not first_by_name:
        return None
    blocks = []
    rows = []
    texts = []
    predictions = []
    for index, (name, first) in enumerate(first_by_name.items()):
        by_member = {
            member: by_dataset[name] for member, by_dataset in by_name.items() if name in by_dataset
        }
        items, predicted = _join_items(first, by_member)
        read_items = pl.concat([outcomes.items["item"] for outcomes in by_member.values()])
        empty = pl.Series([None], dtype=pl.Float64).new_from_index(0, items.height)
        predictions.append(pl.DataFrame({each: predicted.get(each, empty) for each in members}))
        sentences = items.select(
            name for name in (*SENTENCES, CONTRADICTED) if name in items.columns
        )
        texts.append(sentences)
        rows.append(_rows(index, items))
        measures = first.measures or ("accuracy" if first.classes else "spearman",)
        is_known = not sentences["sentence1"].null_count()
        blocks.append(
            Block(
                task=first.base_task or first.task,
                suite=first.task,
                dataset=first.name,
                measures=measures,
                classes=first.classes,
                is_aggregated=measures == ("spearman",) and not first.classes,
                left_out=read_items.n_unique() - items.height,
                near=partial(near_sentences_of, sentences, cache) if is_known else None,
            )
        )
    return Outcomes(
        rows=pl.concat(rows),
        predictions=pl.concat(predictions),
        blocks=tuple(blocks),
        sentences=pl.concat(texts, how="diagonal"),
        averages=averages or {},
        mixed_metrics=mixed_metrics or {},
        trained=trained,
    )


def _join_items(
    first: StoredOutcomes, by_member: Mapping[str, StoredOutcomes]
) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
    """Return the items that all members have, and what each predicted of them."""
    classes = {label: number for number, label in enumerate(first.classes)}
    for outcomes in by_member.values():
        for label in outcomes.classes:  # what only another member predicted comes last
            classes.setdefault(label, len(classes))
    items = first.items
    for outcomes in by_member.values():
        if not outcomes.items["item"].equals(items["item"]):
            items = items.join(outcomes.items.select("item"), on="item", maintain_order="left")
    predicted = {}
    for member, outcomes in by_member.items():
        frame = outcomes.items.select("item", "gold", PREDICTED)
        if len(frame) != len(items) or not frame["item"].equals(items["item"]):
            frame = items.select("item").join(frame, on="item", how="left", maintain_order="left")
        if outcomes.classes != first.classes:
            numbers = {number: classes[name] for number, name in enumerate(outcomes.classes)}
            frame = frame.with_columns(pl.col("gold", PREDICTED).replace(numbers))
        if frame["gold"].equals(items["gold"]):
            predicted[member] = frame[PREDICTED].cast(pl.Float64)
    return items, predicted


def _rows(index: int, items: pl.DataFrame) -> pl.DataFrame:
    """Return ROWS of the items of a block; equal sentences have equal numbers."""
    first, second = (items[name] for name in SENTENCES)
    second = second.zip_with(second.is_not_null(), first)
    has_text = first.is_not_null()
    nulls = pl.Series([None], dtype=pl.UInt64).new_from_index(0, items.height)
    numbers = [
        texts.hash().zip_with(has_text, items.get_column(name, default=nulls)).alias(name)
        for name, texts in zip(TEXT_IDS, (first, second), strict=True)
    ]
    block = pl.Series("block", [index], dtype=pl.UInt16).new_from_index(0, items.height)
    return items.select("item", "gold", "source").with_columns(block, *numbers).select(*ROWS)


def near_sentences_of(sentences: pl.DataFrame, cache: Path | None = None) -> NearDuplicates:
    """Return which SENTENCES of one dataset are nearly the same, with the numbers of the frame."""
    first, second = (sentences[name] for name in SENTENCES)
    texts = pl.concat([first, second.zip_with(second.is_not_null(), first)])
    find_links = None if cache is None else partial(stored_links, cache=cache)
    return near_duplicates(texts.hash().to_numpy().astype(np.uint64), texts, find_links)
