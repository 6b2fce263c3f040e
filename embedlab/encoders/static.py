"""Static token vectors averaged to sentence vectors: sentence-transformers' StaticEmbedding, and
the folders of model2vec and wordllama.
"""

import json
from collections.abc import Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, chain
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn

from embedlab.analysis.word_effects import WeightedTokens
from embedlab.core.errors import MissingError
from embedlab.core.session import ProgressCallback
from embedlab.encoders.encoder import (
    Encoder,
    EncoderFacts,
    Text,
    Vectors,
    no_token_sum,
    single_texts,
)
from embedlab.encoders.weight_checks import PADDED_ROWS, WHOLE, read_tensors, reading_file
from embedlab.encoders.word_tokens import WordTokens
from embedlab.models.folder import Usage
from embedlab.models.folder_files import (
    MODEL2VEC_VECTORS,
    Model2VecFile,
    read_stated,
    static_vectors,
    static_weights,
)


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
        return WordTokens(self.tokenizer)

    def means(self, texts: Sequence[str]) -> tuple[Tensor, NDArray[np.bool_]]:
        """Return the mean vector of each text's tokens, zeros where it has none, and which texts
        were cut; (texts, width), (texts,).
        """
        cut_texts = [text[: self.most_characters] for text in texts]
        # some damage appears only when a text is read
        with reading_file(self.folder, "tokenizer"):
            tokens = self._words.tokens_of(cut_texts)
        cut_tokens = [ids[: self.most_tokens] for ids in tokens]
        is_cut = np.not_equal(_lengths(cut_texts), _lengths(texts))
        is_cut |= _lengths(cut_tokens) != _lengths(tokens)
        if self.ignored is not None:
            cut_tokens = [[token for token in ids if token != self.ignored] for ids in cut_tokens]
        flat = torch.tensor([*chain.from_iterable(cut_tokens)], dtype=torch.long)
        offsets = torch.tensor([0, *accumulate(map(len, cut_tokens))][:-1], dtype=torch.long)
        with torch.inference_mode():
            return F.embedding_bag(flat, self.vectors, offsets, mode="mean"), is_cut

    def token_vectors(
        self, sentence: str, *, prompt: str = "", dim: int | None = None
    ) -> WeightedTokens:
        """Return the vectors that `means` averages of PROMPT and SENTENCE, the first DIM numbers of
        each, and where each token is.
        """
        text = f"{prompt}{sentence}"[: self.most_characters]
        with reading_file(self.folder, "tokenizer"):
            encoding = self.tokenizer.encode(text, add_special_tokens=False)
        tokens: list[int] = []
        spans: list[tuple[int, int] | None] = []
        for token, offset in zip(encoding.ids[: self.most_tokens], encoding.offsets, strict=False):
            if token != self.ignored:
                start, end = (position - len(prompt) for position in offset)
                tokens.append(token)
                spans.append((start, end) if end > max(start, 0) else None)
        return WeightedTokens(
            vectors=self.vectors[tokens, :dim].numpy(),
            weights=np.ones(len(tokens)),
            spans=tuple(spans),
        )


def _lengths(parts: Sequence[Sized]) -> NDArray[np.int64]:
    return np.fromiter(map(len, parts), np.int64, len(parts))


def read_token_vectors(path: Path, tokenizer: Tokenizer) -> Tensor:
    """Read a float32 vector for each token of TOKENIZER; a missing, pickled or not finite one is a
    MissingError.

    model2vec may store fewer vectors, with the row of each token and the tokens' weights.
    """
    name, _ = static_vectors(path)
    tensors = read_tensors(path)
    table = tensors[name]
    if (mapping := tensors.get("mapping")) is not None:
        table = table[mapping.long()]
    table = table.float()
    if (weights := tensors.get("weights")) is not None:
        table = table * weights.float()[:, None]
    tokens = tokenizer.get_vocab_size()
    if tokens > len(table) or tokens < 0.9 * (len(table) - PADDED_ROWS):
        raise MissingError(
            f"{str(path)!r}: its tokenizer has {tokens} tokens, but there are {len(table)} vectors",
            hint=WHOLE,
        )
    return table


def read_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer.json, and make it pad nothing."""
    if not path.is_file():
        raise MissingError(f"{str(path.parent)!r} has no {path.name}", hint=WHOLE)
    with reading_file(path.parent, "tokenizer"):
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_padding()
    return tokenizer


SENTENCES_AT_ONCE = 16_384  # tokenised together, so that progress is seen and id lists stay small


@dataclass(kw_only=True, eq=False)
class StaticEncoder(Encoder):
    """Sentences to the mean of their tokens' vectors; a sentence without any known token has
    zeros.
    """

    name: str
    fingerprint: str
    table: TokenTable
    usage: Usage
    layers: nn.Sequential

    def __post_init__(self) -> None:
        """State how vectors are made."""
        self.similarity, self.dim = self.usage.similarity, self.usage.vector_dim()
        self.stated = EncoderFacts(
            pooling=self.usage.pooling_label,
            max_tokens=self.table.most_tokens,
            notes=self.usage.notes,
        )

    def embed(self, sentences: Sequence[Text], progress: ProgressCallback | None = None) -> Vectors:
        """A vector for each of these distinct sentences."""
        vectors = np.empty((len(sentences), self.dim), np.float32)
        prompt = self.usage.reading.prompt
        for start in range(0, len(sentences), SENTENCES_AT_ONCE):
            block = slice(start, start + SENTENCES_AT_ONCE)
            texts = [f"{prompt}{text}" for text in single_texts(self.name, sentences[block])]
            means, is_cut = self.table.means(texts)
            with torch.inference_mode():
                output = self.layers(means)
                if self.usage.is_normalised:
                    output = F.normalize(output, dim=-1)
            vectors[block] = output[:, : self.usage.dim].numpy()
            self.count("truncated", sentences[block], is_cut)
            if progress is not None:
                progress(min(block.stop, len(sentences)), len(sentences))
        self.inspect_vectors(sentences, vectors)
        return vectors

    def token_vectors(self, sentence: str) -> WeightedTokens:
        """The token vectors whose sum is the vector of SENTENCE but for its length; layers after it
        are a UsageError.
        """
        if len(self.layers):
            raise no_token_sum(self.name)
        return self.table.token_vectors(
            sentence, prompt=self.usage.reading.prompt, dim=self.usage.dim
        )


def load_table(folder: Path) -> TokenTable:
    """The vectors in a folder; in one of model2vec unknown tokens do not count, and long texts are
    cut as that package does.
    """
    tokenizer, weights = read_tokenizer(folder / "tokenizer.json"), static_weights(folder)
    table = TokenTable(
        folder=folder,
        tokenizer=tokenizer,
        vectors=read_token_vectors(weights, tokenizer),
        most_tokens=(tokenizer.truncation or {}).get("max_length"),
    )
    tokenizer.no_truncation()
    if static_vectors(weights)[0] != MODEL2VEC_VECTORS:
        return table
    limit = read_stated(folder / "config.json", Model2VecFile).max_length
    typical_length = int(np.median([len(word) for word in tokenizer.get_vocab()]))
    model = json.loads(tokenizer.to_str())["model"]
    return replace(
        table,
        most_tokens=limit,
        most_characters=None if limit is None else limit * typical_length,
        ignored=model.get("unk_id", tokenizer.token_to_id(model.get("unk_token") or "")),
    )
