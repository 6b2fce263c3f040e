"""Subsets of pairs that are evaluated separately: each dataset, each source, each fifth of word overlap."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from embedlab.choices import By
from embedlab.core.note import Note

FIFTHS = 5


@dataclass(frozen=True, kw_only=True)
class Slice:
    """A subset of the pair table, with remarks on it."""

    key: str  # stable: "sts12", "sts12/MSRpar", "sts-benchmark/fifth-1"
    title: str
    pairs: pl.DataFrame
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Fifths:
    """Pairs cut into five equal parts by Dice, from the least to the most overlap."""

    fifth: NDArray[np.int8]  # 1–5 for each pair, in the order given
    sizes: tuple[int, ...]  # five
    cuts: tuple[float, ...]  # the Dice value of the first pair above each of the four cuts
    ties: tuple[int, ...]  # pairs that share the value a cut runs through; 0 when the cut separates two values


def slices(table: pl.DataFrame, by: By) -> list[Slice]:
    """The slices of a pair table, in the table's order."""
    if by == "dice":
        return [part for name, pairs in _whole_datasets(table) for part in _by_fifth(name, pairs)]
    if by == "source":
        return [_by_source(pairs) for pairs in table.partition_by("dataset", "source", maintain_order=True)]
    return [Slice(key=name, title=name, pairs=pairs) for name, pairs in _by_dataset(table)]


def dice_fifths(values: ArrayLike) -> Fifths:
    """Cut pairs into fifths of their Dice value: stable sort, so pairs that tie at a cut are split by their order.

    The first n mod 5 fifths get one pair more.
    """
    dice = np.asarray(values, dtype=np.float64)
    order = np.argsort(dice, kind="stable")
    sizes = [len(dice) // FIFTHS + (number < len(dice) % FIFTHS) for number in range(FIFTHS)]
    fifth = np.empty(len(dice), dtype=np.int8)
    fifth[order] = np.repeat(np.arange(1, FIFTHS + 1), sizes)
    ends = [end for end in np.cumsum(sizes)[:-1] if 0 < end < len(dice)]
    below, above = dice[order][[end - 1 for end in ends]], dice[order][ends]
    ties = [int((dice == high).sum()) if low == high else 0 for low, high in zip(below, above, strict=True)]
    return Fifths(fifth=fifth, sizes=tuple(sizes), cuts=tuple(above.tolist()), ties=tuple(ties))


def _by_dataset(table: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for pairs in table.partition_by("dataset", maintain_order=True):
        yield pairs["dataset"][0], pairs


def _by_source(pairs: pl.DataFrame) -> Slice:
    dataset, source = pairs["dataset"][0], pairs["source"][0]
    if source is None:
        return Slice(key=dataset, title=dataset, pairs=pairs, notes=("its pairs name no source",))
    return Slice(key=f"{dataset}/{source}", title=f"{dataset} {source}", pairs=pairs)


def _whole_datasets(table: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each dataset; one whose three splits are all there is taken whole, as train, dev, test: the order of the published fifths."""
    parts = dict(_by_dataset(table))
    for name in list(parts):
        splits = [f"{name}:train", f"{name}:dev", name]
        if all(split in parts for split in splits):
            parts[name] = pl.concat(parts.pop(split) for split in splits)
    yield from parts.items()


def _by_fifth(name: str, pairs: pl.DataFrame) -> Iterator[Slice]:
    fifths = dice_fifths(pairs["dice"])
    for number in range(1, FIFTHS + 1):
        part = pairs.filter(fifths.fifth == number)
        if part.height:
            dice = part["dice"].to_numpy()
            whole = " (all splits)" if pairs["dataset"].n_unique() > 1 else ""
            title = f"{name}{whole} fifth {number} (Dice {dice.min():.2f}–{dice.max():.2f})"
            yield Slice(key=f"{name}/fifth-{number}", title=title, pairs=part, notes=_tie_notes(fifths, number))


def _tie_notes(fifths: Fifths, number: int) -> tuple[str, ...]:
    """Return a remark if a tie is split between this fifth and the one above it."""
    cut = number - 1
    if cut >= len(fifths.cuts) or not fifths.ties[cut]:
        return ()
    tied = f"{fifths.ties[cut]} pairs tie at Dice {fifths.cuts[cut]:.3f}, the cut above fifth {number}"
    return (Note(f"{tied}; they are split by their order"),)
