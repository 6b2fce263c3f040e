"""Where the tokens of sentences lie that follow each other by length."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torch import Tensor


class Span(NamedTuple):
    """Sentences of one length, one after the other."""

    sentences: int
    asking: int  # tokens of each that attend: all or one
    tokens: int  # of each, to attend to


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
