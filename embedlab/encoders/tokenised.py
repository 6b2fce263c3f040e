"""Texts, or pairs of texts, as the token ids of a fast tokenizer."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from transformers import PreTrainedTokenizerFast

from embedlab.encoders.tokens import TokenRows, gather_rows
from embedlab.encoders.weight_checks import reading, refuse_unknown_tokens


def tokenised(
    tokenizer: PreTrainedTokenizerFast,
    first: Sequence[str],
    second: Sequence[str] | None,
    *,
    folder: Path,
    max_tokens: int,
    has_types: bool,
    words: int,
) -> TokenRows:
    """The token ids of each text of FIRST, or of it and that of SECOND together, special tokens
    included, cut at MAX_TOKENS.

    A token beyond the WORDS that the model in FOLDER has vectors for is a MissingError.
    """
    with reading(folder, "tokenizer"):
        encoded = tokenizer(
            list(first),
            None if second is None else list(second),
            truncation=True,
            max_length=max_tokens,
            return_overflowing_tokens=True,
            return_attention_mask=False,
            return_token_type_ids=has_types,
        )
    # A text that is too long has several rows; the first one is encoded.
    owner = np.asarray(encoded["overflow_to_sample_mapping"])
    _, first_rows, counts = np.unique(owner, return_index=True, return_counts=True)
    types = [encoded["token_type_ids"][row] for row in first_rows] if has_types else None
    rows = gather_rows([encoded["input_ids"][row] for row in first_rows], counts > 1, types)
    refuse_unknown_tokens(folder, rows.flat, words)
    return rows
