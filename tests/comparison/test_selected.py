"""Models on what a selection picks, beside the rest."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from embedlab.comparison.comparison import selected_and_rest
from embedlab.outcomes.frame import joined_outcomes
from embedlab.outcomes.selection import select_items
from embedlab.reports.pairs import selection_notes
from tests.comparison.planted import MODELS, made_pairs, questions


def test_each_score_is_ranked_anew_within_the_selection_and_within_the_rest() -> None:
    outcomes = made_pairs(300, 1, damage=questions)
    found = selected_and_rest(outcomes, MODELS, select_items(outcomes, "question:one", {}))
    assert found is not None
    holds = outcomes.sentences["sentence1"].str.ends_with("?").to_numpy()
    gold = outcomes.rows["gold"].to_numpy()
    for one, rows in ((found.selected, holds), (found.rest, ~holds)):
        assert one.items == rows.sum()
        for name in ("first", "second"):
            assert one.scores[name].value == pytest.approx(
                spearmanr(gold[rows], outcomes.predictions[name].to_numpy()[rows])[0]
            )
    difference = found.selected.differences["second"]
    assert difference.low < difference.delta < difference.high < 0
    said = [*selection_notes(found)]
    assert said[0].startswith(f"spearman of the {holds.sum()} that match: first ")
    assert said[1].startswith(f"spearman of the {(~holds).sum()} others: first ")
    assert said[0].endswith("]°)")


def test_what_results_chose_has_scores_and_no_interval() -> None:
    outcomes = made_pairs(300, 2)
    found = selected_and_rest(
        outcomes, MODELS, select_items(outcomes, "first>2.5", {"first": ["first"]})
    )
    assert found is not None
    assert np.isnan(found.selected.differences["second"].low)
    assert not np.isnan(found.selected.scores["second"].value)
    said = [*selection_notes(found)]
    assert "[" not in said[0] + said[1]
    assert said[2] == "chosen by results: no interval, no test"


def test_scores_are_means_over_the_datasets_that_have_items_of_both() -> None:
    one, other = made_pairs(200, 3), made_pairs(200, 4)
    outcomes = joined_outcomes(
        [one, replace(other, blocks=(replace(other.blocks[0], dataset="other"),))]
    )
    found = selected_and_rest(outcomes, MODELS, select_items(outcomes, "question:one", {}))
    assert found is not None
    assert found.datasets == ("made", "other")
    parts = [
        selected_and_rest(own, MODELS, select_items(own, "question:one", {}))
        for own in (one, other)
    ]
    means = [np.mean([part.rest.scores["first"].value for part in parts if part is not None])]
    assert [found.rest.scores["first"].value] == pytest.approx(means)
    nothing_left = select_items(one, "words>0", {})
    assert selected_and_rest(one, MODELS, nothing_left) is None
