"""How often a table of cells denies an equal cell its tie with the best, and how far the best is
too high, beside what is said of both.

    python research/programs/best_of_many.py --data DIR [--runs 400] [--jobs 2] [--resume FILE]

Cells are simulated on the sentence graph of STS-B, with one checkpoint and with three seeds each;
and by seeds alone, as dev scores are compared. All cells of a table are equal, or a half of them is
lower by about two standard errors of a difference.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from math import sqrt
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from batches import Batches, read_arguments
from record import write_table
from simulated_comparisons import evidence_of
from simulated_scores import BEST, Floats, Graph, World

from embedlab.analysis.evidence import Evidence, ModelColumns
from embedlab.analysis.seed_tests import holm
from embedlab.analysis.weighing import Weighed
from embedlab.experiments.pivot import ALPHA, CellSpread, PairTest, marked_best, seed_test

GRAPH = ("sts-benchmark",)
COUNTS = (16, 32, 64)
AT_ONCE = 100
OF_SEEDS = 5  # times as many tables over seeds alone, which cost little
SEED_SD = 0.01  # of a checkpoint's true Spearman; 1 point
LOWER = {"pairs": 0.025, "seeds": 0.016}  # about two standard errors of a difference


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Tables of some CELLS."""

    cells: int
    seeds: int
    is_by_pairs: bool
    lower: int = 0  # cells that are truly lower

    @property
    def gap(self) -> float:
        """How much lower they are."""
        return LOWER["pairs" if self.is_by_pairs else "seeds"]

    def label(self) -> list[str]:
        """The first columns of its row."""
        over = (
            "pairs and seeds"
            if self.is_by_pairs and self.seeds > 1
            else "pairs"
            if self.is_by_pairs
            else "seeds alone"
        )
        return [over, f"{self.seeds}", f"{self.cells}", f"{self.lower}"]

    def draw(
        self, graph: Graph, rng: np.random.Generator
    ) -> tuple[dict[int, CellSpread], list[PairTest], Floats]:
        """The places of a table x 100, how far each is from the best but for it, and the true
        values x 100.
        """
        gaps = self.gap * (np.arange(self.cells) < self.lower)
        if not self.is_by_pairs:
            values = 100 * (
                BEST - gaps[:, None] + SEED_SD * rng.standard_normal((self.cells, self.seeds))
            )
            spreads = {
                place: CellSpread(values=tuple(own.tolist())) for place, own in enumerate(values)
            }
            best = max(spreads, key=lambda place: spreads[place].mean)
            return (
                spreads,
                [seed_test(spreads[best], one) for place, one in spreads.items() if place != best],
                100 * (BEST - gaps),
            )
        counts = (self.seeds,) * self.cells
        world = World(
            share=0.3,
            gold_share=0.3,
            differences=tuple(gaps),
            seeds=counts,
            seed_sd=(SEED_SD * (self.seeds > 1),) * self.cells,
        )
        gold, scores = world.draw(graph, rng)
        evidence = evidence_of(graph, gold, np.concatenate(scores))[0]
        points = 100 * evidence.points.reshape(self.cells, self.seeds)
        spreads = {
            place: CellSpread(values=tuple(own.tolist())) for place, own in enumerate(points)
        }
        best = max(spreads, key=lambda place: spreads[place].mean)
        return (
            spreads,
            [self._apart(evidence, best, place) for place in spreads if place != best],
            100 * (BEST - gaps),
        )

    def _apart(self, evidence: Evidence, first: int, second: int) -> PairTest:
        members = [
            place * self.seeds + seed for place in (first, second) for seed in range(self.seeds)
        ]
        models = [
            ModelColumns(
                name=name,
                members=tuple(f"{name}@{seed}" for seed in range(self.seeds)),
                seeds=tuple(range(self.seeds)),
            )
            for name in "ab"
        ]
        weighed = Weighed(evidence.select_members(members), models)
        uncertainty = weighed.pair_uncertainties["a", "b"]
        variance = uncertainty.variance_of_rows + uncertainty.seeds + uncertainty.other_variance
        return PairTest(p=weighed.p["a", "b"], variance=100**2 * variance)


