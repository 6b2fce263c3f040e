"""Whether divexplorer lists the slice that slices.py plants: the same pairs and values
of properties, read by both.

    python -m venv oracle && oracle/bin/pip install divexplorer
    python research/programs/slice_oracle.py --data DIR --python oracle/bin/python
        [--planted 10] [--write]

Twelve seeds of one recipe are next to themselves, damaged on some pairs. The outcome of a pair is
by how much its rank error is larger by the damaged ones, in the mean of the seeds; its attributes
are its values of the properties, numbers by fifths. divexplorer computes in an environment of its
own, and lists itemsets of one or two values by their divergence from all pairs. Listed is when at
least half of the pairs of one of the first ten are damaged; its place is that of the first such
one.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from record import write_table
from slices import HARMS, SCORES, STRENGTHS, damage, damaged_by_chance, seeds_of

from embedlab.analysis.rank_errors import rank_errors
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.property import all_properties

FIRST, LEAST_SHARE = 10, 0.005
NAMES = ("negation", "question", "number", "words", "length", "dice")
_PROGRAM = """
import json, sys
import pandas as pd
from divexplorer import DivergenceExplorer
given = json.load(sys.stdin)
frame = pd.DataFrame(given["columns"])
found = DivergenceExplorer(frame).get_pattern_divergence(
    min_support=given["share"], quantitative_outcomes=["outcome"], attributes=given["names"], show_coincise=False
)
found = found[found["itemset"].map(len).between(1, 2)]
found = found.sort_values("outcome_div", ascending=False, kind="stable")
print(json.dumps([sorted(map(str, one)) for one in found["itemset"].head(given["first"])]))
"""


def attributes(outcomes: Outcomes) -> pl.DataFrame:
    """Return the values of the properties of each pair as texts, numbers by fifths."""
    properties, columns = all_properties(), []
    for name in NAMES:
        values = properties[name].values(outcomes)
        if properties[name].kind == "number":
            values = (values.rank("ordinal") * 5 / (len(values) + 1)).cast(pl.Int64)
        columns.append(values.cast(pl.String).alias(name))
    return pl.DataFrame(columns)


def larger_errors(outcomes: Outcomes, seeds: list[str], damaged: pl.DataFrame) -> pl.Series:
    """Return by how much the size of each pair's rank error is larger by DAMAGED seeds, in the
    mean.
    """
    facts = outcomes.rows.select(pl.col("block").alias("dataset"), "gold")
    sizes = [
        rank_errors(facts.hstack(own.select(seeds)), seeds).select(
            pl.mean_horizontal(pl.col(f"error({name})").abs() for name in seeds)
        )
        for own in (outcomes.predictions, damaged)
    ]
    return sizes[1].to_series() - sizes[0].to_series()


def listed(python: str, table: pl.DataFrame, outcome: pl.Series) -> list[list[str]]:
    """Return the first itemsets of divexplorer, each as its values "name=value"."""
    columns = {
        **{name: table[name].to_list() for name in table.columns},
        "outcome": outcome.to_list(),
    }
    given = {"columns": columns, "names": table.columns, "share": LEAST_SHARE, "first": FIRST}
    ran = subprocess.run(
        [python, "-c", _PROGRAM],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[list[str]] = json.loads(ran.stdout.splitlines()[-1])
    return found


def holds(table: pl.DataFrame, itemset: list[str]) -> pl.Series:
    """Return the pairs that have all values of an ITEMSET."""
    pairs = [one.split("=", 1) for one in itemset]
    return table.select(
        pl.all_horizontal(pl.col(name) == value for name, value in pairs)
    ).to_series()


def rows(
    data: Path, scores: Path, python: str, count: int, rng: np.random.Generator
) -> Iterator[tuple[str, ...]]:
    """Yield for each kind and strength of damage how often it is listed, and where."""
    outcomes, seeds = seeds_of(data, scores)
    table = attributes(outcomes)
    for name, harms in HARMS.items():
        harmed = harms(outcomes)
        for strength in STRENGTHS:
            places, example = [], ""
            for _ in range(count):
                damaged = pl.DataFrame(
                    [
                        damaged_by_chance(outcomes.predictions[one], harmed, strength, rng)
                        for one in seeds
                    ]
                )
                found = listed(python, table, larger_errors(outcomes, seeds, damaged))
                shares = [harmed.filter(holds(table, one)).to_numpy().mean() for one in found]
                place = next((place for place, share in enumerate(shares) if share >= 0.5), None)
                if place is not None:
                    places.append(place + 1)
                    example = example or ", ".join(found[place])
            middle = f"{np.median(places):g}" if places else "–"
            yield damage(name, harmed, strength), str(count), str(len(places)), middle, example


def main() -> None:
    """Count and print, or write the table of results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, required=True, help="the data folder, with the seven STS sets"
    )
    parser.add_argument(
        "--scores",
        type=Path,
        default=SCORES,
        help="the similarities of the seeds, by the keys of pairs",
    )
    parser.add_argument("--python", required=True, help="of an environment that has divexplorer")
    parser.add_argument(
        "--planted", type=int, default=10, help="damaged models, of each kind and strength"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--write", action="store_true", help="write the table to benchmarks/results"
    )
    options = parser.parse_args()
    columns = ("damage", "tries", "listed", "median place", "first that was listed")
    made = list(
        rows(
            options.data,
            options.scores,
            options.python,
            options.planted,
            np.random.default_rng(options.seed),
        )
    )
    code = "from importlib.metadata import version; print(version('divexplorer'))"
    version = subprocess.run(
        [options.python, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    notes = [
        f"divexplorer {version}; itemsets of one or two values with at least "
        f"{100 * LEAST_SHARE:g}% of the pairs"
    ]
    notes.append("its list has no rate of error: without damage it lists ten itemsets too")
    if options.write:
        title = "The planted slice in the list of divexplorer"
        write_table(
            "slice-oracle",
            title,
            columns,
            made,
            packages=("embedlab", "polars", "numpy"),
            notes=notes,
        )
    else:
        for cells in (columns, *made):
            print(*cells, sep="\t")


if __name__ == "__main__":
    main()
