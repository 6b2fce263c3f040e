"""Combinations of two properties on which two models differ more than elsewhere: searched on one
half, confirmed on the other.

Half of the topics, and half of the seeds of recipes with many, choose among all combinations; the
other topics and the other seeds test what was chosen. So neither the noise of items nor that of
seeds is found twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.comparison import SIGNIFICANT
from embedlab.analysis.evidence import member_columns
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.power import smallest_difference
from embedlab.analysis.seed_tests import benjamini_hochberg
from embedlab.analysis.weighing import Weighed
from embedlab.comparison.in_common import Rows
from embedlab.comparison.uneven import (
    Kind,
    KindDifference,
    MeasuredKind,
    kind_differences,
    measured_kinds,
    property_kinds,
)
from embedlab.outcomes.grouping import FIFTHS
from embedlab.outcomes.property import all_properties

if TYPE_CHECKING:
    from embedlab.analysis.evidence import ModelColumns, Reach
    from embedlab.analysis.influence import Floats
    from embedlab.analysis.leaving_out import Without
    from embedlab.comparison.evidence import Topics
    from embedlab.core.session import ProgressCallback
    from embedlab.outcomes.frame import Outcomes
    from embedlab.outcomes.selection import ItemSelection

# combinations that the search hands on: with twenty, planted ones were confirmed less often
TESTED = 10
# items of a dataset, in a combination and beside it, in each half: of 20 to 32 made pairs tests
# were too ready to find
FEWEST_OF_HALF = 40
FEWEST_SEEDS = 6  # of a recipe, so that each half has three
# of the items of either that two combinations share: the second one says the same, as does one of
# the items beside it
_SAME = 0.8
_LEAST_HALF = 0.25  # of the items
_SMALLEST = 1e-300
_REPORTED_EVERY = 16  # combinations


@dataclass(frozen=True, kw_only=True, eq=False)
class Tested:
    """A combination that the search chose, as it is on the other half."""

    measured: MeasuredKind
    models: Sequence[ModelColumns]  # of the test
    searched: float  # the contrast on the half of the search
    p: float  # of a test in the direction of the search
    p_corrected: float  # by Benjamini and Hochberg over all that are tested
    smallest: float  # contrast that would be found in four of five cases if it were the only one
    reach: Reach

    @cached_property
    def kind_difference(self) -> KindDifference:
        """The scores there, the difference, and by how much that is unlike the difference
        elsewhere.
        """
        (result,) = kind_differences([self.measured], self.models)
        return result

    @property
    def is_confirmed(self) -> bool:
        """Whether the contrast is clear on the other half too, in the direction that it had in the
        search.
        """
        return self.p_corrected < SIGNIFICANT


@dataclass(frozen=True, kw_only=True, eq=False)
class CombinationSearch:
    """What was searched and tested, and on how much."""

    combinations: int
    items: tuple[int, int]  # of the search, and of the test
    seeds: Mapping[str, tuple[int, int]]  # of each model that is a recipe with enough of them
    reach: Reach
    tested: tuple[Tested, ...] = ()  # the surest first

    @property
    def confirmed(self) -> Sequence[Tested]:
        """The combinations that the other half confirms."""
        return [tested for tested in self.tested if tested.is_confirmed]


@dataclass(frozen=True, kw_only=True, eq=False)
class Halves:
    """The two halves: of rows, by whole topics, and of each model's members."""

    search: Rows
    test: Rows
    models: tuple[
        tuple[ModelColumns, ModelColumns], tuple[ModelColumns, ModelColumns]
    ]  # of the search, of the test

    @property
    def seeds(self) -> Mapping[str, tuple[int, int]]:
        """How many seeds of each model are in each half, where they are halved."""
        return {
            search.name: (len(search.members), len(test.members))
            for search, test in zip(*self.models, strict=True)
            if search != test
        }

    @property
    def reach(self) -> Reach:
        """How far what is confirmed reaches: with few seeds, the same in both halves, no farther
        than these checkpoints.
        """
        is_checkpoint = [
            search == test and not search.is_published
            for search, test in zip(*self.models, strict=True)
        ]
        return "checkpoints" if any(is_checkpoint) else "models"

    @property
    def is_even(self) -> bool:
        """Whether neither half is too small."""
        counts = [int(half.sum()) for half in (self.search, self.test)]
        return min(counts) >= max(_LEAST_HALF * sum(counts), 1)


