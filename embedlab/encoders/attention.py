"""Attention within each of many short sentences that lie end to end in one row, with its gradient.

Products and softmax of short sentences are float32 at least, whatever the states are kept in: this costs little, while oneDNN, which
multiplies bf16, would build a program for each of the hundreds of shapes that batches have. Long ones are left to torch's fused attention.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from embedlab.encoders.dropout import dropout_mask
from embedlab.encoders.spans import Layout, Span, asking_counts, filled_up, parts, room, token_counts

FUSED_TOKENS = 48  # of a sentence: for shorter ones plain products are faster than torch's fused attention
VECTOR = 16  # tokens: along a last dimension shorter than a register torch's softmax takes one number at a time


def attend(query: Tensor, key: Tensor, value: Tensor, spans: Sequence[Span], *, scale: float, dropout: float = 0.0) -> Tensor:
    """Each sentence's attention to itself; (tokens, heads, head dim) three times in and once out.

    SPANS come by length, the shortest first. QUERY has the asking tokens alone. DROPOUT falls on the weights. What comes after the
    tokens of all spans belongs to no sentence: it is zero.
    """
    own = spans if dropout > 0 else [span for span in spans if span.tokens < FUSED_TOKENS]
    with torch.autocast(query.device.type, enabled=False):
        if len(own) == len(spans):
            return _plain(query, key, value, own, scale, dropout)
        asking, tokens = asking_counts(spans), token_counts(spans)
        cut = (_cut(query, asking, len(own)), _cut(key, tokens, len(own)), _cut(value, tokens, len(own)))
        first, *long, rest = zip(*cut, strict=True)
        plain = [_plain(*first, own, scale, dropout)] if own else []
        fused = [_fused(*states, span, scale) for states, span in zip(long, spans[len(own) :], strict=True)]
        return torch.cat([*plain, *fused, torch.zeros_like(rest[0])])


def _cut(states: Tensor, sizes: Sequence[int], joined: int) -> tuple[Tensor, ...]:
    """The STATES of the first so many spans together, of each other one, and what comes after them."""
    cut: tuple[Tensor, ...] = states.split([sum(sizes[:joined]), *sizes[joined:], len(states) - sum(sizes)])
    return cut


def _plain(query: Tensor, key: Tensor, value: Tensor, spans: Sequence[Span], scale: float, dropout: float) -> Tensor:
    """Attention by products and softmax, zero after the tokens of SPANS."""
    # Encoding, where a batch has sentences of a few lengths. A pass without gradients whose dropout will be drawn again is as with them.
    if not torch.is_grad_enabled() and dropout == 0:
        return _attended(query, key, value, spans, scale, dropout)
    attended: Tensor = _Attention.apply(query, key, value, filled_up(tuple(spans)), scale, dropout)  # type: ignore[no-untyped-call]
    return attended


class _Attention(torch.autograd.Function):
    """One node of the graph for all sentences, where each operation of each span would be one."""

    @staticmethod
    def forward(context: Any, query: Tensor, key: Tensor, value: Tensor, layout: Layout, scale: float, dropout: float) -> Tensor:
        kept: list[Tensor] = []
        queries = layout.spread(query) if layout.asks_all else query
        keys, values = layout.spread(key), layout.spread(value)
        attended = _attended(queries, keys, values, layout.spans, scale, dropout, layout.fillings, kept)
        context.save_for_backward(*kept)
        context.layout, context.scale, context.has_masks = layout, scale, dropout > 0
        context.tokens = len(key)
        return layout.gathered(attended, len(query)) if layout.asks_all else attended

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        layout: Layout = context.layout
        with torch.autocast(gradient.device.type, enabled=False):
            given = layout.spread_over_zero(gradient) if layout.asks_all else gradient
            of_query, of_key, of_value = _gradients(given, layout.spans, context.saved_tensors, context.scale, has_masks=context.has_masks)
            if layout.asks_all:
                of_query = layout.gathered(of_query, len(gradient))
            return of_query, layout.gathered(of_key, context.tokens), layout.gathered(of_value, context.tokens), None, None, None


def _attended(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    spans: Sequence[Span],
    scale: float,
    dropout: float,
    fillings: Sequence[Tensor | None] | None = None,
    kept: list[Tensor] | None = None,
) -> Tensor:
    """All spans' attention, to no token of FILLINGS; what the gradient of each span needs is added to KEPT."""
    mixed = room(query, len(query), sum(asking_counts(spans)))
    for (span, asking, attended), filling in zip(parts(spans), fillings or [None] * len(spans), strict=True):
        queries, keys, values = (_heads(states, span) for states in (query[asking], key[attended], value[attended]))
        weights = _weights(queries, keys, scale, filling)
        mask = dropout_mask(weights, dropout) if dropout > 0 else None
        if kept is not None:
            kept += [queries, keys, values, weights] + ([] if mask is None else [mask])
        if mask is not None:
            weights = weights * mask
        _put(mixed[asking], weights @ values, span)
    return mixed


