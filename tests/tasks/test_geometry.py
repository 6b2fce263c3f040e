"""Geometry against loops, closed forms and scipy."""

import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from embedlab.core.errors import MissingError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.session import ProgressCallback
from embedlab.core.settings import Settings
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.source import Source
from embedlab.encoders.encoder import EncoderFacts, RefusedTextsError, Vectors
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import Evaluation
from embedlab.tasks import geometry
from embedlab.tasks.geometry import (
    TASK,
    alignment,
    effective_rank,
    evaluate_geometry,
    hubness,
    mean_cosine,
    measure_geometry,
    occurrences,
    spectrum,
    uniformity,
)
from embedlab.tasks.sts import STS_DATASETS
from embedlab.tasks.task import Selection


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


def test_a_vector_of_length_zero_has_the_cosine_zero_with_all_others() -> None:
    vectors = np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 0.0]], np.float32)
    assert mean_cosine(vectors) == pytest.approx(0.6 / 3)


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

    assert hubness(cloud(), 5) == pytest.approx(skew(occurrences(cloud(), 5)))
    assert hubness(cloud()) == pytest.approx(
        skew(occurrences(cloud(), 10))
    )  # of ten neighbours where no number is named
    assert math.isnan(hubness(cloud(8), 10))
    assert math.isnan(hubness(cloud(10), 10))
    assert hubness(cloud(11), 10) == 0  # each is a neighbour of all the others


def test_the_geometry_of_a_set_has_each_measure_by_its_name() -> None:
    vectors = cloud()
    first, second = np.array([0, 1, 2, 3]), np.array([10, 11, 12, 13])
    is_close = np.array([True, False, True, False])
    found = measure_geometry(vectors, first, second, is_close)
    assert found.average_cosine == pytest.approx(
        np.mean([unit(vectors)[a] @ unit(vectors)[b] for a, b in zip(first, second, strict=True)])
    )
    assert found.alignment == alignment(vectors[[0, 2]], vectors[[10, 12]])
    assert (found.uniformity, found.mean_cosine, found.effective_rank) == (
        uniformity(vectors),
        mean_cosine(vectors),
        effective_rank(vectors),
    )
    assert found.first_axis == spectrum(vectors)[0]
    assert found.hubness == hubness(vectors)
    none = np.array([], np.intp)
    without = measure_geometry(vectors, none, none, none.astype(bool))
    assert math.isnan(without.average_cosine)
    assert math.isnan(without.alignment)
    assert without.uniformity == found.uniformity


class Lengths:
    """An encoder whose vectors are word counts and letters; it remembers what was requested."""

    name, fingerprint, dim, facts = "lengths", "ab", 3, EncoderFacts()

    def __init__(self) -> None:
        self.selected: list[str] = []

    def encode(self, sentences: list[str], progress: ProgressCallback | None = None) -> Vectors:
        self.selected += sentences
        return np.array(
            [[len(one.split()), one.count("a") + 1, one.count("e")] for one in sentences],
            np.float32,
        )

    def score(
        self, first: list[str], second: list[str], progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        raise AssertionError


class Refusing(Lengths):
    """One that refuses a text."""

    def encode(self, sentences: list[str], progress: ProgressCallback | None = None) -> Vectors:
        vectors = super().encode(sentences)
        if "a b c" in sentences[1:]:
            raise RefusedTextsError("it", [("a b c", "too odd")], vectors[:0])
        return vectors


def test_a_pair_with_a_refused_text_is_left_out_and_counted() -> None:
    state = DatasetState(name="d", split="test", rows=4, expected_rows=None, origin="file")
    texts = {"sentence1": ["a", "b b", "c", "d d d"], "sentence2": ["e e", "a b c", "f", "g"]}
    frame = pl.DataFrame({**texts, "gold": [5.0, 5.0, 1.0, 0.0]})
    found = evaluate_geometry(Refusing(), [Part(frame=frame, state=state)])
    kept = evaluate_geometry(Lengths(), [Part(frame=frame[[0, 2, 3]], state=state)])
    assert str(found.scores) == str(kept.scores)  # some are nan
    assert "d: 1 of 4 pairs left out, without a vector" in found.notes


def test_every_dataset_has_its_measures_and_each_sentence_is_encoded_once(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "sentence1": ["a cat", "the dog here"] * 6,
            "sentence2": ["a cat sat", "we see"] * 6,
            "gold": [4.5, 1.0] * 6,
        }
    )
    parts = [
        Part(
            frame=frame,
            state=DatasetState(name=name, split="test", rows=12, expected_rows=12, origin="folder"),
        )
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
    frame = pl.DataFrame(
        {
            "sentence1": ["a", "the dog"],
            "sentence2": ["a a a", "the elephants here"],
            "gold": [4.1, 4.0],
        }
    )
    part = Part(
        frame=frame,
        state=DatasetState(name="sts12", split="test", rows=2, expected_rows=2, origin="folder"),
    )
    found = next(
        score
        for score in evaluate_geometry(Lengths(), [part]).scores
        if score.metric == "alignment"
    )
    expected = alignment(*(Lengths().encode([text]) for text in ("a", "a a a")))
    assert (found.items, found.value) == (1, pytest.approx(expected))


def test_the_task_measures_what_is_there_and_names_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sample = Source(folder=TINY_FOLDER)
    there, gone = [sample.open("sts12"), sample.open("sts13")], MissingError("sts14 is not here")
    opened: list[list[str]] = []

    def opening(_: Source, names: Sequence[str]) -> tuple[list[Part], list[MissingError]]:
        opened.append([*names])
        return there, [gone]

    monkeypatch.setattr(geometry, "open_parts", opening)
    monkeypatch.setattr(geometry, "load_member", lambda *_: (Lengths(), None))
    found = TASK.evaluate(
        ModelSpec(name="lengths", kind="folder"),
        Settings(data=TINY_FOLDER),
        lambda _: lambda *_: None,
        Selection(),
    )
    assert (found.missing, found.tested) == ((gone,), tuple(there))
    assert [score.slice for score in found.evaluation.scores if score.metric == "uniformity"] == [
        "sts12",
        "sts13",
    ]
    assert opened == [[*sample.suite(STS_DATASETS)]]
    texts = TASK.texts(sample, Selection())
    assert texts is not None
    assert {state.name for state in texts.states} == {*sample.suite(STS_DATASETS)}
