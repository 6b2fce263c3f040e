"""Attention within each of many short sentences that are concatenated in one row.

While encoding, products and softmax of short sentences are at least float32, whatever the dtype of
the states: this costs little, while oneDNN, which multiplies bf16, would compile a program for each
of the hundreds of shapes that batches have. In training, sentences are padded to a few lengths.
Long ones use torch's fused attention.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from embedlab.cpu.dropout import dropout_mask
from embedlab.cpu.linear import can_multiply
from embedlab.cpu.padding import (
    PaddedLayout,
    SpanSlices,
    TokenSpan,
    allocate,
    padded_layout,
    span_slices,
)


class FilledAttention(torch.autograd.Function):
    """Map queries of (query tokens, heads, dim), keys and values of (tokens, heads, dim) to the
    attention of each query token.
    """

    @staticmethod
    def forward(
        context: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        layout: PaddedLayout,
        scale: float,
        dropout: float,
    ) -> Tensor:
        """Return (query tokens, heads, dim), zero after the tokens of LAYOUT; DROPOUT applies to
        the weights.
        """
        query_places, key_places = layout.query_places, layout.key_places
        queries = query_places.spread(query)
        keys, values = key_places.spread(key), key_places.spread(value)
        weights = [
            _weights(_widen(first), _widen(second), filling, scale)
            for first, second, filling in zip(queries, keys, layout.fillings, strict=True)
        ]
        blocks = list(zip(queries, keys, values, weights, _masks(weights, dropout), strict=True))
        mixed = [
            _apply_dropout(block, mask).to(states.dtype) @ states
            for _, _, states, block, mask in blocks
        ]
        context.save_for_backward(*chain.from_iterable(blocks))
        context.layout, context.scale, context.tokens = layout, scale, (len(query), len(key))
        return query_places.gather(mixed, len(query))

    @staticmethod
    @once_differentiable
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of query, key and value."""
        layout, saved = context.layout, iter(context.saved_tensors)
        blocks = zip(*[saved] * 5, strict=True)
        gradients: tuple[list[Tensor], ...] = ([], [], [])
        with torch.autocast(gradient.device.type, enabled=False):
            given_blocks = layout.query_places.spread_over_zero(gradient)
            for output_gradient, (queries, keys, values, weights, mask) in zip(
                given_blocks, blocks, strict=True
            ):
                dropped = _apply_dropout(weights, mask).to(values.dtype)
                of_weights = _apply_dropout(_widen(output_gradient @ values.transpose(1, 2)), mask)
                of_scores = torch._softmax_backward_data(of_weights, weights, 2, weights.dtype)
                of_scores = of_scores.mul_(context.scale).to(keys.dtype)
                gradients[0].append(of_scores @ keys)
                gradients[1].append(of_scores.transpose(1, 2) @ queries)
                gradients[2].append(dropped.transpose(1, 2) @ output_gradient)
        query_tokens, tokens = context.tokens
        of_query, of_key, of_value = gradients
        return (
            layout.query_places.gather(of_query, query_tokens),
            layout.key_places.gather(of_key, tokens),
            layout.key_places.gather(of_value, tokens),
            None,
            None,
            None,
        )


def _weights(queries: Tensor, keys: Tensor, filling: Tensor, scale: float) -> Tensor:
    """Return the softmax of the scaled products of a block, 0 at padding."""
    unused = queries.new_empty(())
    scores = torch.baddbmm(unused, queries, keys.transpose(1, 2), beta=0, alpha=scale)
    scores.unflatten(0, (len(filling), -1)).masked_fill_(filling[:, None, None, :], -torch.inf)
    return torch.softmax(scores, dim=2)


def _masks(weights: Sequence[Tensor], dropout: float) -> Sequence[Tensor | None]:
    """Return the factors that drop weights, drawn for all blocks at once."""
    if dropout <= 0:
        return [None] * len(weights)
    sizes = [block.numel() for block in weights]
    masks = dropout_mask(weights[0].new_empty(sum(sizes)), dropout).split(sizes)
    return [mask.view_as(block) for mask, block in zip(masks, weights, strict=True)]


def _apply_dropout(weights: Tensor, mask: Tensor | None) -> Tensor:
    return weights if mask is None else weights * mask


def _widen(states: Tensor) -> Tensor:
    return states.to(torch.promote_types(states.dtype, torch.float32))


