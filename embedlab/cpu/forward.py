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


class Forward:
    """Padded token ids to pooled float32 vectors, with gradients where they are enabled."""

    is_packing = False  # whether padding is skipped, so that it costs nothing
    takes_wide_mask = False  # whether a mask of four dimensions is attended by as it is

    def __init__(
        self, backbone: PreTrainedModel, pool: Pool, *, notes: tuple[str, ...] = ()
    ) -> None:
        self.notes = notes  # facts that users of the vectors should know
        self._backbone = backbone
        self._pool = pool

    def __call__(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        segments: Mapping[str, Tensor],
        weights: Tensor | None = None,
        /,
    ) -> Tensor:
        """Return (batch, dim) from (batch, tokens): ids, mask, `token_type_ids` or none, and the
        tokens' weights in pooling.
        """
        raise NotImplementedError

    def positions(self, input_ids: Tensor) -> Tensor:
        """Return the position of each token of sentences padded on the right; (batch, tokens)."""
        return positions(self._backbone, input_ids)

    def release(self) -> None:
        """Free what encoding caches of the weights for oneDNN; training must call it before it
        changes them.
        """
        forget_weights(self._backbone)


class PaddedForward(Forward):
    """The forward pass of transformers."""

    def __init__(
        self,
        backbone: PreTrainedModel,
        pool: Pool,
        *,
        layer: int | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(backbone, pool, notes=notes)
        self._layer = layer
        self.takes_wide_mask = can_pack(backbone) and backbone.config._attn_implementation in {
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
        is_wide = self.takes_wide_mask and self._backbone.training
        mask = attention_mask[:, None, None, :].bool() if is_wide else attention_mask
        options = {} if self._layer is None else {"output_hidden_states": True}
        output = self._backbone(input_ids=input_ids, attention_mask=mask, **segments, **options)
        tokens = (
            output.last_hidden_state if self._layer is None else output.hidden_states[self._layer]
        )
        return self._pool(tokens.float(), attention_mask if weights is None else weights)


class PackedForward(Forward):
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
        super().__init__(backbone, pool, notes=notes)
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
        places = self.positions(input_ids).flatten()[packed.places].unsqueeze(0)
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
