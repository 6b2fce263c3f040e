"""How often `embedlab why` names a kind of items: of equal recipes by chance, and of a model that
was damaged on some items.

    python research/programs/slices.py --data DIR [--scores
        research/scores/equal-seeds-minilm3.parquet] [--recipe sbert-null] [--tries 400]
        [--planted 40] [--only kinds|combinations] [--resume FILE] [--write]

Null: twelve real seeds of one recipe are dealt at random into two models of six, or of three,
seeds; every kind of items that is starred is wrong. At most C(12, 6)/2 = 462 deals of six differ,
and all share seeds. Planted: the seeds of one of the two are damaged on pairs with a negation in
one sentence, or on questions of more than ten words: a share of what they say of such a pair is
replaced by chance. Found is when a kind of the property, negation or question, is starred.

Combinations of two properties: the same deals, each with halves of topics and seeds of its own;
with three seeds these are not halved, and what is found is marked as of these checkpoints. Planted,
all twelve seeds are beside twelve damaged ones; found is when a combination is confirmed of whose
pairs at least half are damaged.

Each try has random numbers of its own. With --resume every try is written to FILE, and those that
are there count without being made again, so that parts add up.
"""

import argparse
import json
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from pair_frames import pair_outcomes, pair_table
from record import write_table

from embedlab.analysis.comparison import compare_evidence
from embedlab.analysis.evidence import Evidence, ModelColumns, contrast_evidence, member_columns
from embedlab.comparison.combinations import FEWEST_SEEDS, search_combinations
from embedlab.comparison.evidence import Topics, item_topics
from embedlab.comparison.uneven import Kind, compared_contrasts, item_kinds, measured_kinds
from embedlab.core.settings import Settings
from embedlab.data.source import Source, open_parts
from embedlab.outcomes.frame import Outcomes
from embedlab.tasks.sts import STS_DATASETS

SCORES = Path(__file__).parents[1] / "scores" / "equal-seeds-minilm3.parquet"
RECIPE = "sbert-null"
STRENGTHS = (0.5, 1.0)  # the share of a damaged similarity that is chance

Rng = np.random.Generator


