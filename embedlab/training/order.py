"""Which rows form a batch and in which order: rows of a group stay together, and stages are read in
turn or together.
"""

from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from embedlab.core.recipe import Combine

Indices = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Draw:
    """Groups of one dataset, each belonging to a unit (for example a pair of sentences); each epoch
    draws a share of the units.
    """

    groups: Indices  # their numbers
    units: Indices  # the unit of each
    share: float

    def draw_groups(self, rng: np.random.Generator) -> Indices:
        """Return the groups of one epoch."""
        if self.share >= 1:
            return self.groups
        total = int(self.units.max()) + 1
        is_drawn = np.zeros(total, np.bool_)
        is_drawn[rng.permutation(total)[: max(1, round(self.share * total))]] = True
        return self.groups[is_drawn[self.units]]


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Row numbers, group after group: group i is `rows[bounds[i]:bounds[i + 1]]`."""

    rows: Indices
    bounds: Indices  # (groups + 1,)
    parts: tuple[tuple[Draw, ...], ...] = ()  # read in sequence in each epoch; empty: all groups
    is_shuffled: bool = True
    texts: Indices | None = None  # (rows, texts) of which no batch holds one in two rows

    def __len__(self) -> int:
        return len(self.bounds) - 1


def group_rows(keys: Indices, largest: int) -> Groups:
    """Return rows with equal KEYS as groups; a group of more than LARGEST rows is split, because no
    batch could hold it.
    """
    order = np.argsort(keys, kind="stable")
    is_first = np.diff(keys[order], prepend=keys.min(initial=0) - 1) != 0
    starts = np.maximum.accumulate(np.where(is_first, np.arange(len(keys)), 0))
    bounds = np.flatnonzero((np.arange(len(keys)) - starts) % largest == 0)
    return Groups(rows=order, bounds=np.append(bounds, len(keys)))


def shuffled_batches(
    groups: Groups, batch_size: int, rng: np.random.Generator, among: Indices | None = None
) -> list[Indices]:
    """Return the rows of each batch: groups (all or those AMONG) in random order; a batch ends
    before a group that does not fit.
    """
    order = rng.permutation(len(groups)) if among is None else among[rng.permutation(len(among))]
    lengths = np.diff(groups.bounds)[order]
    group_ends = np.cumsum(lengths)
    index_in_group = np.arange(lengths.sum()) - np.repeat(group_ends - lengths, lengths)
    rows = groups.rows[np.repeat(groups.bounds[:-1][order], lengths) + index_in_group]
    cuts, start, end = [], 0, 0
    for length in lengths.tolist():
        if end + length - start > batch_size:
            cuts.append(end)
            start = end
        end += length
    return np.split(rows, cuts)


def parted_batches(texts: Indices, batch_size: int, rng: np.random.Generator) -> list[Indices]:
    """Return the rows of each batch in random order, where no batch holds one text in two rows.

    texts: (rows, texts a row). Each row goes into the first batch with room behind those that hold
    one of its texts, so that a text of n rows makes at least n batches, which come in random order.
    """
    batches: list[list[int]] = []
    first_free = np.zeros(
        int(texts.max(initial=-1)) + 1, np.int64
    )  # the first batch without the text
    room_of_batch: list[int] = []  # for each batch a later or equal one that may have room
    for row in rng.permutation(len(texts)).tolist():
        number = int(first_free[texts[row]].max())
        passed = []
        while number < len(batches) and len(batches[number]) >= batch_size:
            passed.append(number)
            number = room_of_batch[number]
        if number == len(batches):
            batches.append([])
            room_of_batch.append(number)
        for full_batch in passed:
            room_of_batch[full_batch] = number
        batches[number].append(row)
        if len(batches[number]) == batch_size:
            room_of_batch[number] = number + 1
        first_free[texts[row]] = number + 1
    return [np.array(batches[number]) for number in rng.permutation(len(batches))]


def epoch_generator(seed: int, stage: int, epoch: int) -> np.random.Generator:
    """Return the generator of an epoch's order."""
    return np.random.default_rng([seed, stage, epoch, 0])


