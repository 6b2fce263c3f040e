"""Tokenised sentences cached on disk: computed once for all seeds of a run and all cells of a grid,
and memory-mapped.
"""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from transformers import PreTrainedTokenizerFast

from embedlab.core.errors import MissingError
from embedlab.core.progress import ProgressCallback
from embedlab.encoders.encoder import Text, key_content
from embedlab.encoders.tokens import TokenRows
from embedlab.encoders.transformer import TOKENISED_AT_ONCE, TransformerEncoder
from embedlab.models.reading import Reading
from embedlab.store.arrays import Arrays, ArraysFormat
from embedlab.store.entries import EntryKind, Store
from embedlab.store.locks import sole_writer

SCHEMA = "1"
ARRAYS = ("flat", "offsets", "truncated")
TYPES = "types"  # an array too, where not all are 0
TOKENS: EntryKind[Arrays] = EntryKind(
    folder="tokens",
    format=ArraysFormat(names=ARRAYS, absent=(TYPES,)),
    is_cache=True,
    most_bytes=2_048 * 2**20,
)


def tokenise(
    encoder: TransformerEncoder, sentences: Sequence[Text], progress: ProgressCallback | None = None
) -> TokenRows:
    """Return the token ids of distinct sentences, tokenised in parts to show progress."""
    parts = []
    for start in range(0, len(sentences), TOKENISED_AT_ONCE):
        parts.append(encoder.token_ids(sentences[start : start + TOKENISED_AT_ONCE]))
        if progress is not None:
            progress(min(len(sentences), start + TOKENISED_AT_ONCE), len(sentences))
    types = [part.types for part in parts if part.types is not None]
    return TokenRows(
        flat=np.concatenate([part.flat for part in parts]),
        offsets=np.append(0, np.cumsum(np.concatenate([part.lengths for part in parts]))),
        truncated=np.concatenate([part.truncated for part in parts]),
        types=np.concatenate(types) if types else None,
    )


def stored_tokens(
    encoder: TransformerEncoder,
    sentences: Sequence[Text],
    cache: Path | None,
    progress: ProgressCallback | None = None,
) -> TokenRows:
    """Return the token ids from the folder CACHE, or tokenise and store them there for the next
    process.

    Processes that need the same sentences at once wait for the first of them. The arrays are
    memory-mapped. A cache that cannot be written costs time, not the result.
    """
    if cache is None:
        return tokenise(encoder, sentences, progress)
    store, key = Store(cache), token_key(encoder.tokenizer, encoder.usage.reading, sentences)
    path = store.path(TOKENS, key)
    with suppress(OSError, MissingError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with sole_writer(path):
            if (token_rows := _rows(store.get(TOKENS, key), len(sentences))) is not None:
                return token_rows
            made = tokenise(encoder, sentences, progress)
            store.put(TOKENS, key, _arrays(made))
            return _rows(store.get(TOKENS, key), len(sentences)) or made
    return tokenise(encoder, sentences, progress)


def token_key(
    tokenizer: PreTrainedTokenizerFast, reading: Reading, sentences: Sequence[Text]
) -> str:
    """Return hex digits that change with the tokenizer, the reading or a sentence."""
    rules = json.loads(tokenizer.backend_tokenizer.to_str())
    # Left over from the last call, and set again by each.
    rules["truncation"] = rules["padding"] = None
    read = [SCHEMA, reading.max_tokens, *reading.details, rules]
    digest = hashlib.sha256(json.dumps(read, sort_keys=True).encode())
    for sentence in sentences:
        content = key_content(sentence)
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()[:24]


def _arrays(rows: TokenRows) -> Arrays:
    types = {} if rows.types is None else {TYPES: rows.types}
    return {**{name: getattr(rows, name) for name in ARRAYS}, **types}


def _rows(arrays: Arrays | None, rows: int) -> TokenRows | None:
    """Return the tokens of ARRAYS; None where they are absent or not of so many ROWS."""
    if arrays is None:
        return None
    flat, offsets, truncated, types = *(arrays[name] for name in ARRAYS), arrays.get(TYPES)
    if (
        len(offsets) != rows + 1
        or len(truncated) != rows
        or len(flat) != offsets[-1]
        or (types is not None and len(types) != len(flat))
    ):
        return None
    return TokenRows(
        flat=flat, offsets=np.asarray(offsets), truncated=np.asarray(truncated), types=types
    )
