"""Geometry against loops, closed forms and scipy."""

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from embedlab.core.progress import ProgressCallback
from embedlab.data.dataset import DatasetState, Part
from embedlab.encoders.encoder import EncoderFacts, Vectors
from embedlab.runs.evaluations import Evaluation
from embedlab.tasks import geometry
from embedlab.tasks.geometry import alignment, effective_rank, evaluate_geometry, hubness, mean_cosine, occurrences, spectrum, uniformity


def cloud(rows: int = 60, dim: int = 5, seed: int = 0) -> Vectors:
    return (np.random.default_rng(seed).normal(size=(rows, dim)) + 0.5).astype(np.float32)


def unit(vectors: Vectors) -> NDArray[np.float64]:
    return vectors.astype(np.float64) / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)


def test_uniformity_is_the_log_of_the_mean_potential_over_pairs() -> None:
    potentials = [math.exp(-2 * ((a - b) ** 2).sum()) for a, b in combinations(unit(cloud()), 2)]
    assert uniformity(cloud()) == pytest.approx(math.log(np.mean(potentials)), abs=1e-5)


@pytest.mark.parametrize("zeros", [1, 20])
def test_a_zero_vector_is_at_distance_one_from_the_sphere(zeros: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(geometry, "_ROWS_AT_ONCE", 16)  # several blocks, the last one shorter
    vectors = cloud()
    vectors[5 : 5 + zeros] = 0
    potentials = [math.exp(-2 * ((a - b) ** 2).sum()) for a, b in combinations(unit(vectors), 2)]
    assert uniformity(vectors) == pytest.approx(math.log(np.mean(potentials)), abs=1e-5)


def test_alignment_is_the_mean_squared_distance_on_the_sphere() -> None:
    first, second = cloud(seed=1), cloud(seed=2)
    expected = np.mean([((a - b) ** 2).sum() for a, b in zip(unit(first), unit(second), strict=True)])
    assert alignment(first, second) == pytest.approx(expected)
    assert alignment(first, 3 * first) == pytest.approx(0, abs=1e-12)
    assert math.isnan(alignment(first[:0], second[:0]))


def test_mean_cosine_is_that_of_all_pairs() -> None:
    expected = np.mean([a @ b for a, b in combinations(unit(cloud()), 2)])
    assert mean_cosine(cloud()) == pytest.approx(expected)


def test_a_cone_is_anisotropic_and_uniformity_shows_it() -> None:
    even = np.random.default_rng(0).normal(size=(500, 8)).astype(np.float32)
    cone = even + np.float32(10)
    assert mean_cosine(even) == pytest.approx(0, abs=0.02)
    assert mean_cosine(cone) > 0.95
    assert uniformity(cone) > uniformity(even) + 1


def test_effective_rank_counts_axes_of_equal_size() -> None:
    axes = np.concatenate([np.eye(6, 10), -np.eye(6, 10)]).astype(np.float32)
    assert effective_rank(axes) == pytest.approx(6)
    assert spectrum(axes)[:6] == pytest.approx(np.full(6, 1 / 6))
    assert effective_rank(np.ones((4, 3), np.float32)) != effective_rank(axes)


def test_spectrum_is_the_share_of_variance_of_each_singular_value() -> None:
    centred = cloud() - cloud().mean(0)
    squares = np.linalg.svd(centred, compute_uv=False) ** 2
    assert spectrum(cloud()) == pytest.approx(squares / squares.sum(), abs=1e-5)


def test_occurrences_count_who_has_a_vector_among_its_nearest() -> None:
    vectors, k = cloud(30), 3
    expected = np.zeros(30, int)
    for row, mine in enumerate(unit(vectors)):
        others = sorted((other for other in range(30) if other != row), key=lambda other: -(mine @ unit(vectors)[other]))
        expected[others[:k]] += 1
    assert (occurrences(vectors, k) == expected).all()
    assert occurrences(vectors, k).sum() == 30 * k


def test_hubness_is_the_skewness_of_the_occurrences() -> None:
    from scipy.stats import skew

    assert hubness(cloud(), 5) == pytest.approx(skew(occurrences(cloud(), 5)))
    assert math.isnan(hubness(cloud(8), 10))


class Lengths:
    """An encoder whose vectors are word counts and letters; it remembers what was requested."""

    name, fingerprint, dim, facts = "lengths", "ab", 3, EncoderFacts()

    def __init__(self) -> None:
        self.selected: list[str] = []

    def encode(self, sentences: list[str], progress: ProgressCallback | None = None) -> Vectors:
        self.selected += sentences
        return np.array([[len(one.split()), one.count("a") + 1, one.count("e")] for one in sentences], np.float32)

    def score(self, first: list[str], second: list[str], progress: ProgressCallback | None = None) -> NDArray[np.float32]:
        raise AssertionError


def test_every_dataset_has_its_measures_and_each_sentence_is_encoded_once(tmp_path: Path) -> None:
    frame = pl.DataFrame({"sentence1": ["a cat", "the dog here"] * 6, "sentence2": ["a cat sat", "we see"] * 6, "gold": [4.5, 1.0] * 6})
    parts = [
        Part(frame=frame, state=DatasetState(name=name, split="test", rows=12, expected_rows=12, origin="folder"))
        for name in ("sts12", "sick-r")
    ]
    encoder = Lengths()
    found = evaluate_geometry(encoder, parts)
    assert sorted(encoder.selected) == sorted(set(encoder.selected))
    values = {(score.slice, score.metric): score for score in found.scores}
    expected = alignment(encoder.encode(["a cat"]), encoder.encode(["a cat sat"]))
    assert values["sick-r", "alignment"].value == pytest.approx(expected)
    assert values["sick-r", "alignment"].items == 6
    assert values["sts12", "average cosine"].items == 12
    assert math.isnan(values["sts12", "hubness"].value)
    assert Evaluation.load(found.save(tmp_path)).task == "geometry"


def test_a_pair_whose_gold_score_is_four_is_not_among_the_close_ones() -> None:
    """SimCSE, section 7: "more than 4.0"."""
    frame = pl.DataFrame({"sentence1": ["a", "the dog"], "sentence2": ["a a a", "the elephants here"], "gold": [4.1, 4.0]})
    part = Part(frame=frame, state=DatasetState(name="sts12", split="test", rows=2, expected_rows=2, origin="folder"))
    found = next(score for score in evaluate_geometry(Lengths(), [part]).scores if score.metric == "alignment")
    first, second = (unit(Lengths().encode([text]))[0] for text in ("a", "a a a"))
    assert (found.items, found.value) == (1, pytest.approx(((first - second) ** 2).sum()))
