"""How often a difference is found that pilots of few seeds planned, and how often the interval of
the figure has the right one.

    python research/programs/power.py --data DIR [--runs 400] [--jobs 2] [--resume FILE]

Each run draws a pilot and takes its figure as the truth of a comparison with the planned seeds.
Scores are normal, over rows and over seeds, or simulated on the sentence graphs of three sets. The
right figure is that of a pilot of a million seeds, of graphs the mean of ten pilots of thirty seeds
each.
"""

import sys
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import nan, sqrt
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from batches import Batches, read_arguments
from record import write_table
from simulated_comparisons import columns_of, evidence_of
from simulated_scores import Floats, Graph, World, nearly_normal

from embedlab.analysis.power import Figure, Plan, smallest_difference
from embedlab.analysis.uncertainty import SeedSpread, Uncertainty
from embedlab.analysis.weighing import Weighed

STUDIES = 10  # that follow a pilot of normal scores
MANY = 10**6
AT_ONCE = 100


@dataclass(frozen=True, kw_only=True)
class Study:
    """A pilot and the seeds that it plans for."""

    pilot: tuple[int, int]
    seeds: int
    rows: float = 0.0  # variance of a difference over rows, where a seed of the first recipe has 1
    spreads: tuple[float, float] = (1.0, 1.0)
    # or scores on this set's graph, whose seeds have a standard deviation of 2 points
    graph: str = ""

    def label(self) -> list[str]:
        """The first columns of its row."""
        world = (
            f"{self.graph}, seeds vary by 2 points"
            if self.graph
            else f"normal, rows {self.rows:g}, seeds "
            f"{' and '.join(map('{:g}'.format, self.spreads))}"
        )
        return [world, " and ".join(map(str, self.pilot)), f"{self.seeds}"]

    def run(self, seeds: range, data: Path) -> list[tuple[float, ...]]:
        """Of each pilot its figure, whether its interval has the right one, the share of studies
        that found it, and of the plan before.
        """
        return self._on_graph(seeds, data) if self.graph else self._normal(seeds)

    def _normal(self, seeds: range) -> list[tuple[float, ...]]:
        found = []
        known = [
            SeedSpread(members=MANY + 1, scatter=MANY * sd**2, noise=0.0) for sd in self.spreads
        ]
        right = Plan(self._uncertain(known), known).with_seeds(self.seeds).value
        for rng in map(np.random.default_rng, seeds):
            pilot = [
                _spread(rng.normal(0, sd, count))
                for sd, count in zip(self.spreads, self.pilot, strict=True)
            ]
            figure = Plan(self._uncertain(pilot), pilot).with_seeds(self.seeds)
            before = smallest_difference(self._uncertain(_as_if_known(pilot, self.seeds)))
            hits = [
                [self._finds(truth, rng) for _ in range(STUDIES)]
                for truth in (figure.value, before)
            ]
            found.append(
                (
                    figure.value,
                    figure.low <= right <= figure.high,
                    np.mean(hits[0]),
                    np.mean(hits[1]),
                    right,
                )
            )
        return found

    def _finds(self, truth: float, rng: np.random.Generator) -> bool:
        first, second = (
            rng.normal(truth, self.spreads[0], self.seeds),
            rng.normal(0, self.spreads[1], self.seeds),
        )
        apart = float(first.mean() - second.mean() + rng.normal(0, sqrt(self.rows)))
        return self._uncertain([_spread(first), _spread(second)]).p(apart) < 0.05

    def _uncertain(self, spreads: list[SeedSpread]) -> Uncertainty:
        return nearly_normal(max(self.rows, 1e-9), spreads, topics=1_000)

    def _on_graph(self, seeds: range, data: Path) -> list[tuple[float, ...]]:
        graph, found = _graph(data, (self.graph,)), []
        right = _right(self, data)
        for seed in seeds:
            figure = self.plan(graph, self.pilot, seed)
            weighed = self._weighed(graph, (self.seeds, self.seeds), MANY - 1 - seed, figure.value)
            found.append(
                (
                    100 * figure.value,
                    figure.low <= right <= figure.high,
                    weighed.p["a", "b"] < 0.05,
                    nan,
                    100 * right,
                )
            )
        return found

    def plan(self, graph: Graph, seeds: tuple[int, int], seed: int) -> Figure:
        """The figure of a pilot on GRAPH."""
        weighed = self._weighed(graph, seeds, seed, 0.0)
        return Plan(weighed.pair_uncertainties["a", "b"], weighed.spreads("a", "b")).with_seeds(
            self.seeds
        )

    @staticmethod
    def _weighed(graph: Graph, seeds: tuple[int, int], seed: int, difference: float) -> Weighed:
        world = World(
            share=0.3,
            gold_share=0.3,
            seeds=seeds,
            seed_sd=(0.02, 0.02),
            differences=(0.0, difference),
        )
        gold, models = world.draw(graph, np.random.default_rng(seed))
        return Weighed(evidence_of(graph, gold, np.concatenate(models))[0], columns_of(seeds))


