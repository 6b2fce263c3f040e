"""The p of real differences at the ends of their intervals, by random signs, and of few topics by
all signs.

    python research/programs/printed_ends.py --data DIR [--signs 300000]

Models are those of research/scores/negation.parquet and sbert-defsent.parquet, and Dice, on the
seven STS sets. At each end of an interval the signs of what every topic contributes are drawn; the
share of draws that reach the distance is the p there without the formula for its tail. Of the rows
of 6 to 12 topics alone all signs are tried, in a loop.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from pair_frames import pair_outcomes, pair_table
from record import write_table
from simulated_scores import DATASETS

from embedlab.analysis.evidence import ModelColumns, member_columns
from embedlab.analysis.uncertainty import Uncertainty
from embedlab.analysis.weighing import Weighed
from embedlab.comparison.evidence import outcome_evidence
from embedlab.data.published import STS_AVERAGES
from embedlab.data.source import Source, open_parts
from embedlab.outcomes.frame import ItemSlice, Outcomes

SCORES = Path(__file__).parents[1] / "scores"
FILES = ("negation", "sbert-defsent")
LEVEL = 0.05
FEW = range(6, 13)  # topics
SIGNS_AT_ONCE = 20_000
COLUMNS = (
    "set",
    "topics",
    "ends",
    "p there, farthest from 5%",
    "share of random signs there",
    "p of few topics",
    "farthest from the count of all signs",
)

Floats = NDArray[np.float64]


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--signs", type=int, default=300_000)
    options = parser.parse_args()
    outcomes, models = real_outcomes(options.data)
    rng, rows = np.random.default_rng(0), []
    for weighed in weighed_of(outcomes, models, None):
        ends = [end for pair in weighed.pairs for end in ends_of(weighed, pair)]
        reached = by_random_signs(ends, options.signs, rng)
        own = max(
            (each for pair in weighed.pairs for each in own_p(weighed, pair)),
            key=lambda p: abs(p - LEVEL),
        )
        counted = list(few_topics(outcomes, models, weighed.evidence.key))
        few = [f"{len(counted)}", f"{max(counted):.1e}"] if counted else ["–", "–"]
        drawn = f"{100 * reached.min():.2f} to {100 * reached.max():.2f}%"
        rows.append(
            [
                weighed.evidence.key,
                f"{len(ends[0].flipped)}",
                f"{len(ends)}",
                f"{100 * own:.4f}%",
                drawn,
                *few,
            ]
        )
        print(*rows[-1], sep="\t", file=sys.stderr, flush=True)
    error = np.sqrt(LEVEL * (1 - LEVEL) / options.signs)
    notes = [
        f"{options.signs:,} draws of signs: one p has a standard error of {error:.1e}",
        f"models: {', '.join(m.name for m in models)}",
    ]
    write_table(
        "printed-ends",
        "p at the ends of real intervals",
        COLUMNS,
        rows,
        packages=("embedlab", "numpy", "scipy"),
        notes=notes,
    )


def real_outcomes(data: Path) -> tuple[Outcomes, list[ModelColumns]]:
    """Return the pairs of the seven sets with the stored similarities, and the models: recipes of
    three seeds, and others.
    """
    table = pair_table(open_parts(Source(folder=data, offline=True), DATASETS)[0])
    for name in FILES:
        table = table.join(
            pl.read_parquet(SCORES / f"{name}.parquet"),
            on="pair_key",
            how="left",
            maintain_order="left",
        )
    runs = ("sbert", "defsent")
    models = [
        ModelColumns(name=name, members=(name,))
        for name in ("minilm", "mpnet", "wordllama", "dice")
    ]
    models += [
        ModelColumns(
            name=name, members=tuple(f"{name}@{seed}" for seed in (1, 2, 3)), seeds=(1, 2, 3)
        )
        for name in runs
    ]
    return pair_outcomes(table, member_columns(models), task="sts", averages=STS_AVERAGES), models


def weighed_of(
    outcomes: Outcomes, models: Sequence[ModelColumns], parts: Sequence[ItemSlice] | None
) -> Iterator[Weighed]:
    """Yield each slice with its uncertainties."""
    for evidence in outcome_evidence(outcomes, member_columns(models), parts):
        yield Weighed(evidence, models)


@dataclass(frozen=True)
class End:
    """What topics contribute where the truth is at one end of an interval, and the distance to be
    reached.
    """

    flipped: Floats  # (topics,)
    distance: float
    noise: float  # the standard deviation of what is beside the topics, at this level


def ends_of(weighed: Weighed, pair: tuple[str, str]) -> Iterator[End]:
    """Yield both ends of the interval of a difference."""
    uncertainty, topics = weighed.pair_uncertainties[pair], weighed.topics
    assert topics is not None
    own = sums_of(weighed, pair)
    for distance, skew, sign in zip(uncertainty.reach(), uncertainty.skew, (1, -1), strict=True):
        yield End(
            sign * own + topics.shares * distance / skew, distance / skew, noise_at(uncertainty)
        )


def own_p(weighed: Weighed, pair: tuple[str, str]) -> Iterator[float]:
    """Yield the p of both ends as the package has it."""
    uncertainty = weighed.pair_uncertainties[pair]
    below, above = uncertainty.reach()
    yield uncertainty.p(below)
    yield uncertainty.p(-above)


def sums_of(weighed: Weighed, pair: tuple[str, str]) -> Floats:
    """Return the sums of each topic's rows, of a difference."""
    assert weighed.topics is not None
    first, second = (weighed.topics.sums[weighed.places[name]].mean(axis=0) for name in pair)
    sums: Floats = first - second
    return sums


