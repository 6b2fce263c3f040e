"""Where the tokens of sentences lie that follow each other by length, and where with those of about one length filled up to the same.

A batch of 128 short sentences has some twenty lengths. What is computed for each length by itself costs more in calls than in numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

FILL = 8  # lengths are filled up to a multiple of it


class Span(NamedTuple):
    """Sentences of one length, one after the other."""

    sentences: int
    asking: int  # tokens of each that attend: all or one
    tokens: int  # of each, to attend to


@dataclass(frozen=True, kw_only=True, eq=False)
class Layout:
    """How tokens lie when the sentences of SPANS are filled up to few lengths."""

    spans: tuple[Span, ...]  # of these lengths
    asks_all: bool  # otherwise one token of each sentence attends
    rows: Tensor  # (filled tokens,) the token at each place; where a sentence is filled up, any
    places: Tensor  # (tokens,) of each token
    fillings: tuple[Tensor, ...]  # (sentences, tokens) of each span: whether a sentence is filled up there

    def spread(self, states: Tensor) -> Tensor:
        """(tokens or more, …) to (filled tokens, …); what fills sentences up has some token's states."""
        return states.index_select(0, self.rows)

    def spread_over_zero(self, states: Tensor) -> Tensor:
        """The same with zero states in what fills sentences up."""
        return states.new_zeros(len(self.rows), *states.shape[1:]).index_copy_(0, self.places, states[: len(self.places)])

    def gathered(self, states: Tensor, tokens: int) -> Tensor:
        """(filled tokens, …) to so many TOKENS; those after the ones of the sentences are zero."""
        made = room(states, tokens, len(self.places))
        torch.index_select(states, 0, self.places, out=made[: len(self.places)])
        return made


@lru_cache(maxsize=2)  # each layer of an encoder asks for that of the batch
def filled_up(spans: tuple[Span, ...]) -> Layout:
    """The layout in which sentences of SPANS that differ by a few tokens are of one length; where one token of each asks, it still does."""
    sentences = torch.tensor([span.sentences for span in spans])
    lengths = torch.tensor([span.tokens for span in spans]).repeat_interleave(sentences)
    widths = -(-lengths // FILL) * FILL
    starts, filled_starts = lengths.cumsum(0) - lengths, widths.cumsum(0) - widths
    tokens = torch.arange(int(lengths.sum()))
    places = tokens + (filled_starts - starts).repeat_interleave(lengths)
    rows = tokens.new_zeros(int(widths.sum())).index_copy_(0, places, tokens)
    is_filling = torch.ones(len(rows), dtype=torch.bool).index_fill_(0, places, False)
    asks_all = all(span.asking == span.tokens for span in spans)
    counted = [(len(list(same)), width) for width, same in groupby(widths.tolist())]
    made = tuple(Span(count, width if asks_all else 1, width) for count, width in counted)
    fillings = is_filling.split(token_counts(made))
    return Layout(
        spans=made,
        asks_all=asks_all,
        rows=rows,
        places=places,
        fillings=tuple(part.view(span.sentences, span.tokens) for part, span in zip(fillings, made, strict=True)),
    )


def room(states: Tensor, tokens: int, filled: int) -> Tensor:
    """Memory for so many TOKENS like those of STATES, zero after the ones that will be FILLED."""
    made = states.new_empty(tokens, *states.shape[1:])
    made[filled:] = 0
    return made


def asking_counts(spans: Sequence[Span]) -> list[int]:
    """Tokens of each span that attend."""
    return [span.sentences * span.asking for span in spans]


def token_counts(spans: Sequence[Span]) -> list[int]:
    """Tokens of each span."""
    return [span.sentences * span.tokens for span in spans]


def parts(spans: Sequence[Span]) -> Iterator[tuple[Span, slice, slice]]:
    """Each span, and where its asking tokens and all its tokens lie."""
    asked = owned = 0
    for span, asking, tokens in zip(spans, asking_counts(spans), token_counts(spans), strict=True):
        yield span, slice(asked, asked + asking), slice(owned, owned + tokens)
        asked, owned = asked + asking, owned + tokens
