"""How often the gate of `compare` ends with 0, 4 or 5 where a candidate is worse by exactly the
margin, and by twice the margin.

    python research/programs/gate.py [--runs 10000]

The margin is the difference that `power` calls detectable with 80% (5% two-sided), the mean over
400 pilots of such models. Items are classified (accuracy), or pairs with normal gold and
predictions (Spearman), alone or three of a topic that share a sentence and 60% of their errors'
variance.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from math import pi, sin, sqrt
from statistics import NormalDist

import numpy as np

from embedlab.analysis.comparison import compare_evidence
from embedlab.analysis.evidence import Evidence, ModelColumns, evidence_of
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.power import detectable
from embedlab.commands.compare import GateRow

MODELS = [ModelColumns(name=name, members=(name,)) for name in ("candidate", "base")]
BEST, SHARED = 0.75, 0.5  # the base's score, and the correlation of the two models' errors
OF_TOPIC = 0.6
PILOTS = 400


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One world."""

    name: str
    measure: str
    items: int
    topic: int = 1  # items of one topic

    def draw(self, rng: np.random.Generator, worse: float) -> Evidence:
        """One sample with a candidate that is WORSE, in shares."""
        topics = np.arange(self.items) // self.topic

        def errors() -> np.ndarray:
            own = rng.normal(size=self.items)
            if self.topic == 1:
                return own
            common = rng.normal(size=topics[-1] + 1)[topics]
            return sqrt(OF_TOPIC) * common + sqrt(1 - OF_TOPIC) * own

        both = errors()
        noise = [sqrt(SHARED) * both + sqrt(1 - SHARED) * errors() for _ in range(2)]
        scores = (BEST - worse, BEST)
        if self.measure == "accuracy":
            gold = np.zeros(self.items, np.int64)
            predicted = [
                (each > NormalDist().inv_cdf(score)).astype(np.int64)
                for each, score in zip(noise, scores, strict=True)
            ]
        else:
            gold = rng.normal(size=self.items)
            rho = [2 * sin(pi * score / 6) for score in scores]
            predicted = [r * gold + sqrt(1 - r * r) * e for r, e in zip(rho, noise, strict=True)]
        first = np.uint64(10**6) + topics.astype(np.uint64)
        second = np.arange(self.items, dtype=np.uint64)
        texts = np.stack([first if self.topic > 1 else second, second], axis=1)
        return evidence_of(
            "own", "own", gold, dict(enumerate(predicted)), 2,
            measure=MEASURES[self.measure], texts=texts,
        )  # fmt: skip

    def codes(self, margin: float, worse: float, runs: int, start: int) -> Iterator[int]:
        """The exit code of each run."""
        for seed in range(start, start + runs):
            evidence = self.draw(np.random.default_rng(seed), worse)
            (row,) = compare_evidence([evidence], MODELS)
            apart = row.differences["candidate"]
            yield int(
                GateRow(
                    row="", difference=apart.delta, low=apart.low, high=apart.high,
                    items=self.items, margin=margin,
                ).exit_code
            )  # fmt: skip


CELLS = (
    Cell(name="accuracy, 1,000 items", measure="accuracy", items=1000),
    Cell(name="accuracy, 300 items", measure="accuracy", items=300),
    Cell(name="Spearman, 1,200 pairs", measure="spearman", items=1200),
    Cell(name="Spearman, 1,200 pairs, 3 of a topic", measure="spearman", items=1200, topic=3),
    Cell(name="Spearman, 300 pairs", measure="spearman", items=300),
)


def main() -> None:
    """Print a row a cell."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10_000)
    runs = parser.parse_args().runs
    print("| world | margin | truth | 0 | 4 | 5 |\n|---|---:|---|---:|---:|---:|")
    for cell in CELLS:
        margin = 0.0
        for _ in range(4):  # of pilots whose candidate is as much worse as in the second row
            pilots = [
                cell.draw(np.random.default_rng(10**6 + seed), 2 * margin) for seed in range(PILOTS)
            ]
            plans = [detectable([pilot], *MODELS)[0].smallest.value for pilot in pilots]
            margin = float(np.mean(plans))
        for times in (1, 2):
            codes = list(cell.codes(margin, times * margin, runs, times * 10**5))
            shares = " | ".join(f"{codes.count(code) / runs:.1%}" for code in (0, 4, 5))
            print(f"| {cell.name} | {100 * margin:.2f} | −{times} margin | {shares} |", flush=True)


if __name__ == "__main__":
    main()
