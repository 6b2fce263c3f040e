"""Vectors stored in 8 bits or 1, against sentence-transformers' own and against one number at a
time; and vectors of fewer numbers.
"""

from pathlib import Path

import numpy as np
import pytest

from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import cosines
from embedlab.encoders.loading import load_cached, load_encoder
from embedlab.encoders.transformed import in_bits
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.models.catalog import resolve
from embedlab.models.location import spec_fingerprint

VECTORS = np.random.default_rng(0).normal(size=(40, 16)).astype(np.float32)
VECTORS[3], VECTORS[4, 5] = 0, 0


def test_one_bit_is_the_sign_and_its_cosine_the_hamming_distance() -> None:
    from sentence_transformers.util.quantization import quantize_embeddings

    found, packed = in_bits(VECTORS, 1), quantize_embeddings(VECTORS, "ubinary")
    assert (np.packbits(found > 0, axis=1) == packed).all()
    assert set(np.unique(found)) == {-1, 1}
    distance = np.unpackbits(packed[:-1] ^ packed[1:], axis=1).sum(axis=1)
    assert cosines(found[:-1], found[1:]) == pytest.approx(1 - 2 * distance / 16, abs=1e-6)


def test_eight_bits_are_255_steps_up_to_the_largest_component_of_each_vector() -> None:
    found = in_bits(VECTORS, 8)
    for own, vector in zip(found.tolist(), VECTORS.tolist(), strict=True):
        step = max(map(abs, vector)) / 127
        for number, component in zip(own, vector, strict=True):
            assert number == pytest.approx(step * round(component / step) if step else 0, abs=1e-6)
    assert (in_bits(VECTORS[7:8], 8) == found[7]).all()  # whatever else is encoded
    assert len(np.unique(np.rint(found[0] / np.abs(found[0]).max() * 127))) > 8


def test_a_model_with_bits_has_them_after_its_other_options(
    small_bert: Path, cpu: Machine, sentences: list[str]
) -> None:
    def encode(options: str) -> np.ndarray:
        return load_encoder(
            resolve(f"{small_bert}{options}", Path("none")).members[0], cpu, offline=True
        ).encode(sentences)

    assert (encode("@dim=9&bits=1") == in_bits(encode("@dim=9"), 1)).all()
    assert (
        encode("?whiten=fit&dim=5&normalise&bits=8")
        == in_bits(encode("?whiten=fit&dim=5&normalise"), 8)
    ).all()
    names = ("", "?bits=8", "?bits=1", "?dim=9&bits=1")
    assert (
        len(
            {
                spec_fingerprint(
                    resolve(f"{small_bert}{one}", Path("none")).members[0], precision="float32"
                )
                for one in names
            }
        )
        == 4
    )
    model = load_encoder(
        resolve(f"{small_bert}?bits=1", Path("none")).members[0], cpu, offline=True
    )
    assert model.similarity == "cosine"
    assert str(model.facts.pooling).endswith("bits=1")


def test_fewer_numbers_are_read_from_the_whole_vectors_that_are_cached(
    small_bert: Path,
    cpu: Machine,
    sentences: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def opened(options: str) -> object:
        return load_cached(
            resolve(f"{small_bert}{options}", Path("none")).members[0],
            cpu,
            tmp_path,
            1.0,
            offline=True,
        )

    plain = load_encoder(
        resolve(f"{small_bert}?dim=7", Path("none")).members[0], cpu, offline=True
    ).encode(sentences)
    whole = opened("").encode(sentences)
    monkeypatch.setattr(TransformerEncoder, "embed", lambda *_, **__: pytest.fail("computed again"))
    cut = opened("?dim=7")
    found = cut.encode([*sentences, sentences[0]])
    assert (found[:-1] == whole[:, :7]).all()
    np.testing.assert_allclose(found[:-1], plain, atol=1e-6)
    assert (cut.facts.pooling, cut.facts.notes) == ("mean, dim=7", opened("").facts.notes)
    assert opened("@dim=7").knows(sentences).all()
