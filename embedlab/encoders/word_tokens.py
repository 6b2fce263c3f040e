"""Token ids of many short texts. Each different word is tokenised once if the tokenizer treats
words independently, as a tokenizer does that always splits at blanks (BERT's).
"""

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

MOST_WORDS = 500_000  # remembered at once; all are forgotten then
_SPLITTING = {"BertPreTokenizer", "Whitespace", "WhitespaceSplit"}
_BY_CHARACTER = {"BertNormalizer", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "StripAccents"}


def single_tokens(
    tokenizer: Tokenizer, words: Sequence[str], unknown_id: int | None = None
) -> NDArray[np.int64]:
    """Return the token of each word that is exactly one token of TOKENIZER, and not the UNKNOWN_ID
    one, which its model may name; otherwise −1.
    """
    # A leading space marks the beginning of a word for some tokenizers (RoBERTa's), and means
    # nothing to the others.
    encodings = tokenizer.encode_batch_fast(
        [f" {word}" for word in words], add_special_tokens=False
    )
    if unknown_id is None:
        unknown_id = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "")
    ids = [encoding.ids for encoding in encodings]
    single = [tokens[0] if len(tokens) == 1 else -1 for tokens in ids]
    return np.array([-1 if token == unknown_id else token for token in single], np.int64)


class WordTokens:
    """A tokenizer that remembers the tokens of words."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._are_words_independent = are_words_independent(json.loads(tokenizer.to_str()))
        self._known: dict[str, list[int]] = {}

    def tokens_of(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text without special tokens, as the tokenizer gives them
        without truncation.
        """
        if not self._are_words_independent:
            return self._encode(texts)
        words = [text.split(" ") for text in texts]
        distinct_words = {*chain.from_iterable(words)}
        unseen_words = distinct_words.difference(self._known)
        if len(unseen_words) + len(self._known) > MOST_WORDS:
            self._known.clear()
            unseen_words = distinct_words
        new_words = [*unseen_words]
        self._known.update(zip(new_words, self._encode(new_words), strict=True))
        tokens = self._known.__getitem__
        return [[*chain.from_iterable(map(tokens, text_words))] for text_words in words]

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        encoded = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [encoding.ids for encoding in encoded]


def are_words_independent(config: dict[str, Any]) -> bool:
    """Return whether a tokenizer, by its tokenizer.json, treats the words of a text
    independently.
    """
    if any(" " in token["content"] for token in config.get("added_tokens") or ()):
        return False
    normalizer = config.get("normalizer") or {"type": "Sequence", "normalizers": []}
    steps = normalizer["normalizers"] if normalizer["type"] == "Sequence" else [normalizer]
    splitter = (config.get("pre_tokenizer") or {}).get("type")
    return splitter in _SPLITTING and all(step["type"] in _BY_CHARACTER for step in steps)
