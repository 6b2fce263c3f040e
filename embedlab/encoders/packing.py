"""Sentences end to end in one row of tokens: what treats each token alone sees no padding, attention sees one length at a time."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from embedlab.encoders.folder import POSITIONS_AFTER_PADDING

PACKED = "embedlab_packed"  # as transformers knows our attention

# Architectures whose embeddings take positions and whose layers hand what they do not know to attention; each is tested.
ARCHITECTURES = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "distilbert", "electra"})


@dataclass(frozen=True, kw_only=True)
class Pack:
    """The tokens of many sentences in one row, sentences of one length together."""

    places: Tensor  # (tokens,) of each token in the flattened padded batch
    columns: Tensor  # (tokens,) place of each token in its sentence
    order: Tensor  # (sentences,) the packed sentences' places in the padded batch
    spans: tuple[tuple[int, int], ...]  # (sentences, tokens in each) one after the other

    @property
    def sizes(self) -> list[int]:
        """Tokens of each span."""
        return [sentences * length for sentences, length in self.spans]


def pack(mask: Tensor) -> Pack:
    """How the sentences under MASK, (sentences, tokens) of 0 and 1 with the padding on the right, lie in one row."""
    lengths = mask.sum(dim=1)
    order = torch.argsort(lengths, stable=True)
    width = mask.shape[1]
    places = (order.unsqueeze(1) * width + torch.arange(width, device=mask.device))[mask[order].bool()]
    spans = tuple((len(list(same)), length) for length, same in groupby(lengths[order].tolist()))
    return Pack(places=places, columns=places % width, order=order, spans=spans)


def can_pack(backbone: PreTrainedModel) -> bool:
    """Whether BACKBONE is of an architecture that computes packed sentences as it computes padded ones."""
    return backbone.config.model_type in ARCHITECTURES and not getattr(backbone.config, "is_decoder", False)


def first_position(backbone: PreTrainedModel) -> int:
    """The number that BACKBONE gives to a sentence's first token."""
    config = backbone.config
    return int(config.pad_token_id) + 1 if config.model_type in POSITIONS_AFTER_PADDING else 0


def make_packable(backbone: PreTrainedModel) -> None:
    """Let BACKBONE's attention take packs; without one it computes as before."""
    AttentionInterface.register(PACKED, packed_attention)
    AttentionMaskInterface.register(PACKED, sdpa_mask)
    backbone.set_attn_implementation(PACKED)


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
    """Attention within each sentence of a pack; (1, heads, tokens, head dim) three times in, (1, tokens, heads, head dim) out.

    Without a pack it is transformers' own.
    """
    if pack is None:
        attended: tuple[Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **options
        )
        return attended
    parts = zip(pack.spans, *(states[0].split(pack.sizes, dim=1) for states in (query, key, value)), strict=True)
    return torch.cat([_attend(span, *states, dropout=dropout, scaling=scaling) for span, *states in parts]).unsqueeze(0), None


def _attend(span: tuple[int, int], query: Tensor, key: Tensor, value: Tensor, *, dropout: float, scaling: float | None) -> Tensor:
    """Attention of sentences of one length: (heads, tokens of all, head dim) three times in, (tokens of all, heads, head dim) out."""
    queries, keys, values = (states.unflatten(1, span).transpose(0, 1) for states in (query, key, value))  # (sentences, heads, tokens, …)
    attended = F.scaled_dot_product_attention(queries, keys, values, dropout_p=dropout, scale=scaling)
    return attended.transpose(1, 2).flatten(0, 1)
