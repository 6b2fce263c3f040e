"""The evidence of outcomes beside scipy and scikit-learn on the same items, for every kind of task
in one frame.
"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from embedlab.analysis.evidence import Evidence
from embedlab.choices import Aggregate
from embedlab.comparison.evidence import CHOSEN, outcome_evidence, slices_of
from embedlab.core.errors import UsageError
from embedlab.core.note import kind_of
from embedlab.outcomes.frame import Outcomes, join_outcomes
from embedlab.outcomes.property import property_named
from embedlab.outcomes.selection import select_items
from tests.comparison.planted import (
    NEGATED,
    classified,
    correlation,
    holds,
    made_pairs,
    with_facts,
    with_predictions,
)

metrics = pytest.importorskip("sklearn.metrics")

MEMBERS = ("good", "bad")
MODELS = {name: (name,) for name in MEMBERS}


def with_sources(dataset: str, rows: int, seed: int) -> Outcomes:
    outcomes = made_pairs(rows, seed, noise=2.0, dataset=dataset)
    return replace(
        with_facts(outcomes, source=pl.Series([["x", "y", "z"][row % 3] for row in range(rows)])),
        predictions=outcomes.predictions.rename({"first": "good", "second": "bad"}),
        averages={"sts": {"mean of two": ("first", "second")}},
    )


@pytest.fixture
def outcomes() -> Outcomes:
    rng = np.random.default_rng(3)
    gold = rng.integers(0, 2, 80)
    good, bad = (np.where(rng.random(80) < wrong, 1 - gold, gold) for wrong in (0.1, 0.5))
    predictions = {"good": good, "bad": bad}
    items = classified(made_pairs(80, 3), gold, predictions, ("accuracy", "f1"))
    pairs = [with_sources("first", 90, 1), with_sources("second", 60, 2)]
    return join_outcomes([*pairs, items])


def evidence(
    outcomes: Outcomes,
    by: str = "dataset",
    *,
    common: bool = False,
    where: str = "",
    aggregate: Aggregate = "all",
) -> dict[str, Evidence]:
    selection = select_items(outcomes, where, MODELS) if where else None
    is_chosen = selection is not None and selection.is_by_results
    parts = slices_of(outcomes, MEMBERS, by=by, selection=selection, common=common)
    found = outcome_evidence(outcomes, MEMBERS, parts, aggregate=aggregate, is_chosen=is_chosen)
    return {one.key: one for one in found}


def test_each_measure_of_each_dataset_is_that_of_another_library(outcomes: Outcomes) -> None:
    found = evidence(outcomes)
    assert list(found) == ["first", "second", "mean of two", "mrpc", "mrpc f1"]
    gold = outcomes.rows["gold"].to_numpy()[150:]
    for place, member in enumerate(MEMBERS):
        first, second = (
            correlation(outcomes, member, rows) for rows in (slice(90), slice(90, 150))
        )
        predicted = outcomes.predictions[member].to_numpy()[150:]
        expected = {
            "first": first,
            "second": second,
            "mean of two": (first + second) / 2,
            "mrpc": metrics.accuracy_score(gold, predicted),
            "mrpc f1": metrics.f1_score(gold, predicted),
        }
        assert {key: one.points[place] for key, one in found.items()} == pytest.approx(expected)


@pytest.mark.parametrize("aggregate", ["mean", "wmean"])
def test_sources_are_put_together_where_items_name_them(
    aggregate: Aggregate, outcomes: Outcomes
) -> None:
    """Of equal sizes: both means are one."""
    found, plain = evidence(outcomes, aggregate=aggregate), evidence(outcomes)
    each = [correlation(outcomes, "bad", slice(start, 90, 3)) for start in range(3)]
    assert found["first"].points[1] == pytest.approx(np.mean(each))
    assert found["mrpc"].points[1] == plain["mrpc"].points[1]
    settings = {key: found[key].setting for key in ("first", "second", "mrpc")}
    assert settings == {"first": aggregate, "second": aggregate, "mrpc": None}


def test_a_member_that_lacks_an_item_has_no_score_and_costs_the_others_none(
    outcomes: Outcomes,
) -> None:
    holes = with_predictions(outcomes, bad=pl.when(pl.int_range(pl.len()) != 5).then("bad"))
    found = evidence(holes)["first"]
    assert np.isnan(found.points[1])
    assert found.points[0] == evidence(outcomes)["first"].points[0]
    assert found.notes == ("no number of bad: 89 of 90 items scored",)
    no_items = with_predictions(outcomes, bad=pl.lit(None, pl.Float64))
    (note,) = evidence(no_items)["first"].notes
    assert type(note) is str  # said in view, not with --notes
    assert "0 of 90 items scored" in note
    common = evidence(holes, common=True)["first"]
    assert common.title == "first, 89 of 90"
    rows = np.delete(np.arange(90), 5)
    assert common.points == pytest.approx([correlation(outcomes, name, rows) for name in MEMBERS])


def test_common_items_are_left_of_slices_that_were_cut_before(outcomes: Outcomes) -> None:
    row, dice = pl.int_range(pl.len()), property_named("dice").values(outcomes)
    has_bad = (row >= 150) | (dice < dice[:150].median())
    has_good = row >= 90  # nothing of first
    holes = with_predictions(
        outcomes, bad=pl.when(has_bad).then("bad"), good=pl.when(has_good).then("good")
    )
    is_scored = holes.predictions["bad"].is_not_null().to_numpy()
    whole, common = (
        slices_of(holes, MEMBERS, by="dice", common=is_common) for is_common in (False, True)
    )
    for before, part in zip(whole, common, strict=True):
        left = before.rows[is_scored[before.rows]].tolist()
        counted = f", {len(left)} of {len(before.rows)}" if len(left) < len(before.rows) else ""
        assert (part.key, part.rows.tolist()) == (before.key, left)
        assert part.title == f"{before.title}{counted}"


def test_a_selection_is_scored_on_its_items_alone_and_cuts_no_fifths_anew(
    outcomes: Outcomes,
) -> None:
    found = evidence(outcomes, where="gold>2 dataset:first")["first"]
    rows = np.flatnonzero(outcomes.rows["gold"].to_numpy()[:90] > 2)
    assert found.items == len(rows)
    assert found.points[1] == pytest.approx(correlation(outcomes, "bad", rows))
    assert found.rows is not None
    selection = select_items(outcomes, "gold>2", MODELS)
    chosen, whole = (
        {part.key: part.rows for part in slices_of(outcomes, MEMBERS, by="dice", selection=own)}
        for own in (selection, None)
    )
    assert len(chosen) == 10
    for key, own in chosen.items():
        assert own.tolist() == whole[key][selection.is_selected[whole[key]]].tolist()


def test_a_selection_by_results_has_scores_and_no_items_to_test(outcomes: Outcomes) -> None:
    found = evidence(outcomes, where="good>3")
    assert found
    assert {(one.rows, one.notes[-1]) for one in found.values()} == {(None, CHOSEN)}


def test_a_property_that_no_item_has_is_refused(outcomes: Outcomes) -> None:
    blocks = tuple(replace(block, classes=()) for block in outcomes.blocks)
    with pytest.raises(UsageError, match="has the property 'label'"):
        evidence(replace(outcomes, blocks=blocks), "label")


def test_an_average_is_given_where_all_of_its_datasets_are_and_over_none_there_is_no_average(
    outcomes: Outcomes,
) -> None:
    averages = {"of one": ("second",), "of none": (), "of more": ("first", "third")}
    found = evidence(replace(outcomes, averages={"sts": averages}))
    assert [key for key in found if key.startswith("of")] == ["of one"]
    assert found["of one"].points == pytest.approx(found["second"].points)


def test_the_sources_of_a_part_of_a_dataset_are_never_put_together(outcomes: Outcomes) -> None:
    found = evidence(outcomes, "negation", aggregate="mean")
    assert "mean of two" not in found  # that is over whole datasets alone
    is_negated = holds(outcomes, NEGATED)[:90]
    for value, rows in (("one", is_negated), ("none", ~is_negated)):
        one = found[f"first/negation={value}"]
        assert (one.items, one.setting) == (rows.sum(), "all")
        expected = [correlation(outcomes, name, np.flatnonzero(rows)) for name in MEMBERS]
        assert one.points == pytest.approx(expected)


@pytest.mark.parametrize(
    ("column", "value", "aggregate", "note"),
    [
        ("gold", pl.lit(1.0), "all", "no number: all gold scores are 1"),
        (
            "gold",
            pl.when(pl.col("source") == "y").then(2.0).otherwise("gold"),
            "mean",
            "no mean: all gold scores are 2 in source 'y'",
        ),
        (
            "gold",
            pl.when(pl.col("item") > 1).then("gold"),
            "all",
            "2 of 90 items left out, not scored by people",
        ),
        (
            "gold",
            pl.lit(None, pl.Float64),
            "mean",
            "90 of 90 items left out, not scored by people",
        ),
        ("source", pl.lit(None, pl.String), "wmean", "no wmean: its items name no source"),
        (
            "source",
            pl.when(pl.col("item") > 0).then("source"),
            "wmean",
            "no wmean: 1 of its 90 items name no source",
        ),
    ],
)
def test_gold_scores_that_lack_or_order_nothing_and_absent_sources_are_noted(
    column: str, value: pl.Expr, aggregate: Aggregate, note: str, outcomes: Outcomes
) -> None:
    changed = pl.when(pl.col("block") == 0).then(value).otherwise(column)
    found = evidence(with_facts(outcomes, **{column: changed}), aggregate=aggregate)
    assert found["second"].notes == found["mrpc"].notes == ()
    assert found["first"].notes == (note,)
    if found["first"].items == 88:
        expected = correlation(outcomes, "bad", slice(2, 90))
        assert found["first"].points[1] == pytest.approx(expected)
    else:
        assert np.isnan(found["first"].points).all()


@pytest.mark.parametrize(
    ("bad", "aggregate", "note"),
    [
        (pl.lit(0.5), "all", "no number of bad: all its pairs have the same similarity"),
        (
            pl.when(pl.int_range(pl.len()) % 3 == 1).then(0.5).otherwise("bad"),
            "mean",
            "no mean of bad: all its pairs have the same similarity in source 'y'",
        ),
        (
            1 - pl.int_range(pl.len()) % 7 * 2e-7,
            "all",
            "the similarities of bad hardly differ: rounding orders them",
        ),
    ],
)
def test_similarities_that_order_nothing_are_named(
    bad: pl.Expr, aggregate: Aggregate, note: str, outcomes: Outcomes
) -> None:
    found = evidence(with_predictions(outcomes, bad=bad), aggregate=aggregate)["first"]
    assert found.notes == (note,)
    is_doubted = kind_of(found.notes[0]) == "doubted"
    assert np.isnan(found.points[1]) == (not is_doubted)


def test_slices_that_a_selection_leaves_empty_are_none_and_notes_on_whole_slices_are_dropped(
    outcomes: Outcomes,
) -> None:
    few, labelled = (select_items(outcomes, text, MODELS) for text in ("dice>0.2", "label:yes"))
    parts = slices_of(outcomes, MEMBERS, by="dice", selection=few)
    assert 0 < len(parts) < 15
    assert all(len(part.rows) for part in parts)
    (chosen,) = slices_of(outcomes, MEMBERS, by="source", selection=labelled)
    assert (chosen.key, chosen.notes) == ("mrpc", ())
    assert slices_of(outcomes, MEMBERS, by="source")[-1].notes == ("it names no source",)


@pytest.mark.parametrize("names", [{}, {"sts": "mean of both"}])
def test_an_average_over_different_measures_is_called_as_its_suite_says(
    names: dict[str, str], outcomes: Outcomes
) -> None:
    first, second, items = outcomes.blocks
    named = replace(outcomes, mixed_metrics={**names, "transfer": "of another suite"})
    mixed = replace(named, blocks=(first, replace(second, measures=("pearson",)), items))
    assert evidence(mixed)["mean of two"].metric == names.get("sts", "mean")
    assert evidence(named)["mean of two"].metric == "spearman"
