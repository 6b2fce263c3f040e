"""Where the states of sentences lie that are filled up to few lengths, and what attention weighs them by.

A batch of 128 short sentences has some twenty lengths. What is computed for each length by itself costs more in calls than in numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Self

import torch
from torch import Tensor

from embedlab.encoders.spans import Span, room

FILL = 8  # lengths are filled up to a multiple of it


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """Where states lie in blocks of sentences of about one length: by sentence, head and token, filled up to the longest."""

    heads: int
    shapes: tuple[tuple[int, int], ...]  # (sentences x heads, tokens) of each block
    places: Tensor  # (tokens x heads,) of each head of each token
    sources: Tensor  # (places,) what lies there; where nothing does, anything

    @classmethod
    def of(cls, blocks: Sequence[Tensor], heads: int) -> Self:
        """Those of blocks that say of each place of (sentences, tokens) whether there is a token."""
        shapes, places, filled = [], [], 0
        for is_token in blocks:
            sentences, width = is_token.shape
            grid = torch.arange(filled, filled + sentences * heads * width).view(sentences, heads, width)
            places.append(grid.transpose(1, 2)[is_token].flatten())
            shapes.append((sentences * heads, width))
            filled += grid.numel()
        joined = torch.cat(places)
        sources = joined.new_zeros(filled).index_copy_(0, joined, torch.arange(len(joined)))
        return cls(heads=heads, shapes=tuple(shapes), places=joined, sources=sources)

    def spread(self, states: Tensor) -> Tensor:
        """(tokens or more, heads, dim) to (places, dim); what fills up has the states of some token."""
        return states.flatten(0, 1).index_select(0, self.sources)

    def spread_over_zero(self, states: Tensor) -> Tensor:
        """The same with zero states in what fills up."""
        spread = states.new_zeros(len(self.sources), states.shape[2])
        return spread.index_copy_(0, self.places, states.flatten(0, 1)[: len(self.places)])

    def gathered(self, states: Tensor, tokens: int) -> Tensor:
        """(places, dim) to (TOKENS, heads, dim); those after the ones of the sentences are zero."""
        made = room(states, tokens * self.heads, len(self.places))
        torch.index_select(states, 0, self.places, out=made[: len(self.places)])
        return made.view(tokens, self.heads, -1)

    def blocks(self, states: Tensor) -> list[Tensor]:
        """(places, dim) as (sentences x heads, tokens, dim) of each block."""
        parts = states.split([rows * width for rows, width in self.shapes])
        return [part.view(*shape, -1) for part, shape in zip(parts, self.shapes, strict=True)]


@dataclass(frozen=True, kw_only=True, eq=False)
class Layout:
    """How tokens lie, and the weights of tokens for tokens, when sentences are filled up to few lengths."""

    asking: Places  # of the tokens that attend
    owned: Places  # of all
    closed: Tensor  # (weights,) whether one is for what fills a sentence up

    def squares(self, weights: Tensor) -> list[Tensor]:
        """(weights,) as (sentences x heads, asking tokens, tokens) of each block."""
        shapes = [(rows, asking, tokens) for (rows, asking), (_, tokens) in zip(self.asking.shapes, self.owned.shapes, strict=True)]
        parts = weights.split([rows * asking * tokens for rows, asking, tokens in shapes])
        return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


@lru_cache(maxsize=2)  # each layer of an encoder asks for that of the batch
def filled_up(spans: tuple[Span, ...], heads: int, multiple: int = 1) -> Layout:
    """The layout in which sentences of SPANS that differ by a few tokens are one block, filled up to a MULTIPLE of sentences.

    Of sentences that fill a block up nothing is closed: softmax of nothing would be no number.
    """
    asks_all = all(span.asking == span.tokens for span in spans)
    asking, owned, closed = [], [], []
    for width, same in groupby(spans, lambda span: -(-span.tokens // FILL) * FILL):
        sentences, asking_tokens, tokens = (torch.tensor(counts) for counts in zip(*same, strict=True))
        most = width if asks_all else 1
        asking.append(_is_token(asking_tokens.repeat_interleave(sentences), most, multiple))
        is_token = _is_token(tokens.repeat_interleave(sentences), width, multiple)
        owned.append(is_token)
        is_closed = is_token.any(dim=1, keepdim=True) & ~is_token
        closed.append(is_closed[:, None, None, :].expand(-1, heads, most, -1).flatten())
    places = Places.of(owned, heads)
    return Layout(asking=places if asks_all else Places.of(asking, heads), owned=places, closed=torch.cat(closed))


def _is_token(lengths: Tensor, width: int, multiple: int) -> Tensor:
    """(sentences, WIDTH) whether a sentence has so many tokens; after these sentences some without any, up to a MULTIPLE."""
    is_token = torch.zeros(-(-len(lengths) // multiple) * multiple, width, dtype=torch.bool)
    is_token[: len(lengths)] = torch.arange(width) < lengths.unsqueeze(1)
    return is_token