def batch_generator(seed: int, stage: int, epoch: int, batch: int) -> np.random.Generator:
    """Return the generator for the draws of one batch, counted from 0; it depends on these four
    numbers alone.
    """
    # numpy reads [a, b, c] as [a, b, c, 0]: the fourth number must be given and differ from the
    # epoch's own.
    return np.random.default_rng([seed, stage, epoch, batch + 1])


def epoch_batches(
    groups: Groups, batch_size: int, *, seed: int, stage: int, epoch: int
) -> list[Indices]:
    """Return the batches of one epoch of one stage of a run."""
    rng = epoch_generator(seed, stage, epoch)
    if not groups.is_shuffled:
        return np.split(groups.rows, np.arange(batch_size, len(groups.rows), batch_size))
    if groups.texts is not None:
        return parted_batches(groups.texts, batch_size, rng)
    if not groups.parts:
        return shuffled_batches(groups, batch_size, rng)
    draws = np.random.default_rng(
        [seed, stage, epoch, 0, 2]
    )  # five numbers, as in gradient surgery, whose last is 1
    group_indices = [
        np.concatenate([draw.draw_groups(draws) for draw in draws_of_part])
        for draws_of_part in groups.parts
    ]
    return [
        batch
        for indices in group_indices
        for batch in shuffled_batches(groups, batch_size, rng, indices)
    ]


def steps_of_epochs(batches_of: Callable[[int], Sized], epochs: float) -> tuple[int, ...]:
    """Return how many BATCHES_OF each epoch there are; the last is cut short where EPOCHS has a
    fraction.
    """
    counts = [len(batches_of(epoch)) for epoch in range(ceil(epochs))]
    shares = [min(1.0, epochs - epoch) for epoch in range(len(counts))]
    return tuple(ceil(round(count * share, 6)) for count, share in zip(counts, shares, strict=True))


def epochs_of_steps(batches_of: Callable[[int], Sized], steps: int) -> tuple[int, ...]:
    """Return how many BATCHES_OF each epoch are read until there are STEPS, restarting the rows as
    often as needed.
    """
    counts: list[int] = []
    while (steps_left := steps - sum(counts)) > 0:
        counts.append(min(steps_left, len(batches_of(len(counts)))))
    return tuple(counts)


def batch_order(
    combine: Combine, turns: Sequence[int], leader: int, epochs: Sequence[int]
) -> Indices:
    """Return, for each batch of a common training, the place of the stage that it is read from.

    TURNS are each stage's batches in a round; the training ends with the stage at the place LEADER
    after its EPOCHS, given in steps. In "epochs" every stage gives as many batches as the leader's
    epoch has; in a joint step each gives one, the leader first.
    """
    stage_indices = np.arange(len(turns))
    match combine:
        case "turns":
            rounds, batches_left = divmod(sum(epochs), turns[leader])
            return np.append(
                np.tile(np.repeat(stage_indices, turns), rounds), np.full(batches_left, leader)
            )
        case "epochs":
            return np.concatenate([np.repeat(stage_indices, steps) for steps in epochs])
        case _:
            return np.tile([leader, *np.delete(stage_indices, leader)], sum(epochs))


def stepwise_order(epochs: Sequence[Sequence[int]], *, same_batch: bool) -> Indices:
    """Return the same as `batch_order` for stages in step, given the steps of their EPOCHS: whole
    epochs in turn, or batch by batch.

    A stage that has more batches than the others takes the rest of its epoch alone.
    """
    order = []
    for steps in zip(*epochs, strict=True):
        has_batch = np.arange(max(steps))[:, None] < np.asarray(steps)  # (batches, stages)
        order.append(
            np.nonzero(has_batch)[1] if same_batch else np.repeat(np.arange(len(steps)), steps)
        )
    return np.concatenate(order)


def task_orders(seed: int, stage: int, step: int, tasks: int) -> list[list[int]]:
    """Return the order in which gradient surgery compares each of TASKS with the others at a step,
    drawn anew for each.
    """
    rng = np.random.default_rng(
        [seed, stage, step, 0, 1]
    )  # five numbers: distinct from the generators of row orders and batch draws
    return [
        [int(other) for other in rng.permutation(tasks) if other != task] for task in range(tasks)
    ]
