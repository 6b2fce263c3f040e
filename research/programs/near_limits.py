"""How often intervals of a difference hold the truth near a measure's limits, with and without the
variance of rows that could have told models apart (step 7 for referees).

    python research/programs/near_limits.py [--runs 500] [--jobs 2]

Of queries: each has one relevant document, which a model ranks first with a chance of .8 to .98 and
otherwise further down; two models share how easy a query is. Of two classes: similarities are
normal, higher by 2.5 and 3.5 for positive pairs; F1 and Matthews' correlation are of a fixed
threshold. The truth is the mean difference of 2,000 draws.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from rare_classes import MODELS, draws, noise
from record import write_table

from embedlab.analysis.evidence import evidence_of
from embedlab.analysis.measures import MEASURES, query_gold
from embedlab.analysis.weighing import Weighed

Floats = NDArray[np.float64]
Draws = Iterator[tuple[Floats, Sequence[Floats]]]  # gold, (items,), and what two models predict

QUERIES, FIRST = (12, 30, 100), ((0.9, 0.9), (0.8, 0.95), (0.95, 0.98))
OF_CLASS = (12, 30, 100)
ITEMS, SHIFTS, THRESHOLD = 400, (2.5, 3.5), 1.5
DRAWS = 2_000


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A row of the table: a measure, how many queries or items of the rarer class there are, and
    how good the models are.
    """

    measure: str
    count: int
    models: tuple[float, float]

    def draws(self) -> Draws:
        """Yield gold and predictions of both models, without end."""
        measure = MEASURES[self.measure]
        if measure.is_of_queries:
            yield from self._ranks()
        for gold, found in draws(ITEMS, self.count, self.models):
            if measure.is_of_classes:
                found = [(each > THRESHOLD) * 1.0 for each in found]
            yield gold, found

    def _ranks(self) -> Draws:
        rng = np.random.default_rng(self.count)
        gold = query_gold(np.arange(self.count), np.ones(self.count))
        limits = np.quantile(np.random.default_rng(0).standard_normal(200_000), self.models)
        while True:
            ranks = []
            for errors, limit in zip(noise(rng, self.count), limits, strict=True):
                later = 2.0 + rng.geometric(0.2, self.count)
                ranks.append(np.where(errors < limit, 1.0, later))
            yield gold, ranks


def coverage(runs: int, cell: Cell) -> list[str]:
    """The shares of RUNS intervals without and with the variance that hold the truth, and of those
    without that have no width, in percent.
    """
    measure = MEASURES[cell.measure]
    values = [measure.values(gold, predicted) for gold, predicted in islice(cell.draws(), DRAWS)]
    truth = float(np.nanmean([second - first for first, second in values]))
    covered: list[list[bool]] = [[], []]
    empty = []
    for gold, predicted in islice(cell.draws(), runs):
        evidence = evidence_of("task", "set", gold, dict(enumerate(predicted)), 2, measure=measure)
        assert evidence.rows is not None
        for place, rows in enumerate((replace(evidence.rows, unseen_variance=0.0), evidence.rows)):
            difference, uncertainty, _ = Weighed(replace(evidence, rows=rows), MODELS).compare(
                "b", "a"
            )
            low, high = uncertainty.interval(difference)
            covered[place].append(low <= truth <= high)
            if not place:
                empty.append(low == high)
    return [f"{100 * np.mean(each):.1f}" for each in (*covered, empty)]


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2)
    typed = parser.parse_args()
    cells = [
        *(
            Cell(measure=measure, count=count, models=models)
            for measure, count, models in product(("ndcg@10", "mrr"), QUERIES, FIRST)
        ),
        *(
            Cell(measure=measure, count=count, models=SHIFTS)
            for measure, count in product(
                ("average precision", "roc auc", "f1", "matthews"), OF_CLASS
            )
        ),
    ]
    with ProcessPoolExecutor(typed.jobs) as pool:
        shares = list(pool.map(partial(coverage, typed.runs), cells))
    write_table(
        "near-limits",
        "Intervals of measures near their limits",
        ["measure", "queries, or of one class", "models", "without", "with", "no width without"],
        [
            [cell.measure, f"{cell.count:,}", " and ".join(map(str, cell.models)), *row]
            for cell, row in zip(cells, shares, strict=True)
        ],
        packages=("embedlab", "numpy"),
        notes=[
            f"percent of {typed.runs:,} intervals of a difference that hold the truth, without and "
            "with the variance of rows that could have told models apart; 95 is right",
            "models: the chance of rank 1, or the shift of positive pairs",
            "no width without: intervals from a value to the same value",
        ],
    )


if __name__ == "__main__":
    main()
