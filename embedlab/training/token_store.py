"""Tokenised sentences cached on disk: computed once for all seeds of a run and all cells of a grid,
and memory-mapped.
"""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

from embedlab.core.cache import TOKENS, cached
from embedlab.core.disk import check_folder, sealed_folder, sole_writer
from embedlab.core.errors import MissingError
from embedlab.core.frame_files import map_array
from embedlab.core.session import ProgressCallback
from embedlab.encoders.encoder import Text, key_content
from embedlab.encoders.tokens import TokenRows
from embedlab.encoders.transformer import TOKENISED_AT_ONCE, TransformerEncoder
from embedlab.models.reading import Reading

SCHEMA = "1"
ARRAYS = ("flat", "offsets", "truncated")
TYPES = "types"  # an array too, where not all are 0


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
    path = cache / TOKENS / token_key(encoder.tokenizer, encoder.usage.reading, sentences)
    with suppress(OSError, MissingError), sole_writer(path):
        if (token_rows := cached(path, lambda path: _read(path, len(sentences)))) is not None:
            return token_rows
        made = tokenise(encoder, sentences, progress)
        with suppress(OSError, MissingError):
            _write(path, made)
        return cached(path, lambda path: _read(path, len(sentences))) or made
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


def _write(path: Path, rows: TokenRows) -> None:
    with sealed_folder(path) as folder:
        for name in (*ARRAYS, TYPES):
            if (array := getattr(rows, name)) is not None:
                np.save(folder / f"{name}.npy", array, allow_pickle=False)


def _read(path: Path, rows: int) -> TokenRows:
    """Map the tokens in the folder at PATH; those that are not of so many ROWS are a ValueError."""
    check_folder(path, hint="")
    arrays: dict[str, NDArray[Any]] = {
        name: map_array(path / f"{name}.npy")
        for name in (*ARRAYS, TYPES)
        if name in ARRAYS or (path / f"{name}.npy").exists()
    }
    flat, offsets, truncated = (arrays[name] for name in ARRAYS)
    types = arrays.get(TYPES)
    if (
        len(offsets) != rows + 1
        or len(truncated) != rows
        or len(flat) != offsets[-1]
        or (types is not None and len(types) != len(flat))
    ):
        raise ValueError("tokens of other sentences")
    return TokenRows(
        flat=flat, offsets=np.asarray(offsets), truncated=np.asarray(truncated), types=types
    )