_graph = lru_cache(maxsize=4)(Graph.read)


@lru_cache(maxsize=8)
def _right(study: Study, data: Path) -> float:
    """The figure of pilots of thirty seeds, on a graph."""
    graph = _graph(data, (study.graph,))
    return float(np.mean([study.plan(graph, (30, 30), MANY + seed).value for seed in range(10)]))


def _spread(scores: Floats) -> SeedSpread:
    return SeedSpread(
        members=len(scores), scatter=float(((scores - scores.mean()) ** 2).sum()), noise=0.0
    )


def _as_if_known(pilot: list[SeedSpread], seeds: int) -> list[SeedSpread]:
    """The spreads of that many seeds, as if the pilot's were the true ones."""
    known = sum(one.members - 1 for one in pilot)
    pooled = sum(one.scatter for one in pilot) / known
    variances = [one.scatter / (one.members - 1) if one.members > 1 else pooled for one in pilot]
    return [
        replace(one, members=seeds, scatter=variance * (seeds - 1))
        for one, variance in zip(pilot, variances, strict=True)
    ]


STUDIED = (
    Study(pilot=(3, 3), seeds=3),
    Study(pilot=(3, 3), seeds=5),
    Study(pilot=(3, 3), seeds=3, rows=0.5),
    Study(pilot=(3, 3), seeds=5, rows=0.5),
    Study(pilot=(3, 3), seeds=10, rows=0.5),
    Study(pilot=(3, 3), seeds=5, rows=4.0),
    Study(pilot=(3, 3), seeds=5, rows=0.5, spreads=(0.5, 1.5)),
    Study(pilot=(2, 2), seeds=5, rows=0.5),
    Study(pilot=(3, 1), seeds=5, rows=0.5),
    Study(pilot=(5, 5), seeds=5, rows=0.5),
    *(Study(pilot=(3, 3), seeds=5, graph=name) for name in ("sts-benchmark", "sts13", "sick-r")),
)


def main() -> None:
    """Simulate every study and write the table."""
    arguments = read_arguments(__doc__)
    studied, batches = (
        {" | ".join(study.label()): study for study in STUDIED},
        Batches(file=arguments.resume),
    )
    work = partial(_run, data=arguments.data)
    batches.fill(
        [*studied.items()],
        work,
        lambda _: arguments.runs,
        at_once=AT_ONCE,
        processes=arguments.jobs,
    )
    rows = []
    for key, study in studied.items():
        values = np.concatenate(batches.found(key))
        low, middle, high = np.quantile(values[:, 0], [0.05, 0.5, 0.95])
        error = 2 * values[:, 2].std(ddof=1) / sqrt(len(values))
        before = f"{values[:, 3].mean():.2f}" if not study.graph else "–"
        figures = [f"{values[0, 4]:.2f}", f"{middle:.2f} ({low:.2f} to {high:.2f})"]
        rows.append(
            [
                *study.label(),
                *figures,
                f"{values[:, 2].mean():.2f} ± {error:.2f}",
                before,
                f"{100 * values[:, 1].mean():.0f}",
            ]
        )
    columns = [
        "scores",
        "seeds of the pilot",
        "planned",
        "right figure",
        "figures of pilots: median (5% to 95%)",
        "power at the figure",
        "at the figure without a pilot's uncertainty",
        "intervals with the right figure, %",
    ]
    notes = [
        f"{arguments.runs} pilots a row, each followed by {STUDIES} studies of normal "
        f"scores, or one on a graph; ± two Monte Carlo errors",
        "figures are in standard deviations of a seed of 1, on graphs in points; rows: "
        "variance of the difference over rows",
    ]
    write_table(
        "power",
        "Power of what pilots plan",
        columns,
        rows,
        packages=("embedlab", "numpy", "scipy"),
        notes=notes,
    )


def _run(study: Study, first: int, runs: int, *, data: Path) -> list[list[float]]:
    return [[float(value) for value in row] for row in study.run(range(first, first + runs), data)]


if __name__ == "__main__":
    main()
