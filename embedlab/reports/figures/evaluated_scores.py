"""The scores of evaluated models, with intervals where they are known."""

from collections.abc import Sequence
from math import nan

import polars as pl

from embedlab.models.grammar import titles_of
from embedlab.reports.captions import DEPENDENCE, counted_items, data_sentences, trained_on
from embedlab.reports.figure_subjects import EvaluatedModels
from embedlab.reports.figures import FigureKind
from embedlab.reports.plots import Dots, Plot, Series


def _plots(subject: EvaluatedModels) -> Sequence[Plot]:
    """One plot a task, of its first metric and setting."""
    return [
        _dots(str(task), frame)
        for (task,), frame in subject.frame.group_by("task", maintain_order=True)
    ]


def _dots(task: str, frame: pl.DataFrame) -> Plot:
    metric, setting = frame.select("metric", "setting").row(0)
    shown = frame.filter(pl.col("metric") == metric, pl.col("setting").eq_missing(setting))
    labels = shown["slice"].unique(maintain_order=True).to_list()
    titles = titles_of(shown["model"].unique(maintain_order=True).to_list())
    series = [_series(title, shown.filter(model=model), labels) for model, title in titles.items()]
    return Dots(
        title=f"Scores on {task}",
        labels=labels,
        series=series,
        axis=f"{metric.capitalize()} ({setting})" if setting else metric,
    )


def _series(name: str, frame: pl.DataFrame, labels: Sequence[str]) -> Series:
    rows = {row["slice"]: row for row in frame.iter_rows(named=True)}
    values = [_number(rows, label, "score") for label in labels]
    low, high = ([_number(rows, label, end) for label in labels] for end in ("low", "high"))
    return Series(
        name=name,
        values=values,
        low=[end if end == end else value for end, value in zip(low, values, strict=True)],
        high=[end if end == end else value for end, value in zip(high, values, strict=True)],
    )


def _number(rows: dict[str, dict[str, float | None]], label: str, key: str) -> float:
    number = rows.get(label, {}).get(key)
    return nan if number is None else number


def _caption(subject: EvaluatedModels) -> str:
    frame = subject.frame
    first = frame.group_by("task", maintain_order=True).agg(pl.col("metric").first())
    metrics = " and ".join(f"{metric.capitalize()} on {task}" for task, metric in first.rows())
    counts = dict(
        frame.filter(pl.col("by") != "average")
        .group_by("slice", maintain_order=True)
        .agg(pl.col("items").first())
        .rows()
    )
    marks = frame["marks"].drop_nulls().str.split(", ").explode().unique().to_list()
    titles = titles_of(frame["model"].unique(maintain_order=True).to_list())
    pairs, sentences = (
        [
            titles[name]
            for name in frame.filter(pl.col(column) > 0)["model"].unique(maintain_order=True)
        ]
        for column in ("shared_pairs", "shared_sentences")
    )
    has_intervals = frame["low"].null_count() < frame.height
    bars = (
        [f"Bars: 95% intervals, each on its own, over items; {DEPENDENCE}."]
        if has_intervals
        else []
    )
    seen = trained_on(pairs, [name for name in sentences if name not in pairs])
    return " ".join(
        [f"Scores: {metrics}; {counted_items(counts)}.", *data_sentences(marks), *bars, *seen]
    )


FIGURE = FigureKind(
    name="scores",
    of=EvaluatedModels,
    summary="each model's score on each dataset or slice",
    plots=_plots,
    caption=_caption,
    is_usual=True,
)