# of a sentence: for shorter ones plain products are faster than torch's fused attention
FUSED_TOKENS = 48
# tokens: torch's softmax is not vectorised along a last dimension shorter than a register
VECTOR = 16
# of about one length, padded to a multiple of it: oneDNN compiles fewer programs, each in a
# millisecond
BF16_SENTENCES = 4


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    spans: Sequence[TokenSpan],
    *,
    scale: float,
    dropout: float = 0.0,
) -> Tensor:
    """Return each sentence's attention to itself; (tokens, heads, head dim) three times in and once
    out.

    SPANS are sorted by length, the shortest first. QUERY has the query tokens only. DROPOUT applies
    to the weights. Rows after the tokens of all spans belong to no sentence and are zero.
    """
    slices = list(span_slices(spans))
    short_spans = [span for span in spans if dropout > 0 or span.tokens < FUSED_TOKENS]
    with torch.autocast(query.device.type, enabled=False):
        # In training, a pass without gradients computes as the following one with gradients.
        if torch.is_inference_mode_enabled() and dropout == 0:
            return _attend_in_encoding(query, key, value, slices, scale)
        if len(short_spans) == len(spans):
            return _attend_in_training(query, key, value, spans, scale, dropout)
        outputs = []
        if short_spans:
            _, query_slice, key_slice = slices[len(short_spans) - 1]
            short_states = (
                query[: query_slice.stop],
                key[: key_slice.stop],
                value[: key_slice.stop],
            )
            outputs = [_attend_in_training(*short_states, short_spans, scale, dropout)]
        for span, query_slice, key_slice in slices[len(short_spans) :]:
            states = _split_sentences(span, query[query_slice], key[key_slice], value[key_slice])
            outputs.append(_attend_fused(states, scale).transpose(1, 2).flatten(0, 1))
        return torch.cat([*outputs, torch.zeros_like(query[slices[-1][1].stop :])])


def _attend_in_training(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    spans: Sequence[TokenSpan],
    scale: float,
    dropout: float,
) -> Tensor:
    """Return attention by products and softmax, zero after the tokens of SPANS."""
    kind = query.dtype
    if kind == torch.bfloat16 and not can_multiply(
        kind
    ):  # torch's own products in bf16 are far slower than in float32
        query, key, value = query.float(), key.float(), value.float()
    multiple = BF16_SENTENCES if key.dtype == torch.bfloat16 else 1
    layout = padded_layout(tuple(spans), key.shape[1], multiple)
    attended: Tensor = FilledAttention.apply(query, key, value, layout, scale, dropout)  # type: ignore[no-untyped-call]
    return attended.to(kind)


def _attend_in_encoding(
    query: Tensor, key: Tensor, value: Tensor, slices: Sequence[SpanSlices], scale: float
) -> Tensor:
    """Return the attention of all spans without storing anything for gradients."""
    mixed = allocate(query, len(query), slices[-1][1].stop)
    for span, query_slice, key_slice in slices:
        states = _split_sentences(span, query[query_slice], key[key_slice], value[key_slice])
        if span.tokens >= FUSED_TOKENS:
            mixed_values = _attend_fused(states, scale)
        else:
            queries, keys, values = (_heads(split) for split in states)
            mixed_values = (_softmax(queries, keys, scale) @ values).view(states[0].shape)
        _split_sentences(span, mixed[query_slice])[0].copy_(mixed_values)
    return mixed


def _split_sentences(span: TokenSpan, *states: Tensor) -> list[Tensor]:
    """View each (tokens of all, heads, head dim) as (sentences, heads, tokens, head dim)."""
    return [tensor.view(span.sentences, -1, *tensor.shape[1:]).transpose(1, 2) for tensor in states]


def _attend_fused(states: Sequence[Tensor], scale: float) -> Tensor:
    query, key, value = states
    return F.scaled_dot_product_attention(query, key, value, scale=scale)


def _heads(split: Tensor) -> Tensor:
    """Copy to (sentences x heads, tokens, head dim), float32 at least."""
    kind = torch.promote_types(split.dtype, torch.float32)
    copied = torch.empty(split.shape, dtype=kind, device=split.device).copy_(split)
    return copied.flatten(0, 1)


def _softmax(queries: Tensor, keys: Tensor, scale: float) -> Tensor:
    """Return the softmax of the scaled products; (sentences x heads, query tokens, tokens)."""
    is_turned = queries.shape[1] > 1 and keys.shape[1] < VECTOR
    left_factor, right_factor = (keys, queries) if is_turned else (queries, keys)
    scores = torch.baddbmm(
        left_factor.new_empty(()), left_factor, right_factor.transpose(1, 2), beta=0, alpha=scale
    )
    weights = torch.softmax(scores, dim=1 if is_turned else 2)
    return weights.transpose(1, 2) if is_turned else weights
