"""Static token vectors with their tokenizer: sentences to the mean of their tokens' vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

from embedlab.analysis.word_effects import WeightedTokens
from embedlab.core.errors import MissingError
from embedlab.encoders.damaged_files import WHOLE, one_line_errors
from embedlab.encoders.word_tokens import TokenLists, WordTokens


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenTable:
    """A vector for each token of a tokenizer."""

    folder: Path  # of the tokenizer's file, for errors
    tokenizer: Tokenizer  # without padding and truncation
    vectors: Tensor  # (tokens, width)
    most_tokens: int | None = None  # of a text; the others are left out
    most_characters: int | None = None  # of a text, before it is tokenised
    ignored: int | None = None  # a token that does not count

    @cached_property
    def _words(self) -> WordTokens:
        return WordTokens(tokenizer=self.tokenizer)

    def means(self, texts: Sequence[str]) -> tuple[Tensor, NDArray[np.bool_]]:
        """Return the mean vector of each text's tokens, zeros where it has none, and which texts
        were cut; (texts, width), (texts,).
        """
        limit = self.most_characters
        shorter = texts if limit is None else [text[:limit] for text in texts]
        with one_line_errors(
            self.folder, "tokenizer"
        ):  # some damage appears only when a text is read
            token_lists = self._words.tokens_of(shorter)
        tokens, is_cut = self._limited(token_lists)
        if limit is not None:
            is_cut |= np.fromiter((len(text) > limit for text in texts), np.bool_, len(texts))
        offsets = np.cumsum(tokens.lengths) - tokens.lengths
        with torch.inference_mode():
            return F.embedding_bag(
                torch.from_numpy(tokens.flat), self.vectors, torch.from_numpy(offsets), mode="mean"
            ), is_cut

    def token_vectors(
        self, sentence: str, *, prompt: str = "", dim: int | None = None
    ) -> WeightedTokens:
        """Return the vectors that `means` averages of PROMPT and SENTENCE, the first DIM numbers of
        each, and where each token is.
        """
        with one_line_errors(self.folder, "tokenizer"):
            encoding = self.tokenizer.encode(
                f"{prompt}{sentence}"[: self.most_characters], add_special_tokens=False
            )
        there = [index for index, token in enumerate(encoding.ids) if token != self.ignored]
        there = [index for index in there if self.most_tokens is None or index < self.most_tokens]
        spans = [
            (start - len(prompt), end - len(prompt))
            for start, end in (encoding.offsets[index] for index in there)
        ]
        return WeightedTokens(
            vectors=self.vectors[[encoding.ids[index] for index in there]][:, :dim].numpy(),
            weights=np.ones(len(there)),
            spans=tuple(span if span[1] > max(span[0], 0) else None for span in spans),
        )

    def _limited(self, tokens: TokenLists) -> tuple[TokenLists, NDArray[np.bool_]]:
        """Return the tokens that count, and which texts have too many."""
        none = np.zeros(len(tokens.lengths), np.bool_)
        is_cut = none if self.most_tokens is None else tokens.lengths > self.most_tokens
        if self.ignored is None and not is_cut.any():
            return tokens, is_cut
        rows = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)
        counts = (
            np.ones(len(tokens.flat), np.bool_)
            if self.ignored is None
            else tokens.flat != self.ignored
        )
        if self.most_tokens is not None:
            starts = np.cumsum(tokens.lengths) - tokens.lengths
            counts &= np.arange(len(tokens.flat)) - starts[rows] < self.most_tokens
        lengths = np.bincount(rows[counts], minlength=len(tokens.lengths)).astype(np.int64)
        return TokenLists(flat=tokens.flat[counts], lengths=lengths), is_cut


def read_table(path: Path, tokenizer: Tokenizer) -> Tensor:
    """Read one float32 vector a token of TOKENIZER; what is missing, pickled or not finite is a
    MissingError.

    model2vec may store fewer vectors, the place of each token's, and the tokens' weights.
    """
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise MissingError(
            f"{str(path)!r} cannot be read: {' '.join(str(error).split())[:200]}", hint=WHOLE
        ) from error
    table = tensors.get("embedding.weight", tensors.get("embeddings"))
    if table is None or table.ndim != 2:
        raise MissingError(f"{str(path)!r} holds no token vectors", hint=WHOLE)
    if (mapping := tensors.get("mapping")) is not None:
        table = table[mapping.long()]
    table = table.float()
    if (weights := tensors.get("weights")) is not None:
        table = table * weights.float()[:, None]
    if not bool(torch.isfinite(table).all()):
        raise MissingError(f"{str(path)!r}: numbers that are not finite", hint=WHOLE)
    tokens = tokenizer.get_vocab_size()
    if tokens > len(table) or tokens < 0.9 * (len(table) - 127):
        raise MissingError(
            f"{str(path)!r}: its tokenizer has {tokens} tokens, but there are {len(table)} vectors",
            hint=WHOLE,
        )
    return table


def read_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer.json, and make it pad nothing."""
    if not path.is_file():
        raise MissingError(f"{str(path.parent)!r} has no {path.name}", hint=WHOLE)
    with one_line_errors(path.parent, "tokenizer"):
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_padding()
    return tokenizer
