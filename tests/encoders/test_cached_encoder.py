import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from embedlab.core.errors import MissingError
from embedlab.core.session import ProgressCallback
from embedlab.encoders import loading, vector_cache
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import Encoder, TextPair
from embedlab.encoders.loading import load_encoder
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.models.catalog import resolve


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many sentences each call of the transformer computed."""
    counts: list[int] = []
    embed = TransformerEncoder.embed

    def counted(
        self: TransformerEncoder, sentences: list[str], progress: ProgressCallback | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        counts.append(len(sentences))
        return embed(self, sentences, progress)

    monkeypatch.setattr(TransformerEncoder, "embed", counted)
    return counts


def load(name: str, cpu: Machine, folder: Path, precision: str = "float32") -> Encoder:
    (spec,) = resolve(name, folder / "runs").members
    return load_encoder(spec, replace(cpu, precision=precision), cache=folder)


def test_a_second_process_would_compute_nothing_and_report_the_same(
    small_bert: Path, cpu: Machine, sentences: list[str], tmp_path: Path, computed: list[int]
) -> None:
    first, second = load(str(small_bert), cpu, tmp_path), load(str(small_bert), cpu, tmp_path)
    vectors = first.encode(sentences)
    reported = []
    assert (
        second.encode(sentences[::-1], lambda done, total: reported.append((done, total)))
        == vectors[::-1]
    ).all()
    assert computed == [len(sentences)]
    assert first.facts == second.facts
    assert second.facts.truncated >= 1
    assert reported == [(len(sentences), len(sentences))]


def test_only_new_sentences_are_computed_in_pieces_that_are_cached(
    small_bert: Path,
    cpu: Machine,
    sentences: list[str],
    tmp_path: Path,
    computed: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vector_cache, "SENTENCES_PER_SAVE", 8)
    encoder = load(str(small_bert), cpu, tmp_path)
    encoder.encode(sentences[:20])
    whole = encoder.encode(sentences)
    assert computed == [8, 8, 4, 8, 8, 4]
    (spec,) = resolve(str(small_bert), tmp_path).members
    np.testing.assert_allclose(whole, load_encoder(spec, cpu).encode(sentences), atol=1e-5)


def test_weights_are_read_only_when_a_sentence_is_new(
    small_bert: Path, cpu: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(str(small_bert), cpu, tmp_path).encode(["a dog"])
    monkeypatch.setattr(
        loading, "load_trainable", lambda *_, **__: pytest.fail("the weights were read")
    )
    again = load(str(small_bert), cpu, tmp_path)
    assert again.encode(["a dog"]).shape == (1, again.dim)


def test_weights_that_change_before_they_are_read_are_refused(
    architectures: dict[str, Path], cpu: Machine, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(architectures["bert"], folder)
    encoder = load(str(folder), cpu, tmp_path)
    shutil.rmtree(folder)
    shutil.copytree(architectures["distilbert"], folder)
    with pytest.raises(MissingError, match="was changed while it was in use"):
        encoder.encode(["a dog"])
    assert not list(tmp_path.glob("embeddings/*/*.npy"))


def test_a_pair_of_texts_is_cached_apart_from_every_sentence(
    small_bert: Path, cpu: Machine, tmp_path: Path, computed: list[int]
) -> None:
    encoder, plain = load(str(small_bert), cpu, tmp_path), load_transformer(str(small_bert), cpu)
    pair, sentence = TextPair(first="a dog", second="the cat"), "a dog\x1fthe cat"
    expected = plain.encode([pair])
    assert (encoder.encode([sentence]) == plain.encode([sentence])).all()
    assert (encoder.encode([pair]) == expected).all()
    assert (load(str(small_bert), cpu, tmp_path).encode([pair]) == expected).all()
    assert computed == [1, 1, 1, 1]
