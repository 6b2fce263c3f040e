"""Packed sentences: the vectors and gradients of padded ones, without the padding."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from embedlab.core.errors import MissingError
from embedlab.cpu import linear as products
from embedlab.cpu import packing
from embedlab.cpu.forward import Forward
from embedlab.cpu.packing import ARCHITECTURES, pack_sentences
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.pooling import pooling_method
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.models.reading import UsageOptions
from tests.training.small_runs import MACHINE

Gradients = dict[str, torch.Tensor]
IDS = torch.tensor(
    [[2, 5, 6, 7, 3], [2, 6, 3, 0, 0], [2, 7, 3, 0, 0], [2, 5, 6, 3, 0], [2, 3, 0, 0, 0]]
)
MASK = torch.tensor(
    [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 0, 0, 0]]
)


def encoder_of(
    folder: Path, architecture: str, pooling: str = "mean", *, hidden: int = 16
) -> TransformerEncoder:
    words = ["a", "man", "runs", "sleeps"]
    build_random_encoder(folder, seed=0, hidden=hidden, vocabulary=words, architecture=architecture)
    return load_transformer(
        str(folder), MACHINE, wishes=UsageOptions(pooling=pooling, max_tokens=32)
    )  # type: ignore[arg-type]


def computed_tokens(encoder: TransformerEncoder, *places: str) -> list[int]:
    """For how many tokens each of these modules of an encoder computes."""
    found: list[int] = []
    for place in places:
        encoder.backbone.get_submodule(place).register_forward_hook(
            lambda module, states, out: found.append(out.shape[1])
        )
    encoder.forward_tokens(IDS, MASK)
    return found


def vectors_and_gradients(encoder: TransformerEncoder) -> tuple[torch.Tensor, Gradients]:
    encoder.backbone.eval().zero_grad()
    vectors = encoder.forward_tokens(IDS, MASK)
    (vectors * torch.linspace(-1, 1, vectors.numel()).view_as(vectors)).sum().backward()
    return vectors, {
        name: weight.grad.clone()
        for name, weight in encoder.backbone.named_parameters()
        if weight.grad is not None
    }


def assert_gradients(found: Gradients, expected: Gradients) -> None:
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_vectors_and_gradients_of_packs_with_tokens_of_no_sentence_are_those_of_padded_sentences(
    architecture: str, pooling: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "rows_to_multiply", lambda rows: rows + 5)
    encoder = encoder_of(tmp_path, architecture, pooling)
    monkeypatch.setattr(encoder.forward, "uses_onednn", True)
    assert encoder.forward.is_packing
    packed, found = vectors_and_gradients(encoder)
    encoder.forward = Forward(encoder.backbone, pooling_method(encoder.pooling).pool)
    padded, expected = vectors_and_gradients(encoder)
    torch.testing.assert_close(packed, padded, rtol=1e-5, atol=1e-6)
    assert_gradients(found, expected)


@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_a_padding_token_that_is_written_out_in_a_text_has_the_position_that_transformers_gives_it(
    architecture: str, tmp_path: Path
) -> None:
    encoder = encoder_of(tmp_path, architecture)
    ids = torch.tensor([[2, 5, 0, 6, 3], [2, 0, 3, 0, 0]])
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    with torch.no_grad():
        states = encoder.backbone.eval()(input_ids=ids, attention_mask=mask).last_hidden_state
        expected = (states * mask.unsqueeze(-1)).sum(dim=1) / mask.sum(dim=1, keepdim=True)
        found = encoder.forward_tokens(ids, mask)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_a_pack_holds_each_token_once_and_sentences_of_one_length_together() -> None:
    packed = pack_sentences(MASK)
    assert packed.spans == ((1, 2), (2, 3), (1, 4), (1, 5))
    assert packed.order.tolist() == [4, 1, 2, 3, 0]
    places = [row * 5 + token for row in packed.order.tolist() for token in range(MASK[row].sum())]
    assert packed.flat_indices.tolist() == places


@pytest.mark.parametrize(("hidden", "more"), [(products.SMALL, 3), (16, 0)])
def test_packs_of_an_encoder_wide_enough_for_onednn_are_padded_with_tokens_of_no_sentence(
    hidden: int, more: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "can_multiply", lambda kind: True)
    monkeypatch.setattr(packing, "rows_to_multiply", lambda rows: rows + 3)
    encoder = encoder_of(tmp_path, "bert", hidden=hidden)
    assert computed_tokens(encoder, "embeddings") == [MASK.sum() + more]


@pytest.mark.parametrize(
    ("architecture", "layers", "widening"),
    [
        ("bert", "encoder.layer", "intermediate.dense"),
        ("distilbert", "transformer.layer", "ffn.lin1"),
    ],
)
def test_the_last_layer_computes_first_tokens_alone_where_only_they_are_pooled(
    architecture: str, layers: str, widening: str, tmp_path: Path
) -> None:
    encoder = encoder_of(tmp_path, architecture, "cls")
    places = [f"{layers}.{number}.{widening}" for number in (0, 1)]
    assert computed_tokens(encoder, *places) == [MASK.sum(), len(MASK)]


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize(
    "place", ["embeddings", "encoder.layer.0.output", "encoder.layer.1.attention.self"]
)
def test_dropout_falls_on_packed_attention_and_states(
    pooling: str, place: str, tmp_path: Path
) -> None:
    encoder = encoder_of(tmp_path, "bert", pooling)
    for name, module in encoder.backbone.train().named_modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.5 if name == f"{place}.dropout" else 0.0
    found = []
    for seed in (1, 2, 1):
        torch.manual_seed(seed)
        found.append(encoder.forward_tokens(IDS, MASK))
    assert not torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


def test_a_model_that_counts_positions_after_a_token_needs_to_state_it() -> None:
    backbone = SimpleNamespace(config=SimpleNamespace(model_type="roberta", pad_token_id=None))
    with pytest.raises(MissingError, match="states no pad_token_id"):
        packing.positions(backbone, IDS)  # type: ignore[arg-type]
