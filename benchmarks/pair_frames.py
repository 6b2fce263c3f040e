"""Pairs as one flat table, and such a table as outcomes: what tests and measurements make."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from embedlab.analysis.evidence import Evidence, evidence_of
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.near_duplicates import (
    Links,
    NearDuplicates,
    find_near_links,
    near_duplicates,
)
from embedlab.analysis.overlap import dice_of_rows
from embedlab.analysis.pair_notes import pair_key
from embedlab.data.dataset import DatasetState, Part
from embedlab.outcomes.frame import ROWS, Block, Outcomes
from embedlab.outcomes.stored import near_sentences_of
from embedlab.runs.outcomes import SENTENCES, TEXT_IDS, StoredOutcomes, items_frame


def pair_outcomes(
    table: pl.DataFrame,
    members: Sequence[str],
    *,
    task: str,
    averages: Mapping[str, Sequence[str]],
    cache: Path | None = None,
) -> Outcomes:
    """Return the pairs of TABLE as outcomes of MEMBERS, columns of it; AVERAGES are over its
    datasets.
    """
    names = table["dataset"].unique(maintain_order=True).to_list()
    places = {name: index for index, name in enumerate(names)}
    sentences = table.select(*SENTENCES)
    ids = [table[side].hash().alias(name) for side, name in zip(SENTENCES, TEXT_IDS, strict=True)]
    rows = table.select(
        block=pl.col("dataset").replace_strict(places, return_dtype=pl.UInt16),
        item="pair",
        gold=pl.col("gold").cast(pl.Float64),
        source=pl.col("source").cast(pl.String),
    )
    outcomes = Outcomes(
        rows=rows.with_columns(ids).select(*ROWS),
        predictions=table.select(members),
        blocks=tuple(
            Block(
                task=task,
                suite=task,
                dataset=name,
                measures=("spearman",),
                is_aggregated=True,
                near=partial(near_sentences_of, sentences.filter(table["dataset"] == name), cache),
            )
            for name in names
        ),
        sentences=sentences,
        averages={task: averages},
    )
    outcomes.computed["dice"] = table["dice"]
    return outcomes


def pair_table(parts: Sequence[Part]) -> pl.DataFrame:
    """Return one row per pair of all PARTS, which are STS data.

    dataset ("sts12"; a split that is not test is named: "sts-benchmark:dev") · source (null: none
    named) · pair (row in its dataset, from 0) · sentence1 · sentence2 · gold · dice (0–1) ·
    pair_key.
    """
    frames = [
        part.frame.select(
            dataset=pl.lit(_dataset(part.state)),
            source=pl.col("source").cast(pl.String),
            pair=pl.int_range(pl.len(), dtype=pl.UInt32),
            sentence1="sentence1",
            sentence2="sentence2",
            gold=pl.col("gold").cast(pl.Float64),
            dice=dice_of_rows(part.frame["sentence1"], part.frame["sentence2"]),
            pair_key=pl.Series(
                [pair_key(*row) for row in part.frame.select(SENTENCES).iter_rows()],
                dtype=pl.UInt64,
            ),
        )
        for part in parts
    ]
    return pl.concat(frames)


def with_scores(table: pl.DataFrame, members: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the pair table with a column a member, by the keys of its scores; null without one."""
    for name, scores in members.items():
        own = scores.select("pair_key", pl.col("similarity").cast(pl.Float64).alias(name))
        own = own.unique("pair_key", keep="last")
        table = table.join(own, on="pair_key", how="left", maintain_order="left")
    return table


def _dataset(state: DatasetState) -> str:
    # A user's own file has one split, "all".
    return state.name if state.split in {"test", "all"} else f"{state.name}:{state.split}"


def store_similarities(
    table: pl.DataFrame,
    folder: Path,
    model: str,
    similarity: pl.Series,
    *,
    marks: Sequence[str] = (),
) -> None:
    """Store a model's SIMILARITY of each pair of TABLE in its FOLDER of evaluations."""
    for (name,), rows in table.with_columns(similarity.alias("\0")).group_by(
        "dataset", maintain_order=True
    ):
        StoredOutcomes(
            task="sts",
            base_task="sts",
            dataset=str(name),
            split="test",
            model=model,
            fingerprint=model,
            data=(),
            marks=tuple(marks),
            classes=(),
            measures=("spearman",),
            items=items_frame(rows["pair"], rows["gold"], rows["\0"].cast(pl.Float32), rows),
        ).save(folder)


NUMBERS = ("sentence1_number", "sentence2_number")


def sentence_numbers(table: pl.DataFrame) -> list[pl.Series]:
    """Return two columns that number the sentences of a pair table, equal text by equal numbers."""
    sides = zip(SENTENCES, NUMBERS, strict=True)
    return [table[side].hash().alias(name) for side, name in sides]


def near_pairs(
    pairs: pl.DataFrame, find: Callable[[pl.Series], Links] = find_near_links
) -> NearDuplicates:
    """Return which sentences of one dataset's PAIRS are nearly the same, under the numbers that
    they have; FIND finds their links.
    """
    numbers = np.concatenate([number.to_numpy() for number in sentence_numbers(pairs)])
    return near_duplicates(numbers, pl.concat([pairs[side] for side in SENTENCES]), find)


def evidence_of_pairs(
    key: str, pairs: pl.DataFrame, columns: Sequence[str], near: NearDuplicates | None = None
) -> Evidence:
    """Return the evidence of PAIRS, which have sentence numbers, with a score in all COLUMNS."""
    return evidence_of(
        "sts",
        key,
        pairs["gold"].to_numpy(),
        {place: pairs[column].to_numpy() for place, column in enumerate(columns)},
        len(columns),
        measure=MEASURES["spearman"],
        texts=pairs.select(NUMBERS).to_numpy(),
        near=near,
    )
