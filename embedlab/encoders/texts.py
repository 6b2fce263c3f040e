"""What has one vector: a sentence, or two texts that are read together."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from embedlab.core.errors import UsageError
from embedlab.core.text_bytes import APART, text_bytes
from embedlab.store.vectors import TextKeys


@dataclass(frozen=True, kw_only=True, slots=True)
class TextPair:
    """Two texts that are encoded together, "[CLS] a [SEP] b [SEP]", to one vector."""

    first: str
    second: str


Text = str | TextPair
"""What an encoder reads; pairs are for transformers alone."""


def characters(text: Text) -> int:
    """Return the length of a sentence, or of the two texts of a pair together."""
    return len(text) if isinstance(text, str) else len(text.first) + len(text.second)


def single_texts(name: str, texts: Sequence[Text]) -> list[str]:
    """Return TEXTS for the encoder called NAME, which reads one text at a time; a pair of texts is
    a UsageError.
    """
    single = [text for text in texts if isinstance(text, str)]
    if len(single) < len(texts):
        raise UsageError(f"{name!r} does not read two texts at once", hint="name a transformer")
    return single


def key_content(text: Text) -> bytes:
    """Return bytes that are different for different texts, by which what is computed of TEXT is
    stored.
    """
    if isinstance(text, str):
        return text_bytes(text)
    return APART.join((b"", b"pair", text_bytes(text.first), text_bytes(text.second)))


def sentence_keys(sentences: Sequence[Text]) -> TextKeys:
    """Return a 128-bit hash of each sentence or pair of texts, by which vectors are stored."""
    digests = (
        hashlib.blake2b(key_content(sentence), digest_size=16).digest() for sentence in sentences
    )
    return np.frombuffer(b"".join(digests), np.uint64).reshape(-1, 2)
