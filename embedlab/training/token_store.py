"""Tokenised sentences cached on disk: computed once for all seeds of a run and all cells of a grid, and memory-mapped."""

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from filelock import FileLock
from transformers import PreTrainedTokenizerFast

from embedlab.core.errors import MissingError
from embedlab.core.progress import ProgressCallback
from embedlab.encoders.texts import Text, key_content
from embedlab.encoders.tokens import TokenRows
from embedlab.encoders.transformer import TOKENISED_AT_ONCE, TransformerEncoder
from embedlab.store.arrays import map_array
from embedlab.store.files import atomic_folder
from embedlab.store.marks import own_files, remove_own
from embedlab.store.sealed import check_folder, write_checksums

SCHEMA = "1"
ARRAYS = ("flat", "offsets", "truncated")
TYPES = "types"  # an array too, where not all are 0
MOST_MIB = 2_048  # least recently used entries are deleted first


def tokenise(encoder: TransformerEncoder, sentences: Sequence[Text], progress: ProgressCallback | None = None) -> TokenRows:
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
    encoder: TransformerEncoder, sentences: Sequence[Text], cache: Path | None, progress: ProgressCallback | None = None
) -> TokenRows:
    """Return the token ids from the folder CACHE, or tokenise and store them there for the next process.

    Processes that need the same sentences at once wait for the first of them. The arrays are memory-mapped. A cache that
    cannot be written costs time, not the result.
    """
    if cache is None:
        return tokenise(encoder, sentences, progress)
    folder = cache / "tokens" / token_key(encoder.tokenizer, encoder.max_tokens, sentences)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{folder.name}.lock")):
            if (found := _read(folder, len(sentences))) is not None:
                return found
            made = tokenise(encoder, sentences, progress)
            _write(folder, made)
    except (OSError, MissingError):
        return tokenise(encoder, sentences, progress)
    _trim(folder)
    return _read(folder, len(sentences)) or made


def token_key(tokenizer: PreTrainedTokenizerFast, max_tokens: int, sentences: Sequence[Text]) -> str:
    """Return hex digits that change with the tokenizer, the maximum length or a sentence."""
    rules = json.loads(tokenizer.backend_tokenizer.to_str())
    # Left over from the last call, and set again by each.
    rules["truncation"] = rules["padding"] = None
    digest = hashlib.sha256(json.dumps([SCHEMA, max_tokens, rules], sort_keys=True).encode())
    for sentence in sentences:
        content = key_content(sentence)
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()[:24]


def _read(folder: Path, rows: int) -> TokenRows | None:
    """Return the content of FOLDER, or None where it is absent or incomplete."""
    try:
        check_folder(folder, hint="")
        flat, offsets, truncated = (map_array(folder / f"{name}.npy") for name in ARRAYS)
        types = map_array(folder / f"{TYPES}.npy") if (folder / f"{TYPES}.npy").exists() else None
        os.utime(folder)  # recently used
    except (OSError, ValueError, MissingError):
        return None
    if len(offsets) != rows + 1 or len(truncated) != rows or len(flat) != offsets[-1] or (types is not None and len(types) != len(flat)):
        return None
    return TokenRows(flat=flat, offsets=np.asarray(offsets), truncated=np.asarray(truncated), types=types)


def _write(folder: Path, rows: TokenRows) -> None:
    with atomic_folder(folder) as place:
        for name in (*ARRAYS, *([TYPES] if rows.types is not None else [])):
            np.save(place / f"{name}.npy", getattr(rows, name), allow_pickle=False)
        write_checksums(place)


def _trim(newest: Path) -> None:
    """Delete the least recently used entries until the rest is under the limit; processes that read them keep their mappings."""
    own = {path: files for path in newest.parent.iterdir() if path.is_dir() and (files := own_files("tokens", path))}
    entries = sorted(own, key=lambda path: path.stat().st_mtime)
    sizes = {path: sum(file.stat().st_size for file in own[path]) for path in entries}
    for path in entries:
        if sum(sizes.values()) <= MOST_MIB * 2**20 or path == newest:
            return
        with suppress(OSError):
            remove_own(own[path], path)
        del sizes[path]