def draw_halves(
    outcomes: Outcomes,
    topics: Topics,
    models: Sequence[ModelColumns],
    selection: ItemSelection | None,
    rng: np.random.Generator,
) -> Halves:
    """Return halves drawn by RNG of the items, or of those of a SELECTION, and of the models'
    members; TOPICS are of all rows.
    """
    predicted = outcomes.predictions.select(member_columns(models)).fill_nan(None)
    is_complete = (
        predicted.select(pl.all_horizontal(pl.all().is_not_null())).to_series()
        & outcomes.rows["gold"].is_not_null()
    )
    among = is_complete.to_numpy() & (selection.is_selected if selection is not None else True)
    is_first = halve_topics(topics, outcomes.block_of_rows, among, rng)
    first, second = models
    orders = [rng.permutation(len(model.members)).tolist() for model in models]
    if len(first.members) == len(second.members):
        orders[1] = orders[0]  # seeds of the same runs stay together
    (first_search, first_test), (second_search, second_test) = map(_halve_members, models, orders)
    return Halves(
        search=among & is_first,
        test=among & ~is_first,
        models=((first_search, second_search), (first_test, second_test)),
    )


def halve_topics(
    topics: Topics, blocks: NDArray[np.integer], among: Rows, rng: np.random.Generator
) -> Rows:
    """Return which rows are in the first half, each topic whole, so that both have about as many
    rows of each block.

    The largest topics go first, equal ones in a random order, each to the half that leaves the
    blocks most even; a tie is drawn.
    """
    rows = np.flatnonzero(among)
    if not len(rows):
        return np.zeros(len(topics), dtype=bool)
    numbers, topic_of = np.unique(topics[rows], return_inverse=True)
    row_blocks = blocks[rows].astype(np.intp)
    sizes = np.bincount(blocks[rows])
    counts = np.zeros((len(numbers), len(sizes)))
    np.add.at(counts, (topic_of, row_blocks), 1 / np.sqrt(sizes[row_blocks]))
    goes_first = np.zeros(len(numbers), dtype=bool)
    balance = np.zeros(len(sizes))
    order = rng.permutation(len(numbers))
    for topic in order[np.argsort(-np.bincount(topic_of)[order], kind="stable")].tolist():
        agreement = float(balance @ counts[topic])
        goes_first[topic] = agreement < 0 or (agreement == 0 and rng.random() < 0.5)
        balance += counts[topic] if goes_first[topic] else -counts[topic]
    is_first = np.zeros(len(topics), dtype=bool)
    is_first[rows] = goes_first[topic_of]
    return is_first


def _halve_members(model: ModelColumns, order: Sequence[int]) -> tuple[ModelColumns, ModelColumns]:
    """Return two models of half of the members each; both of all of them where these are few."""
    if not (model.is_recipe and len(model.members) >= FEWEST_SEEDS):
        return model, model
    middle = len(order) // 2
    halves = []
    for positions in (sorted(order[:middle]), sorted(order[middle:])):
        half = replace(
            model,
            members=tuple(model.members[index] for index in positions),
            seeds=tuple(model.seeds[index] for index in positions),
            runs=tuple(model.runs[index] for index in positions if model.runs),
        )
        halves.append(half)
    return halves[0], halves[1]


