"""How often the interval of what a score owes to read items holds the truth, and how often a model
that has read nothing gets a mark.

    python research/programs/reading_effect.py --data DIR [--runs 2000] [--write]

Gold scores, sources, lengths, word overlap and topics are those of STS-B's test pairs. The scores
of two models are drawn around gold with errors of pairs and of topics, which both share in part;
the first one then reads half of the pairs, or half of the topics, and loses a share of its error
there.
The truth is the mean gain of a read item over all draws.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from record import write_table

from embedlab.analysis.dependence import SharedSentences
from embedlab.analysis.near_duplicates import near_duplicates
from embedlab.analysis.overlap import dice_of_rows
from embedlab.analysis.reading_effect import rank_errors_among, reading_effect
from embedlab.analysis.topics import join_topics, largest_joined
from embedlab.data.source import Source

CELLS = [(planted, whole) for planted in (0.0, 0.2, 0.4) for whole in (False, True)]
COLUMNS = ["planted", "read", "truth", "mean estimate", "covered", "marked", "width"]


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of corpora")
    parser.add_argument("--runs", type=int, default=2000, help="draws a row")
    parser.add_argument("--write", action="store_true", help="write research/statistics")
    arguments = parser.parse_args()
    source = Source(folder=arguments.data, offline=True, allow_partial=True)
    frame = source.open("sts-benchmark", "test").frame
    rows = [row(frame, arguments.runs, *cell) for cell in CELLS]
    if arguments.write:
        write_table(
            "reading-effect",
            "What a score owes to items that were read",
            COLUMNS,
            rows,
            packages=("numpy", "scipy", "polars"),
            notes=(
                f"{arguments.runs:,} draws a row; planted: the share of its error that the model "
                f"loses on a read pair; truth and estimates in points of Spearman x 100 an item.",
                "covered: 95% intervals that hold the truth; marked: those without 0, which without "
                "a planted effect is the rate of false marks.",
            ),
        )
    else:
        for cells in (COLUMNS, *rows):
            print(*cells, sep="\t")


def row(frame: pl.DataFrame, runs: int, planted: float, whole: bool) -> list[str]:
    """Return the row of one cell."""
    gold = frame["gold"].to_numpy()
    texts = [frame[side].to_list() for side in ("sentence1", "sentence2")]
    ids = [frame[side].hash().to_numpy().astype(np.uint64) for side in ("sentence1", "sentence2")]
    near = near_duplicates(np.concatenate(ids), pl.concat([frame["sentence1"], frame["sentence2"]]))
    shares = np.full(len(gold), 1 / len(gold))
    topics = join_topics(SharedSentences.of(*ids), shares, near, largest_joined(len(gold)))
    lengths = np.log([len(a.split()) + len(b.split()) for a, b in zip(*texts, strict=True)])
    facts = {
        "topics": topics,
        "sources": (frame["source"].rank("dense") - 1).to_numpy().astype(np.intp),
        "covariates": np.stack([dice_of_rows(*texts).to_numpy(), lengths], axis=1),
    }
    rng, count = np.random.default_rng(1), topics.max() + 1
    effects, gains = [], []
    for _ in range(runs):
        shared, first, second = rng.normal(size=(3, count))[:, topics]
        common = gold + 0.5 * shared
        before = common + 0.5 * first + 0.8 * rng.normal(size=len(gold))
        reference = common + 0.6 * second + rng.normal(size=len(gold)) + facts["covariates"][:, 0]
        is_read = (rng.random(count) < 0.5)[topics] if whole else rng.random(len(gold)) < 0.5
        after = np.where(is_read, before + planted * (gold - before), before)
        effects.append(reading_effect(gold, after, reference, is_read, **facts))
        errors = [rank_errors_among(gold, scores, ~is_read)[is_read] for scores in (before, after)]
        gains.append(50 * float((errors[0] - errors[1]).mean()))
    truth = float(np.mean(gains))
    covered = np.mean([effect.low <= truth <= effect.high for effect in effects])
    marked = np.mean([not effect.low <= 0 <= effect.high for effect in effects])
    widths = [effect.high - effect.low for effect in effects]
    return [
        f"{planted:.0%}",
        "half of the topics" if whole else "half of the pairs",
        f"{truth:.2f}",
        f"{np.mean([effect.effect for effect in effects]):.2f}",
        f"{covered:.1%}",
        f"{marked:.1%}",
        f"{np.mean(widths):.1f}",
    ]


if __name__ == "__main__":
    main()