def jobs() -> Iterator[Tables]:
    """Every row of the table."""
    for is_by_pairs, seeds, counts in (
        (True, 1, COUNTS),
        (True, 3, COUNTS[:1]),
        (False, 3, COUNTS),
        (False, 5, COUNTS),
    ):
        for cells in counts:
            yield Tables(cells=cells, seeds=seeds, is_by_pairs=is_by_pairs)
            if cells == COUNTS[0] or not is_by_pairs:
                yield Tables(cells=cells, seeds=seeds, is_by_pairs=is_by_pairs, lower=cells // 2)


def tables(job: Tables, first: int, runs: int, *, data: Path) -> list[list[float]]:
    """Whether Holm and the rule deny an equal cell, shares of lower cells, the error of the best
    and what is said; (tables, 6).
    """
    graph, found = _graph(data), []
    for seed in range(first, first + runs):
        spreads, differences, truths = job.draw(graph, np.random.default_rng(seed))
        best = max(spreads, key=lambda place: spreads[place].mean)
        others = [place for place in spreads if place != best]
        given = dict(zip((id(spreads[place]) for place in others), differences, strict=True))
        marked = marked_best(spreads, lambda _, second, given=given: given[id(second)])
        by_holm = dict(zip(others, holm([one.p for one in differences]), strict=True))
        equal = [place for place in others if truths[place] == truths.max()]
        lower = [place for place in others if truths[place] < truths.max()]
        # What all cells share, as hard pairs, is not of the choice: the error of the best is
        # counted from the mean error of all.
        common = float(np.mean([spreads[place].mean - truths[place] for place in spreads]))
        found.append(
            (
                any(by_holm[place] < ALPHA for place in equal),
                any(not marked[place].is_tied for place in equal),
                np.mean([not marked[place].is_tied for place in lower]) if lower else np.nan,
                np.mean([by_holm[place] < ALPHA for place in lower]) if lower else np.nan,
                spreads[best].mean - truths[best] - common,
                marked[best].optimism or 0.0,  # nothing is said where others have the same number
            )
        )
    return [[float(value) for value in row] for row in found]


_graph = lru_cache(maxsize=1)(partial(Graph.read, names=GRAPH))


def main() -> None:
    """Simulate every row and write the table."""
    arguments = read_arguments(__doc__)
    listed, batches = (
        {" | ".join(job.label()): job for job in jobs()},
        Batches(file=arguments.resume),
    )
    wanted = {
        key: arguments.runs * (1 if job.is_by_pairs else OF_SEEDS) for key, job in listed.items()
    }
    batches.fill(
        [*listed.items()],
        partial(tables, data=arguments.data),
        wanted.__getitem__,
        at_once=AT_ONCE,
        processes=arguments.jobs,
    )
    rows = []
    for key, job in listed.items():
        values = np.concatenate(batches.found(key))
        error = 2 * values[:, 4].std(ddof=1) / sqrt(len(values))
        denied = [
            f"{100 * mean:.1f} ± {200 * sqrt(max(mean * (1 - mean), 1e-9) / len(values)):.1f}"
            for mean in values[:, :2].mean(axis=0)
        ]
        lower = [f"{100 * values[:, place].mean():.0f}" if job.lower else "–" for place in (3, 2)]
        rows.append(
            [
                *job.label(),
                *denied,
                *lower,
                f"{values[:, 4].mean():.2f} ± {error:.2f}",
                f"{np.nanmean(values[:, 5]):.2f}",
            ]
        )
    columns = [
        "compared over",
        "seeds",
        "cells",
        "of them lower",
        "an equal cell is denied: Holm over m − 1",
        "by the rule",
        "lower cells denied: Holm",
        "by the rule",
        "the best is too high by",
        "what is said",
    ]
    notes = [
        f"{arguments.runs} simulated tables a row, {OF_SEEDS * arguments.runs} over seeds "
        f"alone; ± two Monte Carlo errors; "
        "percent of tables, percent of lower cells, points",
        "Holm over m − 1: the rule before, which does not count that the best was chosen",
        f"lower cells are {100 * LOWER['pairs']:g} points lower over pairs, "
        f"{100 * LOWER['seeds']:g} over seeds alone; seeds have a "
        f"standard deviation of {100 * SEED_SD:g} point",
    ]
    write_table(
        "best-of-many",
        "Ties with the best of many cells",
        columns,
        rows,
        packages=("embedlab", "numpy", "scipy"),
        notes=notes,
    )


if __name__ == "__main__":
    main()
