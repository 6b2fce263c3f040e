"""Token ids of many short texts: each different word is tokenised once, where a tokenizer treats
words independently.

A tokenizer does so if it always splits at blanks (BERT's), or if no token of its vocabulary holds a
blank after a letter (Llama's).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

MOST_WORDS = 500_000  # remembered at once; all are forgotten then
WORDS_A_TEXT = 128  # new words that are tokenised together
BLANK = "▁"  # how Llama's vocabulary writes a blank
Independence = Literal["words", "single blanks", "none"]
_SPLITTING = {"BertPreTokenizer", "Whitespace", "WhitespaceSplit"}
_BY_CHARACTER = {"BertNormalizer", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "StripAccents"}
_PREPENDING = [
    {"type": "Prepend", "prepend": BLANK},
    {"type": "Replace", "pattern": {"String": " "}, "content": BLANK},
]


def single_tokens(tokenizer: Tokenizer, words: Sequence[str]) -> NDArray[np.int64]:
    """Return the token of each word that is exactly one known token of TOKENIZER, otherwise −1."""
    # A leading space marks the beginning of a word for some tokenizers (RoBERTa's), and means
    # nothing to the others.
    encodings = tokenizer.encode_batch_fast(
        [f" {word}" for word in words], add_special_tokens=False
    )
    unknown = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "")
    return np.array(
        [
            ids[0] if len(ids := encoding.ids) == 1 and ids[0] != unknown else -1
            for encoding in encodings
        ],
        np.int64,
    )


@dataclass(frozen=True, kw_only=True)
class TokenLists:
    """The token ids of texts, one text after the other."""

    flat: NDArray[np.int64]
    lengths: NDArray[np.int64]  # (texts,)


@dataclass(kw_only=True, eq=False)
class WordTokens:
    """A tokenizer that remembers words."""

    tokenizer: Tokenizer
    _independence: Independence = field(init=False)
    _added: tuple[str, ...] = field(init=False)  # tokens that are found before blanks are
    _places: dict[str, int] = field(init=False, default_factory=dict)
    _flat: NDArray[np.int64] = field(init=False)
    _offsets: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self._independence = independence(json.loads(self.tokenizer.to_str()))
        self._added = tuple(
            token.content for token in self.tokenizer.get_added_tokens_decoder().values()
        )
        self._forget()

    def tokens_of(self, texts: Sequence[str]) -> TokenLists:
        """Return the token ids of TEXTS without special tokens, as the tokenizer gives them without
        truncation.
        """
        if self._independence == "none":
            return _joined(self._encode(texts))
        words = [self._words(text) for text in texts]
        pieces = list(chain.from_iterable(words))
        self._remember(pieces)
        places = np.fromiter(map(self._places.__getitem__, pieces), np.intp, len(pieces))
        starts, sizes = self._offsets[places], self._offsets[places + 1] - self._offsets[places]
        ends = np.cumsum(sizes)
        flat = self._flat[
            np.repeat(starts - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)
        ]
        last = np.cumsum(np.fromiter(map(len, words), np.int64, len(words)))
        return TokenLists(flat=flat, lengths=np.diff(ends[last - 1], prepend=0))

    def _words(self, text: str) -> list[str]:
        """The parts of TEXT that are tokenised alone: never none."""
        words = text.split(" ")
        is_whole = self._independence == "single blanks" and (
            "" in words or any(token in text for token in self._added)
        )
        return [text] if is_whole else words

    def _remember(self, pieces: Sequence[str]) -> None:
        new = list(set(pieces).difference(self._places))
        if len(new) + len(self._places) > MOST_WORDS:
            self._forget()
            new = list(set(pieces))
        if new:
            plain = [
                word
                for word in new
                if word.isascii() and word.isprintable() and word and " " not in word
            ]
            new = [*plain, *set(new).difference(plain)]
            token_lists = _chained(self._of_plain(plain), _joined(self._encode(new[len(plain) :])))
            self._places.update(
                zip(new, range(len(self._places), len(self._places) + len(new)), strict=True)
            )
            self._flat = np.concatenate([self._flat, token_lists.flat])
            self._offsets = np.concatenate(
                [self._offsets, self._offsets[-1] + np.cumsum(token_lists.lengths)]
            )

    def _forget(self) -> None:
        self._places.clear()
        self._flat, self._offsets = np.zeros(0, np.int64), np.zeros(1, np.int64)

    def _of_plain(self, words: Sequence[str]) -> TokenLists:
        """Return the tokens of words without blanks, many in one text: a tokenizer's work for a
        text is more than for a word.
        """
        groups = [
            words[start : start + WORDS_A_TEXT] for start in range(0, len(words), WORDS_A_TEXT)
        ]
        encoded = self.tokenizer.encode_batch(
            [" ".join(group) for group in groups], add_special_tokens=False
        )
        counts = [np.zeros(0, np.int64)]
        for group, encoding in zip(groups, encoded, strict=True):
            # A token that begins with the blank before a word is the word's.
            begins = np.cumsum([-1, *(len(word) + 1 for word in group[:-1])])
            owners = (
                np.searchsorted(begins, [begin for begin, _ in encoding.offsets], side="right") - 1
            )
            counts.append(np.bincount(owners, minlength=len(group)))
        flat = np.fromiter(chain.from_iterable(tokens.ids for tokens in encoded), np.int64)
        return TokenLists(flat=flat, lengths=np.concatenate(counts))

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [
            encoding.ids
            for encoding in self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        ]


def independence(stated: dict[str, Any]) -> Independence:
    """Return how far a tokenizer, by its tokenizer.json, treats the words of a text
    independently.
    """
    steps = _steps(stated.get("normalizer"), "normalizers")
    split = (stated.get("pre_tokenizer") or {}).get("type")
    model = stated["model"]
    if any(" " in token["content"] for token in stated.get("added_tokens") or ()):
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


def _steps(stated: dict[str, Any] | None, name: str) -> list[dict[str, Any]]:
    if stated is None:
        return []
    return stated[name] if stated["type"] == "Sequence" else [stated]


def _chained(first: TokenLists, second: TokenLists) -> TokenLists:
    return TokenLists(
        flat=np.concatenate([first.flat, second.flat]),
        lengths=np.concatenate([first.lengths, second.lengths]),
    )


def _joined(ids: Sequence[Sequence[int]]) -> TokenLists:
    lengths = np.fromiter(map(len, ids), np.int64, len(ids))
    return TokenLists(
        flat=np.fromiter(chain.from_iterable(ids), np.int64, int(lengths.sum())), lengths=lengths
    )
