"""Classes that another program predicted, joined with the gold items of a task; nothing is
encoded.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

import polars as pl

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.nearest import nearest_name
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.models.catalog import ModelSpec
from embedlab.models.encoder_kind import file_and_part
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.outcomes import StoredOutcomes
from embedlab.tasks.task import (
    FilePredictions,
    GoldItems,
    Task,
    TaskResult,
    all_tasks,
    evaluation_of,
    outcomes_of,
)

BROUGHT = "brought"


def evaluate_items(
    task: Task, spec: ModelSpec, settings: Settings, names: Sequence[str]
) -> TaskResult:
    """Return the outcomes of predictions that are in a file, on TASK or its datasets in NAMES.

    An unknown dataset, an item out of range or twice, and a label that no item has are errors that
    name file and line. A dataset with missing items has no number, and a note says how many.
    """
    read_items = spec.shipped.items
    assert read_items is not None
    path = str(file_and_part(spec.location)[0])
    table = read_items(spec.location)
    _refuse_unknown_datasets(path, table)
    if not task.item_datasets:
        raise UsageError(
            f"{spec.name!r} holds classes of items, and {task.name} has none",
            hint="compare it with --suite transfer",
        )
    file_datasets = [
        name
        for name in dict.fromkeys(table["dataset"])
        if _base(name) in task.item_datasets and (not names or _base(name) in names)
    ]
    if not file_datasets:
        raise UsageError(
            f"{path} has no dataset of {', '.join(names) or task.name}",
            hint=f"known: {', '.join(task.item_datasets)}"[:300],
        )
    source = Source.from_settings(settings)
    gold: dict[str, GoldItems] = {}
    missing_errors: list[MissingError] = []
    for dataset in dict.fromkeys(map(_base, file_datasets)):
        try:
            gold |= {items.name: items for items in task.items(source, [dataset])}
        except MissingError as error:
            missing_errors.append(error)
    joined_sets: list[tuple[GoldItems, list[str]]] = []
    notes = [error.message for error in missing_errors]
    for name in file_datasets:
        if name not in gold and missing_errors:
            continue
        if name not in gold:
            raise MissingError(
                f"{path}: no split of {name!r} is scored", hint=f"name one of {', '.join(gold)}"
            )
        rows = table.filter(dataset=name)
        predicted = _predictions(path, gold[name], rows)
        if predicted is None:
            notes.append(
                f"{name}: predictions of {rows.height} of {len(gold[name].labels)} items, so "
                f"that it has no number"
            )
        else:
            joined_sets.append((gold[name], predicted))
    if not joined_sets and missing_errors:
        raise missing_errors[0]
    if not joined_sets:
        raise MissingError(
            f"{path}: {notes[0]}",
            hint="`embedlab data ls DATASET --items` lists all items of a dataset",
        )
    states = [state for items, _ in joined_sets for state in items.states]
    evaluation = evaluation_of(task.name, FilePredictions(spec), states, notes=notes)
    return TaskResult(
        evaluation=evaluation,
        tested=tuple(items.part for items, _ in joined_sets),
        outcomes=tuple(_outcomes(evaluation, *joined_items) for joined_items in joined_sets),
        setting=BROUGHT,
    )


def _base(name: str) -> str:
    return name.partition(":")[0]


def _refuse_unknown_datasets(path: str, table: pl.DataFrame) -> None:
    dataset_names = [name for task in all_tasks() for name in task.item_datasets]
    for name, line in (
        table.unique("dataset", keep="first", maintain_order=True)
        .select("dataset", "place")
        .iter_rows()
    ):
        if name is None or _base(name) not in dataset_names:
            guess = nearest_name(str(name), dataset_names)
            hint = (
                f"did you mean {guess!r}?"
                if guess
                else "`embedlab data ls NAME --items` lists the items of a dataset"
            )
            raise MissingError(
                f"{path}, line {line}: no dataset {name!r} of classified items", hint=hint
            )


def _predictions(path: str, gold: GoldItems, rows: pl.DataFrame) -> list[str] | None:
    """Return the prediction of each gold item; None where some have none."""
    classes = set(gold.classes)
    count = len(gold.labels)
    predicted: dict[int, str] = {}
    for item, label, line in rows.select("item", "prediction", "place").iter_rows():
        if item >= count:
            _refuse(
                path,
                line,
                f"item {item} of {gold.name}, whose {gold.part.state.split} split has the "
                f"rows 0 to {count - 1}",
            )
        if item in predicted:
            _refuse(path, line, f"item {item} of {gold.name} a second time")
        if label not in classes:
            _refuse(
                path,
                line,
                f"the prediction {label!r} of {gold.name} is none of "
                f"{', '.join(gold.classes)[:120]}",
            )
        predicted[item] = label
    return [predicted[row] for row in range(count)] if len(predicted) == count else None


def _refuse(path: str, index: int, fault: str) -> NoReturn:
    raise MissingError(
        f"{path}, line {index}: {fault}",
        hint="`embedlab data ls DATASET --items` lists the items of a dataset with their labels",
    )


def _outcomes(evaluation: Evaluation, gold: GoldItems, predicted: Sequence[str]) -> StoredOutcomes:
    outcomes = outcomes_of(
        evaluation,
        gold.part,
        gold.labels,
        predicted,
        classes=gold.classes,
        split=gold.split,
        states=gold.states,
        rows=gold.rows,
    )
    return replace(outcomes, dataset=gold.dataset, notes=evaluation.notes)
