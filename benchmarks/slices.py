"""How often `embedlab why` names a kind of items: of equal recipes by chance, and of a model that was damaged on some items.

    python benchmarks/slices.py --data DIR [--scores results/scores/equal-seeds-minilm3.parquet] [--tries 200] [--planted 40]
        [--only kinds|combinations] [--write]

Null: twelve real seeds of one recipe are dealt at random into two models of six, or of three, seeds; every kind of items that is starred
is wrong. At most C(12, 6)/2 = 462 deals of six differ, and all share seeds. Planted: the seeds of one of the two are damaged on pairs with
a negation in one sentence, or on questions of more than ten words: a share of what they say of such a pair is replaced by chance. Found
is when a kind of the property, negation or question, is starred.

Combinations of two properties: the same deals, each with halves of topics and seeds of its own; with three seeds these are not halved,
and what is found is marked as of these checkpoints. Planted, all twelve seeds are beside twelve damaged ones; found is when a combination
is confirmed of whose pairs at least half are damaged.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parent))

from record import write_table

from embedlab.analysis.scores import ModelColumns, pair_table
from embedlab.comparison.combinations import FEWEST_SEEDS, search_combinations
from embedlab.comparison.topics import Topics, item_topics
from embedlab.comparison.uneven import item_kinds, measured_kinds, uneven, where_they_differ
from embedlab.core.settings import Settings
from embedlab.data.pair_parts import open_parts
from embedlab.data.source import Source
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.pairs import pair_outcomes
from embedlab.tasks.sts import STS_DATASETS

SCORES = Path(__file__).parent.parent / "results" / "scores" / "equal-seeds-minilm3.parquet"
RECIPE = "sbert-null@"
STRENGTHS = (0.5, 1.0)  # the share of a damaged similarity that is chance


@dataclass(frozen=True, kw_only=True)
class Count:
    """How many tries had a starred kind of items, of how many."""

    what: str
    tries: int
    found: int

    @property
    def row(self) -> Sequence[str]:
        """The cells of the table."""
        share = self.found / self.tries
        error = 100 * np.sqrt(share * (1 - share) / self.tries)
        return (self.what, str(self.tries), str(self.found), f"{100 * share:.1f}% ± {error:.1f}")


def main() -> None:
    """Count and print, or write the table of results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the data folder, with the seven STS sets")
    parser.add_argument("--scores", type=Path, default=SCORES, help="the similarities of the seeds, by the keys of pairs")
    parser.add_argument("--tries", type=int, default=200, help="deals of the seeds, of each size")
    parser.add_argument("--planted", type=int, default=40, help="damaged models, of each kind and strength")
    parser.add_argument("--only", choices=("kinds", "combinations"), help="measure the first or the second table of `why` alone")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the table to benchmarks/results")
    options = parser.parse_args()
    outcomes, seeds = seeds_of(options.data, options.scores)
    rng = np.random.default_rng(options.seed)
    columns = ("try", "tries", "starred", "share")
    for name, title, measure in (("kinds", "Kinds of items that `why` names", kinds), ("combinations", COMBINED, combined)):
        if options.only not in {None, name}:
            continue
        rows, notes = [one.row for one in measure(outcomes, seeds, options.tries, options.planted, rng)], NOTES[name]
        if options.write:
            file = {"kinds": "slices", "combinations": "slices-combined"}[name]
            write_table(file, title, columns, rows, packages=("embedlab", "polars", "numpy"), notes=notes)
        else:
            for row in (columns, *rows):
                print(*row, sep="\t")


def kinds(outcomes: Outcomes, seeds: Sequence[str], tries: int, count: int, rng: np.random.Generator) -> list[Count]:
    """Count the tries in which the first table of `why` names a kind of items."""
    counts = [*(null(outcomes, seeds, size, tries, rng) for size in (6, 3))]
    for name, harms in HARMS.items():
        counts += [planted(outcomes, seeds, name, harms(outcomes), strength, count, rng) for strength in STRENGTHS]
    return counts


def combined(outcomes: Outcomes, seeds: Sequence[str], tries: int, count: int, rng: np.random.Generator) -> list[Count]:
    """Count the tries in which a combination of two properties is confirmed."""
    topics = item_topics(outcomes)
    found = []
    for size in (6, 3):
        confirmed = 0
        for _ in range(tries):
            dealt = rng.permutation(seeds).tolist()
            models = [model("A", dealt[:size]), model("B", dealt[size : 2 * size])]
            confirmed += bool(search_combinations(outcomes, topics, models, None, rng).confirmed)
        marked = "" if size >= FEWEST_SEEDS else ", of these checkpoints"
        found.append(Count(what=f"equal recipes, {size} seeds each{marked}", tries=tries, found=confirmed))
    for name, harms in HARMS.items():
        harmed = harms(outcomes)
        for strength in STRENGTHS:
            confirmed = sum(_is_confirmed(outcomes, topics, seeds, harmed, strength, rng) for _ in range(count))
            found.append(Count(what=_damage(name, harmed, strength), tries=count, found=confirmed))
    return found


