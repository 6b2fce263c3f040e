"""What random halves by topics agree in where intervals are right, beside what they agree in on
real scores.

    python research/programs/fair_halves.py --data DIR --scores research/scores --encoder wordllama
    --members NAME… [--sets NAME…] [--worlds 40]
        [--runs 100] [--resume FILE]

`coverage.py halves` splits the topics of one sample, some of which are large, and shows the worst
of many differences of a few models. So a right procedure does not reach 95% in each of them. How
far it is below is simulated: models as many as the real ones, on the real pairs, whose errors hang
together within sentences and families and not beyond, split by the same topics. Real scores are
split by the topics of several seeds of k-means.
"""

import argparse
import sys
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import real_halves
from batches import Batches
from coverage import PACKAGES, real_table
from pair_frames import sentence_numbers
from record import write_table
from simulated_scores import Floats, Graph, World

from embedlab.analysis import topics as joining

FLIPS = real_halves.METHODS.index("flips")
LARGEST_SHARE = joining.LARGEST_SHARE
TRIED = (1 / 8,)  # larger families
TOPIC_SEEDS = 5
Sources = tuple[
    Path, Path, tuple[str, ...], str
]  # folders of data and of scores, columns of scores, an encoder
BEYOND = 0.3  # how far the worst model is below the best


@lru_cache(maxsize=1)
def real_pairs(arguments: Sources) -> tuple[pl.DataFrame, list[str], NDArray[np.float32]]:
    """The pairs of all sets with the scores of real models, the models, and the vectors of an
    encoder for each pair.
    """
    data, scores, members, encoder = arguments
    table, names = real_table(argparse.Namespace(data=data, scores=scores, members=members))
    return (
        table.with_columns(sentence_numbers(table)),
        names,
        real_halves.vectors_of(encoder, table),
    )


@lru_cache(maxsize=8)
def real_set(name: str, of: Sources) -> tuple[real_halves.RealSet, NDArray[np.float32]]:
    """One set, and the vectors of its pairs."""
    table, names, vectors = real_pairs(of)
    own = (table["dataset"] == name).to_numpy()
    return real_halves.RealSet.of(name, table.filter(own), names, real_halves.USUAL), vectors[own]


def agreement(
    job: tuple[str, str, float], first: int, runs: int, *, of: Sources, halves: int
) -> list[list[float]]:
    """Mean and worst agreement: on real scores by the topics of RUNS seeds from FIRST on, or of
    RUNS simulated worlds.
    """
    name, kind, joining.LARGEST_SHARE = job
    is_real = kind == "real"
    one, vectors = real_set(name, of)
    found = []
    for seed in range(first, first + runs):
        shown = one if is_real else simulated(one, of[0], seed)
        shares = shown.agreement(
            real_halves.topics(one.pairs, vectors, seed if is_real else 0), halves
        ).shares[FLIPS]
        found.append([float(shares.mean()), float(shares.min())])
    return found


def simulated(one: real_halves.RealSet, data: Path, seed: int) -> real_halves.RealSet:
    """The same set with scores of as many models, whose errors hang together within sentences and
    families.
    """
    graph = Graph.read(data, (one.key,))
    graph.__dict__["components"] = graph.datasets[0][
        2
    ].row_topics  # where the cached property would put them
    count = len(one.names)
    apart = tuple(np.linspace(0, BEYOND, count).tolist())
    world = World(
        share=0.3,
        component_share=0.2,
        differences=apart,
        seeds=(1,) * count,
        seed_sd=(0.0,) * count,
    )
    gold, models = world.draw(graph, np.random.default_rng(seed))
    columns = [pl.Series(name, scores[0]) for name, scores in zip(one.names, models, strict=True)]
    return real_halves.RealSet(
        key=one.key,
        pairs=one.pairs.with_columns(pl.Series("gold", gold), *columns),
        names=one.names,
        near=one.near,
        setting=one.setting,
    )


def main() -> None:
    """Compare both, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--members", nargs="*", default=[])
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--sets", nargs="*", default=["sts13", "sts-benchmark"])
    parser.add_argument("--worlds", type=int, default=40)
    parser.add_argument("--runs", type=int, default=100, help="random halves")
    parser.add_argument("--resume", type=Path, help="a file of what was found so far")
    arguments = parser.parse_args()
    of = (arguments.data, arguments.scores, tuple(arguments.members), arguments.encoder)
    kinds = [
        ("real", LARGEST_SHARE),
        ("simulated", LARGEST_SHARE),
        *(("real", share) for share in TRIED),
    ]
    jobs = {_key(name, *kind): (name, *kind) for kind in kinds for name in arguments.sets}
    batches = Batches(file=arguments.resume)
    work = partial(agreement, of=of, halves=arguments.runs)
    batches.fill(
        [*jobs.items()],
        work,
        lambda key: arguments.worlds if "simulated" in key else TOPIC_SEEDS,
        at_once=TOPIC_SEEDS,
        processes=1,
    )
    rows = []
    for name in arguments.sets:
        real, worlds, *larger = (np.concatenate(batches.found(_key(name, *kind))) for kind in kinds)
        below = [
            f"{100 * np.mean(worlds[:, place] <= np.median(real[:, place]) + 1e-9):.0f}%"
            for place in range(2)
        ]
        rows.append(
            [
                name,
                *(f"{_range(values[:, place])}" for place in range(2) for values in (real, worlds)),
                " and ".join(below),
            ]
        )
        rows[-1] += [
            f"{100 * np.median(values[:, 0]):.1f} / {100 * np.median(values[:, 1]):.0f}"
            for values in larger
        ]
    columns = [
        "dataset",
        "mean, real scores",
        "mean, right intervals",
        "worst, real scores",
        "worst, right intervals",
        "worlds as low as real scores",
        *(f"real scores, families up to 1/{round(1 / share)}: mean / worst" for share in TRIED),
    ]
    notes = [
        f"{arguments.runs} random halves by topics, {len(real_pairs(of)[1])} models, each "
        f"two of which are compared; percent of the cases "
        "in which both halves agree, mean and worst difference",
        f"real scores: median (lowest to highest) of the topics of {TOPIC_SEEDS} seeds of k-means",
        f"right intervals: median (5% to 95%) of {arguments.worlds} simulated worlds on the "
        f"same pairs, whose errors have 0.3 of their "
        "variance in sentences and 0.2 in families, split by the topics of the first seed",
        "worlds as low as real scores: in their mean, and in their worst difference, as the "
        "median of real scores is",
    ]
    write_table(
        "coverage-halves-fair",
        "Halves by topics where intervals are right",
        columns,
        rows,
        packages=PACKAGES,
        notes=notes,
    )


def _key(name: str, kind: str, share: float) -> str:
    return (
        f"{name} {kind}" if share == LARGEST_SHARE else f"{name} {kind}, families up to {share:.4f}"
    )


def _range(values: Floats) -> str:
    """The middle of some shares, and the range of a few, or of nine tenths of many."""
    ends = (
        (values.min(), values.max())
        if len(values) <= TOPIC_SEEDS
        else np.quantile(values, [0.05, 0.95])
    )
    return f"{100 * np.median(values):.1f} ({100 * ends[0]:.0f} to {100 * ends[1]:.0f})"


if __name__ == "__main__":
    main()
