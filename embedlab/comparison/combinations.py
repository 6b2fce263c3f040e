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
            search_model.name: (len(search_model.members), len(test_model.members))
            for search_model, test_model in zip(*self.models, strict=True)
            if search_model != test_model
        }

    @property
    def reach(self) -> Reach:
        """How far what is confirmed reaches: with few seeds, the same in both halves, no farther
        than these checkpoints.
        """
        pairs = zip(*self.models, strict=True)
        return (
            "models"
            if all(
                search_model != test_model or search_model.is_published
                for search_model, test_model in pairs
            )
            else "checkpoints"
        )

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
    return _choose_members(model, sorted(order[:middle])), _choose_members(
        model, sorted(order[middle:])
    )


def _choose_members(model: ModelColumns, positions: Sequence[int]) -> ModelColumns:
    members = tuple(model.members[index] for index in positions)
    seeds = tuple(model.seeds[index] for index in positions) if model.seeds else ()
    runs = tuple(model.runs[index] for index in positions) if model.runs else ()
    return replace(model, members=members, seeds=seeds, runs=runs)


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
        self.found, self.members, self.half = list(candidates), list(members), half
        blocks = sorted({block for combination in candidates for block in combination.datasets})
        self._rows = {
            block: outcomes.rows_of(block)[half[outcomes.rows_of(block)]] for block in blocks
        }
        self._without: dict[int, Without] = {}
        self._influences: dict[int, Floats] = {}
        for block, rows in self._rows.items():
            dtype = np.int64 if outcomes.blocks[block].classes else np.float64
            gold = outcomes.rows["gold"].gather(rows).to_numpy().astype(dtype)
            predicted = [
                outcomes.predictions[member].gather(rows).to_numpy().astype(dtype)
                for member in members
            ]
            measure = MEASURES[outcomes.blocks[block].measures[0]]
            self._without[block] = measure.without(gold, predicted)
            self._influences[block] = measure.influences(gold, predicted)
        self.points = np.empty((len(candidates), len(members)))  # (combinations, members)
        for number, combination in enumerate(candidates):
            self.points[number] = self._contrast(combination)
            if progress is not None and (
                number % _REPORTED_EVERY == 0 or number == len(candidates) - 1
            ):
                progress(number + 1, len(candidates))

    def _contrast(self, combination: Kind) -> Floats:
        """Return each member's score on a combination minus that on the others, in the mean over
        datasets.
        """
        leads = []
        for block in combination.datasets:
            rows = self._rows[block]
            score_without = self._without[block]
            applies = combination.applies[rows]
            holds = combination.holds[rows]
            leads.append(score_without(~(applies & holds)) - score_without(holds | ~applies))
        mean_lead: Floats = np.mean(leads, axis=0)
        return mean_lead

    def contrasts(self, models: Sequence[ModelColumns]) -> tuple[Floats, Floats]:
        """Return by how much the second model's lead is larger on each combination, and that in
        rough standard errors.

        The variance of items is that of the whole datasets' differences, for as many items; that of
        seeds is added.
        """
        model_columns = [
            [self.members.index(member) for member in model.members] for model in models
        ]
        first, second = (self.points[:, columns] for columns in model_columns)
        contrast = second.mean(axis=1) - first.mean(axis=1)
        seeds = sum(
            (
                scores.var(axis=1, ddof=1) / scores.shape[1]
                for scores in (first, second)
                if scores.shape[1] > 1
            ),
            np.zeros(len(contrast)),
        )
        item_variance = {
            block: float(
                np.var(
                    influence[model_columns[1]].mean(axis=0)
                    - influence[model_columns[0]].mean(axis=0)
                )
            )
            for block, influence in self._influences.items()
        }
        items = np.array([self._variance(combination, item_variance) for combination in self.found])
        return contrast, contrast / np.sqrt(items + seeds + _SMALLEST)

    def _variance(self, combination: Kind, item_variance: Mapping[int, float]) -> float:
        variance = 0.0
        for block in combination.datasets:
            rows = self._rows[block]
            applies = combination.applies[rows]
            holds = combination.holds[rows]
            count = np.count_nonzero(applies & holds)
            other_count = np.count_nonzero(applies & ~holds)
            variance += item_variance[block] * (1 / count + 1 / other_count)
        return variance / len(combination.datasets) ** 2


def most_certain(
    searched: SearchedContrasts, models: Sequence[ModelColumns]
) -> list[tuple[Kind, float]]:
    """Return the TESTED combinations with the surest contrasts of two models, and these; of those
    that say the same the surest alone.
    """
    contrast, distance = searched.contrasts(models)
    chosen: list[tuple[Kind, float]] = []
    sides: list[tuple[Rows, Rows]] = []
    for index in np.argsort(-np.abs(np.nan_to_num(distance)), kind="stable").tolist():
        combination = searched.found[index]
        if len(chosen) == TESTED or not distance[index]:
            break
        in_half = combination.among(searched.half)
        both_sides = in_half.holds, in_half.others
        if not np.isnan(distance[index]) and not any(
            _say_the_same(both_sides, chosen_sides) for chosen_sides in sides
        ):
            chosen.append((combination, float(contrast[index])))
            sides.append(both_sides)
    return chosen


def _say_the_same(first: tuple[Rows, Rows], second: tuple[Rows, Rows]) -> bool:
    """Return whether two combinations have nearly the same items, or each has what the other one is
    compared with.
    """
    (first_items, first_others), (second_items, second_others) = first, second
    return _are_same(first_items, second_items) or (
        _are_same(first_items, second_others) and _are_same(first_others, second_items)
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
    searched_contrasts = {
        (combination.by, combination.value): contrast for combination, contrast in chosen
    }
    kinds = measured_kinds(
        outcomes,
        member_columns(models),
        [combination.among(halves.test) for combination, _ in chosen],
    )
    tests = [
        _test_combination(
            test,
            models,
            searched_contrasts[test.kind.by, test.kind.value],
            halves.reach,
            len(kinds),
        )
        for test in kinds
    ]
    corrected = benjamini_hochberg([test.p for test in tests])
    tests = [replace(test, p_corrected=p) for test, p in zip(tests, corrected, strict=True)]
    return sorted(tests, key=lambda test: (isnan(test.p), test.p))


def _test_combination(
    measured: MeasuredKind,
    models: Sequence[ModelColumns],
    searched: float,
    reach: Reach,
    tests: int,
) -> Tested:
    contrast = Weighed(measured.contrast, models)
    first, second = (contrast.means[model.name] for model in models)
    ((pair, p),) = contrast.p.items()
    return Tested(
        measured=measured,
        models=models,
        searched=searched,
        p=p / 2 if (second - first) * searched > 0 else 1 - p / 2,
        p_corrected=nan,
        smallest=smallest_difference(contrast.pair_uncertainties[pair], 2 * SIGNIFICANT / tests),
        reach=reach,
    )


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