def _is_confirmed(
    outcomes: Outcomes, topics: Topics, seeds: Sequence[str], harmed: pl.Series, strength: float, rng: np.random.Generator
) -> bool:
    """Return whether a combination of pairs that are mostly damaged in twelve seeds is confirmed beside the same seeds."""
    damaged = {f"damaged@{name}": _damaged(outcomes.predictions[name], harmed, strength, rng) for name in seeds}
    own = _predicting(outcomes, outcomes.predictions.with_columns(column.alias(name) for name, column in damaged.items()))
    found = search_combinations(own, topics, [model("A", seeds), model("B", [*damaged])], None, rng)
    values = harmed.to_numpy()
    return any(values[one.rows].mean() >= 0.5 for one in found.confirmed)


def _damage(name: str, harmed: pl.Series, strength: float) -> str:
    return f"damaged on {name}, {100 * strength:.0f}% of {int(harmed.sum())} pairs' similarity"


def _predicting(outcomes: Outcomes, predictions: pl.DataFrame) -> Outcomes:
    """Return the same items with other predictions."""
    found = replace(outcomes, predictions=predictions)
    found.computed.update(outcomes.computed)
    return found


def seeds_of(data: Path, scores: Path) -> tuple[Outcomes, list[str]]:
    """Return the pairs of the sets that the seeds have scores of, with these, and the names of the seeds."""
    source = Source.from_settings(Settings(data=data))
    parts, _ = open_parts(source, STS_DATASETS)
    stored = pl.read_parquet(scores)
    seeds = [name for name in stored.columns if name.startswith(RECIPE)]
    table = pair_table(parts).join(stored.select("pair_key", *seeds), on="pair_key", how="left", maintain_order="left")
    complete = table.filter(pl.col(seeds[0]).is_not_null().all().over("dataset"))
    return pair_outcomes(complete, seeds, task="sts", averages={}), seeds


def model(name: str, members: Sequence[str]) -> ModelColumns:
    """Return some seeds as a recipe."""
    return ModelColumns(name=name, members=tuple(members), seeds=tuple(range(len(members))))


def null(outcomes: Outcomes, seeds: Sequence[str], size: int, tries: int, rng: np.random.Generator) -> Count:
    """Count the deals of the seeds in which some kind of items is starred."""
    measured, found = measured_kinds(outcomes, seeds, item_kinds(outcomes)), 0
    for _ in range(tries):
        dealt = rng.permutation(len(seeds)).tolist()[: 2 * size]
        names = [seeds[place] for place in dealt]
        models = [model("A", names[:size]), model("B", names[size:])]
        found += any(one.contrast.significant for one in uneven([one.of_members(dealt) for one in measured], models))
    return Count(what=f"equal recipes, {size} seeds each", tries=tries, found=found)


def planted(
    outcomes: Outcomes, seeds: Sequence[str], by: str, harmed: pl.Series, strength: float, tries: int, rng: np.random.Generator
) -> Count:
    """Count the tries in which a kind of the property that a model was damaged on is starred."""
    found = 0
    for _ in range(tries):
        dealt = rng.permutation(seeds).tolist()
        damaged = dealt[6:]
        predictions = outcomes.predictions.with_columns(_damaged(outcomes.predictions[name], harmed, strength, rng) for name in damaged)
        own = _predicting(outcomes, predictions)
        models = [model("A", dealt[:6]), model("B", damaged)]
        found += any(one.contrast.significant and one.by == by for one in where_they_differ(own, models, item_kinds(own)))
    return Count(what=_damage(by, harmed, strength), tries=tries, found=found)


def _damaged(similarities: pl.Series, harmed: pl.Series, strength: float, rng: np.random.Generator) -> pl.Series:
    chance = pl.Series(rng.permutation(similarities.to_numpy()))
    mixed = (1 - strength) * similarities + strength * chance
    return pl.select(pl.when(harmed).then(mixed).otherwise(similarities)).to_series().alias(similarities.name)


def negated(outcomes: Outcomes) -> pl.Series:
    """The pairs with a negation in one sentence."""
    return _property(outcomes, "negation") == "one"


def long_questions(outcomes: Outcomes) -> pl.Series:
    """The pairs of two questions of which the longer has more than ten words."""
    return (_property(outcomes, "question") == "both") & (_property(outcomes, "words") > 10)


def _property(outcomes: Outcomes, name: str) -> pl.Series:
    from embedlab.outcomes.property import property_named

    return property_named(name).values(outcomes)


HARMS = {"negation": negated, "question": long_questions}
COMBINED = "Combinations of two properties that `why` confirms"
NOTES = {
    "kinds": ["deals of twelve seeds overlap: the tries are not independent", "damaged are six seeds beside six others of the same recipe"],
    "combinations": [
        "deals of twelve seeds overlap, and so do halves of the same pairs: the tries are not independent",
        "six seeds a side are halved with the topics; three are not, and what they confirm is marked as of these checkpoints",
        "damaged are twelve seeds beside themselves; each half has six, and half of the damaged pairs",
    ],
}


if __name__ == "__main__":
    main()
