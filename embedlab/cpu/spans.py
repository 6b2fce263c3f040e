"""Positions of the tokens of sentences that are sorted by length."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torch import Tensor


class TokenSpan(NamedTuple):
    """Consecutive sentences of one length."""

    sentences: int
    query_tokens: int  # query tokens of each: all or one
    tokens: int  # key tokens of each


def allocate(states: Tensor, tokens: int, used: int) -> Tensor:
    """Allocate TOKENS rows like those of STATES, zero after the first USED, which the caller
    fills.
    """
    made = states.new_empty(tokens, *states.shape[1:])
    made[used:] = 0
    return made


def query_counts(spans: Sequence[TokenSpan]) -> list[int]:
    """Return the number of query tokens of each span."""
    return [span.sentences * span.query_tokens for span in spans]


def token_counts(spans: Sequence[TokenSpan]) -> list[int]:
    """Return the number of tokens of each span."""
    return [span.sentences * span.tokens for span in spans]


def span_slices(spans: Sequence[TokenSpan]) -> Iterator[tuple[TokenSpan, slice, slice]]:
    """Yield each span with the slices of its query tokens and of all its tokens."""
    query_end = key_end = 0
    for span, query_tokens, tokens in zip(
        spans, query_counts(spans), token_counts(spans), strict=True
    ):
        yield span, slice(query_end, query_end + query_tokens), slice(key_end, key_end + tokens)
        query_end, key_end = query_end + query_tokens, key_end + tokens
