"""The scored items of classified datasets, as a file of predictions names them."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from embedlab.core.nearest import unknown
from embedlab.core.settings import Settings
from embedlab.data.dataset import DatasetState
from embedlab.data.marks import data_marks
from embedlab.data.source import Source
from embedlab.tasks.task import GoldItems, all_tasks

_SENTENCES = ("sentence", "sentence1", "sentence2")


@dataclass(frozen=True, kw_only=True, eq=False)
class ListedItems:
    """One row an item: dataset, item, split, label and its sentences."""

    frame: pl.DataFrame
    states: tuple[DatasetState, ...]
    marks: tuple[str, ...]


def listed_items(names: Sequence[str], settings: Settings) -> ListedItems:
    """Return the items of the datasets in NAMES, in order."""
    source = Source.from_settings(settings)
    tasks = {name: task for task in all_tasks() for name in task.item_datasets}
    for name in names:
        if name not in tasks:
            raise unknown("dataset of classified items", name, list(tasks))
    gold_items = [
        gold for name in dict.fromkeys(names) for gold in tasks[name].items(source, [name])
    ]
    states = tuple(gold.part.state for gold in gold_items)
    return ListedItems(
        frame=pl.concat(map(_frame, gold_items), how="diagonal"),
        states=states,
        marks=tuple(data_marks(states)),
    )


def _frame(gold: GoldItems) -> pl.DataFrame:
    count, frame = len(gold.labels), gold.part.frame
    known = {
        "dataset": [gold.name] * count,
        "item": range(count),
        "split": [gold.part.state.split] * count,
        "label": gold.labels,
    }
    return pl.DataFrame(
        {**known, **{name: frame[name] for name in _SENTENCES if name in frame.columns}}
    )
