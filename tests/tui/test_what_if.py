"""What an edited pair gets: ranks within its dataset, against scipy's percentile of a score."""

from dataclasses import replace

import polars as pl
import pytest
from scipy.stats import percentileofscore

from embedlab.analysis.scores import ModelColumns
from embedlab.tui.pair_table.data import PairData
from embedlab.tui.pairs.what_if import WhatIf, edit_by_rule

TABLE = pl.DataFrame(
    {
        "dataset": ["pets", "pets", "pets", "pets", "cars"],
        "sentence1": ["a", "b", "c", "d", "e"],
        "sentence2": ["f", "g", "h", "i", "j"],
        "near": [0.1, 0.4, None, 0.4, 0.9],
    }
)
DATA = PairData(
    table=TABLE,
    gold_ranges={"pets": (0, 5), "cars": (0, 5)},
    models=(ModelColumns(name="near", members=("near",)),),
)


def test_a_similarity_is_ranked_among_those_of_the_datasets_own_pairs() -> None:
    (model,) = WhatIf.of(DATA, 1).models
    for similarity in (0.05, 0.1, 0.3, 0.4, 2.0):
        expected = percentileofscore([0.1, 0.4, 0.4], similarity, kind="mean")
        assert model.rank(similarity) == pytest.approx(expected)
        assert model.movement(similarity, model.before) == pytest.approx(
            expected - percentileofscore([0.1, 0.4, 0.4], 0.4, kind="mean")
        )


def test_a_pair_that_a_model_did_not_score_has_a_rank_but_did_not_move_until_its_score_is_known() -> (
    None
):
    (model,) = WhatIf.of(DATA, 2).models
    assert model.rank(0.2) == pytest.approx(100 / 3)
    assert model.movement(0.2, model.before) is None
    assert model.movement(0.2, 0.05) == pytest.approx(100 / 3)


def test_a_pair_of_a_dataset_without_scores_is_ranked_among_the_pairs_that_have_them() -> None:
    unscored = TABLE.with_columns(near=pl.when(pl.col("dataset") == "pets").then("near"))
    pair = WhatIf.of(replace(DATA, table=unscored), 4)
    assert pair.dataset == "pets"
    assert pair.models[0].reference.tolist() == [0.1, 0.4, 0.4]


def test_without_a_pair_there_is_neither_dataset_nor_rank() -> None:
    pair = WhatIf.of(DATA, None)
    assert (pair.sentences, pair.dataset) == (("", ""), "")
    assert pair.models[0].rank(0.2) is None


def test_a_pair_is_edited_once_either_sentence_differs() -> None:
    pair = WhatIf.of(DATA, 0)
    assert pair.sentences == ("a", "f")
    assert [
        pair.is_edited(*texts) for texts in (("a", "f"), ("a", "g"), ("b", "f"), ("f", "a"))
    ] == [False, True, True, True]


@pytest.mark.parametrize(
    ("sentences", "side", "made"),
    [
        (("a cat is here", "a dog was there"), 0, (0, "a cat is not here")),
        (("a cat is here", "a dog was there"), 1, (1, "a dog was not there")),
        (("a cat sleeps", "a dog was there"), 0, (1, "a dog was not there")),
        (("a cat sleeps", "a dog runs"), 1, "unsafe"),
        (("a cat is here", "A cat is not here"), 0, "equal"),
        (("a cat is not here", "A cat is here"), 1, "equal"),
        (("a cat is not here", "a dog was there"), 0, (0, "a cat is here")),
    ],
)
def test_a_rule_changes_the_wanted_sentence_if_it_is_safe_there_else_the_other(
    sentences: tuple[str, str], side: int, made: tuple[int, str] | str
) -> None:
    assert edit_by_rule(sentences, side, "negate") == made
