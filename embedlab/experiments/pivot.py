"""The results of a grid, pivoted by its axes: mean ± sd over seeds, the best of each column and
results not distinguishable from it.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

from embedlab.analysis.choosing import chosen_p, optimism
from embedlab.analysis.seed_tests import variance, welch_p
from embedlab.core.errors import UsageError
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.nearest import nearest_hint
from embedlab.data.marks import Overlap, marks_of
from embedlab.data.published import canonical_name
from embedlab.experiments.plan import Cell, GridPlan
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.status import last_dev, run_status, trained_flaw
from embedlab.runs.store import RunFolder

DEV_SCORE = "dev"  # the last dev score, next to the slices of the evaluation
LAST_DIGIT = 0.01  # points that are shown
ALPHA = 0.05

Key = TypeVar("Key")
PivotKey = tuple[tuple[str, ...], str]  # (labels of the row's axes, column)


@dataclass(frozen=True, kw_only=True)
class ScoreFilter:
    """The numbers of an evaluation that the table shows."""

    task: str = DEFAULT_TASK
    metric: str = "spearman"
    setting: str = "all"
    by: tuple[str, ...] = ("dataset", "average")

    def is_of(self, score: Mapping[str, Any]) -> bool:
        """Return whether a score with these fields is shown."""
        return (
            score["by"] in self.by
            and score["metric"] == self.metric
            and score["setting"] == self.setting
        )


@dataclass(frozen=True, kw_only=True)
class CellSpread:
    """The scores of one place in the table over seeds; shares x 100."""

    values: tuple[float, ...]
    cells: tuple[
        str, ...
    ] = ()  # of which the values are: one a seed, or several where an axis is averaged
    is_best: bool = False
    is_tied: bool = False  # not distinguishable from the best, or equal to it as it is shown
    is_flawed: bool = False  # a training behind it failed to learn: never the best
    optimism: float | None = (
        # of the best: how far its mean is expected to be too high, as it was chosen; nan where it
        # is unknown
        None
    )
    shared: Overlap | None = None  # with the training data, if any text is shared

    @cached_property
    def mean(self) -> float:
        """Return the mean over seeds."""
        return fmean(self.values)

    @cached_property
    def sd(self) -> float | None:
        """Return the standard deviation over seeds; None with one."""
        return math.sqrt(variance(self.values)) if len(self.values) > 1 else None


@dataclass(frozen=True, kw_only=True)
class PairTest:
    """How far apart two places are."""

    p: float  # two-sided, of "no difference"; nan where it is unknown
    variance: float  # of their difference


@dataclass(frozen=True, kw_only=True)
class Pivot:
    """A table of spreads; a place without a finished cell is absent."""

    row_axes: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]  # labels along the row axes
    columns: tuple[str, ...]
    column_axis: str | None  # whose labels the columns are; None: they are the slices
    shown: tuple[str, ...]  # the slices
    spreads: Mapping[PivotKey, CellSpread]
    is_ranked: bool  # whether the numbers are shares, shown x 100, and the best are marked
    is_by_items: bool  # whether ties are tested over items and seeds, not over seeds alone
    marks: tuple[str, ...]  # "partial", "generated", "overlap"
    evaluations: tuple[
        tuple[Mapping[str, str], Evaluation], ...
    ]  # the labels and evaluation of each cell that has one
    missing: int  # cells of the plan without these results
    averaged: tuple[str, ...]  # axes that are neither rows nor columns


@dataclass(frozen=True, kw_only=True)
class _CellResult:
    cell: Cell
    scores: Mapping[str, float]  # slice → score, shares x 100
    marks: tuple[str, ...]
    evaluation: Evaluation | None  # None where the dev score alone is known


def pivot(
    plan: GridPlan,
    measure: ScoreFilter,
    *,
    rows: Sequence[str] | None = None,
    columns: str | None = None,
    score: str | None = None,
    where: Mapping[str, str] | None = None,
) -> Pivot:
    """Return the finished cells of PLAN along two axes.

    ROWS: axes, all others by default. COLUMNS: an axis, and then SCORE names the slice to show, by
    default the last average; or None for one column a slice. WHERE: axis = label, to select cells.
    Other axes are averaged, and named. Dev scores are shown if SCORE selects them or no cell is
    evaluated: those of each cell whose training is finished.
    """
    shown_axes = [*(rows or ()), *([columns] if columns else [])]
    _refuse_unknown_axes(plan, [*shown_axes, *(where or ())])
    if columns is not None and columns in (rows or ()):
        raise UsageError(
            f"axis {columns!r} cannot be rows and columns at once", hint="remove one of them"
        )
    chosen_labels = {axis: _label(plan, axis, text) for axis, text in (where or {}).items()}
    selected_cells = [
        cell for cell in plan.cells if chosen_labels.items() <= cell.variant.labels.items()
    ]
    results = _finished(selected_cells, measure, score)
    slices = list(dict.fromkeys(name for result in results for name in result.scores))
    if score is not None and results and score not in slices:
        hint = nearest_hint(score, slices, f"scores: {', '.join(slices)}")
        raise UsageError(f"no score {score!r}", hint=hint)
    shown_slices = slices if columns is None else slices[-1:]
    if score is not None:
        shown_slices = [score]
    free_axes = [axis for axis in plan.axes if axis != columns and axis not in chosen_labels]
    row_axes = tuple(rows) if rows is not None else tuple(free_axes)
    spreads = _spreads(results, row_axes, columns, shown_slices)
    evaluations = tuple(
        (result.cell.variant.labels, result.evaluation)
        for result in results
        if result.evaluation is not None
    )
    scales = {stored.scale for _, evaluation in evaluations for stored in evaluation.scores}
    is_ranked = scales <= {100}
    missing = len(selected_cells) - len(results)
    # a score of one value of an axis alone, such as a task's, is not averaged over it
    is_averaged = missing > 0 or any(
        len(spread.cells) > len(spread.values) for spread in spreads.values()
    )
    column_labels = shown_slices
    if columns is not None:
        lacks_axis = any(not column for _, column in spreads)  # some recipes have no such axis
        column_labels = [*[""] * lacks_axis, *plan.axes[columns]]
    pivoted = Pivot(
        row_axes=row_axes,
        rows=tuple(dict.fromkeys(row for row, _ in _in_order(plan, spreads, row_axes))),
        columns=tuple(column_labels),
        column_axis=columns,
        shown=tuple(shown_slices),
        spreads=spreads,
        is_ranked=is_ranked,
        is_by_items=False,
        marks=tuple(sorted({mark for result in results for mark in result.marks})),
        evaluations=evaluations,
        missing=missing,
        averaged=tuple(axis for axis in free_axes if axis not in row_axes) if is_averaged else (),
    )
    if not is_ranked:
        return pivoted
    return with_ties(pivoted, lambda _, first, second: seed_test(first, second))


def _finished(cells: Sequence[Cell], measure: ScoreFilter, score: str | None) -> list[_CellResult]:
    """Return the results of the CELLS that have any; a MEASURE that evaluated cells lack is
    refused.
    """
    results = list(_results(cells, measure))
    has_dev_alone = all({*result.scores} <= {DEV_SCORE} for result in results)
    if results and score != DEV_SCORE and has_dev_alone:
        path = _evaluation_file(results[0].cell.run, measure)
        _refuse_unknown_measure(Evaluation.load(path), measure)
    is_evaluated = any(next(cell.run.evaluations.rglob("*.json"), None) for cell in cells)
    # a task other than the default is asked for by its name
    if score == DEV_SCORE or (measure.task == ScoreFilter.task and not is_evaluated):
        known_cells = {result.cell.id for result in results}
        results += _dev_results([cell for cell in cells if cell.id not in known_cells])
    return results


def _spreads(
    results: Sequence[_CellResult],
    row_axes: Sequence[str],
    columns: str | None,
    shown_slices: Sequence[str],
) -> dict[PivotKey, CellSpread]:
    """Return the scores of the cells of each place of the table; they differ only by seed, unless
    an axis is averaged.
    """
    values: dict[PivotKey, dict[int, dict[str, float]]] = {}  # by seed, then by cell
    overlaps: dict[PivotKey, Overlap] = {}
    flawed_cells = {result.cell.id for result in results if trained_flaw(result.cell.run)}
    for result in results:
        labels, evaluation = result.cell.variant.labels, result.evaluation
        row = tuple(labels.get(axis, "") for axis in row_axes)
        for name in shown_slices:
            if name not in result.scores:
                continue
            key = row, name if columns is None else labels.get(columns, "")
            seed_scores = values.setdefault(key, {}).setdefault(result.cell.seed, {})
            seed_scores[result.cell.id] = result.scores[name]
            if evaluation is not None and name in evaluation.overlaps:
                overlaps[key] = evaluation.overlaps[name]
    spreads = {}
    for key, seeds in values.items():
        cells = tuple(chain(*seeds.values()))
        spreads[key] = CellSpread(
            values=tuple(fmean(seed_scores.values()) for seed_scores in seeds.values()),
            cells=cells,
            shared=overlaps.get(key),
            is_flawed=not flawed_cells.isdisjoint(cells),
        )
    return spreads


def usual_measure(
    plan: GridPlan,
    task: str | None,
    *,
    metric: str | None,
    setting: str | None,
    by: tuple[str, ...],
) -> ScoreFilter:
    """Return the scores of TASK to show, or of the evaluation of cells with that dataset: what is
    not given is sts where the grid has it, and Spearman over all pairs where that is stored, else
    what is stated first.
    """
    words_by_name = {
        name: words for variant in plan.variants for name, words in variant.tasks.items()
    }
    wanted = task or ScoreFilter.task
    fitting = [
        name
        for name, words in words_by_name.items()
        if canonical_name(wanted) in words or name.startswith(f"{wanted}/")
    ]
    names = fitting or [wanted, *(words_by_name if task is None else ())]
    measures = [ScoreFilter(task=name, by=by) for name in names]
    files = ((each, _evaluation_file(cell.run, each)) for each in measures for cell in plan.cells)
    measure, path = next((found for found in files if found[1].is_file()), (measures[0], None))
    scores = Evaluation.load(path).scores if path is not None else ()
    if metric is None:
        metric = _usual(measure.metric, [score.metric for score in scores if score.by in by])
    if setting is None:
        candidates = [score for score in scores if score.by in by and score.metric == metric]
        setting = _usual(measure.setting, [score.setting for score in candidates])
    return replace(measure, metric=metric, setting=setting)


def _usual(usual: str, names: Sequence[str]) -> str:
    return usual if usual in names or not names else names[0]


def _results(cells: Collection[Cell], measure: ScoreFilter) -> Iterator[_CellResult]:
    for cell in cells:
        run = cell.run
        path = _evaluation_file(run, measure)
        if not path.is_file():
            continue
        evaluation = Evaluation.load(path, where=measure.is_of)
        scores = {score.slice: score.scale * score.value for score in evaluation.scores}
        dev = last_dev(run)
        shown_scores = scores if dev is None else {DEV_SCORE: dev.score, **scores}
        yield _CellResult(
            cell=cell, scores=shown_scores, marks=evaluation.marks, evaluation=evaluation
        )


def _dev_results(cells: Collection[Cell]) -> Iterator[_CellResult]:
    """Yield the last dev score of each of CELLS whose training is finished."""
    for cell in cells:
        run = cell.run
        dev = last_dev(run) if run_status(run).state == "finished" else None
        if dev is not None:
            environment = run.environment()
            marks = marks_of(
                is_partial=environment.is_partial, is_generated=environment.is_generated
            )
            yield _CellResult(
                cell=cell, scores={DEV_SCORE: dev.score}, marks=marks, evaluation=None
            )


def _evaluation_file(run: RunFolder, measure: ScoreFilter) -> Path:
    return run.evaluations / f"{measure.task}.json"


def _in_order(
    plan: GridPlan, keys: Collection[PivotKey], row_axes: Sequence[str]
) -> list[PivotKey]:
    """Return the KEYS of places in the order of the grid file; a missing axis comes first."""

    def key(pivot_key: PivotKey) -> list[int]:
        return [
            plan.axes[axis].index(label) if label else -1
            for axis, label in zip(row_axes, pivot_key[0], strict=True)
        ]

    return sorted(keys, key=key)


def seed_test(first: CellSpread, second: CellSpread) -> PairTest:
    """Return how far apart two places are over seeds alone, whose spreads need not be equal."""
    variances = [
        variance(spread.values) / len(spread.values) if len(spread.values) > 1 else math.nan
        for spread in (first, second)
    ]
    return PairTest(p=welch_p(first.values, second.values), variance=sum(variances))


def with_ties(
    pivoted: Pivot, test_pair: Callable[[str, CellSpread, CellSpread], PairTest]
) -> Pivot:
    """Mark the best of each slice, and what is not distinguishable from it; TEST PAIR compares two
    places of the table on a slice.
    """
    groups: dict[str, dict[PivotKey, CellSpread]] = {}
    spreads = dict(pivoted.spreads)
    for key, spread in spreads.items():
        spreads[key] = replace(spread, is_best=False, is_tied=False, optimism=None)
        if not math.isnan(spread.mean):
            name = key[1] if pivoted.column_axis is None else pivoted.shown[0]
            groups.setdefault(name, {})[key] = spreads[key]
    for name, group_spreads in groups.items():
        spreads |= marked_best(group_spreads, partial(test_pair, name))
    return replace(pivoted, spreads=spreads)


def marked_best(
    spreads: Mapping[Key, CellSpread], test_pair: Callable[[CellSpread, CellSpread], PairTest]
) -> dict[Key, CellSpread]:
    """Return SPREADS with marks: the best and by how much its mean is too high, and ties, which
    TEST PAIR cannot tell from it.

    If others are shown with the same number as the best, all of them are ties and none is the best;
    nor is a spread that is alone.
    """
    marked = dict(spreads)
    sound_keys = [key for key in marked if not marked[key].is_flawed]
    if not sound_keys or len(spreads) == 1:
        return marked
    best = max(sound_keys, key=lambda key: marked[key].mean)
    other_keys = [key for key in sound_keys if key != best]
    equal = [key for key in other_keys if marked[best].mean - marked[key].mean < LAST_DIGIT / 2]
    differences = [test_pair(marked[best], marked[other_key]) for other_key in other_keys]
    corrected = chosen_p([difference.p for difference in differences])
    level, variances = [best], []  # what may be the best as well, and variances
    for other_key, p, difference in zip(other_keys, corrected, differences, strict=True):
        if p >= ALPHA:  # nan with one seed: not testable, so not marked
            marked[other_key] = replace(marked[other_key], is_tied=True)
        if p >= ALPHA or math.isnan(difference.p):
            level.append(other_key)
            variances += [difference.variance] * (not math.isnan(difference.variance))
    if equal:
        return marked | {key: replace(marked[key], is_tied=True) for key in (best, *equal)}
    too_high = optimism(
        [marked[key].mean for key in level], fmean(variances) / 2 if variances else math.nan
    )
    return marked | {best: replace(marked[best], is_best=True, optimism=too_high)}


def _refuse_unknown_axes(plan: GridPlan, names: Sequence[str]) -> None:
    for name in names:
        if name not in plan.axes:
            hint = nearest_hint(name, plan.axes, f"axes: {', '.join(plan.axes)}")
            raise UsageError(f"grid {plan.name!r} has no axis {name!r}", hint=hint)


def _label(plan: GridPlan, axis: str, text: str) -> str:
    """Return the label of a value of AXIS that a user typed as TEXT; a number may be written in any
    way.
    """
    labels, number = plan.axes[axis], _number(text)
    equal = [label for label in labels if number is not None and _number(label) == number]
    if text in labels or equal:
        return text if text in labels else equal[0]
    raise UsageError(
        f"axis {axis!r} of grid {plan.name!r} has no value {text!r}",
        hint=f"its values: {', '.join(labels)}",
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _refuse_unknown_measure(evaluation: Evaluation, measure: ScoreFilter) -> None:
    """Name the first part of MEASURE that no score has; each part is searched among the scores that
    have the parts before it.
    """
    scores = evaluation.scores
    for field, allowed in (
        ("metric", (measure.metric,)),
        ("setting", (measure.setting,)),
        ("by", measure.by),
    ):
        available = list(dict.fromkeys(str(getattr(score, field)) for score in scores))
        scores = tuple(score for score in scores if getattr(score, field) in allowed)
        if not scores:
            option = "aggregate" if field == "setting" else field
            raise UsageError(
                f"no {measure.task} score has --{option} {', '.join(allowed)}",
                hint=f"there are: {', '.join(available)}",
            )
