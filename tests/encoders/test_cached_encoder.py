import shutil
from pathlib import Path

import numpy as np
import pytest

from embedlab.core.errors import MissingError
from embedlab.core.session import ProgressCallback
from embedlab.encoders import loading, vector_cache
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import TextPair
from embedlab.encoders.transformer import TransformerEncoder
from tests.encoders.opening import opened


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


def test_a_second_process_would_compute_nothing_and_report_the_same(
    small_bert: Path,
    cpu: Machine,
    sentences: list[str],
    tmp_path: Path,
    computed: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = opened(small_bert, cpu, tmp_path)
    vectors = first.encode(sentences)
    monkeypatch.setattr(loading, "load_trainable", None)  # the weights are not read
    second, reported = opened(small_bert, cpu, tmp_path), []
    again = second.encode(sentences[::-1], lambda *counts: reported.append(counts))
    assert (again == vectors[::-1]).all()
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
    encoder = opened(small_bert, cpu, tmp_path)
    encoder.encode(sentences[:20])
    whole = encoder.encode(sentences)
    assert computed == [8, 8, 4, 8, 8, 4]
    np.testing.assert_allclose(whole, opened(small_bert, cpu).encode(sentences), atol=1e-5)


def test_weights_that_change_before_they_are_read_are_refused(
    architectures: dict[str, Path], cpu: Machine, tmp_path: Path
) -> None:
    folder = shutil.copytree(architectures["bert"], tmp_path / "model")
    encoder = opened(folder, cpu, tmp_path)
    shutil.rmtree(folder)
    shutil.copytree(architectures["distilbert"], folder)
    with pytest.raises(MissingError, match="was changed while it was in use"):
        encoder.encode(["a dog"])
    assert not list(tmp_path.glob("embeddings/*/*.rows"))


def test_a_pair_of_texts_is_cached_apart_from_every_sentence(
    small_bert: Path, cpu: Machine, tmp_path: Path, computed: list[int]
) -> None:
    encoder, plain = opened(small_bert, cpu, tmp_path), load_transformer(str(small_bert), cpu)
    pair, sentence = TextPair(first="a dog", second="the cat"), "a dog\x1fthe cat"
    expected = plain.encode([pair])
    assert (encoder.encode([sentence]) == plain.encode([sentence])).all()
    assert (encoder.encode([pair]) == expected).all()
    assert (opened(small_bert, cpu, tmp_path).encode([pair]) == expected).all()
    assert computed == [1, 1, 1, 1]
