from dataclasses import replace
from pathlib import Path
from threading import get_ident

import numpy as np
import pytest
import torch
from tokenizers.processors import TemplateProcessing
from transformers import AutoModel, AutoTokenizer

from embedlab.core.plugins import shipped_names
from embedlab.core.recipe import Pooling
from embedlab.encoders import transformer
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine
from embedlab.models.reading import Wishes

ARCHITECTURES = ("bert", "roberta", "distilbert", "modernbert")
OTHER_POOLINGS = [
    pytest.param(
        name, pooling, marks=pytest.mark.slow
    )  # a pooling takes what it is given, whichever architecture computed it
    for name in ARCHITECTURES[1:]
    for pooling in shipped_names("poolings")
    if pooling != "mean"
]


@pytest.mark.parametrize(
    ("architecture", "pooling"),
    [
        *(("bert", pooling) for pooling in shipped_names("poolings")),
        *((name, "mean") for name in ARCHITECTURES[1:]),
        *OTHER_POOLINGS,
    ],
)
def test_a_vector_does_not_depend_on_batch_order_or_padding(
    architectures: dict[str, Path],
    cpu: Machine,
    sentences: list[str],
    architecture: str,
    pooling: Pooling,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoder = load_transformer(
        str(architectures[architecture]), cpu, wishes=Wishes(pooling=pooling)
    )
    vectors = encoder.encode(sentences)
    order = np.random.default_rng(1).permutation(len(sentences))
    for budget in (1, 333, 100_000):
        monkeypatch.setitem(transformer.BATCH_TOKENS, "cpu", budget)
        shuffled = encoder.encode([sentences[place] for place in order])
        np.testing.assert_allclose(shuffled, vectors[order], atol=1e-5)


@pytest.mark.parametrize("pooling", ["cls+mean", "last"])
def test_a_text_without_any_token_has_a_zero_vector_alone_and_among_others(
    small_bert: Path, cpu: Machine, pooling: str
) -> None:
    encoder = load_transformer(str(small_bert), cpu, wishes=Wishes(pooling=pooling))
    encoder.tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="$A"
    )  # as of many decoders: nothing is added
    assert not encoder.encode([""]).any()
    both = encoder.encode(["", "two dogs"])
    assert not both[0].any()
    np.testing.assert_allclose(both[1], encoder.encode(["two dogs"])[0], atol=1e-6)


