"""What the Compare room says, from comparisons that are made."""

from dataclasses import replace

import pytest

from embedlab.comparison.comparison import WHOLE
from embedlab.core.session import unseen
from embedlab.outcomes.selection import select_items
from embedlab.tui.compare.model import (
    axis_labels,
    compare_shown,
    explain_shown,
    forest_lines,
    model_scores,
    place_on,
    verdict,
    why_lines,
)
from embedlab.tui.workbench import ShownItems
from tests.tui.world import shown_of


def test_the_verdict_names_side_and_points_of_the_comparison() -> None:
    comparison = compare_shown(shown_of(["near", "far"]))
    (sentence,) = verdict(comparison)
    assert sentence == "near beats far on 2 of 2 datasets"
    lines = list(forest_lines(comparison))
    for line, compared in zip(lines, comparison.slices, strict=True):
        difference = compared.differences["far"]
        assert line.delta == 100 * difference.delta
        assert (line.sign == "▼") == difference.significant


def shown_with(averages: dict[str, tuple[str, ...]], *twins: str) -> ShownItems:
    """What is shown of "near", "far" and TWINS, which predict as "near" does."""
    shown = shown_of(["near", "far", *twins])
    predictions = shown.outcomes.predictions.with_columns(**dict.fromkeys(twins, "near"))
    outcomes = replace(shown.outcomes, averages={"sts": averages}, predictions=predictions)
    return replace(shown, outcomes=outcomes)


def test_where_nothing_is_clear_there_is_one_sentence() -> None:
    shown = shown_with({}, "twin")
    twins = replace(shown, models=("near", "twin"), columns=shown.columns[::2])
    assert verdict(compare_shown(twins)) == ["No difference from near is clear on any row."]


def test_a_difference_that_is_not_tested_has_no_sign_and_no_verdict_on_clearness() -> None:
    comparison = compare_shown(shown_of(["near", "far"], pairs=12))
    assert {line.sign for line in forest_lines(comparison)} == {""}
    (sentence,) = verdict(comparison)
    assert sentence.endswith("datasets (not tested)")


def test_the_widest_average_sums_the_comparison_up() -> None:
    averages = {"first alone": ("sts12",), "average of two": ("sts12", "sick-r")}
    comparison = compare_shown(shown_with(averages))
    (sentence,) = verdict(comparison)
    assert sentence.startswith("near beats far by ")
    assert sentence.endswith("on average, and on 2 of 2 datasets")
    scores, signs = model_scores(comparison)
    assert (set(scores), signs) == ({"near", "far"}, {"far": "▼"})
    titles = [line.title for line in forest_lines(comparison)]
    assert titles == ["average of two", "first alone", "sts12", "sick-r"]
    assert model_scores(compare_shown(shown_with({}))) == ({}, {})  # there is no sum


def test_a_row_says_what_the_header_does_not_and_its_filter_picks_its_items() -> None:
    shown = shown_of(["near", "far"])
    comparison = compare_shown(shown, replace(WHOLE, by="source"))
    first, second = forest_lines(comparison)
    assert [first.title, second.title] == ["sts12 headlines", "sick-r headlines"]
    assert second.terms == ["dataset:sick-r", 'source:"headlines"']
    alone = select_items(shown.outcomes, "dataset:sick-r", {})
    for by, title in (("source", "headlines"), ("number", "the same numbers")):
        comparison = compare_shown(shown, replace(WHOLE, by=by), alone)
        (line,) = forest_lines(comparison)
        assert line.title == title
        picked = select_items(shown.outcomes, " ".join(line.terms), {})
        assert (picked.is_selected.sum(), line.items) == (60, 60)
    by_length = compare_shown(shown, replace(WHOLE, by="length"))
    assert not next(forest_lines(by_length)).terms
    (row,) = comparison.slices
    key = row.key.replace("sick-r", "my file.csv")
    other = replace(row, key=f"{key} f1", metric="f1", dataset="my file.csv")
    (line,) = forest_lines(replace(comparison, slices=[other]))
    assert line.terms == ['dataset:"my file.csv"', 'number:"the same numbers"']


def test_a_model_that_is_not_told_from_the_reference_has_its_own_mark_hollow() -> None:
    lines = list(forest_lines(compare_shown(shown_with({}, "twin"))))
    assert [line.mark for line in lines] == ["■", "△", "■", "△"]


@pytest.mark.parametrize(("low", "high"), [(-50.0, 2.0), (-1.0, 1.0), (0.0, 30.0)])
def test_zero_is_written_over_its_rule(low: float, high: float) -> None:
    labels = axis_labels(low, high, 40)
    assert len(labels) == 40
    assert labels[place_on(0.0, low, high, 40)] == "0"
    assert axis_labels(0.0, 9.5, 44).split() == ["0", "5"]  # at most one in nine cells


def test_why_counts_the_kinds_of_items_and_says_where_there_are_none() -> None:
    explanation = explain_shown(shown_of(["near", "far"]), "far", None, unseen)
    assert why_lines(explanation)[0].text == "No property divides these items into kinds."
    with_kinds = replace(explanation, kinds=(object(), object()))  # type: ignore[arg-type]
    assert why_lines(with_kinds)[0].text.startswith("On none of 2 kinds of items")


def test_the_signs_of_models_are_those_of_all_that_were_chosen() -> None:
    comparison = compare_shown(shown_of(["near", "far"]))
    (first, *_) = forest_lines(comparison, ["near", "not scored", "far"])
    assert (first.place, first.mark) == (2, "▲")
