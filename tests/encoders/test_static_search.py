"""The torch-free search by static vectors gives the similarities of the encoder itself."""

from pathlib import Path

import numpy as np
import pytest

from embedlab.encoders.device import Machine
from embedlab.encoders.loading import load_encoder
from embedlab.models.catalog import resolve
from embedlab.workflows.neighbours import Corpus, find_neighbours

SENTENCES = [
    "A man is playing a guitar.",
    "Two dogs run.",
    "A woman plays the flute.",
    "Dogs are running outside.",
    "東京 🙂",
    "tab\tand\nline",
]


def test_the_neighbours_by_wordllama_are_those_of_its_encoder(cpu: Machine) -> None:
    pytest.importorskip("wordllama", reason="it has no wheel for this Python")
    spec = resolve("wordllama", Path("none")).members[0]
    corpus = Corpus.of(SENTENCES)
    search = corpus.static_vectors(spec)
    assert search is not None
    encoder, queries = load_encoder(spec, cpu, offline=True), ["A man plays.", "two dogs run", ""]
    expected = [
        [encoder.score([query], [other])[0] for other in SENTENCES] for query in queries[:2]
    ]
    np.testing.assert_allclose(search.approximate(queries)[:2], expected, atol=1e-5)
    assert np.isnan(search.approximate(queries)[2]).all()  # it has no token
    np.testing.assert_allclose(
        search.exact(queries[0], np.array([3, 0])), np.array(expected[0])[[3, 0]], atol=1e-5
    )
    closest = find_neighbours(["Two dogs run."], corpus, [search], 1, itself=False)[0].found[0]
    assert corpus.sentences[closest.number] == "Dogs are running outside."


def test_a_model_of_another_kind_has_no_static_vectors() -> None:
    assert Corpus.of(SENTENCES).static_vectors(resolve("dice", Path("none")).members[0]) is None
