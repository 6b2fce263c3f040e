"""The pair table of the dashboard, and the stored similarities that fill it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.overlap import dice_of_rows
from embedlab.analysis.pair_notes import pair_keys
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.names import DEFAULT_TASK
from embedlab.data.dataset import DatasetState, Part
from embedlab.outcomes.frame import ROWS, Block, Outcomes
from embedlab.outcomes.stored import near_sentences_of
from embedlab.runs.outcomes import PREDICTED, SENTENCES, TEXT_IDS, stored_outcomes


def stored_similarities(folder: Path) -> pl.DataFrame:
    """Return pair_key and similarity of every pair in a member's FOLDER; none is a MissingError."""
    troubles: list[MissingError] = []
    frames = [
        pl.DataFrame(
            [pair_keys(one.items), one.items[PREDICTED].cast(pl.Float32).alias("similarity")]
        )
        for one in stored_outcomes(folder / "evaluations", DEFAULT_TASK, troubles.append)
    ]
    if not frames:
        hint = "`embedlab evaluate MODEL` makes them"
        raise troubles[0] if troubles else MissingError(f"no scores in {folder}", hint=hint)
    return pl.concat(frames).unique("pair_key", keep="first", maintain_order=True)


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
                is_of_pairs=True,
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
            pair_key=pair_keys(part.frame),
        )
        for part in parts
    ]
    return pl.concat(frames)


def with_scores(table: pl.DataFrame, members: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The pair table with one Float64 column a member, named as in MEMBERS; null where a pair is
    not scored.

    The model "dice" is the table's own column.
    """
    keys, columns, places = table["pair_key"].to_numpy(), [], None
    for name, scores in members.items():
        if name == "dice":
            continue
        if name in table.columns:
            raise UsageError(
                f"a model cannot be called {name!r}: the pair table has that column",
                hint="rename its run: `embedlab runs rename`",
            )
        # Models that scored the same pairs store them in the same order: the positions of the last
        # one are reused.
        if places is None or not np.array_equal(places.scored, scores["pair_key"].to_numpy()):
            places = _Places.of(keys, scores["pair_key"].to_numpy())
        columns.append(places.values(scores["similarity"]).fill_nan(None).alias(name))
    return table.with_columns(columns)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Places:
    """Positions of a table's pairs among scored ones; for a key that was scored twice, the last."""

    scored: NDArray[np.uint64]  # the keys
    rows: NDArray[np.intp]  # of each pair of the table; arbitrary where it was not scored
    is_found: NDArray[np.bool_]  # whether it was

    @classmethod
    def of(cls, keys: NDArray[np.uint64], scored: NDArray[np.uint64]) -> Self:
        """Return the positions of pairs with these KEYS."""
        if not len(scored):
            return cls(
                scored=scored,
                rows=np.zeros(len(keys), dtype=np.intp),
                is_found=np.zeros(len(keys), dtype=bool),
            )
        order = np.argsort(scored, kind="stable")
        # A key smaller than all others is sought at -1, the end: its row holds another key, and so
        # it is not found.
        rows = order[np.searchsorted(scored, keys, side="right", sorter=order) - 1]
        return cls(scored=scored, rows=rows, is_found=scored[rows] == keys)

    def values(self, similarities: pl.Series) -> pl.Series:
        """Return the similarity of each pair of the table; null where it was not scored."""
        values = np.zeros(len(self.rows))
        values[self.is_found] = similarities.to_numpy()[self.rows[self.is_found]]
        column = pl.Series(values)
        return column if self.is_found.all() else column.set(pl.Series(~self.is_found), None)


def _dataset(state: DatasetState) -> str:
    # A user's own file has one split, "all".
    return state.name if state.split in {"test", "all"} else f"{state.name}:{state.split}"
