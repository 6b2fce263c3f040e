"""Figures of whole datasets that another program stated: shown as they are, without intervals,
letters or tests.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

import polars as pl

from embedlab.core.note import Note
from embedlab.data.mteb_files import StatedFigures, plain_name
from embedlab.models.grammar import titles_of
from embedlab.reports.frames import COMPARED, EVALUATED, tidy_frame
from embedlab.reports.model_columns import ScoreRow, model_table, score_cell
from embedlab.reports.tables import Column, Table

STATED = "stated"


@dataclass(frozen=True, kw_only=True)
class StatedModel:
    """A model of which only figures are known."""

    name: str
    figures: Sequence[StatedFigures]

    def value(self, dataset: str, metric: str = "spearman", *, over: Sequence[str] = ()) -> float:
        """Return the figure x 100 of a DATASET, of an average OVER others the mean of theirs; nan
        where none is stated.
        """
        if over:
            return sum(self.value(name, metric) for name in over) / len(over)
        figures = next(
            (figure for figure in self.figures if plain_name(figure.task) == plain_name(dataset)),
            None,
        )
        return 100 * figures.figures.get(f"cosine_{metric}", nan) if figures is not None else nan

    def states(self, dataset: str) -> bool:
        """Return whether a file has a result of DATASET, which may be no number."""
        return any(plain_name(figure.task) == plain_name(dataset) for figure in self.figures)

    def notes(self, datasets: Sequence[str]) -> Iterator[str]:
        """Yield what the figures of DATASETS are, with revision and split."""
        wanted = {plain_name(dataset) for dataset in datasets}
        stated_figures = [figure for figure in self.figures if plain_name(figure.task) in wanted]
        versions = ", ".join(
            dict.fromkeys(
                f"mteb {figures.version}" for figures in stated_figures if figures.version
            )
        )
        if stated_figures:
            what = ", ".join(figures.origin for figures in stated_figures)
            figures = (
                f"figures of whole datasets as {versions or 'a result file'} states them, "
                f"without pairs"
            )
            yield Note(f"{self.name}: {figures}: {what}", models=(self.name,), short=(figures,))
        for figure in stated_figures:
            if isnan(figure.figures["main_score"]):
                said = f"main_score is NaN in {figure.path.name}"
                yield Note(f"{self.name}: {said}", models=(self.name,), short=(said,))


def stated_table(
    models: Sequence[StatedModel], datasets: Mapping[str, Sequence[str]], metric: str, task: str
) -> Table:
    """Return one row a dataset of TASK that any of the models states, or an average over others,
    and one column a model.
    """
    values = {
        (model.name, key): model.value(key, metric, over=over)
        for model in models
        for key, over in datasets.items()
    }
    keys = [
        key
        for key in datasets
        if any(not isnan(values[model.name, key]) or model.states(key) for model in models)
    ]
    rows = [
        {
            "task": task,
            "by": "dataset",
            "slice": key,
            "metric": metric,
            "setting": STATED,
            "split": "",
            "model": model.name,
        }
        | {"score": values[model.name, key], "marks": STATED}
        for model in models
        for key in keys
    ]
    return model_table(
        [
            ScoreRow(
                of={"dataset": key},
                scores={model.name: score_cell(values[model.name, key]) for model in models},
            )
            for key in keys
        ],
        titles_of([model.name for model in models]),
        leading=[Column(key="dataset", title="dataset", role="key")],
        marks_best=False,
        title=f"{metric.title()} x 100 [{STATED}]",
        frame=tidy_frame(rows, EVALUATED),
        notes=[note for model in models for note in model.notes(keys)],
    )


def compared_figures(
    models: Sequence[StatedModel], slices: Mapping[str, Sequence[str]], task: str
) -> pl.DataFrame:
    """Return the rows of the figures of SLICES of TASK, or of averages over others, in the frame of
    a comparison.
    """
    rows = [
        {
            "task": task,
            "by": "dataset",
            "slice": key,
            "metric": "spearman",
            "setting": STATED,
            "model": model.name,
        }
        | {"score": model.value(key, over=over), "marks": STATED}
        for model in models
        for key, over in slices.items()
    ]
    return tidy_frame(rows, COMPARED)
