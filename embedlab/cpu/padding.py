"""Where the states of sentences lie that are filled up to few lengths, and what attention weighs them by.

A batch of 128 short sentences has some twenty lengths. What is computed for each length by itself costs more in calls than in numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Self

import torch
from torch import Tensor

from embedlab.cpu.spans import TokenSpan, allocate

FILL = 8  # lengths are filled up to a multiple of it
LONG = 48  # tokens: of sentences as long a batch has so few that as many more would multiply the work


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockPositions:
    """Where states lie in blocks of sentences of about one length: by sentence, head and token, filled up to the longest."""

    heads: int
    shapes: tuple[tuple[int, int], ...]  # (sentences x heads, tokens) of each block
    targets: Tensor  # (tokens x heads,) the place of each head of each token
    sources: Tensor  # (places,) what lies there; where nothing does, anything

    @classmethod
    def of(cls, blocks: Sequence[Tensor], heads: int) -> Self:
        """Those of blocks that say of each place of (sentences, tokens) whether there is a token."""
        shapes, targets, used = [], [], 0
        for is_token in blocks:
            sentences, width = is_token.shape
            grid = torch.arange(used, used + sentences * heads * width).view(sentences, heads, width)
            targets.append(grid.transpose(1, 2)[is_token].flatten())
            shapes.append((sentences * heads, width))
            used += grid.numel()
        joined = torch.cat(targets)
        sources = joined.new_zeros(used).index_copy_(0, joined, torch.arange(len(joined)))
        return cls(heads=heads, shapes=tuple(shapes), targets=joined, sources=sources)

    def spread(self, states: Tensor) -> Tensor:
        """(tokens or more, heads, dim) to (places, dim); what fills up has the states of some token."""
        return states.flatten(0, 1).index_select(0, self.sources)

    def spread_over_zero(self, states: Tensor) -> Tensor:
        """The same with zero states in what fills up."""
        spread = states.new_zeros(len(self.sources), states.shape[2])
        return spread.index_copy_(0, self.targets, states.flatten(0, 1)[: len(self.targets)])

    def gathered(self, states: Tensor, tokens: int) -> Tensor:
        """(places, dim) to (TOKENS, heads, dim); those after the ones of the sentences are zero."""
        made = allocate(states, tokens * self.heads, len(self.targets))
        torch.index_select(states, 0, self.targets, out=made[: len(self.targets)])
        return made.view(tokens, self.heads, -1)

    def blocks(self, states: Tensor) -> list[Tensor]:
        """(places, dim) as (sentences x heads, tokens, dim) of each block."""
        parts = states.split([rows * width for rows, width in self.shapes])
        return [part.view(*shape, -1) for part, shape in zip(parts, self.shapes, strict=True)]


@dataclass(frozen=True, kw_only=True, eq=False)
class PaddedLayout:
    """How tokens lie, and the weights of tokens for tokens, when sentences are filled up to few lengths."""

    query_places: BlockPositions  # of the tokens that attend
    key_places: BlockPositions  # of all
    fillings: tuple[Tensor, ...]  # (sentences, tokens) of each block: whether a sentence is filled up there

    @cached_property  # each layer asks several times
    def shapes(self) -> list[tuple[int, int, int]]:
        """(sentences x heads, asking tokens, tokens) of each block."""
        return [
            (rows, query_places, tokens)
            for (rows, query_places), (_, tokens) in zip(self.query_places.shapes, self.key_places.shapes, strict=True)
        ]

    def squares(self, weights: Tensor) -> list[Tensor]:
        """(weights,) as (sentences x heads, asking tokens, tokens) of each block."""
        parts = weights.split([rows * query_places * tokens for rows, query_places, tokens in self.shapes])
        return [part.view(shape) for part, shape in zip(parts, self.shapes, strict=True)]


@lru_cache(maxsize=2)  # each layer of an encoder asks for that of the batch
def padded_layout(spans: tuple[TokenSpan, ...], heads: int, multiple: int = 1) -> PaddedLayout:
    """The layout in which sentences of SPANS that differ by a few tokens are one block, short ones in whole MULTIPLEs of sentences.

    Of sentences that fill a block up nothing counts as filling, so that there is a softmax of something.
    """
    all_query = all(span.query_tokens == span.tokens for span in spans)
    blocks = []
    for width, same in groupby(spans, lambda span: -(-span.tokens // FILL) * FILL):
        sentences, _, tokens = (torch.tensor(counts) for counts in zip(*same, strict=True))
        blocks.append(_is_token(tokens.repeat_interleave(sentences), width, multiple if width < LONG else 1))
    key_places = BlockPositions.of(blocks, heads)
    return PaddedLayout(
        query_places=key_places if all_query else BlockPositions.of([is_token[:, :1] for is_token in blocks], heads),
        key_places=key_places,
        fillings=tuple(is_token.any(dim=1, keepdim=True) & ~is_token for is_token in blocks),
    )


def _is_token(lengths: Tensor, width: int, multiple: int) -> Tensor:
    """(sentences, WIDTH) whether a sentence has so many tokens; after these sentences some without any, up to a MULTIPLE."""
    is_token = torch.zeros(-(-len(lengths) // multiple) * multiple, width, dtype=torch.bool)
    is_token[: len(lengths)] = torch.arange(width) < lengths.unsqueeze(1)
    return is_token
