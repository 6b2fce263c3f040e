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
from embedlab.models.reading import Wishes
from tests.training.small_runs import MACHINE

IDS = torch.tensor(
    [[2, 5, 6, 7, 3], [2, 6, 3, 0, 0], [2, 7, 3, 0, 0], [2, 5, 6, 3, 0], [2, 3, 0, 0, 0]]
)
MASK = torch.tensor(
    [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 0, 0, 0]]
)


def encoder_of(
    folder: Path, architecture: str, pooling: str = "mean", *, hidden: int = 16
) -> TransformerEncoder:
    build_random_encoder(
        folder,
        seed=0,
        hidden=hidden,
        vocabulary=["a", "man", "runs", "sleeps"],
        architecture=architecture,
    )
    return load_transformer(str(folder), MACHINE, wishes=Wishes(pooling=pooling, max_tokens=32))  # type: ignore[arg-type]


def vectors_and_gradients(
    encoder: TransformerEncoder,
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    encoder.backbone.zero_grad()
    vectors = encoder.forward_tokens(IDS, MASK)
    (vectors * torch.linspace(-1, 1, vectors.numel()).view_as(vectors)).sum().backward()
    return vectors, {
        name: weight.grad.clone()
        for name, weight in encoder.backbone.named_parameters()
        if weight.grad is not None
    }


def states_of_projections(encoder: TransformerEncoder) -> list[list[torch.Tensor]]:
    """What queries, keys and values are made of under autocast, one entry a layer."""
    met: dict[str, list[torch.Tensor]] = {}
    for place, module in encoder.backbone.named_modules():
        attention, _, name = place.rpartition(".")
        if name in {"query", "key", "value", "q_lin", "k_lin", "v_lin"}:
            module.register_forward_pre_hook(
                lambda _, given, attention=attention: met.setdefault(attention, []).append(given[0])
            )
    with torch.autocast("cpu", torch.bfloat16):
        encoder.forward_tokens(IDS, MASK)
    return list(met.values())


@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_queries_keys_and_values_are_made_of_states_that_autocast_narrows_once(
    architecture: str, tmp_path: Path
) -> None:
    encoder = encoder_of(tmp_path / "model", architecture)
    layers = states_of_projections(encoder)
    assert len(layers) == encoder.backbone.config.num_hidden_layers
    for query, key, value in layers:
        assert query is key is value
        assert query.dtype == torch.bfloat16


@pytest.mark.parametrize("more", [0, 5])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_packed_vectors_and_gradients_are_those_of_padded_sentences(
    architecture: str, pooling: str, more: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "rows_to_multiply", lambda rows: rows + more)
    encoder = encoder_of(tmp_path / "model", architecture, pooling)
    monkeypatch.setattr(encoder.forward, "uses_onednn", more > 0)
    assert encoder.forward.is_packing
    encoder.backbone.eval()
    packed, found = vectors_and_gradients(encoder)
    encoder.forward = Forward(encoder.backbone, pooling_method(encoder.pooling).pool)
    padded, expected = vectors_and_gradients(encoder)
    torch.testing.assert_close(packed, padded, rtol=1e-5, atol=1e-6)
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("pooling", ["cls", "mean", "mean-without-cls", "max"])
def test_every_pooling_reads_a_packed_sentence_alone(pooling: str, tmp_path: Path) -> None:
    encoder = encoder_of(tmp_path / "model", "bert", pooling)
    encoder.backbone.eval()
    together = encoder.forward_tokens(IDS, MASK)
    for row, (ids, mask) in enumerate(zip(IDS, MASK, strict=True)):
        there = int(mask.sum())
        torch.testing.assert_close(
            together[row],
            encoder.forward_tokens(ids[None, :there], mask[None, :there])[0],
            rtol=1e-5,
            atol=1e-6,
        )


@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_a_padding_token_that_is_written_out_in_a_text_has_the_position_that_transformers_gives_it(
    architecture: str, tmp_path: Path
) -> None:
    encoder = encoder_of(tmp_path / "model", architecture)
    ids = torch.tensor([[2, 5, 0, 6, 3], [2, 0, 3, 0, 0]])
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    with torch.no_grad():
        states = encoder.backbone.eval()(input_ids=ids, attention_mask=mask).last_hidden_state
        expected = (states * mask.unsqueeze(-1)).sum(dim=1) / mask.sum(dim=1, keepdim=True)
        torch.testing.assert_close(
            encoder.forward_tokens(ids, mask), expected, rtol=1e-5, atol=1e-5
        )


def test_a_pack_holds_each_token_once_and_sentences_of_one_length_together() -> None:
    packed = pack_sentences(MASK)
    assert sorted(packed.places.tolist()) == MASK.flatten().nonzero().flatten().tolist()
    assert packed.spans == ((1, 2), (2, 3), (1, 4), (1, 5))
    assert packed.order.tolist() == [4, 1, 2, 3, 0]
    assert (packed.places % MASK.shape[1]).tolist() == [
        0,
        1,
        0,
        1,
        2,
        0,
        1,
        2,
        0,
        1,
        2,
        3,
        0,
        1,
        2,
        3,
        4,
    ]


def test_a_pack_is_padded_with_tokens_of_no_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "rows_to_multiply", lambda rows: rows + 3)
    packed = pack_sentences(MASK, is_padded=True)
    assert len(packed.places) == MASK.sum() + 3
    assert sum(packed.sizes) == MASK.sum()


