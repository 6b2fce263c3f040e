"""Attention within each of many short sentences that are concatenated in one row.

While encoding, products and softmax of short sentences are at least float32, whatever the dtype of
the states: this costs little, while oneDNN, which multiplies bf16, would compile a program for each
of the hundreds of shapes that batches have. In training, sentences are padded to a few lengths.
Long ones use torch's fused attention.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from embedlab.cpu.dropout import dropout_mask
from embedlab.cpu.linear import can_multiply
from embedlab.cpu.padding import (
    PaddedLayout,
    TokenSpan,
    allocate,
    padded_layout,
    query_counts,
    span_slices,
    token_counts,
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
        queries, keys, values = (
            query_places.spread(query),
            key_places.spread(key),
            key_places.spread(value),
        )
        weights = _weights(_wide(queries), _wide(keys), layout, scale)
        mask = dropout_mask(weights, dropout) if dropout > 0 else None
        dropped = _dropped(weights, mask).to(values.dtype)
        mixed = torch.empty_like(queries)
        _multiply(layout.squares(dropped), key_places.blocks(values), query_places.blocks(mixed))
        context.save_for_backward(queries, keys, values, weights, mask)
        context.layout, context.scale, context.tokens = layout, scale, (len(query), len(key))
        return query_places.gathered(mixed, len(query))

    @staticmethod
    @once_differentiable
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of query, key and value."""
        with torch.autocast(gradient.device.type, enabled=False):
            of_query, of_key, of_value = _gradients(
                gradient, context.layout, context.scale, *context.saved_tensors
            )
        query_tokens, tokens = context.tokens
        key_places = context.layout.key_places
        gradients = (
            context.layout.query_places.gathered(of_query, query_tokens),
            key_places.gathered(of_key, tokens),
            key_places.gathered(of_value, tokens),
        )
        return *gradients, None, None, None


def _weights(queries: Tensor, keys: Tensor, layout: PaddedLayout, scale: float) -> Tensor:
    """Return the softmax of the scaled products, (weights,), 0 at padding."""
    scores = keys.new_empty(
        sum(rows * query_places * tokens for rows, query_places, tokens in layout.shapes)
    )
    weights, unused = torch.empty_like(scores), scores.new_empty(())
    blocks = zip(
        layout.query_places.blocks(queries),
        _turned(layout.key_places.blocks(keys)),
        layout.squares(scores),
        strict=True,
    )
    for (first, second, square), filling, made in zip(
        blocks, layout.fillings, layout.squares(weights), strict=True
    ):
        torch.baddbmm(unused, first, second, beta=0, alpha=scale, out=square)
        square.unflatten(0, (len(filling), -1)).masked_fill_(filling[:, None, None, :], -torch.inf)
        torch.softmax(square, dim=2, out=made)
    return weights


