"""Vectors stored in 8 bits or 1, against sentence-transformers' own and against one number at a
time; and vectors of fewer numbers.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentence_transformers.util.quantization import quantize_embeddings

from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import cosines
from embedlab.encoders.loading import load_cached
from embedlab.encoders.transformed import quantise_vectors
from embedlab.encoders.transformer import TransformerEncoder
from tests.encoders.opening import fingerprint, offline_settings, opened, spec_of

VECTORS = np.random.default_rng(0).normal(size=(40, 16)).astype(np.float32)
VECTORS[3], VECTORS[4, 5] = 0, 0


def test_one_bit_is_the_sign_and_its_cosine_the_hamming_distance() -> None:
    found, packed = quantise_vectors(VECTORS, 1), quantize_embeddings(VECTORS, "ubinary")
    assert (np.packbits(found > 0, axis=1) == packed).all()
    assert set(np.unique(found)) == {-1, 1}
    distance = np.unpackbits(packed[:-1] ^ packed[1:], axis=1).sum(axis=1)
    assert cosines(found[:-1], found[1:]) == pytest.approx(1 - 2 * distance / 16, abs=1e-6)


def test_eight_bits_are_255_steps_up_to_the_largest_component_of_each_vector() -> None:
    found = quantise_vectors(VECTORS, 8)
    for own, vector in zip(found.tolist(), VECTORS.tolist(), strict=True):
        step = max(map(abs, vector)) / 127 or 1
        expected = [step * round(component / step) for component in vector]
        assert own == pytest.approx(expected, abs=1e-6)
    assert (quantise_vectors(VECTORS[7:8], 8) == found[7]).all()  # whatever else is encoded


def test_a_model_with_bits_has_them_after_its_other_options(
    small_bert: Path, cpu: Machine, sentences: list[str]
) -> None:
    for options, bits in {"dim=9": 1, "whiten=fit&dim=5&normalise": 8}.items():
        plain, packed = (
            opened(f"{small_bert}?{options}{more}", cpu) for more in ("", f"&bits={bits}")
        )
        assert (packed.encode(sentences) == quantise_vectors(plain.encode(sentences), bits)).all()
        assert packed.similarity == "cosine"
        assert str(packed.facts.pooling).endswith(f"bits={bits}")
    names = {fingerprint(f"{small_bert}{one}") for one in ("", "?bits=8", "?bits=1")}
    assert len(names) == 3


def test_fewer_numbers_are_read_from_the_whole_vectors_that_are_cached(
    small_bert: Path,
    cpu: Machine,
    sentences: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def cached(options: str) -> Any:
        spec = spec_of(f"{small_bert}{options}")
        return load_cached(spec, offline_settings(), tmp_path)

    plain = opened(f"{small_bert}?dim=7", cpu).encode(sentences)
    whole = cached("").encode(sentences)
    monkeypatch.setattr(TransformerEncoder, "embed", lambda *_, **__: pytest.fail("computed again"))
    cut = cached("?dim=7")
    found = cut.encode([*sentences, sentences[0]])[:-1]
    assert (found == whole[:, :7]).all()
    np.testing.assert_allclose(found, plain, atol=1e-6)
    assert (cut.facts.pooling, cut.facts.notes) == ("mean, dim=7", cached("").facts.notes)
    assert cached("@dim=7").knows(sentences).all()