def _gradients(
    gradient: Tensor, spans: Sequence[Span], kept: Sequence[Tensor], scale: float, *, has_masks: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Of query, key and value, by what was KEPT of each span."""
    tokens = sum(token_counts(spans))
    of_query = room(gradient, len(gradient), sum(asking_counts(spans)))
    of_key, of_value = (room(gradient, tokens, tokens) for _ in range(2))
    left = iter(kept)
    for span, asking, attended in parts(spans):
        queries, keys, values, weights = (next(left) for _ in range(4))
        given = _heads(gradient[asking], span)
        of_weights, dropped = given @ values.transpose(1, 2), weights
        if has_masks:
            mask = next(left)
            of_weights, dropped = of_weights.mul_(mask), weights * mask
        of_scores = torch._softmax_backward_data(of_weights, weights, -1, weights.dtype)
        _put(of_query[asking], _scaled_product(of_scores, keys, scale), span)
        _put(of_key[attended], _scaled_product(of_scores.transpose(1, 2), queries, scale), span)
        _put(of_value[attended], dropped.transpose(1, 2) @ given, span)
    return of_query, of_key, of_value


def _fused(query: Tensor, key: Tensor, value: Tensor, span: Span, scale: float) -> Tensor:
    """Torch's own attention of one span; (asking tokens of all, heads, head dim)."""
    queries, keys, values = (_split(states, span) for states in (query, key, value))
    return F.scaled_dot_product_attention(queries, keys, values, scale=scale).transpose(1, 2).flatten(0, 1)


def _split(states: Tensor, span: Span) -> Tensor:
    """(tokens of all, heads, head dim) to a view of (sentences, heads, tokens, head dim)."""
    return states.view(span.sentences, -1, *states.shape[1:]).transpose(1, 2)


def _heads(states: Tensor, span: Span) -> Tensor:
    """A copy, float32 at least, of (sentences x heads, tokens, head dim)."""
    split = _split(states, span)
    kind = torch.promote_types(states.dtype, torch.float32)
    copied = torch.empty(split.shape, dtype=kind, device=states.device).copy_(split)
    return copied.flatten(0, 1)


def _put(place: Tensor, states: Tensor, span: Span) -> None:
    """Write (sentences x heads, tokens, head dim) to (tokens of all, heads, head dim)."""
    _split(place, span).copy_(states.view(span.sentences, -1, *states.shape[-2:]))


def _weights(queries: Tensor, keys: Tensor, scale: float, filling: Tensor | None) -> Tensor:
    """Softmax of the scaled products, 0 where FILLING says so; (sentences x heads, asking tokens, tokens)."""
    is_turned = queries.shape[1] > 1 and keys.shape[1] < VECTOR
    first, second = (keys, queries) if is_turned else (queries, keys)
    scores = _scaled_product(first, second.transpose(1, 2), scale)
    if filling is not None:
        closed = filling[:, None, :, None] if is_turned else filling[:, None, None, :]
        scores.unflatten(0, (len(filling), -1)).masked_fill_(closed, -torch.inf)
    weights = torch.softmax(scores, dim=1 if is_turned else 2)
    return weights.transpose(1, 2) if is_turned else weights


def _scaled_product(first: Tensor, second: Tensor, scale: float) -> Tensor:
    return torch.baddbmm(first.new_empty(()), first, second, beta=0, alpha=scale)
