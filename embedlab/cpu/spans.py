"""Where the tokens of sentences lie that follow each other by length."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torch import Tensor


class TokenSpan(NamedTuple):
    """Sentences of one length, one after the other."""

    sentences: int
    query_tokens: int  # tokens of each that attend: all or one
    tokens: int  # of each, to attend to


def allocate(states: Tensor, tokens: int, used: int) -> Tensor:
    """Memory for so many TOKENS like those of STATES, zero after the ones that will be FILLED."""
    made = states.new_empty(tokens, *states.shape[1:])
    made[used:] = 0
    return made


def query_counts(spans: Sequence[TokenSpan]) -> list[int]:
    """Tokens of each span that attend."""
    return [span.sentences * span.query_tokens for span in spans]


def token_counts(spans: Sequence[TokenSpan]) -> list[int]:
    """Tokens of each span."""
    return [span.sentences * span.tokens for span in spans]


def span_slices(spans: Sequence[TokenSpan]) -> Iterator[tuple[TokenSpan, slice, slice]]:
    """Each span, and where its asking tokens and all its tokens lie."""
    query_end = key_end = 0
    for span, query_tokens, tokens in zip(spans, query_counts(spans), token_counts(spans), strict=True):
        yield span, slice(query_end, query_end + query_tokens), slice(key_end, key_end + tokens)
        query_end, key_end = query_end + query_tokens, key_end + tokens
