"""Rows to tensors: every distinct sentence of a batch once, in chunks of similar length."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from embedlab.encoders.encoder import Watch
from embedlab.encoders.tokens import TokenRows
from embedlab.encoders.transformer import SENTENCES_AT_ONCE, TransformerEncoder
from embedlab.objectives.needs import Needs
from embedlab.objectives.objective import Objective
from embedlab.training.order import Indices, batch_generator
from embedlab.training.stage_data import StageData

# What one more forward and backward pass costs, in padded tokens that could be computed instead. CPU: measured with a
# three-layer encoder on batches of 64 pairs, flat from 64 to 256 and half the time of a single chunk; the others are estimates.
CHUNK_COST = {"cpu": 128, "mps": 1_024, "cuda": 4_096}


Chunk = tuple[Tensor, Tensor]  # token ids and mask, (sentences, tokens) each


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What one step reads."""

    stage: int  # index of the stage it belongs to
    chunks: tuple[Chunk, ...]  # the distinct sentences, shortest first
    columns: dict[str, Tensor]  # sentence columns: place among those sentences; class columns; what the objective drew
    rows: int

    def to(self, device: torch.device) -> "Batch":
        """The same batch on DEVICE."""
        return Batch(
            stage=self.stage,
            chunks=tuple((ids.to(device, non_blocking=True), mask.to(device, non_blocking=True)) for ids, mask in self.chunks),
            columns={name: column.to(device, non_blocking=True) for name, column in self.columns.items()},
            rows=self.rows,
        )


@dataclass(frozen=True, kw_only=True)
class Collation:
    """All that is needed to make batches of a stage."""

    data: StageData
    needs: Needs
    tokens: TokenRows  # of the stage's distinct sentences
    objective: Objective
    pad: int
    chunk_cost: int

    @property
    def chunk_limit(self) -> int | None:
        """Sentences in a chunk, at most."""
        return self.data.stage.optim.micro_batch

    def batches(self, done: int) -> Iterator[Batch]:
        """The stage's batches after its first DONE steps."""
        before = 0
        for epoch, steps in enumerate(self.data.epochs):
            if done < before + steps:
                batches = self.data.batches(epoch)
                for number in range(max(0, done - before), steps):
                    yield self.collate(batches[number], batch_generator(self.data.seed, self.data.index, epoch, number))
            before += steps

    def collate(self, rows: Indices, rng: np.random.Generator) -> Batch:
        """The batch of these ROWS."""
        columns = {name: column[rows] for name, column in self.data.rows.columns.items()}
        texts = np.stack([columns[name] for name in self.needs.encoded])
        distinct, places = np.unique(texts, return_inverse=True)
        lengths = self.tokens.lengths[distinct]
        by_length = np.argsort(lengths, kind="stable")
        place = np.argsort(by_length)
        columns |= dict(zip(self.needs.encoded, place[places.reshape(texts.shape)], strict=True))
        columns |= self.objective.sample(columns, rng)  # type: ignore[arg-type]
        ends = chunk_ends(lengths[by_length], self.chunk_cost, self.chunk_limit)
        chunks = (self.tokens.padded(chunk, self.pad) for chunk in np.split(distinct[by_length], ends[:-1]))
        return Batch(
            stage=self.data.index,
            chunks=tuple((torch.from_numpy(ids), torch.from_numpy(mask)) for ids, mask in chunks),
            columns={name: torch.from_numpy(np.ascontiguousarray(column)) for name, column in columns.items()},
            rows=len(rows),
        )


def chunk_ends(lengths: NDArray[np.int64], chunk_cost: int, limit: int | None = None) -> list[int]:
    """Where to cut sentences sorted by length so that padded tokens plus CHUNK_COST a chunk are fewest.

    Exact, by the shortest path over the places where the length changes; the last end is the number of sentences. With
    a LIMIT chunks of more sentences are cut evenly.
    """
    ends = _cheapest_ends(lengths, chunk_cost)
    if limit is None:
        return ends
    parts = (np.array_split(np.arange(start, end), -(-(end - start) // limit)) for start, end in pairwise([0, *ends]))
    return [int(part[-1]) + 1 for chunk in parts for part in chunk]


def _cheapest_ends(lengths: NDArray[np.int64], chunk_cost: int) -> list[int]:
    ends = np.append(np.flatnonzero(np.diff(lengths)) + 1, len(lengths))
    cost, before = np.zeros(len(ends) + 1), np.zeros(len(ends) + 1, np.int64)
    starts = np.append(0, ends)
    for number, end in enumerate(ends, start=1):
        options = cost[:number] + (end - starts[:number]) * lengths[end - 1] + chunk_cost
        before[number] = options.argmin()
        cost[number] = options[before[number]]
    found, place = [], len(ends)
    while place:
        found.append(int(starts[place]))
        place = before[place]
    return found[::-1]


def tokenise(encoder: TransformerEncoder, sentences: list[str], watch: Watch | None = None) -> TokenRows:
    """The token ids of distinct sentences, in parts so that progress is seen."""
    parts = []
    for start in range(0, len(sentences), SENTENCES_AT_ONCE):
        parts.append(encoder.token_ids(sentences[start : start + SENTENCES_AT_ONCE]))
        if watch is not None:
            watch(min(len(sentences), start + SENTENCES_AT_ONCE), len(sentences))
    return TokenRows(
        flat=np.concatenate([part.flat for part in parts]),
        offsets=np.append(0, np.cumsum(np.concatenate([part.lengths for part in parts]))),
        truncated=np.concatenate([part.truncated for part in parts]),
    )
