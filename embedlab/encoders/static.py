"""Static token vectors averaged to sentence vectors: sentence-transformers' StaticEmbedding and model2vec's folders."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from embedlab.core.errors import MissingError
from embedlab.core.progress import ProgressCallback
from embedlab.encoders.encoder import EncoderFacts, Vectors, distinct, score_by_vectors
from embedlab.encoders.layers import load_layers
from embedlab.encoders.weight_checks import WHOLE, reading
from embedlab.models.folder import Usage, pooling_label, vector_dim
from embedlab.models.folder_files import weight_files

SENTENCES_AT_ONCE = 16_384  # tokenised together, so that progress is seen and id lists stay small


class StaticEncoder:
    """Sentences to the mean of their tokens' vectors; a sentence without any known token has zeros."""

    def __init__(
        self,
        *,
        name: str,
        fingerprint: str,
        tokenizer: Tokenizer,
        table: Tensor,
        usage: Usage,
        layers: nn.Sequential,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.usage = usage
        self._tokenizer = tokenizer
        self._table = table  # (tokens, width)
        self._layers = layers
        self._notes = notes

    @cached_property
    def dim(self) -> int:
        """Length of a vector."""
        return vector_dim(self.usage)

    @property
    def facts(self) -> EncoderFacts:
        """How it makes vectors; no text is too long for it."""
        return EncoderFacts(pooling=pooling_label(self.usage), notes=self._notes)

    def encode(self, sentences: Sequence[str], progress: ProgressCallback | None = None) -> Vectors:
        """One vector a sentence, in order."""
        unique, index = distinct(sentences)
        return self.embed(unique, progress)[0][index]

    def score(self, first: Sequence[str], second: Sequence[str], progress: ProgressCallback | None = None) -> NDArray[np.float32]:
        """The similarity of each pair."""
        return score_by_vectors(self, first, second, progress, similarity=self.usage.similarity)

    def embed(self, sentences: Sequence[str], progress: ProgressCallback | None = None) -> tuple[Vectors, NDArray[np.bool_]]:
        """A vector for each of these sentences; none is ever cut."""
        vectors = np.empty((len(sentences), self.dim), np.float32)
        for start in range(0, len(sentences), SENTENCES_AT_ONCE):
            part = slice(start, start + SENTENCES_AT_ONCE)
            vectors[part] = self._means(sentences[part])
            if progress is not None:
                progress(min(part.stop, len(sentences)), len(sentences))
        return vectors, np.zeros(len(sentences), np.bool_)

    def _means(self, sentences: Sequence[str]) -> Vectors:
        texts = [f"{self.usage.prompt}{sentence}" for sentence in sentences] if self.usage.prompt else list(sentences)
        encoded = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        ids = [one.ids for one in encoded]
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        flat = np.fromiter((token for row in ids for token in row), np.int64, int(lengths.sum()))
        offsets = np.cumsum(lengths) - lengths
        with torch.inference_mode():
            vectors = F.embedding_bag(torch.from_numpy(flat), self._table, torch.from_numpy(offsets), mode="mean")
            vectors = self._layers(vectors)
            vectors = F.normalize(vectors, dim=-1) if self.usage.is_normalised else vectors
        found: Vectors = vectors[:, : self.usage.dim].numpy()
        return found


def load_static(folder: Path, usage: Usage, *, name: str, fingerprint: str, note: str | None = None) -> StaticEncoder:
    """The static token vectors in FOLDER, used as USAGE says; what is missing, pickled or not finite is a MissingError."""
    table = _read_table(usage.source)
    tokenizer = read_tokenizer(usage.source)
    if tokenizer.get_vocab_size() > len(table):
        raise MissingError(
            f"{str(folder)!r}: its tokenizer has {tokenizer.get_vocab_size()} tokens, but there are {len(table)} vectors", hint=WHOLE
        )
    return StaticEncoder(
        name=name,
        fingerprint=fingerprint,
        tokenizer=tokenizer,
        table=table,
        usage=usage,
        layers=load_layers(usage.layers).eval(),
        notes=(*usage.notes, *([note] if note else [])),
    )


def read_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer.json of FOLDER, without padding."""
    if not (folder / "tokenizer.json").is_file():
        raise MissingError(f"{str(folder)!r} has no tokenizer.json", hint=WHOLE)
    with reading(folder, "tokenizer"):
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
    return tokenizer


def _read_table(folder: Path) -> Tensor:
    """One vector a token id in float32; model2vec may store fewer vectors, the one of each token and the tokens' weights."""
    path = next(iter(weight_files(folder)), folder / "model.safetensors")
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise MissingError(f"{str(path)!r} cannot be read: {' '.join(str(error).split())[:200]}", hint=WHOLE) from error
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
    return table
