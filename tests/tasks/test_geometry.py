"""Geometry against loops, closed forms and scipy."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from embedlab.core.session import ProgressCallback
from embedlab.data.dataset import Part
from embedlab.encoders.encoder import EncoderFacts, RefusedTextsError, Vectors
from embedlab.tasks import geometry
from embedlab.tasks.geometry import (
    alignment,
    effective_rank,
    evaluate_geometry,
    hubness,
    mean_cosine,
    occurrences,
    spectrum,
    uniformity,
)
from tests.stored_scores import part_of as made_part


def cloud(rows: int = 60, dim: int = 5, seed: int = 0) -> Vectors:
    return (np.random.default_rng(seed).normal(size=(rows, dim)) + 0.5).astype(np.float32)


def unit(vectors: Vectors) -> NDArray[np.float64]:
    return vectors.astype(np.float64) / np.maximum(
        np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30
    )


@pytest.mark.parametrize("zeros", [0, 1, 20])
def test_uniformity_is_the_log_of_the_mean_potential_over_pairs_a_zero_vector_at_distance_one(
    zeros: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(geometry, "_ROWS_AT_ONCE", 16)  # several blocks, the last one shorter
    vectors = cloud()
    vectors[5 : 5 + zeros] = 0
    potentials = [math.exp(-2 * ((a - b) ** 2).sum()) for a, b in combinations(unit(vectors), 2)]
    assert uniformity(vectors) == pytest.approx(math.log(np.mean(potentials)), abs=1e-5)


def test_alignment_is_the_mean_squared_distance_on_the_sphere() -> None:
    first, second = cloud(seed=1), cloud(seed=2)
    expected = np.mean(
        [((a - b) ** 2).sum() for a, b in zip(unit(first), unit(second), strict=True)]
    )
    assert alignment(first, second) == pytest.approx(expected)
    assert alignment(first, 3 * first) == pytest.approx(0, abs=1e-12)
    assert math.isnan(alignment(first[:0], second[:0]))


def test_two_vectors_have_every_measure_of_a_pair_and_one_has_none() -> None:
    two = np.array([[3.0, 4.0], [1.0, 0.0]], np.float32)
    assert mean_cosine(two) == pytest.approx(0.6)
    assert uniformity(two) == pytest.approx(-2 * (2 - 2 * 0.6), abs=1e-5)
    assert math.isnan(mean_cosine(two[:1]))
    assert math.isnan(uniformity(two[:1]))
    # a vector of length zero has the cosine zero with all others
    assert mean_cosine(np.pad(two, ((0, 1), (0, 0)))) == pytest.approx(0.6 / 3)


@pytest.mark.parametrize(("rows", "dim"), [(60, 5), (4, 9), (5, 5)])
def test_rank_and_spectrum_are_those_of_the_centred_vectors_whichever_side_is_longer(
    rows: int, dim: int
) -> None:
    vectors = cloud(rows, dim)
    values = np.linalg.svd(
        vectors.astype(np.float64) - vectors.astype(np.float64).mean(0), compute_uv=False
    )
    shares = values / values.sum()
    assert effective_rank(vectors) == pytest.approx(
        math.exp(-sum(one * math.log(one) for one in shares if one > 1e-9)), rel=1e-4
    )
    assert spectrum(vectors) == pytest.approx(values**2 / (values**2).sum(), abs=1e-6)


def test_occurrences_count_who_has_a_vector_among_its_nearest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(geometry, "_ROWS_AT_ONCE", 16)  # two blocks
    vectors, k = cloud(30), 3
    expected = np.zeros(30, int)
    for row, mine in enumerate(unit(vectors)):
        others = sorted(
            (other for other in range(30) if other != row),
            key=lambda other: -(mine @ unit(vectors)[other]),
        )
        expected[others[:k]] += 1
    assert (occurrences(vectors, k) == expected).all()
    assert occurrences(vectors, k).sum() == 30 * k


def test_hubness_is_the_skewness_of_the_occurrences() -> None:
    from scipy.stats import skew

    assert hubness(cloud()) == pytest.approx(skew(occurrences(cloud(), 10)))
    assert math.isnan(hubness(cloud(10)))
    assert hubness(cloud(11)) == 0  # each is a neighbour of all the others


class Lengths:
    """An encoder whose vectors are word counts and letters, which refuses a text; it remembers what
    was requested.
    """

    name, fingerprint, dim, facts = "lengths", "ab", 3, EncoderFacts()

    def __init__(self, refused: str = "refused") -> None:
        self.selected: list[str] = []
        self.refused = refused

    def encode(self, sentences: list[str], progress: ProgressCallback | None = None) -> Vectors:
        self.selected += sentences
        read = [one for one in sentences if one != self.refused]
        rows = [[len(one.split()), one.count("a") + 1, one.count("e")] for one in read]
        vectors = np.array(rows, np.float32)
        if len(read) < len(sentences):
            raise RefusedTextsError("it", [(self.refused, "too odd")], vectors)
        return vectors

    def score(
        self, first: list[str], second: list[str], progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        raise AssertionError


def part_of(name: str, rows: Sequence[tuple[str, str, float]]) -> Part:
    frame = pl.DataFrame(rows, schema=["sentence1", "sentence2", "gold"], orient="row")
    return made_part(name, frame)


def test_a_pair_with_a_refused_text_is_left_out_and_counted() -> None:
    rows = [("a", "e e", 5.0), ("b b", "a b c", 5.0), ("c", "f", 1.0), ("d d d", "g", 0.0)]
    found = evaluate_geometry(Lengths("a b c"), [part_of("d", rows)])
    kept = evaluate_geometry(Lengths(), [part_of("d", [rows[0], *rows[2:]])])
    assert str(found.scores) == str(kept.scores)  # some are nan
    assert "d: 1 of 4 pairs left out, without a vector" in found.notes
    # a dataset of which no pair is left has no numbers
    refused = [("a b c", "a", 5.0), ("e", "a b c", 1.0)]
    found = evaluate_geometry(Lengths("a b c"), [part_of("d", rows), part_of("none", refused)])
    assert {score.slice for score in found.scores} == {"d"}
    assert "none: 2 of 2 pairs left out, without a vector" in found.notes


def test_every_dataset_has_each_measure_by_its_name_and_a_sentence_is_encoded_once() -> None:
    rows = [("a cat", "a cat sat", 4.1), ("the dog here", "we see", 4.0), ("", "a e e", 0.0)]
    encoder = Lengths()
    found = evaluate_geometry(encoder, [part_of("sts12", rows), part_of("sick-r", rows)])
    assert sorted(encoder.selected) == sorted(set(encoder.selected))
    first, second = (Lengths().encode([row[side] for row in rows]) for side in (0, 1))
    vectors = np.concatenate([first, second])
    cosines = (unit(first) * unit(second)).sum(1)
    expected = {
        "average cosine": (cosines.mean(), 3),
        "alignment": (alignment(first[:1], second[:1]), 1),  # SimCSE, section 7: "more than 4.0"
        "uniformity": (uniformity(vectors), 6),
        "mean cosine": (mean_cosine(vectors), 6),
        "effective rank": (effective_rank(vectors), 6),
        "first axis": (spectrum(vectors)[0], 6),
        "hubness": (math.nan, 6),
    }
    for name in ("sts12", "sick-r"):
        own = {one.metric: one for one in found.scores if one.slice == name}
        assert own.keys() == expected.keys()
        for metric, (value, items) in expected.items():
            assert own[metric].value == pytest.approx(value, abs=1e-6, nan_ok=True), metric
            assert own[metric].items == items
