"""How often `reproduce` gives a verdict on the order of rows that are equal: rows of a table made
of equal seeds of one recipe.

    python research/programs/claims_null.py --data DIR [--file
        research/scores/equal-seeds-minilm3.parquet] [--model sbert-null] [--tables 200]

Each table deals the seeds at random to its rows, whose printed order is then arbitrary. Verdicts
are those of both places that give them: claims (every two rows, on the average of seven or on each
set) and the order of a table (neighbours, and the first row against each other one). Counted are
tables with any verdict but "open"; before the correction, a verdict is a p below 5%.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import record
import stored_tables

from embedlab.analysis.claims import Claim, claimed_difference, settle_claims
from embedlab.analysis.comparison import SIGNIFICANT
from embedlab.analysis.evidence import Evidence, ModelColumns
from embedlab.analysis.seed_tests import holm
from embedlab.analysis.weighing import Weighed
from embedlab.comparison.comparison import Slicing
from embedlab.core.settings import load_settings

AVERAGE = "average of seven"
SETS = ("sts12", "sts13", "sts14", "sts15", "sts16", "sts-benchmark", "sick-r")
TITLES = ("claims, average of seven", "claims, each of seven sets", "order, average of seven")
LAYOUTS = ((6, 2), (4, 3), (3, 4), (2, 6))  # rows, and the seeds of each


def dealt(seeds: int, rows: int, each: int, rng: np.random.Generator) -> list[list[int]]:
    """Return the seeds of each row."""
    order = rng.permutation(seeds)[: rows * each].reshape(rows, each)
    return [sorted(own.tolist()) for own in order]


def claims_of_table(
    evidence: dict[str, Evidence], own: Sequence[Sequence[int]], columns: Sequence[str]
) -> tuple[bool, bool]:
    """Return whether a claim "row i is above row j" on one of COLUMNS has a verdict, and whether
    one has without the correction.
    """
    models, members = rows_of(own)
    claims, measured = {}, {}
    for column in columns:
        weighed = Weighed(evidence[column].select_members(members), models)
        for first, second in combinations([model.name for model in models], 2):
            name = f"{first} {second} {column}"
            claims[name] = Claim(table="t", first=first, second=second, direction="above")
            measured[name] = claimed_difference(weighed, first, second, scale=100.0)
    settled = settle_claims(claims, measured)
    return any(one.verdict != "open" for one in settled), any(
        one.p < SIGNIFICANT for one in measured.values()
    )


def rows_of(own: Sequence[Sequence[int]]) -> tuple[list[ModelColumns], list[int]]:
    """Return the rows of a table as models, and the seeds behind them."""
    models = [
        ModelColumns(name=f"row {place}", members=tuple(map(str, seeds)), seeds=tuple(seeds))
        for place, seeds in enumerate(own)
    ]
    return models, [seed for seeds in own for seed in seeds]


def order_of_table(evidence: Evidence, own: Sequence[Sequence[int]]) -> list[float]:
    """Return the p of each pair in the order of a table, before the correction."""
    models, members = rows_of(own)
    names = [model.name for model in models]
    pairs = dict.fromkeys([*pairwise(names), *((names[0], other) for other in names[1:])])
    return [*Weighed(evidence.select_members(members), models, [*pairs]).p.values()]


def main() -> None:
    """Count and record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--file", type=Path, default=Path("research/scores/equal-seeds-minilm3.parquet")
    )
    parser.add_argument("--model", default="sbert-null")
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--name", default="claims-null")
    arguments = parser.parse_args()
    settings = load_settings({"data": arguments.data, "allow_partial": True, "threads": 1})[0]
    scored = stored_tables.stored_pairs(arguments.file, [arguments.model], settings, "dataset")
    evidence = {one.key: one for one in scored.compare(Slicing()).evidence}
    seeds, rng, rows = len(evidence[AVERAGE].points), np.random.default_rng(0), []
    for count, each in LAYOUTS:
        found: dict[str, list[tuple[bool, bool]]] = {title: [] for title in TITLES}
        for _ in range(arguments.tables):
            own = dealt(seeds, count, each, rng)
            for title, columns in zip(TITLES, ((AVERAGE,), SETS), strict=False):
                found[title].append(claims_of_table(evidence, own, columns))
            p = order_of_table(evidence[AVERAGE], own)
            found[TITLES[-1]].append((min(holm(p)) < SIGNIFICANT, min(p) < SIGNIFICANT))
        for title, tables in found.items():
            after, before = np.mean(tables, axis=0)
            rows.append(
                [title, f"{count} of {each} seeds", f"{100 * after:.1f}%", f"{100 * before:.1f}%"]
            )
    record.write_table(
        arguments.name,
        f"Verdicts on equal rows: {seeds} equal seeds of {arguments.model}, "
        f"{arguments.tables} tables each",
        ["verdicts on", "rows", "tables with a verdict", "without the correction"],
        rows,
        packages=["numpy", "scipy", "polars"],
        notes=[
            "a right procedure gives a verdict in at most 5% of tables; tables share seeds, "
            "so that they are not independent"
        ],
    )


if __name__ == "__main__":
    main()
