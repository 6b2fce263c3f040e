"""The answer of a comparison in words."""

from dataclasses import replace
from math import nan

import numpy as np
import pytest

from embedlab.analysis.comparison import ComparedSlice, Difference, SliceScore
from embedlab.reports.verdicts import verdicts
from embedlab.reports.verification_table import joined_or_none

SCORE = SliceScore(value=0.5, members=(0.5,), low=0.4, high=0.6, letters="a")


def difference(delta: float, p: float, half: float = 0.02) -> Difference:
    low, high = delta - half, delta + half
    return Difference(delta=delta, low=low, high=high, p=p, p_holm=p)


def row(key: str, *deltas: Difference, average: bool = False, task: str = "sts") -> ComparedSlice:
    return ComparedSlice(
        key=key,
        title=key,
        items=100,
        points=np.full(len(deltas) + 1, 0.5),
        scores=dict.fromkeys(["dice", "b", "c"][: len(deltas) + 1], SCORE),
        differences=dict(zip(["b", "c"], deltas, strict=False)),
        averaged_keys=("sts12", "sts13") if average else (),
        task=task,
        metric="spearman",
        dataset="" if average else key,
    )


UP, DOWN, TIE = difference(0.1, 0.001), difference(-0.2, 0.001), difference(0.01, 0.5)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row("sts12", UP)], "b beats dice by 10.0 [8.0, 12.0] on sts12"),
        ([row("sts12", DOWN)], "dice beats b by 20.0 [18.0, 22.0] on sts12"),
        ([row("sts12", TIE)], "b and dice are not distinguished on sts12: 1.0 [-1.0, 3.0]"),
        (
            [row("sts12", UP), row("sts13", TIE), row("all", UP, average=True)],
            "b beats dice by 10.0 [8.0, 12.0] on average, and on 1 of 2 datasets",
        ),
        (
            [row("sts12", UP), row("sts13", DOWN), row("all", DOWN, average=True)],
            "dice beats b by 20.0 [18.0, 22.0] on average, and on 1 of 2 datasets; "
            "b beats dice on 1 of 2 datasets",
        ),
        ([row("sts12", UP), row("sts13", UP)], "b beats dice on 2 of 2 datasets"),
        (
            [row("sts12", difference(-0.1, nan)), row("sts13", difference(-0.1, nan))],
            "dice is above b on 2 of 2 datasets (not tested)",
        ),
        ([row("x", difference(0.0, nan))], "b and dice have the same score on x (not tested)"),
        (
            [row("sts12", UP), row("sts13", difference(0.1, nan))],
            "b beats dice on 1 of 2 datasets (1 not tested)",
        ),
        (  # some datasets of the average have no number
            [row("sts12", UP), row("sts13", UP), row("all", difference(nan, nan), average=True)],
            "b beats dice on 2 of 2 datasets",
        ),
        (
            [row("sts12", UP), row("sts13", DOWN)],
            "b beats dice on 1 of 2 datasets; dice beats b on 1 of 2 datasets",
        ),
    ],
)
def test_the_better_model_is_named_first(rows: list[ComparedSlice], expected: str) -> None:
    assert verdicts(rows, ["dice", "b"]) == [expected]


def test_what_a_selection_leaves_out_is_no_dataset_of_its_own() -> None:
    rest = replace(row("sts12/rest", TIE), dataset="sts12")
    assert verdicts([row("sts12", UP), rest], ["dice", "b"]) == ["b beats dice on 1 of 2 slices"]


def test_many_models_and_tasks_are_three_sentences_and_a_count() -> None:
    rows = [row("sts12", UP, TIE), row("cr", DOWN, TIE, task="transfer")]
    sentences = verdicts(rows, ["dice", "b", "c"])
    assert sentences[0] == "b beats dice by 10.0 [8.0, 12.0] on sts"
    assert sentences[2:] == [
        "dice beats b by 20.0 [18.0, 22.0] on transfer",
        "1 more is in the table",
    ]


def test_one_model_or_numbers_without_a_difference_have_no_verdict() -> None:
    assert verdicts([row("sts12")], ["dice"]) == []
    assert verdicts([row("sts12", difference(nan, nan))], ["dice", "b"]) == []


def test_a_measure_among_others_and_a_missing_test_are_named() -> None:
    untested = replace(difference(0.1, nan), low=nan, high=nan)
    assert verdicts([row("mine", untested)], ["dice", "b"]) == [
        "b is 10.0 above dice on mine (not tested)"
    ]
    rest = replace(row("mine/rest", replace(untested, delta=-0.1)), dataset="mine")
    assert verdicts([row("mine", untested), rest], ["dice", "b"]) == [
        "b is above dice on 1 of 2 slices (not tested)"
    ]
    other = replace(row("mine", UP), metric="accuracy")
    assert verdicts([row("mine", DOWN), other], ["dice", "b"]) == [
        "dice beats b by 20.0 [18.0, 22.0] in spearman on mine"
    ]


def test_values_of_a_part_are_listed_or_said_to_be_none() -> None:
    assert [joined_or_none(values) for values in (("cls", "mean"), ())] == ["cls, mean", "none"]
