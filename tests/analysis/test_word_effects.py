"""Effects of words and sums over token pairs, against slow versions."""

import numpy as np
from scipy.stats import percentileofscore

from embedlab.analysis.word_effects import (
    Deletions,
    ExplainedModel,
    MemberNumbers,
    WeightedTokens,
    WordEffects,
    by_word,
    owners,
    percentile_ranks,
    token_pair_sum,
)


def test_percentile_ranks_are_those_of_scipy_with_ties_counted_half() -> None:
    rng = np.random.default_rng(0)
    reference = rng.integers(0, 20, 301) / 20
    values = np.concatenate([reference[:40], rng.normal(0.5, 0.6, 40), [-1, 0, 1, 2]])
    expected = [percentileofscore(reference, value, kind="mean") for value in values]
    assert np.allclose(percentile_ranks(values, reference), expected, atol=1e-12)
    assert percentile_ranks([[0.5, 3.0]], [0.5, 0.5, 1.0]).tolist() == [[100 / 3, 100.0]]


def test_an_interaction_is_what_two_words_lose_together_beyond_each_alone() -> None:
    table = np.random.default_rng(1).normal(size=(4, 3))
    found = Deletions(table=table)
    assert found.whole == table[0, 0]
    for row in range(3):
        assert np.isclose(found.first[row], table[0, 0] - table[row + 1, 0])
        for column in range(2):
            expected = (
                table[0, 0] - table[row + 1, 0] - table[0, column + 1] + table[row + 1, column + 1]
            )
            assert np.isclose(found.together[row, column], -expected)
    # Of a number that is a sum over words, no two words do anything together.
    additive = np.array([0, 1, 2, 4.0])[:, None] + np.array([0, 3, 5.0])
    assert np.allclose(Deletions(table=additive).together, 0)


def test_ranks_of_variants_and_of_edits_have_one_reference() -> None:
    found = MemberNumbers.of([[0.9, 0.1], [0.5, 0.4]], [0.5], [0.2, 0.4, 0.6, 0.8])
    assert found.ranks.table.tolist() == [[100, 0], [50, 37.5]]
    assert found.edited_ranks.tolist() == [50]


def test_a_model_of_several_seeds_has_means_of_ranks_and_the_spread_of_effects() -> None:
    members = [
        MemberNumbers.of([[0.9, 0.1]], [], [0.2, 0.4]),
        MemberNumbers.of([[0.9, 0.3]], [], [0.2, 0.4]),
    ]
    found = ExplainedModel(name="m", members=tuple(members))
    assert found.effects.tolist() == [75]
    assert found.spreads is not None
    assert np.allclose(found.spreads, np.std([100, 50], ddof=1))
    assert ExplainedModel(name="m", members=tuple(members[:1])).spreads is None


def test_the_parts_of_token_pairs_add_up_to_the_cosine() -> None:
    rng = np.random.default_rng(2)
    tokens = [
        WeightedTokens(
            vectors=rng.normal(size=(count, 8)).astype(np.float32),
            weights=rng.random(count),
            spans=(None,) * count,
        )
        for count in (5, 7)
    ]
    first, second = (one.weights @ one.vectors for one in tokens)
    cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    parts = token_pair_sum(*tokens)
    assert np.isclose(parts.sum(), cosine, atol=1e-7)
    single = (
        tokens[0].weights[2] * tokens[1].weights[3] * (tokens[0].vectors[2] @ tokens[1].vectors[3])
    )
    assert np.isclose(parts[2, 3], single / np.linalg.norm(first) / np.linalg.norm(second))
    nothing = WeightedTokens(
        vectors=np.zeros((2, 8), np.float32), weights=np.ones(2), spans=(None, None)
    )
    assert (token_pair_sum(nothing, tokens[1]) == 0).all()


def test_a_word_of_several_pieces_is_whole_and_special_tokens_are_apart() -> None:
    # [CLS] un ##believ ##able dog . [SEP] of "unbelievable dog."
    spans = [None, (0, 2), (2, 8), (8, 12), (13, 16), (16, 17), None]
    words = [(0, 12), (13, 16)]
    places = owners(spans, words)
    assert places.tolist() == [2, 0, 0, 0, 1, 2, 2]
    assert owners([(0, 16)], words).tolist() == [0]  # a token over two words is the first one's
    parts = np.arange(7 * 1, dtype=float).reshape(7, 1)
    summed = by_word(parts, places, np.array([0]), (2, 1))
    assert summed.tolist() == [[6, 0], [4, 0], [11, 0]]


def test_further_models_are_shown_by_how_much_more_than_the_first_they_do() -> None:
    rng = np.random.default_rng(3)
    reference = rng.random(50)
    models = [
        ExplainedModel(
            name=name,
            members=tuple(MemberNumbers.of(rng.random((3, 4)), [], reference) for _ in range(2)),
        )
        for name in "ab"
    ]
    found = WordEffects(
        sentences=("one two", "three four five"),
        words=((), ()),
        models=tuple(models),
        reference="sts12",
        pairs=50,
    )
    tables = [
        np.mean(
            [percentile_ranks(one.similarities.table, reference) for one in model.members], axis=0
        )
        for model in models
    ]
    for row in range(2):
        effects = [table[0, 0] - table[row + 1, 0] for table in tables]
        assert np.isclose(found.difference(models[1])[row], effects[1] - effects[0])
        for column in range(3):
            both = [
                table[row + 1, 0] + table[0, column + 1] - table[0, 0] - table[row + 1, column + 1]
                for table in tables
            ]
            assert np.isclose(found.together(models[0])[row, column], both[0])
            assert np.isclose(found.together(models[1])[row, column], both[1] - both[0])
    assert found.difference(models[0]).tolist() == [0] * 5