@pytest.mark.parametrize(
    ("architecture", "precision"),
    [
        ("bert", "float32"),
        ("modernbert", "bf16"),  # threads share what encodes, whichever architecture that is
        *(
            pytest.param(name, precision, marks=pytest.mark.slow)
            for name in ARCHITECTURES
            for precision in ("float32", "bf16")
            if (name, precision) not in {("bert", "float32"), ("modernbert", "bf16")}
        ),
    ],
)
def test_many_batches_are_encoded_in_parallel_to_the_same_vectors(
    architectures: dict[str, Path],
    cpu: Machine,
    sentences: list[str],
    architecture: str,
    precision: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoder = load_transformer(str(architectures[architecture]), replace(cpu, precision=precision))
    many = [f"{sentence} {number}" for number in range(2) for sentence in sentences]
    monkeypatch.setitem(transformer.BATCH_TOKENS, "cpu", 128)
    workers = set()
    forward = encoder.forward_tokens
    monkeypatch.setattr(
        encoder, "forward_tokens", lambda ids, mask: workers.add(get_ident()) or forward(ids, mask)
    )
    vectors = {}
    before = torch.get_num_threads()
    for threads in (1, 2):
        torch.set_num_threads(threads)
        workers.clear()
        try:
            vectors[threads] = encoder.encode(many)
        finally:
            torch.set_num_threads(before)
        assert len(workers) == threads
    np.testing.assert_allclose(
        vectors[2], vectors[1], atol=1e-5 if precision == "float32" else 1e-2
    )


@pytest.mark.parametrize("has_cpu_engine", [True, False])
def test_vectors_equal_the_plain_use_of_transformers(
    small_bert: Path, cpu: Machine, sentences: list[str], has_cpu_engine: bool
) -> None:

    tokenizer, model = (
        AutoTokenizer.from_pretrained(small_bert, trust_remote_code=False),
        AutoModel.from_pretrained(small_bert, trust_remote_code=False).eval(),
    )
    encoder = load_transformer(
        str(small_bert), replace(cpu, has_cpu_engine=has_cpu_engine), wishes=Wishes(pooling="mean")
    )
    for sentence, vector in zip(sentences, encoder.encode(sentences), strict=True):
        with torch.no_grad():
            tokens = model(
                **tokenizer(
                    sentence, return_tensors="pt", truncation=True, max_length=encoder.max_tokens
                )
            ).last_hidden_state
        np.testing.assert_allclose(tokens[0].mean(0), vector, atol=1e-5)


def test_a_card_is_read_ahead_for_and_gives_the_same_bits_in_few_copies(
    small_bert: Path, cpu: Machine, sentences: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = load_transformer(str(small_bert), cpu)
    many = [f"{sentence} {number}" for number in range(3) for sentence in sentences]
    monkeypatch.setitem(transformer.BATCH_TOKENS, "cpu", 128)
    monkeypatch.setattr(transformer, "TOKENISED_AT_ONCE", len(many) // 3)
    expected = encoder.encode(many)
    tokenisers, copies = set(), []
    token_ids, cat = encoder.token_ids, torch.cat
    monkeypatch.setattr(
        encoder, "token_ids", lambda texts: tokenisers.add(get_ident()) or token_ids(texts)
    )
    monkeypatch.setattr(
        transformer.torch, "cat", lambda parts, *dim: copies.append(len(parts)) or cat(parts, *dim)
    )
    monkeypatch.setattr(transformer, "is_apart", lambda device: True)
    np.testing.assert_array_equal(encoder.embed(many), expected)
    assert get_ident() not in tokenisers
    assert len(tokenisers) == 1
    assert copies.count(max(copies)) <= 4
    assert max(copies) > 1


@pytest.mark.parametrize(
    ("free_gib", "tokens"), [(100, transformer.BATCH_TOKENS["cuda"]), (0.1, 20_971), (0, 128)]
)
def test_batches_on_a_card_fit_into_its_memory(
    free_gib: float, tokens: int, small_bert: Path, cpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = load_transformer(str(small_bert), cpu)
    encoder.machine = replace(cpu, device=torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (int(free_gib * 2**30), 0))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _: 0)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda _: 0)
    assert encoder._batch_tokens() == tokens


def test_no_sentences_give_no_vectors(small_bert: Path, cpu: Machine) -> None:
    encoder = load_transformer(str(small_bert), cpu)
    assert encoder.encode([]).shape == (0, encoder.dim)


def test_long_sentences_are_cut_and_counted_once(small_bert: Path, cpu: Machine) -> None:
    encoder = load_transformer(str(small_bert), cpu, wishes=Wishes(max_tokens=8))
    encoder.encode(["a dog", "a " * 6, "a " * 7, "a " * 50, "a " * 50])
    encoder.encode(["a " * 50])
    assert encoder.facts.truncated == 2  # six words and two marks just fit
    assert encoder.token_ids(["a " * 50]).lengths.tolist() == [8]
    assert (encoder.encode(["a " * 6]) == encoder.encode(["a " * 7 + "dog"])).all()


def test_encoding_leaves_dropout_as_it_was(small_bert: Path, cpu: Machine) -> None:
    encoder = load_transformer(str(small_bert), cpu)
    encoder.backbone.train()
    first, second = encoder.encode(["a dog"]), encoder.encode(["a dog"])
    assert (first == second).all()
    assert encoder.backbone.training


def test_forward_tokens_carries_gradients_and_drops_out_only_in_training(
    small_bert: Path, cpu: Machine
) -> None:
    encoder = load_transformer(str(small_bert), cpu)
    ids, mask = (
        torch.from_numpy(array)
        for array in encoder.token_ids(["a dog runs", "cat"]).padded([0, 1], 0)
    )
    still = encoder.forward_tokens(ids, mask)
    assert torch.equal(still, encoder.forward_tokens(ids, mask))
    encoder.backbone.train()
    moving = encoder.forward_tokens(ids, mask)
    assert not torch.allclose(still, moving)
    moving.sum().backward()
    assert all(parameter.grad is not None for parameter in encoder.backbone.parameters())