@dataclass(frozen=True, kw_only=True)
class Series:
    """Tries of one sort."""

    table: str  # "kinds" or "combinations"
    what: str
    tries: int
    is_found: Callable[[Rng], bool]

    def generator(self, seed: int, number: int) -> Rng:
        """Return the random numbers of one try."""
        return np.random.default_rng(
            [seed, zlib.crc32(f"{self.table} {self.what}".encode()), number]
        )


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
    parser.add_argument("--recipe", default=RECIPE, help="whose seeds they are, in that file")
    parser.add_argument("--tries", type=int, default=400, help="deals of the seeds, of each size")
    parser.add_argument(
        "--planted", type=int, default=40, help="damaged models, of each kind and strength"
    )
    parser.add_argument(
        "--only", choices=TITLES, help="measure the first or the second table of `why` alone"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--resume", type=Path, help="a file of tries, one a line; it is continued")
    parser.add_argument(
        "--write", action="store_true", help="write the tables to benchmarks/results"
    )
    options = parser.parse_args()
    outcomes, seeds = seeds_of(options.data, options.scores, options.recipe)
    planned = all_series(Seeds(outcomes, seeds), options.tries, options.planted)
    chosen = [one for one in planned if options.only in {None, one.table}]
    results = made(chosen, options.seed, options.resume)
    for name in dict.fromkeys(one.table for one in chosen):
        rows = [counted(one, results) for one in chosen if one.table == name]
        if options.write:
            packages = ("embedlab", "polars", "numpy")
            of_recipe = "" if options.recipe == RECIPE else f"-{options.recipe}"
            write_table(
                f"{FILES[name]}{of_recipe}",
                TITLES[name],
                COLUMNS,
                rows,
                packages=packages,
                notes=NOTES[name],
            )
        else:
            for row in (COLUMNS, *rows):
                print(*row, sep="\t")


def made(
    planned: Sequence[Series], seed: int, file: Path | None
) -> dict[tuple[str, str, int], bool]:
    """Return what every try found; those of FILE are not made again, others are written to it."""
    known: dict[tuple[str, str, int], bool] = {}
    if file is not None and file.exists():
        lines = map(json.loads, file.read_text("utf-8").splitlines())
        known = {(one["table"], one["what"], one["try"]): one["found"] for one in lines}
    for number in range(max(one.tries for one in planned)):
        for one in planned:  # in turns, so that a part has some of each
            key = one.table, one.what, number
            if number >= one.tries or key in known:
                continue
            known[key] = one.is_found(one.generator(seed, number))
            if file is not None:
                with file.open("a", encoding="utf-8") as lines_of_file:
                    lines_of_file.write(
                        json.dumps(
                            {
                                "table": one.table,
                                "what": one.what,
                                "try": number,
                                "found": known[key],
                            }
                        )
                        + "\n"
                    )
    return known


def counted(one: Series, results: Mapping[tuple[str, str, int], bool]) -> Sequence[str]:
    """Return a row of the table: how many tries there were, and how many found something."""
    found = sum(results[one.table, one.what, number] for number in range(one.tries))
    share = found / one.tries
    error = 100 * np.sqrt(share * (1 - share) / one.tries)
    return (one.what, str(one.tries), str(found), f"{100 * share:.1f}% ± {error:.1f}")


class Seeds:
    """The seeds of one recipe on the same pairs, and the tries that they allow."""

    def __init__(self, outcomes: Outcomes, names: Sequence[str]) -> None:
        self.outcomes, self.names = outcomes, list(names)

    @cached_property
    def topics(self) -> Topics:
        """The topics of all pairs."""
        return item_topics(self.outcomes)

    @cached_property
    def kinds(self) -> list[Kind]:
        """The kinds of items by every property."""
        return item_kinds(self.outcomes)

    @cached_property
    def contrasts(self) -> list[Evidence]:
        """How all seeds do on each kind minus how they do on the others; what does not depend on
        the deal is found once.
        """
        return [
            contrast_evidence(one.kind_evidence.key, one.kind_evidence, one.other_evidence)
            for one in measured_kinds(self.outcomes, self.names, self.kinds)
        ]

    def dealt(self, size: int, rng: Rng) -> list[int]:
        """Return the places of the seeds of two models, SIZE each."""
        return rng.permutation(len(self.names)).tolist()[: 2 * size]

    def models(self, places: Sequence[int]) -> list[ModelColumns]:
        """Return the seeds at these PLACES as two recipes, half of them each."""
        names, size = [self.names[place] for place in places], len(places) // 2
        return [model("A", names[:size]), model("B", names[size:])]

    def names_a_kind(self, size: int, rng: Rng) -> bool:
        """Return whether some kind of items is starred of two models of one recipe."""
        places = self.dealt(size, rng)
        compared = compare_evidence(
            [one.select_members(places) for one in self.contrasts], self.models(places)
        )
        return any(one.differences["B"].significant for one in compared)

    def confirms_one(self, size: int, rng: Rng) -> bool:
        """Return whether a combination is confirmed of two models of one recipe."""
        models = self.models(self.dealt(size, rng))
        return bool(search_combinations(self.outcomes, self.topics, models, None, rng).confirmed)

    def confirms_one_of_exchanged(self, size: int, rng: Rng) -> bool:
        """Return whether a combination is confirmed of models that do not differ: in half of the
        topics, drawn, each is the other.
        """
        first, second = self.models(self.dealt(size, rng))
        is_exchanged = pl.Series(
            rng.integers(0, 2, int(self.topics.max()) + 1).astype(bool)[self.topics]
        )
        columns = []
        for one, other in zip(first.members, second.members, strict=True):
            mine, others = self.outcomes.predictions[one], self.outcomes.predictions[other]
            columns += [
                others.zip_with(is_exchanged, mine).alias(other),
                mine.zip_with(is_exchanged, others).alias(one),
            ]
        own = _predicting(self.outcomes, self.outcomes.predictions.with_columns(columns))
        return bool(search_combinations(own, self.topics, [first, second], None, rng).confirmed)

    def names_the_damage(self, by: str, harmed: pl.Series, strength: float, rng: Rng) -> bool:
        """Return whether a kind of the property that six seeds were damaged on is starred beside
        six others.
        """
        places = self.dealt(6, rng)
        models = self.models(places)
        damaged = [
            damaged_by_chance(self.outcomes.predictions[name], harmed, strength, rng)
            for name in models[1].members
        ]
        own = _predicting(self.outcomes, self.outcomes.predictions.with_columns(damaged))
        measured = measured_kinds(own, member_columns(models), self.kinds)
        found = zip(measured, compared_contrasts(measured, models), strict=True)
        return any(contrast.significant and one.kind.by == by for one, contrast in found)

    def confirms_the_damage(self, harmed: pl.Series, strength: float, rng: Rng) -> bool:
        """Return whether a combination of pairs that are mostly damaged in all seeds is confirmed
        beside the same seeds.
        """
        damaged = [
            damaged_by_chance(self.outcomes.predictions[name], harmed, strength, rng).alias(
                f"damaged@{name}"
            )
            for name in self.names
        ]
        own = _predicting(self.outcomes, self.outcomes.predictions.with_columns(damaged))
        models = [model("A", self.names), model("B", [column.name for column in damaged])]
        found, values = search_combinations(own, self.topics, models, None, rng), harmed.to_numpy()
        return any(values[one.measured.kind.rows].mean() >= 0.5 for one in found.confirmed)


def all_series(seeds: Seeds, tries: int, planted: int) -> Iterator[Series]:
    """Yield the rows of both tables."""
    for size in (6, 3):
        yield Series(
            table="kinds",
            what=f"equal recipes, {size} seeds each",
            tries=tries,
            is_found=partial(seeds.names_a_kind, size),
        )
    for size in (6, 3):
        marked = "" if size >= FEWEST_SEEDS else ", of these checkpoints"
        found = partial(seeds.confirms_one, size)
        yield Series(
            table="combinations",
            what=f"equal recipes, {size} seeds each{marked}",
            tries=tries,
            is_found=found,
        )
    what = "3 seeds each, exchanged in half of the topics, of these checkpoints"
    yield Series(
        table="combinations",
        what=what,
        tries=tries,
        is_found=partial(seeds.confirms_one_of_exchanged, 3),
    )
    for by, harms in HARMS.items():
        harmed = harms(seeds.outcomes)
        for strength in STRENGTHS:
            what = damage(by, harmed, strength)
            kinds = partial(seeds.names_the_damage, by, harmed, strength)
            yield Series(table="kinds", what=what, tries=planted, is_found=kinds)
            yield Series(
                table="combinations",
                what=what,
                tries=planted,
                is_found=partial(seeds.confirms_the_damage, harmed, strength),
            )


def damage(name: str, harmed: pl.Series, strength: float) -> str:
    """Return how tables call what is damaged."""
    return f"damaged on {name}, {100 * strength:.0f}% of {int(harmed.sum())} pairs' similarity"


def _predicting(outcomes: Outcomes, predictions: pl.DataFrame) -> Outcomes:
    """Return the same items with other predictions."""
    found = replace(outcomes, predictions=predictions)
    found.computed.update(outcomes.computed)
    return found


def seeds_of(data: Path, scores: Path, recipe: str = RECIPE) -> tuple[Outcomes, list[str]]:
    """Return the pairs of the sets that the seeds of a RECIPE have scores of, with these, and the
    names of the seeds.
    """
    source = Source.from_settings(Settings(data=data))
    parts, _ = open_parts(source, STS_DATASETS)
    stored = pl.read_parquet(scores)
    seeds = [name for name in stored.columns if name.startswith(f"{recipe}@")]
    table = pair_table(parts).join(
        stored.select("pair_key", *seeds), on="pair_key", how="left", maintain_order="left"
    )
    complete = table.filter(pl.col(seeds[0]).is_not_null().all().over("dataset"))
    return pair_outcomes(complete, seeds, task="sts", averages={}), seeds


def model(name: str, members: Sequence[str]) -> ModelColumns:
    """Return some seeds as a recipe."""
    return ModelColumns(name=name, members=tuple(members), seeds=tuple(range(len(members))))


def damaged_by_chance(
    similarities: pl.Series, harmed: pl.Series, strength: float, rng: np.random.Generator
) -> pl.Series:
    """Return SIMILARITIES of which a share, STRENGTH, is chance on the HARMED pairs."""
    chance = pl.Series(rng.permutation(similarities.to_numpy()))
    mixed = (1 - strength) * similarities + strength * chance
    return (
        pl.select(pl.when(harmed).then(mixed).otherwise(similarities))
        .to_series()
        .alias(similarities.name)
    )


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
COLUMNS = ("try", "tries", "starred", "share")
TITLES = {
    "kinds": "Kinds of items that `why` names",
    "combinations": "Combinations of two properties that `why` confirms",
}
FILES = {"kinds": "slices", "combinations": "slices-combined"}
NOTES = {
    "kinds": [
        "deals of twelve seeds overlap: the tries are not independent",
        "damaged are six seeds beside six others of the same recipe",
        "the damaged questions have more than ten words, and so are a combination of two "
        "properties: slices-combined.md",
    ],
    "combinations": [
        "deals of twelve seeds overlap, and so do halves of the same pairs: the tries are "
        "not independent",
        "six seeds a side are halved with the topics; three are not, and what they confirm "
        "is marked as of these checkpoints",
        "seeds of one recipe do differ as checkpoints; exchanged: in half of the topics each "
        "has those of one of the other model's",
        "damaged are twelve seeds beside themselves; each half has six, and half of the "
        "damaged pairs",
    ],
}


if __name__ == "__main__":
    main()
