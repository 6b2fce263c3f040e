"""Packed batches: sentences concatenated in one row of tokens without padding, so that attention
works on one length at a time.

Where only a sentence's first token is needed, only first tokens pass through the last layer; they
still attend to all.
"""

from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from embedlab.core.errors import MissingError
from embedlab.cpu.attention import attend
from embedlab.cpu.linear import rows_to_multiply
from embedlab.cpu.padding import TokenSpan
from embedlab.models.config import POSITIONS_AFTER_PADDING

PACKED = "embedlab_packed"  # the name of our attention in transformers

# Architectures whose embeddings accept positions and whose layers pass unknown arguments on to
# attention; each is tested.
ARCHITECTURES = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "distilbert", "electra"})

# BERT's names of its layers and of an attention's key and value projections, and those of
# DistilBERT.
LAYERS, PROJECTIONS = "encoder.layer", ("key", "value")
DISTILBERT_LAYERS, DISTILBERT_PROJECTIONS = "transformer.layer", ("k_lin", "v_lin")


@dataclass(frozen=True, kw_only=True)
class Pack:
    """The tokens of many sentences in one row, sentences of one length together."""

    # (tokens,) index of each token in the flattened padded batch; after those of the sentences,
    # fillers
    flat_indices: Tensor
    order: Tensor  # (sentences,) the packed sentences' indices in the padded batch
    spans: tuple[tuple[int, int], ...]  # (sentences, tokens in each) one after the other
    # (sentences,) indices of the first tokens in the row, where no others are needed
    firsts: Tensor | None = None
    # (1, tokens, dim) the states that the first tokens attend to in the last layer
    attended: Tensor | None = None

    @property
    def sizes(self) -> list[int]:
        """Tokens of each span."""
        return [sentences * length for sentences, length in self.spans]


def pack_sentences(mask: Tensor, *, is_first_only: bool = False, is_padded: bool = False) -> Pack:
    """Pack the sentences under MASK, (sentences, tokens) of 0 and 1 with the padding on the right,
    into one row.

    With IS_FIRST_ONLY the backbone returns the states of the first tokens only, (1, sentences,
    dim). With IS_PADDED the row is padded to a number of tokens that suits oneDNN.
    """
    lengths = mask.sum(dim=1)
    order = torch.argsort(lengths, stable=True)
    width = mask.shape[1]
    rows = (order.unsqueeze(1) * width + torch.arange(width, device=mask.device))[
        mask[order].bool()
    ]
    if is_padded:
        rows = F.pad(rows, (0, rows_to_multiply(len(rows)) - len(rows)))
    lengths = lengths[order]
    spans = tuple((len(list(run)), length) for length, run in groupby(lengths.tolist()))
    first_rows = lengths.cumsum(dim=0) - lengths if is_first_only else None
    return Pack(flat_indices=rows, order=order, spans=spans, firsts=first_rows)


def can_pack(backbone: PreTrainedModel) -> bool:
    """Return whether the architecture of BACKBONE computes packed sentences as it computes padded
    ones.
    """
    return backbone.config.model_type in ARCHITECTURES and not getattr(
        backbone.config, "is_decoder", False
    )


def positions(backbone: PreTrainedModel, input_ids: Tensor) -> Tensor:
    """Return the position that BACKBONE gives to each token of sentences padded on the right;
    (sentences, tokens).

    Some count from the padding token's id on, and count no token of that id: also one that is
    written out in a text.
    """
    if backbone.config.model_type not in POSITIONS_AFTER_PADDING:
        return torch.arange(input_ids.shape[1], device=input_ids.device).expand_as(input_ids)
    if (padding := backbone.config.pad_token_id) is None:
        raise MissingError(
            f"config.json states no pad_token_id, from which {backbone.config.model_type} counts "
            f"the places of tokens",
            hint="state it, as the tokenizer does",
        )
    is_counted = (input_ids != padding).long()
    token_positions: Tensor = is_counted.cumsum(dim=1) * is_counted + padding
    return token_positions


def make_packable(backbone: PreTrainedModel) -> None:
    """Make BACKBONE's attention accept packs; without one it computes as before."""
    AttentionInterface.register(PACKED, packed_attention)
    AttentionMaskInterface.register(PACKED, sdpa_mask)
    backbone.set_attn_implementation(PACKED)
    layers = DISTILBERT_LAYERS if backbone.config.model_type == "distilbert" else LAYERS
    last_layer = list(backbone.get_submodule(layers).children())[-1]
    last_layer.register_forward_pre_hook(_take_firsts, with_kwargs=True)
    for module in backbone.modules():
        if any(hasattr(module, names[0]) for names in (PROJECTIONS, DISTILBERT_PROJECTIONS)):
            module.register_forward_pre_hook(_narrow_states)


def _narrow_states(attention: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Cast the states to bf16 once under autocast instead of in each projection; these
    architectures add them up elsewhere.
    """
    return (inputs[0].to(torch.bfloat16), *inputs[1:]) if torch.is_autocast_enabled("cpu") else None


def _take_firsts(
    layer: nn.Module, states: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Return the last layer's input where only the first tokens are needed: these, and the others
    to attend to.
    """
    pack: Pack | None = options.get("pack")
    if pack is None or pack.firsts is None or pack.attended is not None:
        return None
    return (states[0][:, pack.firsts], *states[1:]), options | {
        "pack": replace(pack, attended=states[0])
    }


def packed_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    dropout: float = 0.0,
    scaling: float | None = None,
    pack: Pack | None = None,
    **options: Any,
) -> tuple[Tensor, None]:
    """Return attention within each sentence of a pack; (1, heads, tokens, head dim) three times in,
    (1, tokens, heads, head dim) out.

    Without a pack it calls transformers' own.
    """
    if pack is None:
        attended: tuple[Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **options
        )
        return attended
    if pack.attended is not None:
        projections = DISTILBERT_PROJECTIONS if hasattr(module, "k_lin") else PROJECTIONS
        heads = (query.shape[1], query.shape[3])
        key, value = (
            module.get_submodule(name)(pack.attended).unflatten(2, heads).transpose(1, 2)
            for name in projections
        )
    spans = [
        TokenSpan(sentences, tokens if pack.attended is None else 1, tokens)
        for sentences, tokens in pack.spans
    ]
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    query, key, value = (states[0].transpose(0, 1) for states in (query, key, value))
    return attend(query, key, value, spans, scale=scale, dropout=dropout).unsqueeze(0), None
