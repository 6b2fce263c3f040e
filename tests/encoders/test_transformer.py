from dataclasses import replace
from pathlib import Path
from threading import get_ident

import numpy as np
import pytest
import torch
from tokenizers.processors import TemplateProcessing

from embedlab.encoders import transformer
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine
from embedlab.models.reading import UsageOptions


@pytest.mark.parametrize("pooling", ["cls+mean", "last"])
def test_a_text_without_any_token_has_a_zero_vector_alone_and_among_others(
    small_bert: Path, cpu: Machine, pooling: str
) -> None:
    encoder = load_transformer(str(small_bert), cpu, wishes=UsageOptions(pooling=pooling))
    # as of many decoders: nothing is added
    encoder.tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="$A")
    assert not encoder.encode([""]).any()
    both = encoder.encode(["", "two dogs"])
    assert not both[0].any()
    np.testing.assert_allclose(both[1], encoder.encode(["two dogs"])[0], atol=1e-6)
    assert encoder.encode([]).shape == (0, encoder.dim)


# threads share what encodes, whichever architecture that is
@pytest.mark.parametrize(
    ("architecture", "precision", "near"), [("bert", "float32", 1e-5), ("modernbert", "bf16", 1e-2)]
)
def test_many_batches_are_encoded_in_parallel_to_the_same_vectors(
    architectures: dict[str, Path],
    cpu: Machine,
    sentences: list[str],
    architecture: str,
    precision: str,
    near: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoder = load_transformer(str(architectures[architecture]), replace(cpu, precision=precision))
    monkeypatch.setitem(transformer.BATCH_TOKENS, "cpu", 128)
    workers, vectors = set(), []
    forward, before = encoder.forward_tokens, torch.get_num_threads()
    monkeypatch.setattr(
        encoder, "forward_tokens", lambda ids, mask: workers.add(get_ident()) or forward(ids, mask)
    )
    for threads in (1, 2):
        torch.set_num_threads(threads)
        workers.clear()
        try:
            vectors.append(encoder.encode(sentences))
        finally:
            torch.set_num_threads(before)
        assert len(workers) == threads
    np.testing.assert_allclose(*vectors, atol=near)


def test_a_card_is_read_ahead_for_and_gives_the_same_bits(
    small_bert: Path, cpu: Machine, sentences: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = load_transformer(str(small_bert), cpu)
    monkeypatch.setitem(transformer.BATCH_TOKENS, "cpu", 64)
    monkeypatch.setattr(transformer, "TOKENISED_AT_ONCE", 15)
    expected = encoder.encode(sentences)
    tokenisers, token_ids = set(), encoder.token_ids
    monkeypatch.setattr(
        encoder, "token_ids", lambda texts: tokenisers.add(get_ident()) or token_ids(texts)
    )
    monkeypatch.setattr(transformer, "is_asynchronous", lambda device: True)
    np.testing.assert_array_equal(encoder.embed(sentences), expected)
    assert len(tokenisers - {get_ident()}) == len(tokenisers) == 1


@pytest.mark.parametrize(
    ("free_gib", "tokens"), [(100, transformer.BATCH_TOKENS["cuda"]), (0.1, 20_971), (0, 128)]
)
def test_batches_on_a_card_fit_into_its_memory(
    free_gib: float, tokens: int, small_bert: Path, cpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = load_transformer(str(small_bert), cpu)
    encoder.machine = replace(cpu, device=torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (int(free_gib * 2**30), 0))
    for kind in ("reserved", "allocated"):
        monkeypatch.setattr(torch.cuda, f"memory_{kind}", lambda _: 0)
    assert encoder.batch_tokens() == tokens


def test_long_sentences_are_cut_and_counted_once(small_bert: Path, cpu: Machine) -> None:
    encoder = load_transformer(str(small_bert), cpu, wishes=UsageOptions(max_tokens=8))
    for texts in (["a dog", "a " * 6, "a " * 7, "a " * 50, "a " * 50], ["a " * 50]):
        encoder.encode(texts)
    assert encoder.facts.truncated == 2  # six words and two marks just fit
    assert encoder.token_ids(["a " * 50]).lengths.tolist() == [8]
    assert (encoder.encode(["a " * 6]) == encoder.encode(["a " * 7 + "dog"])).all()


def test_forward_tokens_drops_out_only_in_training_and_encoding_never(
    small_bert: Path, cpu: Machine
) -> None:
    encoder = load_transformer(str(small_bert), cpu)
    tokens = [torch.from_numpy(array) for array in encoder.token_ids(["a dog"]).padded([0], 0)]
    still = encoder.forward_tokens(*tokens)
    assert torch.equal(still, encoder.forward_tokens(*tokens))
    encoder.backbone.train()
    assert (encoder.encode(["a dog"]) == encoder.encode(["a dog"])).all()
    assert not torch.allclose(still, encoder.forward_tokens(*tokens))  # still in training