def test_packs_of_an_encoder_that_onednn_multiplies_are_padded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "can_multiply", lambda kind: True)
    monkeypatch.setattr(packing, "rows_to_multiply", lambda rows: rows + 3)
    encoder = encoder_of(tmp_path / "model", "bert", hidden=products.SMALL)
    tokens: list[int] = []
    encoder.backbone.get_submodule("embeddings").register_forward_hook(
        lambda module, states, out: tokens.append(out.shape[1])
    )
    encoder.forward_tokens(IDS, MASK)
    assert tokens == [MASK.sum() + 3]


def test_packs_of_an_encoder_too_narrow_for_onednn_are_not_padded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        packing, "rows_to_multiply", lambda rows: pytest.fail("nothing is multiplied by it")
    )
    encoder_of(tmp_path / "model", "bert").forward_tokens(IDS, MASK)


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
    encoder = encoder_of(tmp_path / "model", architecture, "cls")
    computed: list[int] = []
    for layer in encoder.backbone.get_submodule(layers).children():
        layer.get_submodule(widening).register_forward_hook(
            lambda module, states, out: computed.append(out.shape[1])
        )
    encoder.forward_tokens(IDS, MASK)
    assert computed == [int(MASK.sum()), len(MASK)]


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_dropout_falls_on_packed_attention_and_states(pooling: str, tmp_path: Path) -> None:
    encoder = encoder_of(tmp_path / "model", "bert", pooling)
    encoder.backbone.train()
    torch.manual_seed(1)
    first = encoder.forward_tokens(IDS, MASK)
    second = encoder.forward_tokens(IDS, MASK)
    torch.manual_seed(1)
    assert not torch.equal(first, second)
    assert torch.equal(first, encoder.forward_tokens(IDS, MASK))


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_dropout_falls_on_the_last_attention(pooling: str, tmp_path: Path) -> None:
    encoder = encoder_of(tmp_path / "model", "bert", pooling)
    for module in encoder.backbone.train().modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    encoder.backbone.encoder.layer[-1].attention.self.dropout.p = 0.5  # type: ignore[union-attr, index]
    assert not torch.equal(encoder.forward_tokens(IDS, MASK), encoder.forward_tokens(IDS, MASK))


def test_a_model_that_counts_positions_after_a_token_needs_to_state_it() -> None:
    backbone = SimpleNamespace(config=SimpleNamespace(model_type="roberta", pad_token_id=None))
    with pytest.raises(MissingError, match="states no pad_token_id"):
        packing.positions(backbone, IDS)  # type: ignore[arg-type]