def all_combinations(outcomes: Outcomes, halves: Halves) -> list[Kind]:
    """Return the combinations of two properties that have FEWEST_OF_HALF items, and as many others,
    in both halves of a dataset.

    One that is nearly all of the items with one of its two values is left out: it says no more than
    that value.
    """
    among = halves.search | halves.test
    values = [kind.among(among) for kind in _values(outcomes)]
    found = []
    for first, second in combinations(values, 2):
        if first.by == second.by:
            continue
        holds = first.holds & second.holds
        rarer = min(np.count_nonzero(kind.holds) for kind in (first, second))
        if not 2 * FEWEST_OF_HALF <= np.count_nonzero(holds) <= rarer - FEWEST_OF_HALF:
            continue
        combination = Kind(
            by=f"{first.by} + {second.by}",
            value=f"{first.value} + {second.value}",
            title=f"{first.title} and {second.title}",
            name=f"{first.by} + {second.by}={first.value} + {second.value}",
            holds=holds,
            applies=first.applies & second.applies,
            datasets={},
        )
        found.append(combination.where_enough(outcomes, FEWEST_OF_HALF, halves.search, halves.test))
    return [combination for combination in found if combination.datasets]


def _values(outcomes: Outcomes) -> Iterator[Kind]:
    """Yield each value of each property; of a number the fifths up to each cut between them, and
    those above it.
    """
    for by in all_properties().values():
        values = by.values(outcomes)
        if values.null_count() == len(values):
            continue
        kinds = [*property_kinds(outcomes, by, values)]
        if by.kind == "name":
            yield from kinds
            continue
        number = np.zeros(len(values), dtype=np.intp)
        for fifth in kinds:
            number[fifth.holds] = int(fifth.value.rpartition(" ")[2])
        cuts = range(1, FIFTHS)
        for first, last in [*((1, cut) for cut in cuts), *((cut + 1, FIFTHS) for cut in cuts)]:
            value = f"fifth {first}" if first == last else f"fifths {first}–{last}"
            yield replace(
                kinds[0],
                value=value,
                title=f"{by.title or by.name} ({value})",
                holds=(number >= first) & (number <= last),
            )


class SearchedContrasts:
    """The contrasts of members on each combination within the half of the search: scores alone, of
    which a search needs many.
    """

    def __init__(
        self,
        outcomes: Outcomes,
        members: Sequence[str],
        candidates: Sequence[Kind],
        half: Rows,
        progress: ProgressCallback | None = None,
    ) -> None:
        """Measure the CANDIDATES on one HALF of the rows; what PROGRESS raises ends that."""
        self.found = candidates
        self.members = list(members)
        self.half = half
        blocks = sorted({block for combination in candidates for block in combination.datasets})
        rows = [outcomes.rows_of(block)[half[outcomes.rows_of(block)]] for block in blocks]
        score_without: list[Without] = []
        self.influences: list[Floats] = []  # (members, rows) of each block
        for block, own in zip(blocks, rows, strict=True):
            dtype = np.int64 if outcomes.blocks[block].classes else np.float64
            gold = outcomes.rows["gold"].gather(own).to_numpy().astype(dtype)
            columns = [outcomes.predictions[member].gather(own) for member in members]
            predicted = [column.to_numpy().astype(dtype) for column in columns]
            measure = MEASURES[outcomes.blocks[block].measures[0]]
            score_without.append(measure.without(gold, predicted))
            self.influences.append(measure.influences(gold, predicted))
        # (combinations, members) in the mean over datasets, and (combinations, blocks) how often
        # the variance of an item counts
        self.points = np.empty((len(candidates), len(members)))
        self.item_weights = np.zeros((len(candidates), len(blocks)))
        for number, combination in enumerate(candidates):
            leads = []
            for place in map(blocks.index, combination.datasets):
                holds = combination.holds[rows[place]]
                others = combination.others[rows[place]]
                leads.append(score_without[place](~holds) - score_without[place](~others))
                weight = 1 / np.count_nonzero(holds) + 1 / np.count_nonzero(others)
                self.item_weights[number, place] = weight / len(combination.datasets) ** 2
            self.points[number] = np.mean(leads, axis=0)
            is_last = number == len(candidates) - 1
            if progress is not None and (number % _REPORTED_EVERY == 0 or is_last):
                progress(number + 1, len(candidates))

    def contrasts(self, models: Sequence[ModelColumns]) -> tuple[Floats, Floats]:
        """Return by how much the second model's lead is larger on each combination, and that in
        rough standard errors.

        The variance of items is that of the whole datasets' differences, for as many items; that of
        seeds is added.
        """
        first, second = ([self.members.index(name) for name in model.members] for model in models)
        contrast: Floats = self.points[:, second].mean(axis=1) - self.points[:, first].mean(axis=1)
        leads = [each[second].mean(axis=0) - each[first].mean(axis=0) for each in self.influences]
        variance = self.item_weights @ np.array([np.var(lead) for lead in leads]) + _SMALLEST
        for columns in (first, second):
            if len(columns) > 1:
                variance += self.points[:, columns].var(axis=1, ddof=1) / len(columns)
        return contrast, contrast / np.sqrt(variance)


