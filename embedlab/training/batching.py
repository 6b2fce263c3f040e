"""Rows to tensors: every distinct sentence of a batch once, in chunks of similar length; its tokens
are computed once for all seeds of a run and all cells of a grid, and memory-mapped.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from embedlab.core.cache import TOKENS, read_cached
from embedlab.core.disk import CHECKSUMS, check_folder, sealed_folder, sole_writer
from embedlab.core.errors import MissingError
from embedlab.core.frame_files import map_array
from embedlab.core.session import ProgressCallback
from embedlab.encoders.device import send_tensor
from embedlab.encoders.encoder import Text, Vectors, key_content
from embedlab.encoders.tokens import TokenRows, read_ahead
from embedlab.encoders.transformer import TOKENISED_AT_ONCE, TransformerEncoder
from embedlab.models.reading import Reading
from embedlab.objectives.needs import Needs
from embedlab.objectives.objective import Objective
from embedlab.training.order import Indices, batch_generator
from embedlab.training.parallel import Team
from embedlab.training.stage_data import StageData

# Tokens in one pass on a CPU that computes no padding: few enough that a layer's output for them is
# a few megabytes; an estimate, as a batch of 64 pairs is one pass with this and any larger number.
PACK_TOKENS = 4_096

# Cost of one more forward and backward pass, in padded tokens that could be computed instead. CPU:
# measured with a three-layer encoder on batches of 64 pairs, flat from 64 to 256 and half the time
# of a single chunk; the others are estimates.
CHUNK_COST = {"cpu": 128, "mps": 1_024, "cuda": 4_096}


Cut = Callable[[NDArray[np.int64]], list[int]]
"""The end of each chunk into which sentences sorted by length are cut; takes their lengths."""

Chunk = tuple[
    Tensor, ...
]  # token ids, mask, and types where not all are 0; (sentences, tokens) each


class PackedRows(NamedTuple):
    """Sentences side by side in rows of one width, with hardly any padding."""

    ids: Tensor  # (rows, width), as the next three
    positions: Tensor  # of each token in its sentence, as the architecture counts them
    owners: Tensor  # the number of each token's sentence from 1 on; 0 is padding
    types: Tensor
    flat_indices: Tensor  # (sentences, tokens): where each token lies in the flattened rows
    mask: Tensor  # (sentences, tokens)


Pack = Callable[[Chunk], PackedRows | None]
"""Puts the sentences of a chunk side by side; None where the shape of the rows is too rare."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """The input of one step, or of a part of it where gradients are accumulated."""

    stage: int  # index of the stage it belongs to
    chunks: tuple[Chunk | PackedRows, ...]  # distinct sentences, shortest first
    vectors: (
        Tensor | None
    )  # of the distinct sentences, instead of chunks for a frozen encoder; (sentences, dim)
    columns: dict[
        str, Tensor
    ]  # sentence columns: index into those sentences; classes and scores; the objective's random draws
    rows: int
    sentences: (
        int  # distinct ones; with several processes the chunks hold only this process's share
    )
    weight: float = 1.0  # of its loss in that of the step

    def to(self, device: torch.device) -> "Batch":
        """Return the same batch on DEVICE."""
        return replace(
            self,
            chunks=tuple(_move_chunk(chunk, device) for chunk in self.chunks),
            vectors=send_tensor(self.vectors, device) if self.vectors is not None else None,
            columns={name: send_tensor(column, device) for name, column in self.columns.items()},
        )


@dataclass(frozen=True, kw_only=True)
class Collation:
    """Everything needed to make the batches of a stage."""

    data: StageData
    needs: Needs
    tokens: TokenRows  # of the stage's distinct sentences
    objective: Objective
    pad: int
    cut: Cut
    vectors: Vectors | None = None  # of the stage's distinct sentences, for a frozen encoder
    pack: Pack | None = None  # where passes are captured
    team: Team = field(default_factory=Team)

    @property
    def chunk_limit(self) -> int | None:
        """Return the largest number of sentences in a chunk."""
        return self.data.stage.optim.micro_batch

    def batches(self, steps_done: int) -> Iterator[tuple[Batch, ...]]:
        """Yield the parts of each of the stage's batches after the first STEPS_DONE, prepared in a
        thread; random draws depend on a batch's position alone.
        """
        return read_ahead(self._batches(steps_done))

    def _batches(self, steps_done: int) -> Iterator[tuple[Batch, ...]]:
        for epoch, steps in enumerate(self.data.epochs):
            if steps_done < steps:
                batches = self.data.batches(epoch)
                for number in range(steps_done, steps):
                    rng = batch_generator(self.data.seed, self.data.index, epoch, number)
                    yield self.parts(batches[number], rng)
            steps_done = max(0, steps_done - steps)

    def parts(self, rows: Indices, rng: np.random.Generator) -> tuple[Batch, ...]:
        """Return the batch of these ROWS, in parts where the recipe accumulates gradients: their
        losses add up to its own.
        """
        count, shared = self.data.stage.optim.accumulate, self.needs.shared_column
        if count is None:
            return (self.collate(rows, rng),)
        groups = np.arange(len(rows)) if shared is None else self.data.rows.columns[shared][rows]
        parts = [self.collate(part, rng) for part in np.split(rows, part_ends(groups, count)[:-1])]
        if self.objective.is_sum:
            return tuple(parts)
        return tuple(replace(part, weight=part.rows / len(rows)) for part in parts)

    def collate(self, rows: Indices, rng: np.random.Generator) -> Batch:
        """Return the batch of these ROWS."""
        columns = {name: column[rows] for name, column in self.data.rows.columns.items()}
        texts = np.stack([columns[name] for name in self.needs.encoded])
        distinct, sentence_indices = np.unique(texts, return_inverse=True)
        lengths = self.tokens.lengths[distinct]
        by_length = np.argsort(lengths, kind="stable")
        position = np.argsort(by_length)
        columns |= dict(
            zip(self.needs.encoded, position[sentence_indices.reshape(texts.shape)], strict=True)
        )
        columns |= self.objective.sample(columns, rng)
        share = self.team.share(by_length)
        return Batch(
            stage=self.data.index,
            chunks=self._chunks(distinct[share], lengths[share]) if self.vectors is None else (),
            vectors=torch.from_numpy(self.vectors[distinct[share]])
            if self.vectors is not None
            else None,
            columns={
                name: torch.from_numpy(np.ascontiguousarray(column))
                for name, column in columns.items()
            },
            rows=len(rows),
            sentences=len(distinct),
        )

    def _chunks(
        self, sentences: Indices, lengths: NDArray[np.int64]
    ) -> tuple[Chunk | PackedRows, ...]:
        """Return the padded tokens of SENTENCES, which are sorted by their LENGTHS; packed, where
        all of them come in common shapes.
        """
        if self.pack is not None:
            padded_chunks = self._padded(sentences, [len(sentences)])
            rows = [
                packed_rows
                for chunk in padded_chunks
                if (packed_rows := self.pack(chunk)) is not None
            ]
            if len(rows) == len(padded_chunks):
                return tuple(rows)
        return self._padded(sentences, self.cut(lengths))

    def _padded(self, sentences: Indices, bounds: list[int]) -> tuple[Chunk, ...]:
        """Return the padded tokens of SENTENCES that are cut at BOUNDS and where a chunk is
        full.
        """
        pieces = np.split(sentences, limit_chunks(bounds, self.chunk_limit)[:-1])
        return tuple(
            tuple(map(torch.from_numpy, self.tokens.padded(piece, self.pad))) for piece in pieces
        )


def _move_chunk(chunk: Chunk | PackedRows, device: torch.device) -> Chunk | PackedRows:
    moved = tuple(send_tensor(values, device) for values in chunk)
    return PackedRows(*moved) if isinstance(chunk, PackedRows) else moved


def chunk_cutter(encoder: TransformerEncoder) -> Cut:
    """Return how batches are cut for ENCODER on its machine."""
    if encoder.forward.is_packing:
        return partial(pack_ends, budget=PACK_TOKENS)
    return partial(chunk_ends, chunk_cost=CHUNK_COST[encoder.machine.device.type])


def pack_ends(lengths: NDArray[np.int64], budget: int) -> list[int]:
    """Return where to cut sentences into the fewest parts of about equally many tokens: BUDGET or
    slightly more.
    """
    cumulative = np.cumsum(lengths)
    part_count = -(-int(cumulative[-1]) // budget)
    targets = cumulative[-1] * np.arange(1, part_count + 1) / part_count
    return [int(end) for end in np.unique(np.searchsorted(cumulative, targets) + 1)]


def part_ends(groups: NDArray[np.integer], parts: int) -> NDArray[np.int64]:
    """Return the ends of about PARTS equal parts of rows; rows in a row of one of the GROUPS stay
    together, so that there may be fewer.
    """
    group_ends = np.append(np.flatnonzero(np.diff(groups)) + 1, len(groups))
    targets = len(groups) * np.arange(1, parts + 1) / parts
    return np.unique(group_ends[np.abs(group_ends - targets[:, None]).argmin(axis=1)])


def limit_chunks(ends: list[int], limit: int | None) -> list[int]:
    """Return the same cuts, with chunks of more than LIMIT sentences cut evenly."""
    if limit is None:
        return ends
    pieces = (
        np.array_split(np.arange(start, end), -(-(end - start) // limit))
        for start, end in pairwise([0, *ends])
    )
    return [int(rows[-1]) + 1 for chunk in pieces for rows in chunk]


def chunk_ends(lengths: NDArray[np.int64], chunk_cost: int) -> list[int]:
    """Return the cuts of sentences sorted by length that minimise padded tokens plus CHUNK_COST a
    chunk.

    Exact: the shortest path over the positions where the length changes.
    """
    length_ends = np.append(np.flatnonzero(np.diff(lengths)) + 1, len(lengths))
    cost, best_previous = np.zeros(len(length_ends) + 1), np.zeros(len(length_ends) + 1, np.int64)
    starts = np.append(0, length_ends)
    for number, end in enumerate(length_ends, start=1):
        options = cost[:number] + (end - starts[:number]) * lengths[end - 1] + chunk_cost
        best_previous[number] = options.argmin()
        cost[number] = options[best_previous[number]]
    bounds, index = [], len(length_ends)
    while index:
        bounds.append(int(starts[index]))
        index = best_previous[index]
    return bounds[::-1]


SCHEMA = "1"
ARRAYS = ("flat", "offsets", "truncated")
TYPES = "types"  # an array too, where not all are 0


def tokenise_in_parts(
    encoder: TransformerEncoder, sentences: Sequence[Text], progress: ProgressCallback | None = None
) -> TokenRows:
    """Return the token ids of distinct sentences, tokenised in parts to show progress."""
    tokenised = []
    for start in range(0, len(sentences), TOKENISED_AT_ONCE):
        tokenised.append(encoder.token_ids(sentences[start : start + TOKENISED_AT_ONCE]))
        if progress is not None:
            progress(min(len(sentences), start + TOKENISED_AT_ONCE), len(sentences))
    types = [token_rows.types for token_rows in tokenised if token_rows.types is not None]
    return TokenRows(
        flat=np.concatenate([token_rows.flat for token_rows in tokenised]),
        offsets=np.append(
            0, np.cumsum(np.concatenate([token_rows.lengths for token_rows in tokenised]))
        ),
        truncated=np.concatenate([token_rows.truncated for token_rows in tokenised]),
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
        return tokenise_in_parts(encoder, sentences, progress)
    path = cache / TOKENS / token_key(encoder.tokenizer, encoder.usage.reading, sentences)
    with suppress(OSError, MissingError), sole_writer(path):
        if (token_rows := read_cached(path, _read)) is not None:
            return token_rows
        tokens = tokenise_in_parts(encoder, sentences, progress)
        with suppress(OSError, MissingError):
            _write(path, tokens)
        return read_cached(path, _read) or tokens
    return tokenise_in_parts(encoder, sentences, progress)


def token_key(
    tokenizer: PreTrainedTokenizerFast, reading: Reading, sentences: Sequence[Text]
) -> str:
    """Return hex digits that change with the tokenizer, the reading or a sentence."""
    rules = json.loads(tokenizer.backend_tokenizer.to_str())
    # Left over from the last call, and set again by each.
    rules["truncation"] = rules["padding"] = None
    key = [SCHEMA, reading.max_tokens, *reading.details, rules]
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode())
    for sentence in sentences:
        content = key_content(sentence)
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()[:24]


def _write(path: Path, rows: TokenRows) -> None:
    with sealed_folder(path) as folder:
        for name in (*ARRAYS, TYPES):
            if (array := getattr(rows, name)) is not None:
                np.save(folder / f"{name}.npy", array, allow_pickle=False)


def _read(path: Path) -> TokenRows:
    """Map the tokens in the folder at PATH."""
    (path / CHECKSUMS).stat()  # without it nothing is known of the files
    check_folder(path, hint="")
    flat, offsets, truncated = (map_array(path / f"{name}.npy") for name in ARRAYS)
    types = path / f"{TYPES}.npy"
    return TokenRows(
        flat=flat,
        offsets=np.asarray(offsets),
        truncated=np.asarray(truncated),
        types=map_array(types) if types.exists() else None,
    )
