"""Generated pairs have the groups, repetitions and lengths of SNLI and MultiNLI."""

import numpy as np
import pytest
from made_pairs import nli_pairs, random_tokens

from embedlab.objectives.needs import NEEDS
from embedlab.objectives.rows import index_rows
from embedlab.training.order import epoch_batches, group_rows

PAIRS = 32_000


def test_pairs_are_as_many_as_requested_and_their_classes_as_frequent() -> None:
    pairs = nli_pairs({"snli": PAIRS})
    assert len(pairs) == PAIRS
    assert pairs["label"].value_counts()["count"].max() <= PAIRS / 3 + 1


def test_premises_have_mostly_three_pairs_and_some_hypotheses_repeat() -> None:
    pairs = nli_pairs({"snli": PAIRS})
    sizes = pairs.group_by("premise").len()["len"]
    assert set(sizes) <= {1, 2, 3, 5, 6}
    assert (sizes == 3).mean() == pytest.approx(479 / 500, abs=0.01)
    assert 1 - pairs["hypothesis"].n_unique() / PAIRS == pytest.approx(
        1 - 30_832 / 31_979, abs=0.005
    )


def test_lengths_are_those_of_snli() -> None:
    rows = index_rows(nli_pairs({"snli": PAIRS}), NEEDS)
    lengths, is_premise = (
        random_tokens(rows.sentences).lengths,
        rows.sentences.str.contains("premise").to_numpy(),
    )
    assert lengths[is_premise].mean() == pytest.approx(16.6, abs=0.3)
    assert lengths[~is_premise].mean() == pytest.approx(10.6, abs=0.2)
    assert 45 < lengths.max() <= 128


def test_pairs_of_two_corpora_keep_apart_and_to_their_own_lengths() -> None:
    pairs = nli_pairs({"snli": PAIRS, "multinli": PAIRS})
    first, second = pairs[:PAIRS], pairs[PAIRS:]
    assert not set(first["premise"]) & set(second["premise"])
    assert first.equals(nli_pairs({"snli": PAIRS}))
    assert (second.group_by("premise").len()["len"] == 3).mean() == pytest.approx(
        3_151 / 3_334, abs=0.01
    )
    assert second["hypothesis"].n_unique() > 0.999 * PAIRS
    rows = index_rows(pairs, NEEDS)
    lengths = random_tokens(rows.sentences).lengths
    for name, column, mean in (
        ("snli", "premise", 16.6),
        ("multinli", "premise", 25.8),
        ("multinli", "hypothesis", 13.5),
    ):
        own = rows.sentences.str.starts_with(f"{name} {column}").to_numpy()
        assert lengths[own].mean() == pytest.approx(mean, rel=0.03)


def test_batches_have_many_shapes() -> None:
    """Every batch of a whole epoch with the same number of distinct sentences would hide what a new
    shape costs.
    """
    rows = index_rows(nli_pairs({"snli": PAIRS}), NEEDS)
    lengths, shapes = random_tokens(rows.sentences).lengths, set()
    for batch in epoch_batches(
        group_rows(rows.columns["premise"], 64), 64, seed=1, stage=0, epoch=0
    ):
        distinct = np.unique([rows.columns[name][batch] for name in ("premise", "hypothesis")])
        shapes.add((len(distinct), int(lengths[distinct].max())))
    assert len(shapes) > 100
    assert len({sentences for sentences, _ in shapes}) >= 5
