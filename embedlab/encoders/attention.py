"""Attention within each of many short sentences that lie end to end in one row, with its gradient.

Products and softmax of short sentences are float32 at least, whatever the states are kept in: this costs little, while oneDNN, which
multiplies bf16, would build a program for each of the hundreds of shapes that batches have. Long ones are left to torch's fused attention.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from embedlab.encoders.dropout import dropout_mask

FUSED_TOKENS = 48  # of a sentence: for shorter ones plain products are faster than torch's fused attention
VECTOR = 16  # tokens: along a last dimension shorter than a register torch's softmax takes one number at a time


class Span(NamedTuple):
    """Sentences of one length, one after the other."""

    sentences: int
    asking: int  # tokens of each that attend
    tokens: int  # of each, to attend to


def attend(query: Tensor, key: Tensor, value: Tensor, spans: Sequence[Span], *, scale: float, dropout: float = 0.0) -> Tensor:
    """Each sentence's attention to itself; (tokens, heads, head dim) three times in and once out.

    SPANS come by length, the shortest first. QUERY has the asking tokens alone. DROPOUT falls on the weights. What comes after the
    tokens of all spans belongs to no sentence: it is zero.
    """
    own = spans if dropout > 0 else [span for span in spans if span.tokens < FUSED_TOKENS]
    with torch.autocast(query.device.type, enabled=False):
        if len(own) == len(spans):
            return _plain(query, key, value, own, scale, dropout)
        asking, tokens = _asking(spans), _tokens(spans)
        parts = (_cut(query, asking, len(own)), _cut(key, tokens, len(own)), _cut(value, tokens, len(own)))
        first, *long, rest = zip(*parts, strict=True)
        fused = [_fused(*states, span, scale) for states, span in zip(long, spans[len(own) :], strict=True)]
        return torch.cat([_plain(*first, own, scale, dropout), *fused, torch.zeros_like(rest[0])])


def _cut(states: Tensor, sizes: Sequence[int], joined: int) -> tuple[Tensor, ...]:
    """The STATES of the first so many spans together, of each other one, and what comes after them."""
    parts: tuple[Tensor, ...] = states.split([sum(sizes[:joined]), *sizes[joined:], len(states) - sum(sizes)])
    return parts


def _plain(query: Tensor, key: Tensor, value: Tensor, spans: Sequence[Span], scale: float, dropout: float) -> Tensor:
    """Attention by products and softmax, zero after the tokens of SPANS."""
    given = (query, key, value, spans, scale, dropout)
    attended: Tensor = _Attention.apply(*given) if torch.is_grad_enabled() else _attended(*given)  # type: ignore[no-untyped-call]
    return attended


class _Attention(torch.autograd.Function):
    """One node of the graph for all spans, where each operation of each span would be one."""

    @staticmethod
    def forward(context: Any, query: Tensor, key: Tensor, value: Tensor, spans: Sequence[Span], scale: float, dropout: float) -> Tensor:
        kept: list[Tensor] = []
        attended = _attended(query, key, value, spans, scale, dropout, kept)
        context.save_for_backward(*kept)
        context.spans, context.scale, context.has_masks = spans, scale, dropout > 0
        context.queries, context.keys = len(query), len(key)
        return attended

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        with torch.autocast(gradient.device.type, enabled=False):
            return *_gradients(context, gradient), None, None, None


def _gradients(context: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Of query, key and value."""
    asked, owned = sum(_asking(context.spans)), sum(_tokens(context.spans))
    of_query, of_key, of_value = (_room(gradient, *of) for of in ((context.queries, asked), (context.keys, owned), (context.keys, owned)))
    kept = iter(context.saved_tensors)
    for span, asking, attended in _parts(context.spans):
        queries, keys, values, weights = (next(kept) for _ in range(4))
        given = _heads(gradient[asking], span)
        of_weights, dropped = given @ values.transpose(1, 2), weights
        if context.has_masks:
            mask = next(kept)
            of_weights, dropped = of_weights.mul_(mask), weights * mask
        of_scores = torch._softmax_backward_data(of_weights, weights, -1, weights.dtype)
        _put(of_query[asking], _scaled_product(of_scores, keys, context.scale), span)
        _put(of_key[attended], _scaled_product(of_scores.transpose(1, 2), queries, context.scale), span)
        _put(of_value[attended], dropped.transpose(1, 2) @ given, span)
    return of_query, of_key, of_value


def _attended(
    query: Tensor, key: Tensor, value: Tensor, spans: Sequence[Span], scale: float, dropout: float, kept: list[Tensor] | None = None
) -> Tensor:
    """All spans' attention; what the gradient of each needs is added to KEPT."""
    mixed = _room(query, len(query), sum(_asking(spans)))
    for span, asking, attended in _parts(spans):
        queries, keys, values = (_heads(states, span) for states in (query[asking], key[attended], value[attended]))
        weights = _weights(queries, keys, scale)
        mask = dropout_mask(weights, dropout) if dropout > 0 else None
        if kept is not None:
            kept += [queries, keys, values, weights] + ([] if mask is None else [mask])
        if mask is not None:
            weights = weights * mask
        _put(mixed[asking], weights @ values, span)
    return mixed


def _room(states: Tensor, tokens: int, filled: int) -> Tensor:
    """Memory for so many TOKENS like those of STATES, zero after the ones that will be FILLED."""
    made = states.new_empty(tokens, *states.shape[1:])
    made[filled:] = 0
    return made


def _fused(query: Tensor, key: Tensor, value: Tensor, span: Span, scale: float) -> Tensor:
    """Torch's own attention of one span; (asking tokens of all, heads, head dim)."""
    queries, keys, values = (_split(states, span) for states in (query, key, value))
    return F.scaled_dot_product_attention(queries, keys, values, scale=scale).transpose(1, 2).flatten(0, 1)


def _asking(spans: Sequence[Span]) -> list[int]:
    """Tokens of each span that attend."""
    return [span.sentences * span.asking for span in spans]


def _tokens(spans: Sequence[Span]) -> list[int]:
    """Tokens of each span."""
    return [span.sentences * span.tokens for span in spans]


def _parts(spans: Sequence[Span]) -> Iterator[tuple[Span, slice, slice]]:
    """Each span, and where its asking tokens and all its tokens lie."""
    asked = owned = 0
    for span, asking, tokens in zip(spans, _asking(spans), _tokens(spans), strict=True):
        yield span, slice(asked, asked + asking), slice(owned, owned + tokens)
        asked, owned = asked + asking, owned + tokens


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


def _weights(queries: Tensor, keys: Tensor, scale: float) -> Tensor:
    """Softmax of the scaled products; (sentences x heads, asking tokens, tokens)."""
    if queries.shape[1] > 1 and keys.shape[1] < VECTOR:
        return torch.softmax(_scaled_product(keys, queries.transpose(1, 2), scale), dim=1).transpose(1, 2)
    return torch.softmax(_scaled_product(queries, keys.transpose(1, 2), scale), dim=2)


def _scaled_product(first: Tensor, second: Tensor, scale: float) -> Tensor:
    return torch.baddbmm(first.new_empty(()), first, second, beta=0, alpha=scale)
