"""Two halves of real searches: the difference of two models on one half and on the other should
agree within their 95% intervals.

    python research/programs/coverage_search_halves.py research/scores/retrieval.parquet
        [--runs 200] [--write]

FILE holds the ranks that models gave to each relevant document, as stored_answers.py stores them;
no model is needed. The queries of a set are split by topics at random (of captions a topic is a
picture), so that the halves share no relevant document; each query searched all documents. The
halves agree where the distance of their two differences is less than the root of the sum of the
squares of both half-widths, those of the ends that face each other: 95% of splits should. `in the
other's interval` counts the splits where the difference on one half is inside the interval of the
other: as both vary, 83% is right there.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from real_halves import differences
from record import write_table
from simulated_scores import Floats

from embedlab.analysis.evidence import Evidence, evidence_of
from embedlab.analysis.measures import MEASURES

METRICS = ("ndcg@10", "mrr@10", "map", "recall@1", "recall@10", "recall@100")
LOW, HIGH = 93.0, 97.0
OF_FLIPS = 1  # the row of real_halves.METHODS that `compare` uses


@dataclass(frozen=True, kw_only=True, eq=False)
class RankedSet:
    """The relevant documents of a set's queries, with their ranks by each model."""

    name: str
    models: Sequence[str]
    query: NDArray[np.float64]  # (items,)
    texts: NDArray[np.uint64]  # (items, 2): the query's and the document's
    ranks: Floats  # (models, items)

    @classmethod
    def of(cls, name: str, items: pl.DataFrame) -> "RankedSet":
        """Read one dataset of a file of stored answers."""
        models = items["member"].unique(maintain_order=True).to_list()
        own = [items.filter(member=model).sort("item") for model in models]
        return cls(
            name=name,
            models=models,
            query=own[0]["gold"].cast(pl.Float64).to_numpy(),
            texts=own[0].select("first_text", "second_text").to_numpy(),
            ranks=np.array([one["predicted"].cast(pl.Float64).to_numpy() for one in own]),
        )

    def evidence(self, metric: str, rows: NDArray[np.intp]) -> Evidence:
        """Return what `compare` computes of some of the items."""
        query = np.unique(self.query[rows], return_inverse=True)[1].astype(np.float64)
        predicted = dict(enumerate(self.ranks[:, rows]))
        return evidence_of(
            "retrieval",
            metric,
            query,
            predicted,
            len(self.models),
            measure=MEASURES[metric],
            texts=self.texts[rows],
        )

    def topics(self) -> NDArray[np.intp]:
        """Return the number of each item's topic."""
        rows = self.evidence(METRICS[0], np.arange(len(self.query))).rows
        assert rows is not None
        return rows.row_topics

    def agreement(self, metric: str, runs: int) -> tuple[Floats, Floats]:
        """Return how often halves agree, and how often a difference is in the other's interval;
        (pairs of models,) each.
        """
        rng, groups = np.random.default_rng(0), self.topics()
        agreed, inside = [], []
        for _ in range(runs):
            side = rng.integers(0, 2, groups.max() + 1)[groups]
            halves = (
                differences(self.evidence(metric, np.flatnonzero(side == half)), self.models)
                for half in (0, 1)
            )
            (first, near_first), (second, near_second) = (
                (found, reach[OF_FLIPS]) for found, reach in halves
            )
            # The first's lower and the second's upper end face each other where the first is
            # larger.
            apart = first - second
            of_first, of_second = np.where(
                apart > 0, [near_first[0], near_second[1]], [near_first[1], near_second[0]]
            )
            agreed.append(np.abs(apart) < np.hypot(of_first, of_second))
            inside += [np.abs(apart) < of_first, np.abs(apart) < of_second]
        return np.mean(agreed, axis=0), np.mean(inside, axis=0)


def main() -> None:
    """Split, compare, print the shares, and end with 1 where the mean of a set is outside the
    limits.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    sets = [
        RankedSet.of(name, items)
        for path in chosen.files
        for (name,), items in pl.read_parquet(path).group_by("name", maintain_order=True)
    ]
    rows, notes, is_outside = [], [], False
    for one in sets:
        found = {metric: one.agreement(metric, chosen.runs) for metric in METRICS}
        found["all"] = tuple(np.concatenate(each) for each in zip(*found.values(), strict=True))
        for metric, (agreed, inside) in found.items():
            rows.append(
                [
                    f"{one.name}, {metric}",
                    *(
                        f"{100 * share:.1f}%"
                        for share in (agreed.mean(), agreed.min(), inside.mean())
                    ),
                ]
            )
        is_outside |= not LOW <= 100 * found["all"][0].mean() <= HIGH
        topics, count = one.topics(), len(one.models)
        notes.append(
            f"{one.name}: {len(np.unique(one.query)):,} queries, {topics.max() + 1:,} "
            f"topics, {len(one.query):,} items; {count} models "
            f"({', '.join(one.models)}), each two of which are compared: "
            f"{count * (count - 1) // 2} differences a measure"
        )
    notes += [
        f"{chosen.runs} random halves of the topics a row; Monte Carlo error of one "
        f"difference's share: "
        f"± {100 * 1.96 * np.sqrt(0.95 * 0.05 / chosen.runs):.1f}",
        "agree: their differences lie within the root of both squared distances to the ends "
        "that face each other; 95% would be right",
        "in the other's interval: the difference on one half, which varies as much as the "
        "interval's own; 83% would be right",
    ]
    columns = [
        "set and measure",
        "halves that agree: mean",
        "worst difference",
        "in the other's interval: mean",
    ]
    if chosen.write:
        heading = "Two halves of real searches"
        write_table(
            "coverage-search-halves",
            heading,
            columns,
            rows,
            packages=("embedlab", "numpy", "scipy"),
            notes=notes,
        )
    else:
        print(*("  ".join(row) for row in [columns, *rows]), *notes, sep="\n")
    sys.exit(is_outside)


if __name__ == "__main__":
    main()