def noise_at(uncertainty: Uncertainty) -> float:
    """Return the standard deviation of a normal that reaches as far at 5% as Student's t of the
    seeds does.
    """
    from scipy.stats import norm, t

    if not uncertainty.seeds:
        return float(np.sqrt(uncertainty.other_variance))
    ratio = t.ppf(LEVEL / 2, uncertainty.seeds_freedom) / norm.ppf(LEVEL / 2)
    return float(np.sqrt(uncertainty.seeds * ratio**2 + uncertainty.other_variance))


def by_random_signs(ends: Sequence[End], signs: int, rng: np.random.Generator) -> Floats:
    """Return the share of draws of signs that reach each distance; (ends,)."""
    flipped = np.stack([end.flipped for end in ends], axis=1).astype(np.float32)
    distances, noise = (
        np.array([getattr(end, name) for end in ends]) for name in ("distance", "noise")
    )
    reached, topics = np.zeros(len(ends)), len(flipped)
    for start in range(0, signs, SIGNS_AT_ONCE):
        count = min(SIGNS_AT_ONCE, signs - start)
        bits = np.unpackbits(
            np.frombuffer(rng.bytes(count * (topics // 8 + 1)), np.uint8).reshape(count, -1), axis=1
        )[:, :topics]
        sums = 2 * (bits.astype(np.float32) @ flipped) - flipped.sum(axis=0)
        sums = sums + noise * rng.standard_normal(sums.shape, dtype=np.float32)
        reached += (np.abs(sums) >= distances).sum(axis=0)
    return reached / signs


def few_topics(outcomes: Outcomes, models: Sequence[ModelColumns], dataset: str) -> Iterator[float]:
    """Yield how far the p of "no difference" of few topics of a DATASET is from the count over all
    signs; models alone, without seeds.
    """
    number = next(
        (index for index, block in enumerate(outcomes.blocks) if block.dataset == dataset), None
    )
    if number is None:
        return
    rows = outcomes.rows_of(number)
    whole = next(
        weighed_of(
            outcomes, models, [ItemSlice(block=number, key=dataset, title=dataset, rows=rows)]
        )
    )
    components = (
        whole.evidence.rows.shared.components
        if whole.evidence.rows is not None
        else np.zeros(0, np.intp)
    )
    by_size = np.argsort(-np.bincount(components), kind="stable")
    for count in FEW:
        some = rows[
            np.isin(components, by_size[10 : 10 + count])
        ]  # not the largest: those are whole components
        part = ItemSlice(
            block=number, key=f"{dataset}/few", title=dataset, rows=some, is_whole=False
        )
        weighed = next(weighed_of(outcomes, models, [part]))
        if weighed.topics is None or not 6 <= weighed.topics.count <= 12:
            continue
        for first, second in combinations(
            [model.name for model in models if not model.is_recipe], 2
        ):
            difference = weighed.means[first] - weighed.means[second]
            uncertainty = weighed.pair_uncertainties[first, second]
            distance = difference / uncertainty.skew[0 if difference >= 0 else 1]
            flipped = sums_of(weighed, (first, second)) + weighed.topics.shares * distance
            reached = [
                abs(sum(s * u for s, u in zip(signs, flipped, strict=True)))
                for signs in product((1, -1), repeat=len(flipped))
            ]
            yield abs(
                weighed.p[first, second]
                - float(np.mean(np.array(reached) >= abs(distance) * (1 - 1e-10)))
            )


if __name__ == "__main__":
    main()