def _gradients(
    gradient: Tensor,
    layout: PaddedLayout,
    scale: float,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    weights: Tensor,
    mask: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of query, key and value in the layout of the blocks."""
    query_places, key_places = layout.query_places, layout.key_places
    given = query_places.blocks(query_places.spread_over_zero(gradient))
    of_queries, of_keys, of_values = (
        torch.empty_like(states) for states in (queries, keys, values)
    )
    of_weights = torch.empty_like(weights, dtype=values.dtype)
    _multiply(
        _turned(layout.squares(_dropped(weights, mask).to(values.dtype))),
        given,
        key_places.blocks(of_values),
    )
    _multiply(given, _turned(key_places.blocks(values)), layout.squares(of_weights))
    of_scores = layout.squares(
        _of_scores(_dropped(_wide(of_weights), mask), weights, layout).mul_(scale).to(keys.dtype)
    )
    _multiply(of_scores, key_places.blocks(keys), query_places.blocks(of_queries))
    _multiply(_turned(of_scores), query_places.blocks(queries), key_places.blocks(of_keys))
    return of_queries, of_keys, of_values


def _of_scores(of_weights: Tensor, weights: Tensor, layout: PaddedLayout) -> Tensor:
    """Return the gradient of the scores whose softmax is WEIGHTS."""
    of_scores = torch.empty_like(weights)
    for given, made, square in zip(
        layout.squares(of_weights), layout.squares(weights), layout.squares(of_scores), strict=True
    ):
        torch._softmax_backward_data(given, made, 2, made.dtype, grad_input=square)
    return of_scores


def _dropped(weights: Tensor, mask: Tensor | None) -> Tensor:
    return weights if mask is None else weights * mask


def _wide(states: Tensor) -> Tensor:
    return states.to(torch.promote_types(states.dtype, torch.float32))


def _turned(blocks: Iterable[Tensor]) -> list[Tensor]:
    return [block.transpose(1, 2) for block in blocks]


def _multiply(first: Iterable[Tensor], second: Iterable[Tensor], made: Iterable[Tensor]) -> None:
    """Write each block's product into its slice of MADE."""
    for left, right, product in zip(first, second, made, strict=True):
        torch.bmm(left, right, out=product)


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
    plain_spans = spans if dropout > 0 else [span for span in spans if span.tokens < FUSED_TOKENS]
    with torch.autocast(query.device.type, enabled=False):
        if len(plain_spans) == len(spans):
            return _plain(query, key, value, plain_spans, scale, dropout)
        query_tokens, tokens = query_counts(spans), token_counts(spans)
        cut = (
            _cut(query, query_tokens, len(plain_spans)),
            _cut(key, tokens, len(plain_spans)),
            _cut(value, tokens, len(plain_spans)),
        )
        first, *long, rest = zip(*cut, strict=True)
        plain = [_plain(*first, plain_spans, scale, dropout)] if plain_spans else []
        fused = [
            _fused(*states, span, scale)
            for states, span in zip(long, spans[len(plain_spans) :], strict=True)
        ]
        return torch.cat([*plain, *fused, torch.zeros_like(rest[0])])


def _cut(states: Tensor, sizes: Sequence[int], joined: int) -> tuple[Tensor, ...]:
    """Split STATES into those of the first JOINED spans together, of each other span, and the
    rest.
    """
    cut: tuple[Tensor, ...] = states.split(
        [sum(sizes[:joined]), *sizes[joined:], len(states) - sum(sizes)]
    )
    return cut


def _plain(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    spans: Sequence[TokenSpan],
    scale: float,
    dropout: float,
) -> Tensor:
    """Return attention by products and softmax, zero after the tokens of SPANS."""
    # A batch of encoding has few lengths. In training, a pass without gradients computes as the
    # following one with gradients.
    if torch.is_inference_mode_enabled() and dropout == 0:
        return _attended(query, key, value, spans, scale)
    kind = query.dtype
    if kind == torch.bfloat16 and not can_multiply(
        kind
    ):  # torch's own products in bf16 are far slower than in float32
        query, key, value = query.float(), key.float(), value.float()
    layout = padded_layout(
        tuple(spans), key.shape[1], BF16_SENTENCES if key.dtype == torch.bfloat16 else 1
    )
    attended: Tensor = FilledAttention.apply(query, key, value, layout, scale, dropout)  # type: ignore[no-untyped-call]
    return attended.to(kind)


def _attended(
    query: Tensor, key: Tensor, value: Tensor, spans: Sequence[TokenSpan], scale: float
) -> Tensor:
    """Return the attention of all spans without storing anything for gradients."""
    mixed = allocate(query, len(query), sum(query_counts(spans)))
    for span, query_tokens, attended in span_slices(spans):
        queries, keys, values = (
            _heads(states, span) for states in (query[query_tokens], key[attended], value[attended])
        )
        _put(mixed[query_tokens], _softmax(queries, keys, scale) @ values, span)
    return mixed


def _fused(query: Tensor, key: Tensor, value: Tensor, span: TokenSpan, scale: float) -> Tensor:
    """Return torch's fused attention of one span; (query tokens of all, heads, head dim)."""
    queries, keys, values = (_split(states, span) for states in (query, key, value))
    return (
        F.scaled_dot_product_attention(queries, keys, values, scale=scale)
        .transpose(1, 2)
        .flatten(0, 1)
    )


def _split(states: Tensor, span: TokenSpan) -> Tensor:
    """View (tokens of all, heads, head dim) as (sentences, heads, tokens, head dim)."""
    return states.view(span.sentences, -1, *states.shape[1:]).transpose(1, 2)


def _heads(states: Tensor, span: TokenSpan) -> Tensor:
    """Copy to (sentences x heads, tokens, head dim), float32 at least."""
    split = _split(states, span)
    kind = torch.promote_types(states.dtype, torch.float32)
    copied = torch.empty(split.shape, dtype=kind, device=states.device).copy_(split)
    return copied.flatten(0, 1)


def _put(padded: Tensor, states: Tensor, span: TokenSpan) -> None:
    """Write (sentences x heads, tokens, head dim) to (tokens of all, heads, head dim)."""
    _split(padded, span).copy_(states.view(span.sentences, -1, *states.shape[-2:]))


def _softmax(queries: Tensor, keys: Tensor, scale: float) -> Tensor:
    """Return the softmax of the scaled products; (sentences x heads, query tokens, tokens)."""
    is_turned = queries.shape[1] > 1 and keys.shape[1] < VECTOR
    first, second = (keys, queries) if is_turned else (queries, keys)
    scores = torch.baddbmm(first.new_empty(()), first, second.transpose(1, 2), beta=0, alpha=scale)
    weights = torch.softmax(scores, dim=1 if is_turned else 2)
    return weights.transpose(1, 2) if is_turned else weights
