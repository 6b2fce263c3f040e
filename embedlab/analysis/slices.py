"""Subsets of pairs that are evaluated separately: each dataset, each source, each fifth of word overlap."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from embedlab.choices import By
from embedlab.core.note import Note

FIFTHS = 5
_COMMON = "?common"  # whether a pair is one of those that all members score; no model has this name
ALL_SPLITS = " (all splits)"  # after the name of a dataset whose train, dev and test pairs are one


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


def slices(table: pl.DataFrame, by: By, *, common: Sequence[str] = ()) -> list[Slice]:
    """The slices of a pair table, in the table's order; of members COMMON the pairs alone that all of them score, counted in titles.

    A member that scores no pair of a dataset costs the others none there. Fifths are those of all pairs, whatever is scored.
    """
    if not common:
        return _cut(table, by)
    return [_of_common(part) for part in _cut(table.with_columns(has_all(common).alias(_COMMON)), by)]


def joined_splits(table: pl.DataFrame) -> pl.DataFrame:
    """TABLE with each dataset whose three splits are all there as one, train, dev, test: the pairs and the order of published fifths."""
    parts = {pairs["dataset"][0]: pairs for pairs in table.partition_by("dataset", maintain_order=True)}
    for name in list(parts):
        splits = [f"{name}:train", f"{name}:dev", name]
        if all(split in parts for split in splits):
            parts[name] = pl.concat(parts.pop(split) for split in splits).with_columns(dataset=pl.lit(f"{name}{ALL_SPLITS}"))
    return pl.concat(parts.values()) if parts else table


def has_all(members: Sequence[str], over: str = "dataset") -> pl.Expr:
    """Whether a row has a score of each member that scores any row of its dataset, which the column OVER names."""
    scored = [pl.col(name).is_not_null() & pl.col(name).is_not_nan() for name in dict.fromkeys(members)]
    return pl.all_horizontal(one | ~one.any().over(over) for one in scored)


def _of_common(part: Slice) -> Slice:
    pairs = part.pairs.filter(_COMMON).drop(_COMMON)
    counted = f", {pairs.height} of {part.pairs.height}" if pairs.height < part.pairs.height else ""
    return replace(part, title=f"{part.title}{counted}", pairs=pairs)


def _cut(table: pl.DataFrame, by: By) -> list[Slice]:
    parts = [(pairs["dataset"][0], pairs) for pairs in table.partition_by("dataset", maintain_order=True)]
    if by == "dice":
        return [part for name, pairs in parts for part in _by_fifth(name, pairs)]
    if by == "source":
        return [_by_source(pairs) for pairs in table.partition_by("dataset", "source", maintain_order=True)]
    return [Slice(key=name, title=name, pairs=pairs) for name, pairs in parts]


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


def _by_source(pairs: pl.DataFrame) -> Slice:
    dataset, source = pairs["dataset"][0], pairs["source"][0]
    if source is None:
        return Slice(key=dataset, title=dataset, pairs=pairs, notes=("its pairs name no source",))
    return Slice(key=f"{dataset}/{source}", title=f"{dataset} {source}", pairs=pairs)


def _by_fifth(name: str, pairs: pl.DataFrame) -> Iterator[Slice]:
    fifths = dice_fifths(pairs["dice"])
    for number in range(1, FIFTHS + 1):
        part = pairs.filter(fifths.fifth == number)
        if part.height:
            dice = part["dice"].to_numpy()
            title = f"{name} fifth {number} (Dice {dice.min():.2f}–{dice.max():.2f})"
            yield Slice(key=f"{name}/fifth-{number}", title=title, pairs=part, notes=tie_notes(fifths, number))


def tie_notes(fifths: Fifths, number: int, title: str = "Dice") -> tuple[str, ...]:
    """Return a remark if a tie is split between this fifth and the one above it."""
    cut = number - 1
    if cut >= len(fifths.cuts) or not fifths.ties[cut]:
        return ()
    tied = f"{fifths.ties[cut]} pairs tie at {title} {fifths.cuts[cut]:.3f}, the cut above fifth {number}"
    return (Note(f"{tied}; they are split by their order"),)
