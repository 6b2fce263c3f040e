"""Which rows form a batch and in which order: rows of a group stay together, and stages are read in
turn or together.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Draw:
    """Groups of one dataset, each belonging to a unit (for example a pair of sentences); each epoch
    draws a share of the units.
    """

    groups: Indices  # their numbers
    units: Indices  # the unit of each
    share: float = 1.0

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


EpochOrder = Callable[[np.random.Generator, np.random.Generator], list[Indices]]
"""Gives the rows of each batch of an epoch; takes the generators of its order and of its draws."""


def unshuffled_batches(rows: int, batch_size: int, *_: np.random.Generator) -> list[Indices]:
    """Return the ROWS of each batch as they come."""
    return np.split(np.arange(rows), np.arange(batch_size, rows, batch_size))


def drawn_batches(
    groups: Groups,
    parts: Sequence[Sequence[Draw]],
    batch_size: int,
    rng: np.random.Generator,
    draws: np.random.Generator,
) -> list[Indices]:
    """Return the rows of each batch: GROUPS that are drawn for an epoch, shuffled within each of
    PARTS.

    The draws have a generator of their own, so that the order is the same with and without them.
    """
    drawn_parts = [np.concatenate([draw.draw_groups(draws) for draw in part]) for part in parts]
    return [
        batch
        for drawn_groups in drawn_parts
        for batch in shuffled_batches(groups, drawn_groups, batch_size, rng)
    ]


def shuffled_batches(
    groups: Groups, among: Indices, batch_size: int, rng: np.random.Generator
) -> list[Indices]:
    """Return the rows of each batch: the groups AMONG in random order; a batch ends before a group
    that does not fit.
    """
    order = among[rng.permutation(len(among))]
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


def parted_batches(
    texts: Indices, batch_size: int, rng: np.random.Generator, *_: np.random.Generator
) -> list[Indices]:
    """Return the rows of each batch in random order, where no batch holds one text in two rows.

    texts: (rows, texts a row). Each row goes into the first batch with room behind those that hold
    one of its texts, so that a text of n rows makes at least n batches, which come in random order.
    """
    batches: list[list[int]] = []
    first_free = np.zeros(int(texts.max(initial=-1)) + 1, np.int64)  # the first without the text
    first_with_room = 0

    def next_with_room(number: int) -> int:
        while number < len(batches) and len(batches[number]) == batch_size:
            number += 1
        return number

    for row in rng.permutation(len(texts)).tolist():
        first_with_room = next_with_room(first_with_room)
        number = next_with_room(max(first_with_room, int(first_free[texts[row]].max())))
        if number == len(batches):
            batches.append([])
        batches[number].append(row)
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


def epoch_batches(order: EpochOrder, *, seed: int, stage: int, epoch: int) -> list[Indices]:
    """Return the batches of one epoch of one stage of a run."""
    # five numbers, as in gradient surgery, whose last is 1
    draws = np.random.default_rng([seed, stage, epoch, 0, 2])
    return order(epoch_generator(seed, stage, epoch), draws)


def steps_of_epochs(batches_in: Callable[[int], int], epochs: float) -> tuple[int, ...]:
    """Return the steps of each epoch, which has so many BATCHES IN it; the last is cut short where
    EPOCHS has a fraction.
    """
    shares = [min(1.0, epochs - epoch) for epoch in range(ceil(epochs))]
    return tuple(ceil(round(batches_in(epoch) * share, 6)) for epoch, share in enumerate(shares))


def epochs_of_steps(batches_in: Callable[[int], int], steps: int) -> tuple[int, ...]:
    """Return how many of the BATCHES IN each epoch are read until there are STEPS, restarting the
    rows as often as needed.
    """
    counts: list[int] = []
    while (steps_left := steps - sum(counts)) > 0:
        counts.append(min(steps_left, batches_in(len(counts))))
    return tuple(counts)


def batch_order(rounds: Iterable[Sequence[int]], *, takes_turns: bool) -> Indices:
    """Return, for each batch of a common training, the place of the stage that it is read from.

    ROUNDS say how many batches each stage gives: all of them in its turn, or batch by batch with
    the others; a stage that has more of them then takes the rest of its own alone.
    """
    order = []
    for counts in rounds:
        if takes_turns:
            order.append(np.repeat(np.arange(len(counts)), counts))
            continue
        has_batch = np.arange(max(counts))[:, None] < np.asarray(counts)  # (batches, stages)
        order.append(np.nonzero(has_batch)[1])
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
