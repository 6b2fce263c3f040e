"""Two forward passes from padded token ids to pooled vectors: padded, as transformers computes, and
packed, without padding.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedModel

from embedlab.cpu.linear import forget_weights
from embedlab.cpu.packing import PACKED, can_pack, pack_sentences, positions

Pool = Callable[[Tensor, Tensor], Tensor]
"""Maps token states, (batch, tokens, dim), and a mask of 0 and 1, (batch, tokens), to vectors,
(batch, dim)."""


@dataclass(eq=False)
class Forward:
    """Padded token ids to pooled float32 vectors, with gradients where they are enabled.

    If it IS_PACKING, padding is skipped, so that it costs nothing; where only first tokens are
    pooled, only they pass through the last layer.
    """

    backbone: PreTrainedModel
    pool: Pool
    layer: int | None = None
    is_packing: bool = False
    is_first_only: bool = False
    uses_onednn: bool = False
    notes: tuple[str, ...] = ()  # facts that users of the vectors should know

    def __post_init__(self) -> None:
        """See whether a mask of four dimensions is attended by as it is."""
        attention = self.backbone.config._attn_implementation
        is_plain = not self.is_packing and can_pack(self.backbone)
        self.takes_wide_mask = is_plain and attention in {"sdpa", PACKED}

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
        counted = attention_mask if weights is None else weights
        inputs = {**segments, "input_ids": input_ids}
        if self.is_packing:
            return self._packed(inputs, attention_mask, counted)
        # For a mask of two dimensions transformers checks whether anything is masked: a step would
        # wait for the accelerator.
        is_wide = self.takes_wide_mask and self.backbone.training
        mask = attention_mask[:, None, None, :].bool() if is_wide else attention_mask
        options = {} if self.layer is None else {"output_hidden_states": True}
        output = self.backbone(attention_mask=mask, **inputs, **options)
        tokens = (
            output.last_hidden_state if self.layer is None else output.hidden_states[self.layer]
        )
        return self.pool(tokens.float(), counted)

    def _packed(self, inputs: Mapping[str, Tensor], mask: Tensor, counted: Tensor) -> Tensor:
        """Return the vectors of a call, (batch, dim), without computing padding."""
        pack = pack_sentences(mask, is_first_only=self.is_first_only, is_padded=self.uses_onednn)
        inputs = {**inputs, "position_ids": self.positions(inputs["input_ids"])}
        rows = {
            name: values.flatten()[pack.flat_indices].unsqueeze(0)
            for name, values in inputs.items()
        }
        vectors: Tensor = self.backbone(**rows, pack=pack).last_hidden_state.squeeze(0).float()
        if not self.is_first_only:
            sizes = pack.sizes
            masks = counted.flatten()[pack.flat_indices[: sum(sizes)]].split(sizes)
            vectors_by_span = zip(
                pack.spans, vectors[: sum(sizes)].split(sizes), masks, strict=True
            )
            vectors = torch.cat(
                [
                    self.pool(part_vectors.unflatten(0, span), mask.unflatten(0, span))
                    for span, part_vectors, mask in vectors_by_span
                ]
            )
        return vectors[torch.argsort(pack.order)]

    def positions(self, input_ids: Tensor) -> Tensor:
        """Return the position of each token of sentences padded on the right; (batch, tokens)."""
        return positions(self.backbone, input_ids)

    def release(self) -> None:
        """Free what encoding caches of the weights for oneDNN; training must call it before it
        changes them.
        """
        forget_weights(self.backbone)
