"""The layout of sentences that are padded to a few lengths, and their attention weights.

A batch of 128 short sentences has about twenty lengths. Computing each by itself costs more in
calls than in arithmetic.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple, Self

import torch
from torch import Tensor


class TokenSpan(NamedTuple):
    """Consecutive sentences of one length."""

    sentences: int
    query_tokens: int  # query tokens of each: all or one
    tokens: int  # key tokens of each


def allocate(states: Tensor, tokens: int, used_rows: int) -> Tensor:
    """Allocate TOKENS rows like those of STATES, zero after the first USED_ROWS, which the caller
    fills.
    """
    rows = states.new_empty(tokens, *states.shape[1:])
    rows[used_rows:] = 0
    return rows


SpanSlices = tuple[TokenSpan, slice, slice]
"""A span with the slices of its query tokens and of all its tokens."""


def span_slices(spans: Sequence[TokenSpan]) -> Iterator[SpanSlices]:
    """Yield each span with its slices."""
    query = key = 0
    for span in spans:
        query_end = query + span.sentences * span.query_tokens
        key_end = key + span.sentences * span.tokens
        yield span, slice(query, query_end), slice(key, key_end)
        query, key = query_end, key_end


FILL = 8  # lengths are padded to a multiple of it
# tokens: a batch has so few longer sentences that padding their number would multiply the work
LONG = 48


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockPositions:
    """Positions of states in blocks of sentences of similar length: by sentence, head and token,
    padded to the longest.
    """

    heads: int
    shapes: tuple[tuple[int, int], ...]  # (sentences x heads, tokens) of each block
    targets: Tensor  # (tokens x heads,) the position of each head of each token
    sources: Tensor  # (positions,) the source of each; arbitrary at padding

    @classmethod
    def of(cls, blocks: Sequence[Tensor], heads: int) -> Self:
        """Return the positions for BLOCKS, (sentences, tokens) masks of where a token is."""
        shapes, targets, used_rows = [], [], 0
        for is_token in blocks:
            sentences, width = is_token.shape
            grid = torch.arange(used_rows, used_rows + sentences * heads * width).view(
                sentences, heads, width
            )
            targets.append(grid.transpose(1, 2)[is_token].flatten())
            shapes.append((sentences * heads, width))
            used_rows += grid.numel()
        joined = torch.cat(targets)
        sources = joined.new_zeros(used_rows).index_copy_(0, joined, torch.arange(len(joined)))
        return cls(heads=heads, shapes=tuple(shapes), targets=joined, sources=sources)

    def spread(self, states: Tensor) -> list[Tensor]:
        """Map (tokens or more, heads, dim) to (sentences x heads, tokens, dim) of each block;
        padding gets the states of some token.
        """
        return self._blocks(states.flatten(0, 1).index_select(0, self.sources))

    def spread_over_zero(self, states: Tensor) -> list[Tensor]:
        """Map the same with zero states at padding."""
        spread = states.new_zeros(len(self.sources), states.shape[2])
        return self._blocks(
            spread.index_copy_(0, self.targets, states.flatten(0, 1)[: len(self.targets)])
        )

    def gather(self, blocks: Sequence[Tensor], tokens: int) -> Tensor:
        """Map blocks to (TOKENS, heads, dim); rows after the sentences are zero."""
        states = torch.cat([block.flatten(0, 1) for block in blocks])
        rows = allocate(states, tokens * self.heads, len(self.targets))
        torch.index_select(states, 0, self.targets, out=rows[: len(self.targets)])
        return rows.view(tokens, self.heads, -1)

    def _blocks(self, states: Tensor) -> list[Tensor]:
        pieces = states.split([rows * width for rows, width in self.shapes])
        return [flat.view(*shape, -1) for flat, shape in zip(pieces, self.shapes, strict=True)]


@dataclass(frozen=True, kw_only=True, eq=False)
class PaddedLayout:
    """The layout of tokens, and of their attention weights, when sentences are padded to a few
    lengths.
    """

    query_places: BlockPositions  # of the query tokens
    key_places: BlockPositions  # of all tokens
    fillings: tuple[Tensor, ...]  # (sentences, tokens) of each block: whether it is padding


@lru_cache(maxsize=2)  # each layer of an encoder needs that of the batch
def padded_layout(spans: tuple[TokenSpan, ...], heads: int, multiple: int = 1) -> PaddedLayout:
    """Return the layout that joins sentences of SPANS of similar length in one block, short ones in
    whole MULTIPLEs of sentences.

    Filler sentences count as unpadded, so that their softmax is defined.
    """
    all_query = all(span.query_tokens == span.tokens for span in spans)
    blocks = []
    for width, run in groupby(spans, lambda span: -(-span.tokens // FILL) * FILL):
        sentences, _, tokens = (torch.tensor(counts) for counts in zip(*run, strict=True))
        blocks.append(
            _is_token(tokens.repeat_interleave(sentences), width, multiple if width < LONG else 1)
        )
    key_places = BlockPositions.of(blocks, heads)
    return PaddedLayout(
        query_places=key_places
        if all_query
        else BlockPositions.of([is_token[:, :1] for is_token in blocks], heads),
        key_places=key_places,
        fillings=tuple(is_token.any(dim=1, keepdim=True) & ~is_token for is_token in blocks),
    )


def _is_token(lengths: Tensor, width: int, multiple: int) -> Tensor:
    """Return a mask (sentences, WIDTH) of where a token is; filler sentences without any follow, up
    to a MULTIPLE.
    """
    is_token = torch.zeros(-(-len(lengths) // multiple) * multiple, width, dtype=torch.bool)
    is_token[: len(lengths)] = torch.arange(width) < lengths.unsqueeze(1)
    return is_token
