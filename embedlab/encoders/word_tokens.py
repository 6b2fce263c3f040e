"""Token ids of many short texts: each different word is tokenised once, where a tokenizer treats
words independently.

A tokenizer does so if it always splits at blanks (BERT's), or if no token of its vocabulary holds a
blank after a letter (Llama's).
"""

import json
import re
from collections.abc import Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

MOST_WORDS = 500_000  # remembered at once; all are forgotten then
_PLAIN = re.compile("[!-~]+")  # in ASCII, without blanks
A_TEXT = 128  # new words that are tokenised together
BLANK = "▁"  # how Llama's vocabulary writes a blank
Independence = Literal["words", "single blanks", "none"]
_SPLITTING = {"BertPreTokenizer", "Whitespace", "WhitespaceSplit"}
_BY_CHARACTER = {"BertNormalizer", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "StripAccents"}
_PREPENDING = [
    {"type": "Prepend", "prepend": BLANK},
    {"type": "Replace", "pattern": {"String": " "}, "content": BLANK},
]


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
    token_ids = [
        tokens[0] if len(tokens) == 1 and tokens[0] != unknown_id else -1 for tokens in ids
    ]
    return np.array(token_ids, np.int64)


class WordTokens:
    """A tokenizer that remembers the tokens of words."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._independence = word_independence(json.loads(tokenizer.to_str()))
        # tokens that are found before blanks are
        added_tokens = tokenizer.get_added_tokens_decoder().values()
        self._added = tuple(token.content for token in added_tokens)
        self._known: dict[str, list[int]] = {}

    def tokens_of(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text without special tokens, as the tokenizer gives them
        without truncation.
        """
        if self._independence == "none":
            return self._encode(texts)
        words = [self._words(text) for text in texts]
        unseen_words = list(set(chain.from_iterable(words)).difference(self._known))
        if len(unseen_words) + len(self._known) > MOST_WORDS:
            self._known.clear()
            unseen_words = list(set(chain.from_iterable(words)))
        plain_words = [word for word in unseen_words if _PLAIN.fullmatch(word)]
        other_words = list(set(unseen_words).difference(plain_words))
        self._known.update(zip(plain_words, self._tokens_of_plain_words(plain_words), strict=True))
        self._known.update(zip(other_words, self._encode(other_words), strict=True))
        tokens = self._known.__getitem__
        return [list(chain.from_iterable(map(tokens, parts))) for parts in words]

    def _words(self, text: str) -> list[str]:
        """The parts of TEXT that are tokenised alone: never none."""
        words = text.split(" ")
        is_indivisible = self._independence == "single blanks" and (
            "" in words or any(token in text for token in self._added)
        )
        return [text] if is_indivisible else words

    def _tokens_of_plain_words(self, words: Sequence[str]) -> list[list[int]]:
        """Return the tokens of words without blanks, many in one text: a tokenizer's work for a
        text is more than for a word.
        """
        groups = [words[start : start + A_TEXT] for start in range(0, len(words), A_TEXT)]
        texts = [" ".join(group) for group in groups]
        tokens: list[list[int]] = [[] for _ in words]
        encoded = self.tokenizer.encode_batch(texts, add_special_tokens=False)
        for number, (group, encoding) in enumerate(zip(groups, encoded, strict=True)):
            # A token that begins with the blank before a word is the word's.
            word_ends = np.cumsum([len(word) + 1 for word in group]) - 1
            starts = [start for start, _ in encoding.offsets]
            owners = np.searchsorted(word_ends, starts, side="right") + number * A_TEXT
            for owner, token in zip(owners.tolist(), encoding.ids, strict=True):
                tokens[owner].append(token)
        return tokens

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        encoded = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [encoding.ids for encoding in encoded]


def word_independence(config: dict[str, Any]) -> Independence:
    """Return how far a tokenizer, by its tokenizer.json, treats the words of a text
    independently.
    """
    steps = _steps(config.get("normalizer"), "normalizers")
    split = (config.get("pre_tokenizer") or {}).get("type")
    model = config["model"]
    if any(" " in token["content"] for token in config.get("added_tokens") or ()):
        return "none"
    if split in _SPLITTING and all(step["type"] in _BY_CHARACTER for step in steps):
        return "words"
    is_blank_first = (
        split is None
        and model["type"] == "BPE"
        and steps == _PREPENDING
        and not model.get("dropout")
    )
    return (
        "single blanks"
        if is_blank_first and not any(BLANK in token.lstrip(BLANK) for token in model["vocab"])
        else "none"
    )


def _steps(section: dict[str, Any] | None, name: str) -> list[dict[str, Any]]:
    if section is None:
        return []
    return section[name] if section["type"] == "Sequence" else [section]