def most_certain(
    searched: SearchedContrasts, models: Sequence[ModelColumns]
) -> list[tuple[Kind, float]]:
    """Return the TESTED combinations with the surest contrasts of two models, and these; of those
    that say the same the surest alone.
    """
    contrast, distance = searched.contrasts(models)
    chosen: list[tuple[Kind, float]] = []
    distances = np.abs(np.nan_to_num(distance))  # what is unknown comes last
    for index in np.argsort(-distances, kind="stable").tolist():
        combination = searched.found[index]
        if len(chosen) == TESTED or not distances[index]:
            break
        if not any(_say_the_same(combination, other, searched.half) for other, _ in chosen):
            chosen.append((combination, float(contrast[index])))
    return chosen


def _say_the_same(first: Kind, second: Kind, half: Rows) -> bool:
    """Return whether two combinations have nearly the same items on a HALF, or each has what the
    other one is compared with.
    """
    first = first.among(half)
    second = second.among(half)
    return _are_same(first.holds, second.holds) or (
        _are_same(first.holds, second.others) and _are_same(first.others, second.holds)
    )


def _are_same(first: Rows, second: Rows) -> bool:
    return bool(np.count_nonzero(first & second) >= _SAME * np.count_nonzero(first | second))


def confirm_combinations(
    outcomes: Outcomes, halves: Halves, chosen: Sequence[tuple[Kind, float]]
) -> list[Tested]:
    """Return the CHOSEN combinations tested on the half of the test, the surest first.

    A test looks in the direction that the search found: it is of one side.
    """
    models = halves.models[1]
    searched = {(kind.by, kind.value): contrast for kind, contrast in chosen}
    on_test_half = [kind.among(halves.test) for kind, _ in chosen]
    kinds = measured_kinds(outcomes, member_columns(models), on_test_half)
    tests = []
    for measured in kinds:
        weighed = Weighed(measured.contrast, models)
        first, second = (weighed.means[model.name] for model in models)
        ((pair, p),) = weighed.p.items()
        contrast = searched[measured.kind.by, measured.kind.value]
        level = 2 * SIGNIFICANT / len(kinds)
        test = Tested(
            measured=measured,
            models=models,
            searched=contrast,
            p=p / 2 if (second - first) * contrast > 0 else 1 - p / 2,
            p_corrected=nan,
            smallest=smallest_difference(weighed.pair_uncertainties[pair], level),
            reach=halves.reach,
        )
        tests.append(test)
    corrected = benjamini_hochberg([test.p for test in tests])
    tests = [replace(test, p_corrected=p) for test, p in zip(tests, corrected, strict=True)]
    return sorted(tests, key=lambda test: (isnan(test.p), test.p))


def search_combinations(
    outcomes: Outcomes,
    topics: Topics,
    models: Sequence[ModelColumns],
    selection: ItemSelection | None,
    rng: np.random.Generator,
    progress: ProgressCallback | None = None,
) -> CombinationSearch:
    """Return what two MODELS differ on among combinations of two properties, searched and tested on
    halves drawn by RNG.
    """
    halves = draw_halves(outcomes, topics, models, selection, rng)
    candidates = all_combinations(outcomes, halves) if halves.is_even else []
    searched = SearchedContrasts(
        outcomes, member_columns(halves.models[0]), candidates, halves.search, progress
    )
    return CombinationSearch(
        combinations=len(candidates),
        items=(int(halves.search.sum()), int(halves.test.sum())),
        seeds=halves.seeds,
        reach=halves.reach,
        tested=tuple(
            confirm_combinations(outcomes, halves, most_certain(searched, halves.models[0]))
        ),
    )
