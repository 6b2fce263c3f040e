"""Tokenised sentences of different lengths in two flat arrays, and the batches they are encoded in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class TokenRows:
    """The token ids of many sentences: row i is `flat[offsets[i]:offsets[i + 1]]`."""

    flat: NDArray[np.int32]
    offsets: NDArray[np.int64]  # (rows + 1,)
    truncated: NDArray[np.bool_]  # (rows,): the sentence was longer than max_tokens

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each row, special ones included; cached, as every batch needs those of its rows."""
        return np.diff(self.offsets)

    def padded(self, rows: NDArray[np.intp] | Sequence[int], pad: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return ids padded with PAD on the right and their mask; both (rows, longest of them)."""
        chosen = np.asarray(rows, np.intp)
        lengths = self.lengths[chosen]
        columns = np.arange(lengths.max(initial=0))
        mask = columns < lengths[:, None]
        ids = np.full(mask.shape, pad, np.int64)
        places = (self.offsets[chosen][:, None] + columns)[mask]
        ids[mask] = self.flat[places]
        return ids, mask.astype(np.int64)


def gather_rows(rows: Sequence[Sequence[int]], truncated: NDArray[np.bool_]) -> TokenRows:
    """Return the TokenRows of id lists."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    flat = np.fromiter((token for row in rows for token in row), np.int32, int(offsets[-1]))
    return TokenRows(flat=flat, offsets=offsets, truncated=truncated)


def budget_batches(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.intp]]:
    """Yield row numbers in batches of at most BUDGET padded tokens, the longest rows first; a longer row is a batch alone.

    Rows of similar length share a batch, so almost nothing is padding; the longest come first, so that memory runs out early or never.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, int(lengths[order[start]])))
        yield order[start : start + size]
        start += size
