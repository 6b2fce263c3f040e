"""The sections of a page about models compared on pairs: the table of each kind of slice with plots, and pair by pair."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from embedlab.analysis.scores import ModelColumns
from embedlab.comparison.comparison import Comparison
from embedlab.data.pair_parts import FIFTHS_OF
from embedlab.evaluation.scored_pairs import ScoredPairs
from embedlab.models.grammar import title_of
from embedlab.papers.printed import PublishedRow
from embedlab.reports.comparison_table import comparison_table
from embedlab.reports.html import Section
from embedlab.reports.plots import Dots, Lines, Scatter, ScatterPoints, Series

SCORE_AXIS = "Spearman x 100, with 95% intervals"
TITLES: dict[str, str] = {"dataset": "By dataset", "source": "By source", "dice": "By word overlap"}
SCATTERS = 4  # models that the scatter shows: more panels are too small to read


@dataclass(frozen=True, kw_only=True)
class ComparedPairs:
    """The models compared by one kind of slice, with the pairs behind it."""

    comparison: Comparison
    scored: ScoredPairs


def comparison_section(found: ComparedPairs, printed: Sequence[PublishedRow]) -> Section:
    """The models by one kind of slice: the table, their scores, the differences, and each next to its published row."""
    comparison = found.comparison
    plots = [*(_fifths(comparison) if comparison.by == "dice" else [_scores(comparison)]), *_differences(comparison)]
    plots += [_next_to_published(comparison, row) for row in printed]
    return Section(title=TITLES[comparison.by], table=comparison_table(comparison, found.scored, list(printed)), plots=tuple(plots))


def _scores(comparison: Comparison) -> Dots:
    labels = [one.key for one in comparison.slices]
    return Dots(title=f"Scores {TITLES[comparison.by].lower()}", labels=labels, series=_series(comparison, labels), axis=SCORE_AXIS)


def _series(comparison: Comparison, keys: Sequence[str]) -> list[Series]:
    """Each model's scores on the slices called KEYS."""
    slices = [one for one in comparison.slices if one.key in keys]
    return [
        Series(
            name=title_of(model),
            values=[100 * one.scores[model].value for one in slices],
            low=[100 * one.scores[model].low for one in slices],
            high=[100 * one.scores[model].high for one in slices],
        )
        for model in comparison.models
    ]


def _differences(comparison: Comparison) -> Iterator[Dots]:
    """One plot of all models but the reference; none where that is the only model."""
    others = [model for model in comparison.models if model != comparison.reference]
    if not others:
        return
    series = [
        Series(
            name=title_of(model),
            values=[100 * one.differences[model].delta for one in comparison.slices],
            low=[100 * one.differences[model].low for one in comparison.slices],
            high=[100 * one.differences[model].high for one in comparison.slices],
        )
        for model in others
    ]
    what = title_of(others[0]) if len(others) == 1 else "Each model"
    title = f"{what} minus {title_of(comparison.reference)}, {TITLES[comparison.by].lower()}"
    yield Dots(title=title, labels=[one.key for one in comparison.slices], series=series, axis="difference, with 95% intervals", zero=True)


def _fifths(comparison: Comparison) -> Iterator[Lines]:
    """A plot a dataset, its fifths from the least to the most word overlap."""
    keys: dict[str, list[str]] = {}
    for one in comparison.slices:
        keys.setdefault(one.key.rpartition("/")[0], []).append(one.key)
    for dataset, own in keys.items():
        yield Lines(
            title=f"Scores by word overlap on {dataset}",
            labels=[key.rpartition("-")[2] for key in own],
            series=_series(comparison, own),
            axis=SCORE_AXIS,
            along="fifth of the pairs by Dice, from the least overlap to the most",
        )


def _next_to_published(comparison: Comparison, row: PublishedRow) -> Dots:
    """A model's scores next to those that a paper prints for it."""
    slices = [one for one in comparison.slices if one.key in row.scores]
    labels = [one.key for one in slices]
    ours = next(series for model, series in zip(comparison.models, _series(comparison, labels), strict=True) if model == row.model)
    published = Series(name=f"{row.paper}, {row.table}", values=[row.scores[label] for label in labels])
    return Dots(title=f"{title_of(row.model)}: published and ours", labels=labels, series=[published, ours], axis=SCORE_AXIS)


def scatter_section(scored: ScoredPairs) -> Section:
    """The similarity of each model against the gold score of every pair of one dataset."""
    names = scored.table["dataset"].unique(maintain_order=True).to_list()
    dataset = FIFTHS_OF if FIFTHS_OF in names else names[0]
    pairs = scored.table.filter(pl.col("dataset") == dataset)
    panels = tuple(_points(pairs, model) for model in scored.models[:SCATTERS])
    title = f"Similarity against the gold score on {dataset}"
    return Section(title="Pair by pair", plots=(Scatter(title=title, panels=panels, x_axis="gold score", y_axis="similarity"),))


def _points(pairs: pl.DataFrame, model: ModelColumns) -> ScatterPoints:
    """A pair's similarity is the mean over the model's members."""
    similarity = pairs.select(pl.mean_horizontal(model.members, ignore_nulls=False)).to_series()
    found = pairs.select("gold", similarity=similarity).drop_nulls()
    return ScatterPoints(name=title_of(model.name), x=found["gold"].to_list(), y=found["similarity"].to_list())
