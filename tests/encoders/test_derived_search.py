from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from embedlab.core.settings import Settings
from embedlab.encoders.combination import CombinedEncoder
from embedlab.encoders.encoder import EncoderFacts, similarities
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.encoders.texts import sentence_keys
from embedlab.encoders.transformed import TransformedEncoder
from embedlab.encoders.vector_search import derived_search
from embedlab.models.catalog import ModelSpec
from embedlab.store.vectors import EmbeddingCache

DIM = 5
CORPUS = [f"sentence {number}" for number in range(60)]
KEYS = sentence_keys(CORPUS)


class Known:
    """An encoder of fixed vectors."""

    dim, facts = DIM, EncoderFacts()

    def __init__(self, name: str, vectors: np.ndarray) -> None:
        self.name = self.fingerprint = name
        self.vectors = dict(zip(CORPUS, vectors, strict=True))

    def encode(self, sentences: list[str], progress: object = None) -> np.ndarray:
        return np.stack([self.vectors[text] for text in sentences])


@pytest.fixture
def parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Settings, list[ModelSpec], list[Known]]:
    """Two models with cached vectors; the second has none of the last ten sentences."""
    settings = Settings(cache=tmp_path)
    specs = [ModelSpec(name=name, kind="folder", location=name) for name in ("one", "two")]
    place = ScorePlace(
        spec=specs[0],
        fingerprint="",
        precision="float32",
        evaluations=tmp_path,
    )
    monkeypatch.setattr(
        ScorePlace,
        "of",
        lambda spec, settings: replace(place, spec=spec, fingerprint=spec.location),
    )
    rng, encoders = np.random.default_rng(0), []
    for spec, count in zip(specs, (60, 50), strict=True):
        encoders.append(
            Known(
                spec.name,
                rng.normal(size=(60, DIM)).astype(np.float32) * (3 if spec.name == "two" else 1),
            )
        )
        cache = EmbeddingCache(tmp_path / "embeddings", spec.name, dim=DIM, limit_bytes=2**30)
        cache.store(KEYS[:count], encoders[-1].encode(CORPUS[:count]), np.zeros(count, np.bool_))
    return settings, specs, encoders


@pytest.mark.parametrize("kind", ["average", "normalized-average", "concat"])
def test_a_combination_is_searched_by_the_vectors_that_it_computes(
    parts: tuple[Settings, list[ModelSpec], list[Known]], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    settings, specs, encoders = parts
    monkeypatch.setattr("embedlab.encoders.vector_search.BLOCK_ROWS", 7)
    search = derived_search(
        ModelSpec(name=kind, kind=kind, parts=tuple(specs)), CORPUS, settings, "cosine"
    )
    assert search is not None
    assert search.is_known.tolist() == [True] * 50 + [False] * 10
    vectors = CombinedEncoder(name=kind, kind=kind, parts=encoders).encode(CORPUS)  # type: ignore[arg-type]
    wanted = similarities(np.repeat(vectors[3:4], 50, axis=0), vectors[:50], "cosine")
    assert np.allclose(search.approximate([CORPUS[3]])[0, :50], wanted, atol=1e-5)
    assert np.allclose(search.exact(CORPUS[3], np.arange(50)), wanted, atol=1e-6)
    assert search.is_current
    EmbeddingCache(settings.cache / "embeddings", "two", dim=DIM, limit_bytes=2**30).store(
        sentence_keys(["new"]), np.ones((1, DIM), np.float32), np.zeros(1, np.bool_)
    )
    assert not search.is_current


def test_a_whitened_model_is_searched_by_its_whitened_vectors_also_inside_a_combination(
    parts: tuple[Settings, list[ModelSpec], list[Known]],
) -> None:
    settings, (one, two), (known, other) = parts
    whitened = replace(one, name="one?whiten=fit", whiten="fit", normalise=True)
    search = derived_search(whitened, CORPUS, settings, "dot")
    assert search is not None
    vectors = TransformedEncoder(spec=whitened, inner=known).encode(CORPUS)  # type: ignore[arg-type]
    assert np.allclose(search.approximate([CORPUS[3]])[0], vectors @ vectors[3], atol=1e-4)

    both = ModelSpec(
        name="both",
        kind="concat",
        parts=(replace(two, name="two?normalise=true", normalise=True), one),
    )
    search = derived_search(both, CORPUS, settings, "cosine")
    assert search is not None
    unit = other.encode(CORPUS) / np.linalg.norm(other.encode(CORPUS), axis=1, keepdims=True)
    joined = np.concatenate([unit, known.encode(CORPUS)], axis=1)
    wanted = similarities(np.repeat(joined[3:4], 50, axis=0), joined[:50], "cosine")
    assert np.allclose(search.approximate([CORPUS[3]])[0, :50], wanted, atol=1e-5)


def test_a_combination_of_a_model_without_vectors_is_not_searched(
    parts: tuple[Settings, list[ModelSpec], list[Known]],
) -> None:
    settings, (one, _), _ = parts
    unknown = ModelSpec(name="three", kind="folder", location="three")
    combined = ModelSpec(name="both", kind="concat", parts=(one, unknown))
    assert derived_search(combined, CORPUS, settings, "cosine") is None
