"""Geometry against loops, closed forms and scipy."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.stats import entropy, skew

from embedlab.core.session import ProgressCallback
from embedlab.data.dataset import Part
from embedlab.encoders.encoder import Encoder, EncoderFacts, Vectors
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
from tests.tasks.test_refused_texts import Refusing


def cloud(rows: int = 60, dim: int = 5, seed: int = 0) -> Vectors:
    return (np.random.default_rng(seed).normal(size=(rows, dim)) + 0.5).astype(np.float32)


def unit(vectors: Vectors) -> NDArray[np.float64]:
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return vectors / np.maximum(lengths, 1e-30)


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
    squares = ((unit(first) - unit(second)) ** 2).sum(1)
    assert alignment(first, second) == pytest.approx(squares.mean())
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
    values = np.linalg.svd(vectors - vectors.mean(0, dtype=float), compute_uv=False)
    shares = values / values.sum()
    assert effective_rank(vectors) == pytest.approx(math.exp(entropy(shares)), rel=1e-4)
    assert spectrum(vectors) == pytest.approx(values**2 / (values**2).sum(), abs=1e-6)


def test_occurrences_count_who_has_a_vector_among_its_nearest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(geometry, "_ROWS_AT_ONCE", 16)  # two blocks
    vectors, k = cloud(30), 3
    expected = np.zeros(30, int)
    for row, mine in enumerate(unit(vectors)):
        nearest = [other for other in np.argsort(-unit(vectors) @ mine) if other != row]
        expected[nearest[:k]] += 1
    assert occurrences(vectors, k).tolist() == expected.tolist()


def test_hubness_is_the_skewness_of_the_occurrences() -> None:
    assert hubness(cloud()) == pytest.approx(skew(occurrences(cloud(), 10)))
    assert math.isnan(hubness(cloud(10)))
    assert hubness(cloud(11)) == 0  # each is a neighbour of all the others


class Lengths(Refusing, Encoder):
    """The same as an encoder of embedlab, which remembers what was requested."""

    name, fingerprint, facts = "lengths", "ab", EncoderFacts()

    def __init__(self, refused: str = "refused") -> None:
        super().__init__(refused)
        self.selected: list[str] = []

    def encode(self, sentences: list[str], progress: ProgressCallback | None = None) -> Vectors:
        self.selected += sentences
        return super().encode(sentences)


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
