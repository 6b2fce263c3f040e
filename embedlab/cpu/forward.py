"""Two forward passes from padded token ids to pooled vectors: padded, as transformers computes, and
packed, without padding.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from transformers import PreTrainedModel

from embedlab.cpu.linear import forget_weights
from embedlab.cpu.packing import PACKED, can_pack, pack_sentences, positions

Pool = Callable[[Tensor, Tensor], Tensor]
"""Maps token states, (batch, tokens, dim), and a mask of 0 and 1, (batch, tokens), to vectors,
(batch, dim)."""


class PaddedForward:
    """The forward pass of transformers."""

    is_packing = False

    def __init__(
        self,
        backbone: PreTrainedModel,
        pool: Pool,
        *,
        layer: int | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.notes = notes
        self._layer = layer
        self._backbone = backbone
        self._pool = pool
        self._takes_wide_mask = can_pack(backbone) and backbone.config._attn_implementation in {
            "sdpa",
            PACKED,
        }

    def __call__(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        segments: Mapping[str, Tensor],
        weights: Tensor | None = None,
        /,
    ) -> Tensor:
        """(batch, dim) float32 vectors."""
        # For a mask of two dimensions transformers checks whether anything is masked: a step would
        # wait for the accelerator.
        is_wide = self._takes_wide_mask and self._backbone.training
        mask = attention_mask[:, None, None, :].bool() if is_wide else attention_mask
        options = {} if self._layer is None else {"output_hidden_states": True}
        output = self._backbone(input_ids=input_ids, attention_mask=mask, **segments, **options)
        tokens = (
            output.last_hidden_state if self._layer is None else output.hidden_states[self._layer]
        )
        return self._pool(tokens.float(), attention_mask if weights is None else weights)

    def release(self) -> None:
        """Free the weights that oneDNN reads."""
        forget_weights(self._backbone)


class PackedForward:
    """The same vectors without computing padding; where only first tokens are pooled, only they
    pass through the last layer.
    """

    is_packing = True

    def __init__(
        self,
        backbone: PreTrainedModel,
        pool: Pool,
        *,
        is_first_only: bool = False,
        uses_onednn: bool = False,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.notes = notes
        self._backbone = backbone
        self._pool = pool
        self._is_first_only = is_first_only
        self._uses_onednn = uses_onednn

    def __call__(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        segments: Mapping[str, Tensor],
        weights: Tensor | None = None,
        /,
    ) -> Tensor:
        """(batch, dim) float32 vectors."""
        packed = pack_sentences(
            attention_mask, is_first_only=self._is_first_only, is_padded=self._uses_onednn
        )
        given = {
            name: values.flatten()[packed.places].unsqueeze(0)
            for name, values in {**segments, "input_ids": input_ids}.items()
        }
        places = positions(self._backbone, input_ids).flatten()[packed.places].unsqueeze(0)
        tokens = self._backbone(
            **given, position_ids=places, pack=packed
        ).last_hidden_state.squeeze(0)
        vectors: Tensor = tokens.float()
        if not self._is_first_only:
            counted = attention_mask if weights is None else weights
            masks = counted.flatten()[packed.places[: sum(packed.sizes)]].split(packed.sizes)
            parts = zip(
                packed.spans, vectors[: sum(packed.sizes)].split(packed.sizes), masks, strict=True
            )
            vectors = torch.cat(
                [
                    self._pool(part.unflatten(0, span), mask.unflatten(0, span))
                    for span, part, mask in parts
                ]
            )
        return vectors[torch.argsort(packed.order)]

    def release(self) -> None:
        """Free the weights that oneDNN reads."""
        forget_weights(self._backbone)
