"""Labelled tasks alone: which rows are scored, and what accuracies and averages say of themselves;
classifiers are in test_transfer.
"""

from typing import Any

import numpy as np
import polars as pl
import pytest

from embedlab.data.dataset import DatasetState, Part
from embedlab.tasks._labelled import (
    ClassificationResult,
    ClassificationTask,
    accuracies,
    gold_items,
    mean_accuracy,
)
from embedlab.tasks.task import evaluation_of
from tests.tasks.labelled_sentences import WordEncoder

LABELS = ("no", "yes", "yes", "no", "perhaps")


def made(name: str = "made", **splits: int) -> ClassificationTask:
    """A task whose splits have so many rows, with labels in turn."""
    parts = {}
    for split, rows in splits.items():
        frame = pl.DataFrame(
            {
                "sentence": [f"{split} {row}" for row in range(rows)],
                "label": [LABELS[row % 5] for row in range(rows)],
            }
        )
        state = DatasetState(name=name, split=split, rows=rows, expected_rows=rows, origin="folder")
        parts[split] = Part(frame=frame, state=state)
    return ClassificationTask(name=name, parts=parts)


def result_of(
    task: ClassificationTask,
    rows: list[int],
    *,
    accuracy: float = 0.5,
    scored: str = "test",
    dev: float = 0.25,
) -> Any:
    """What a classifier predicted: each time the first class."""
    classes = ("no", "perhaps", "yes")
    gold = np.array([classes.index(task.column("label")[row]) for row in rows])
    return ClassificationResult(
        task=task,
        classes=classes,
        gold=gold,
        predicted=np.zeros(len(rows), int),
        rows=np.array(rows),
        scored=scored,
        accuracy=accuracy,
        dev=dev,
    )


def test_the_rows_of_the_test_split_are_scored_and_numbered_among_those_of_all_splits() -> None:
    task = made(train=7, dev=3, test=4)
    found = gold_items(task)
    assert (found.dataset, found.split) == ("made", "test")
    assert found.rows.tolist() == [10, 11, 12, 13]
    assert found.labels == ("no", "yes", "yes", "no")
    assert found.classes == ("no", "perhaps", "yes")
    assert found.part is task.parts["test"]
    assert [state.split for state in found.states] == ["train", "dev", "test"]


def test_without_a_test_split_all_rows_are_scored() -> None:
    task = made(all=6)
    found = gold_items(task)
    assert (found.split, found.rows.tolist(), found.part) == ("cv", [*range(6)], task.parts["all"])
    assert result_of(task, [0]).part is task.parts["all"]
    assert result_of(made(train=5, test=2), [5]).part.state.split == "test"


@pytest.mark.parametrize(
    ("splits", "rows", "chosen_on"),
    [
        ({"train": 7, "dev": 3, "test": 4}, 4, 3),
        ({"train": 7, "test": 4}, 4, 7),
        ({"all": 6}, 6, 6),
    ],
)
def test_an_accuracy_comes_with_the_one_that_chose_the_penalty(
    splits: dict[str, int], rows: int, chosen_on: int
) -> None:
    task = made(**splits)
    found = result_of(
        task, [*range(rows)], accuracy=0.75, dev=0.5, scored="test" if "test" in splits else "cv"
    )
    reported, dev = accuracies(found, "exact")
    assert (reported.by, reported.slice, reported.metric, reported.setting) == (
        "dataset",
        "made",
        "accuracy",
        "exact",
    )
    assert (reported.value, reported.items, reported.split) == (
        0.75,
        rows,
        "test" if "test" in splits else "cv",
    )
    assert (dev.by, dev.slice, dev.metric, dev.setting) == ("dataset", "made", "accuracy", "exact")
    assert (dev.value, dev.items, dev.split) == (0.5, chosen_on, "dev")


def test_an_average_is_the_plain_mean_and_says_how_many_are_there() -> None:
    results = [
        result_of(made("a", train=5, test=4), [5, 6, 7, 8], accuracy=0.5),
        result_of(made("b", all=6), [*range(6)], accuracy=1.0, scored="cv"),
        result_of(made("c", train=5, test=2), [5, 6], accuracy=0.0),
    ]
    (all_of,) = mean_accuracy("average of 2", ["b", "a"], results, "literature")
    assert (all_of.by, all_of.slice, all_of.metric, all_of.setting) == (
        "average",
        "average of 2",
        "accuracy",
        "literature",
    )
    assert (all_of.value, all_of.items, all_of.split) == (0.75, 10, "cv and test")
    (some,) = mean_accuracy("average of 3", ["a", "c", "x"], results, "literature")
    assert (some.slice, some.value, some.items, some.split) == (
        "average of 3, 2 of 3",
        0.25,
        6,
        "test",
    )
    assert list(mean_accuracy("average of 1", ["x"], results, "literature")) == []


def test_what_each_item_got_is_stored_with_its_row_and_sentence() -> None:
    task = made(train=7, test=4)
    result = result_of(task, [7, 8, 9, 10])
    found = result.outcomes(evaluation_of("transfer", WordEncoder(), [], []))
    assert (found.dataset, found.split, found.classes) == ("made", "test", ("no", "perhaps", "yes"))
    assert found.items.select("item", "gold", "predicted").rows() == [
        (7, 0, 0),
        (8, 2, 0),
        (9, 2, 0),
        (10, 0, 0),
    ]
    assert found.items["sentence1"].to_list() == task.parts["test"].frame["sentence"].to_list()
    assert result.part is task.parts["test"]
