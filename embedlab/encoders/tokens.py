"""Texts, or pairs of texts, as token ids: tokenised by a fast tokenizer, held in two flat arrays,
and the batches they are encoded in.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

from embedlab.encoders.encoder import Text, TextPair
from embedlab.encoders.weight_checks import reading_file, refuse_unknown_tokens
from embedlab.models.reading import Reading, Side

AHEAD = 2  # batches or texts prepared while those before them are computed

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class TokenRows:
    """The token ids of many sentences: row i is `flat[offsets[i]:offsets[i + 1]]`."""

    flat: NDArray[np.int32]
    offsets: NDArray[np.int64]  # (rows + 1,)
    truncated: NDArray[np.bool_]  # (rows,): the sentence was longer than max_tokens
    # of each token, as its tokenizer gives them (1 in the second text of a pair); None: all 0
    types: NDArray[np.int8] | None = None

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
        row_indices = np.asarray(rows, np.intp)
        lengths = self.lengths[row_indices]
        width = lengths.max(initial=0)
        columns = np.arange(width)  # the index of each token in its row, outside of it: padding
        if side == "left":
            columns = columns - (width - lengths[:, None])
        mask = (columns >= 0) & (columns < lengths[:, None])
        flat_indices = (self.offsets[row_indices][:, None] + columns)[mask]
        arrays = [_filled(mask, self.flat[flat_indices], pad), mask.astype(np.int64)]
        if self.types is not None:
            arrays.append(_filled(mask, self.types[flat_indices], 0))
        return tuple(arrays)


def _filled(
    mask: NDArray[np.bool_], values: NDArray[np.integer[Any]], fill_value: int
) -> NDArray[np.int64]:
    """Return an array with VALUES, in order, where MASK is set, and FILL_VALUE elsewhere."""
    filled = np.full(mask.shape, fill_value, np.int64)
    filled[mask] = values
    return filled


def gather_rows(
    rows: Sequence[Sequence[int]],
    is_truncated: NDArray[np.bool_],
    types: Sequence[Sequence[int]] | None = None,
) -> TokenRows:
    """Return the TokenRows of lists of ids, and of the TYPES of their tokens where these are not
    all 0.
    """
    offsets = np.array([0, *accumulate(map(len, rows))], np.int64)
    return TokenRows(
        flat=np.fromiter(chain.from_iterable(rows), np.int32, int(offsets[-1])),
        offsets=offsets,
        truncated=is_truncated,
        types=None if types is None else np.fromiter(chain.from_iterable(types), np.int8),
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


def read_ahead(values: Iterator[T]) -> Iterator[T]:
    """Yield VALUES, which are never None; a thread makes the next ones while the earlier ones are
    used.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as thread:
        coming = deque(thread.submit(next, values, None) for _ in range(AHEAD))
        while (value := coming.popleft().result()) is not None:
            coming.append(thread.submit(next, values, None))
            yield value


def tokenise_texts(
    tokenizer: PreTrainedTokenizerFast,
    reading: Reading,
    texts: Sequence[Text],
    *,
    folder: Path,
    has_types: bool,
    words: int,
) -> TokenRows:
    """The token ids of TEXTS as READING says, all of them sentences or all of them pairs; their
    case is the TOKENIZER's since that was loaded.

    A token beyond the WORDS that the model in FOLDER has vectors for is a MissingError.
    """
    pairs = [text for text in texts if isinstance(text, TextPair)]
    if pairs and len(pairs) < len(texts):
        raise ValueError("sentences and pairs of texts are tokenised apart")
    first_texts = [text.first if isinstance(text, TextPair) else text for text in texts]
    with reading_file(folder, "tokenizer"):
        encoded = tokenizer(
            [f"{reading.prompt}{text}" for text in first_texts],
            [pair.second for pair in pairs] or None,
            truncation=True,
            max_length=reading.max_tokens,
            add_special_tokens=reading.special != "none",
            return_overflowing_tokens=True,
            return_attention_mask=False,
            return_token_type_ids=has_types,
        )
    # A text that is too long has several rows; the first one is encoded.
    owner = np.asarray(encoded["overflow_to_sample_mapping"])
    _, first_rows, counts = np.unique(owner, return_index=True, return_counts=True)
    end = -1 if reading.special == "no-end" and ends_specially(tokenizer) else None
    names = ("input_ids", "token_type_ids")[: 1 + has_types]
    columns = [[encoded[name][row][:end] for row in first_rows] for name in names]
    rows = gather_rows(columns[0], counts > 1, *columns[1:])
    refuse_unknown_tokens(folder, rows.flat, words)
    return rows


def ends_specially(tokenizer: PreTrainedTokenizerFast) -> bool:
    """Whether a special token ends each text."""
    return tokenizer("a")["input_ids"][-1] in tokenizer.all_special_ids


def are_unknown(rows: TokenRows, tokenizer: PreTrainedTokenizerFast) -> NDArray[np.bool_]:
    """Which ROWS hold the token of unknown words, and no other but special ones; (rows,)."""
    # transformers looks for a token of unknown words that is itself unknown without an end
    unknown_id = tokenizer.get_vocab().get(str(tokenizer.unk_token))
    if unknown_id is None:
        return np.zeros(len(rows), np.bool_)

    def has(tokens: NDArray[np.bool_]) -> NDArray[np.bool_]:
        counts_before = np.concatenate([[0], np.cumsum(tokens)])
        counted: NDArray[np.bool_] = (
            counts_before[rows.offsets[1:]] > counts_before[rows.offsets[:-1]]
        )
        return counted

    is_ordinary = ~np.isin(rows.flat, tokenizer.all_special_ids)
    return has(rows.flat == unknown_id) & ~has(is_ordinary)
