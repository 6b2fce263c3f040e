"""A pair table as outcomes: a pair is an item with two sentences whose prediction is a
similarity.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl

from embedlab.analysis.evidence import near_pairs, sentence_numbers
from embedlab.analysis.near_duplicates import Links, NearDuplicates, links_of
from embedlab.data.overlaps import with_text_keys
from embedlab.outcomes.frame import ROWS, SENTENCES, TEXT_IDS, Block, Outcomes
from embedlab.outcomes.stored_links import stored_links

KEYS = ("text_key0", "text_key1")  # as `with_text_keys` calls them


def pair_outcomes(
    table: pl.DataFrame,
    members: Sequence[str],
    *,
    task: str,
    averages: Mapping[str, Sequence[str]],
    keys: Callable[[], pl.DataFrame] | None = None,
    trained: Callable[[], pl.Series] | None = None,
    cache: Path | None = None,
) -> Outcomes:
    """Return the pairs of TABLE, which TASK scores, as outcomes of MEMBERS, columns of it; AVERAGES
    are over its datasets.

    KEYS gives the hashes of their sentences where these are known, TRAINED the models that were
    trained on text of each row. Which sentences are nearly the same is read from the folder CACHE,
    or found and stored there.
    """
    names = table["dataset"].unique(maintain_order=True).to_list()
    places = {name: index for index, name in enumerate(names)}
    block = pl.col("dataset").replace_strict(places, return_dtype=pl.UInt16)
    rows = table.select(
        block=block,
        item="pair",
        gold=pl.col("gold").cast(pl.Float64),
        source=pl.col("source").cast(pl.String),
    )
    numbers = [
        number.alias(name) for number, name in zip(sentence_numbers(table), TEXT_IDS, strict=True)
    ]
    sentences = table.select(*SENTENCES)
    outcomes = Outcomes(
        rows=rows.with_columns(numbers).select(*ROWS),
        predictions=table.select(members),
        blocks=tuple(
            Block(
                task=task,
                suite=task,
                dataset=name,
                measures=("spearman",),
                is_of_pairs=True,
                is_aggregated=True,
                near=partial(near_pairs_of, table, name, cache),
            )
            for name in names
        ),
        texts=lambda: sentences,
        keys=keys or (lambda: with_text_keys(table).select(*KEYS)),
        trained=trained,
        averages={task: averages},
    )
    outcomes.computed["dice"] = table["dice"]
    return outcomes


def measured_by(outcomes: Outcomes, measure: str) -> Outcomes:
    """Return OUTCOMES whose scores are of another MEASURE."""
    measured = replace(
        outcomes, blocks=tuple(replace(block, measures=(measure,)) for block in outcomes.blocks)
    )
    measured.computed.update(outcomes.computed)
    return measured


def near_pairs_of(table: pl.DataFrame, dataset: str, cache: Path | None = None) -> NearDuplicates:
    """Return which sentences of one dataset of TABLE are nearly the same."""
    is_own = table["dataset"] == dataset
    own = pl.DataFrame(
        [table[side].filter(is_own) for side in SENTENCES]
    )  # by column: a frame would plan a query for each dataset
    return near_pairs(own, partial(_from_cache, cache) if cache is not None else links_of)


def _from_cache(cache: Path, sentences: pl.Series) -> Links:
    return stored_links(sentences, cache)
