"""Attention of a batch's sentences padded to a few lengths, with its gradient: one graph node for
all of them.

Scores, softmax and dropout are at least float32. The other products, like their gradients, have the
dtype of the states: bf16 halves the memory traffic, which dominates this part of a step.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from embedlab.cpu.dropout import dropout_mask
from embedlab.cpu.padding import PaddedLayout


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
