"""Tokenised sentences of different lengths in two flat arrays, and the batches they are
encoded in.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedlab.models.reading import Side


@dataclass(frozen=True, kw_only=True)
class TokenRows:
    """The token ids of many sentences: row i is `flat[offsets[i]:offsets[i + 1]]`."""

    flat: NDArray[np.int32]
    offsets: NDArray[np.int64]  # (rows + 1,)
    truncated: NDArray[np.bool_]  # (rows,): the sentence was longer than max_tokens
    types: NDArray[np.int8] | None = (
        # of each token, as its tokenizer gives them (1 in the second text of a pair); None: all 0
        None
    )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each row, special ones included; cached, as every batch needs those of its
        rows.
        """
        return np.diff(self.offsets)

    def padded(
        self, rows: NDArray[np.intp] | Sequence[int], pad: int, side: Side = "right"
    ) -> tuple[NDArray[np.int64], ...]:
        """Return ids padded with PAD on a SIDE, their mask, and their types where not all are 0;
        each (rows, longest of them).
        """
        chosen = np.asarray(rows, np.intp)
        lengths = self.lengths[chosen]
        width = lengths.max(initial=0)
        # (rows, width): the place of each column in its row, outside of it where it is padding
        columns = np.arange(width) - (width - lengths[:, None]) * (side == "left")
        mask = (columns >= 0) & (columns < lengths[:, None])
        places = (self.offsets[chosen][:, None] + columns)[mask]
        types = () if self.types is None else (_filled(mask, self.types[places], 0),)
        return _filled(mask, self.flat[places], pad), mask.astype(np.int64), *types


def _filled(
    mask: NDArray[np.bool_], values: NDArray[np.integer[Any]], rest: int
) -> NDArray[np.int64]:
    """Return an array with VALUES, in order, where MASK is set, and REST elsewhere."""
    filled = np.full(mask.shape, rest, np.int64)
    filled[mask] = values
    return filled


def gather_rows(
    rows: Sequence[Sequence[int]],
    truncated: NDArray[np.bool_],
    types: Sequence[Sequence[int]] | None = None,
) -> TokenRows:
    """Return the TokenRows of lists of ids, and of the TYPES of their tokens where these are not
    all 0.
    """
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return TokenRows(
        flat=np.fromiter(chain.from_iterable(rows), np.int32, int(offsets[-1])),
        offsets=offsets,
        truncated=truncated,
        types=None
        if types is None
        else np.fromiter(chain.from_iterable(types), np.int8, int(offsets[-1])),
    )


def budget_batches(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.intp]]:
    """Yield row numbers in batches of at most BUDGET padded tokens, the longest rows first; a
    longer row is a batch alone.

    Rows of similar length share a batch, so almost nothing is padding; the longest come first, so
    that memory runs out early or never.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, int(lengths[order[start]])))
        yield order[start : start + size]
        start += size
