"""Models on what a selection picks, beside the rest."""

import numpy as np
import pytest

from embedlab.comparison.comparison import selected_and_rest
from embedlab.outcomes.selection import select_items
from embedlab.reports.pairs import selection_notes
from tests.comparison.planted import MODELS, QUESTIONS, correlation, holds, made_pairs


def test_each_score_is_ranked_anew_within_the_selection_and_within_the_rest() -> None:
    outcomes = made_pairs(300, 1, damage=QUESTIONS)
    found = selected_and_rest(outcomes, MODELS, select_items(outcomes, "question:one", {}))
    is_question = holds(outcomes, QUESTIONS)
    said = [*selection_notes(found)]
    parts = (
        (found.selected, is_question, "that match"),
        (found.rest, ~is_question, "others"),
    )
    for note, (one, rows, called) in zip(said, parts, strict=False):
        assert one.items == rows.sum()
        for name, score in one.scores.items():
            assert score.value == pytest.approx(correlation(outcomes, name, rows))
        assert f"of the {rows.sum()} {called}: first " in note
    difference = found.selected.differences["second"]
    assert difference.low < difference.delta < difference.high < 0
    assert said[0].endswith("]*)")


def test_what_results_chose_has_scores_and_no_interval() -> None:
    outcomes = made_pairs(300, 2)
    chosen = select_items(outcomes, "first>2.5", {"first": ["first"]})
    found = selected_and_rest(outcomes, MODELS, chosen)
    assert np.isnan(found.selected.differences["second"].low)
    assert not np.isnan(found.selected.scores["second"].value)
    *scores, why = selection_notes(found)
    assert "[" not in "".join(scores)
    assert why == "chosen by results: no interval, no test"
