"""Effects of words and sums over token pairs, against slow versions."""

from dataclasses import replace

import numpy as np
from scipy.stats import percentileofscore

from embedlab.analysis.word_effects import (
    ExplainedModel,
    WeightedTokens,
    WordEffects,
    effects_of,
    percentile_ranks,
    sum_by_word,
    token_pair_sum,
    words_of_tokens,
)


def test_percentile_ranks_are_those_of_scipy_with_ties_counted_half() -> None:
    rng = np.random.default_rng(0)
    reference = rng.integers(0, 20, 301) / 20
    values = np.concatenate([reference[:40], rng.normal(0.5, 0.6, 40), [-1, 0, 1, 2]])
    expected = [percentileofscore(reference, value, kind="mean") for value in values]
    assert np.allclose(percentile_ranks(values, reference), expected, atol=1e-12)
    assert percentile_ranks([[0.5, 3.0]], [0.5, 0.5, 1.0]).tolist() == [[100 / 3, 100.0]]


def test_a_model_of_several_seeds_has_means_of_ranks_and_the_spread_of_effects() -> None:
    members = [([[0.9, similarity]], [0.3], [0.2, 0.4]) for similarity in (0.1, 0.3)]
    found = ExplainedModel.of("m", members)
    assert found.ranks.tolist() == [[[100, 0]], [[100, 50]]]
    assert found.edited_ranks.tolist() == [[50], [50]]
    assert found.effects.tolist() == [75]
    assert effects_of(found.ranks).tolist() == [[100], [50]]


def test_the_parts_of_token_pairs_add_up_to_the_cosine() -> None:
    rng = np.random.default_rng(2)
    one, other = (
        WeightedTokens(
            vectors=rng.normal(size=(count, 8)).astype(np.float32),
            weights=rng.random(count),
            spans=(None,) * count,
        )
        for count in (5, 7)
    )
    first, second = (each.weights[:, None] * each.vectors for each in (one, other))
    lengths = np.linalg.norm(first.sum(axis=0)) * np.linalg.norm(second.sum(axis=0))
    np.testing.assert_allclose(token_pair_sum(one, other), first @ second.T / lengths, atol=1e-6)
    assert (token_pair_sum(replace(one, vectors=np.zeros((5, 8), np.float32)), other) == 0).all()


def test_a_word_of_several_pieces_is_whole_and_special_tokens_are_apart() -> None:
    # [CLS] un ##believ ##able dog . [SEP] of "unbelievable dog."
    spans = [None, (0, 2), (2, 8), (8, 12), (13, 16), (16, 17), None]
    words = [(0, 12), (13, 16)]
    places = words_of_tokens(spans, words)
    assert places.tolist() == [2, 0, 0, 0, 1, 2, 2]
    assert words_of_tokens([(0, 16)], words).tolist() == [
        0
    ]  # a token over two words is the first one's
    parts = np.arange(7 * 1, dtype=float).reshape(7, 1)
    summed = sum_by_word(parts, places, np.array([0]), (2, 1))
    assert summed.tolist() == [[6, 0], [4, 0], [11, 0]]


def test_further_models_are_shown_by_how_much_more_than_the_first_they_do() -> None:
    """Beside means of ranks, and what two words lose together beyond each alone, written out."""
    rng = np.random.default_rng(3)
    reference = rng.random(50)
    similarities = rng.random((2, 2, 3, 4))  # models, members, and words of both sentences
    first, second = (
        ExplainedModel.of(name, [(table, [], reference) for table in own])
        for name, own in zip("ab", similarities, strict=True)
    )
    words = ("one two", "three four five")
    found = WordEffects(
        sentences=words, words=((), ()), models=(first, second), reference="sts12", pairs=50
    )
    tables = percentile_ranks(similarities, reference).mean(axis=1)
    effects = tables[:, :1, 0] - tables[:, 1:, 0]
    assert np.allclose(found.difference(second)[:2], effects[1] - effects[0])
    assert found.difference(first).tolist() == [0] * 5
    both = tables[:, 1:, :1] + tables[:, :1, 1:] - tables[:, :1, :1] - tables[:, 1:, 1:]
    assert np.allclose(found.together(first), both[0])
    assert np.allclose(found.together(second), both[1] - both[0])
