"""Attention within each of many short sentences that are concatenated in one row.

While encoding, products and softmax of short sentences are at least float32, whatever the dtype of
the states: this costs little, while oneDNN, which multiplies bf16, would compile a program for each
of the hundreds of shapes that batches have. In training, sentences are padded to a few lengths.
Long ones use torch's fused attention.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from embedlab.cpu.linear import can_multiply
from embedlab.cpu.padded_attention import FilledAttention
from embedlab.cpu.padding import padded_layout
from embedlab.cpu.spans import TokenSpan, allocate, query_counts, span_slices, token_counts

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
