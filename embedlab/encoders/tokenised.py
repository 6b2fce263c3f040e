"""Texts, or pairs of texts, as the token ids of a fast tokenizer."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

from embedlab.encoders.tokens import TokenRows, gather_rows
from embedlab.encoders.weight_checks import reading_file, refuse_unknown_tokens
from embedlab.models.reading import Reading


def tokenised(
    tokenizer: PreTrainedTokenizerFast,
    reading: Reading,
    first: Sequence[str],
    second: Sequence[str] | None,
    *,
    folder: Path,
    has_types: bool,
    words: int,
) -> TokenRows:
    """The token ids of each text of FIRST, or of it and that of SECOND together, as READING says;
    its case is the TOKENIZER's since that was loaded.

    A token beyond the WORDS that the model in FOLDER has vectors for is a MissingError.
    """
    with reading_file(folder, "tokenizer"):
        encoded = tokenizer(
            [f"{reading.prompt}{text}" for text in first],
            None if second is None else list(second),
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
    columns = [
        [encoded[name][row] for row in first_rows]
        for name in ("input_ids", *(["token_type_ids"] if has_types else []))
    ]
    if reading.special == "no-end" and ends_specially(tokenizer):
        columns = [[row[:-1] for row in column] for column in columns]
    rows = gather_rows(columns[0], counts > 1, columns[1] if has_types else None)
    refuse_unknown_tokens(folder, rows.flat, words)
    return rows


def ends_specially(tokenizer: PreTrainedTokenizerFast) -> bool:
    """Whether a special token ends each text."""
    return tokenizer("a")["input_ids"][-1] in tokenizer.all_special_ids


def are_unknown(rows: TokenRows, tokenizer: PreTrainedTokenizerFast) -> NDArray[np.bool_]:
    """Which ROWS hold the token of unknown words, and no other but special ones; (rows,)."""
    if tokenizer.unk_token_id is None:
        return np.zeros(len(rows), np.bool_)

    def has(tokens: NDArray[np.bool_]) -> NDArray[np.bool_]:
        before = np.concatenate([[0], np.cumsum(tokens)])
        counted: NDArray[np.bool_] = before[rows.offsets[1:]] > before[rows.offsets[:-1]]
        return counted

    is_ordinary = ~np.isin(rows.flat, tokenizer.all_special_ids)
    return has(rows.flat == tokenizer.unk_token_id) & ~has(is_ordinary)
