"""The evidence of outcomes, slice by slice and measure by measure, with the averages over
datasets.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.correlations import SAME_SIMILARITY, correlated_groups, why_undefined_gold
from embedlab.analysis.dependence import SharedSentences
from embedlab.analysis.evidence import Evidence, ItemGroups, average_evidence, evidence_of
from embedlab.analysis.families import families, largest_joined
from embedlab.analysis.measures import MEASURES, Measure, classes_by_threshold, two_folds
from embedlab.analysis.near_duplicates import NearDuplicates
from embedlab.analysis.slices import has_all
from embedlab.choices import Aggregate
from embedlab.core.note import Note
from embedlab.outcomes.cuts import DATASET, ItemSlice, halves, whole_blocks
from embedlab.outcomes.frame import Block, Outcomes
from embedlab.outcomes.grouping import grouped, lacking_datasets
from embedlab.outcomes.selection import ItemSelection
from embedlab.runs.outcomes import TEXT_IDS

_BLOCK = "\0block"  # no member is called so
CHOSEN = "chosen by results: no interval, no test"


def slices_of(
    outcomes: Outcomes,
    members: Sequence[str],
    *,
    by: str | ItemSelection = DATASET,
    selection: ItemSelection | None = None,
    common: bool = False,
    has_rest: bool = False,
) -> list[ItemSlice]:
    """Return the slices of each dataset BY properties, or what a selection picks and the rest; that
    no item has one is a UsageError.

    They are cut before SELECTION is applied, so that what is shown of a dataset does not move its
    fifths. With COMMON items alone that all MEMBERS have predictions of count, which the title
    says; a member that has none of a dataset costs the others none. Where it HAS_REST, the items of
    each dataset that SELECTION leaves out are a slice below those that it picks.
    """
    parts = list(whole_blocks(outcomes))
    if isinstance(by, ItemSelection):
        parts = list(halves(outcomes, by))
    elif by != DATASET:
        lacking_datasets(outcomes, by)
        parts = list(grouped(outcomes, by))
    if selection is not None:
        chosen = [
            replace(part, rows=part.rows[selection.holds[part.rows]], notes=()) for part in parts
        ]  # ties are of whole datasets
        rests = [_rest(part, selection) if has_rest else None for part in parts]
        both = [(items, rest) for items, rest in zip(chosen, rests, strict=True) if len(items.rows)]
        parts = [
            items
            for chosen_and_rest in both
            for items in chosen_and_rest
            if items is not None and len(items.rows)
        ]
    if not common:
        return parts
    has_all = _common_rows(outcomes, members)
    return [_of_common(part, has_all) for part in parts]


def _rest(items: ItemSlice, selection: ItemSelection) -> ItemSlice:
    rows = items.rows[~selection.holds[items.rows]]
    return replace(
        items,
        key=f"{items.key}/rest",
        title=f"{items.title} rest",
        rows=rows,
        is_whole=False,
        notes=(),
    )


def _common_rows(outcomes: Outcomes, members: Sequence[str]) -> NDArray[np.bool_]:
    """Return which rows all members have predictions of, but for those that have none in the row's
    dataset; (rows,).
    """
    predictions = outcomes.predictions.with_columns(outcomes.rows["block"].alias(_BLOCK))
    return predictions.select(has_all(members, _BLOCK)).to_series().to_numpy()


def _of_common(items: ItemSlice, has_all: NDArray[np.bool_]) -> ItemSlice:
    rows = items.rows[has_all[items.rows]]
    counted = f", {len(rows)} of {len(items.rows)}" if len(rows) < len(items.rows) else ""
    return replace(items, title=f"{items.title}{counted}", rows=rows)


def outcome_evidence(
    outcomes: Outcomes,
    members: Sequence[str],
    parts: Sequence[ItemSlice] | None = None,
    *,
    aggregate: Aggregate = "all",
    is_chosen: bool = False,
    is_tested: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> list[Evidence]:
    """Return the evidence of OUTCOMES on MEMBERS: of each of PARTS (whole datasets without them)
    and each measure, then of averages.

    A member that lacks an item of a slice has no score there, and the others keep theirs. AGGREGATE
    says how the sources of a whole dataset are put together, where its items name sources. What
    IS_CHOSEN by results has scores and no items to test, and neither has what is not to be tested:
    what each item contributes is the longest part of the work.
    """
    parts = list(whole_blocks(outcomes)) if parts is None else parts
    by_suite: dict[str, list[Evidence]] = {block.suite: [] for block in outcomes.blocks}
    # The first measure of whole datasets, which averages are over.
    whole: dict[str, dict[str, Evidence]] = {suite: {} for suite in by_suite}
    tested = {part.block for part in parts} if is_tested else set()
    near = {number: _near(outcomes.blocks[number]) for number in tested}
    for done, items in enumerate(parts):
        block = outcomes.blocks[items.block]
        evidences = list(
            _of_slice(
                outcomes,
                block,
                items,
                members,
                aggregate,
                near=near.get(items.block),
                is_tested=is_tested,
            )
        )
        by_suite[block.suite] += evidences
        if items.is_whole:
            whole[block.suite][items.key] = evidences[0]
        if progress:
            progress(done + 1, len(parts))
    for suite, evidences in by_suite.items():
        evidences += _averages(whole[suite], outcomes, suite)
    evidence = list(chain.from_iterable(by_suite.values()))
    return (
        [replace(each, rows=None, notes=(*each.notes, CHOSEN)) for each in evidence]
        if is_chosen
        else evidence
    )


def _of_slice(
    outcomes: Outcomes,
    block: Block,
    item_slice: ItemSlice,
    members: Sequence[str],
    aggregate: Aggregate,
    *,
    near: NearDuplicates | None,
    is_tested: bool,
) -> Iterator[Evidence]:
    items, values = (
        _gathered(outcomes.rows, item_slice.rows),
        _without_nan(_gathered(outcomes.predictions[list(members)], item_slice.rows)),
    )
    scored = items
    if items["gold"].null_count():
        has_gold = items["gold"].is_not_null()
        scored, values = items.filter(has_gold), values.filter(has_gold)
    there = [number for number, member in enumerate(members) if not values[member].null_count()]
    is_aggregated = block.is_aggregated and item_slice.is_whole
    groups = _source_groups(scored, aggregate) if is_aggregated and aggregate != "all" else None
    noun = "pairs" if block.is_of_pairs else "items"
    notes = [
        *item_slice.notes,
        *_left_out(items.height, scored.height, noun),
        *_unscored(values, members, noun),
    ]
    if groups is not None and not groups.rows and scored.height:
        notes.append(f"no {aggregate}: its {noun} name no source")
    dtype = np.int64 if block.classes else np.float64
    gold = scored["gold"].to_numpy().astype(dtype)
    predicted = {number: values[members[number]].to_numpy().astype(dtype) for number in there}
    needs_texts = is_tested or any(MEASURES[name].is_of_classes for name in block.measures)
    texts = _texts(scored) if needs_texts else None
    for index, name in enumerate(block.measures):
        key, title = (
            (item_slice.key, item_slice.title)
            if not index
            else (f"{item_slice.key} {name}", f"{item_slice.title} {name}")
        )
        measure = MEASURES[name]
        has_classes = bool(block.classes) or not measure.is_of_classes
        made = evidence_of(
            block.task,
            key,
            gold if has_classes else gold.astype(np.int64),
            predicted
            if has_classes
            else _by_threshold(gold, predicted, texts, near, by_f1=name == "f1"),
            len(members),
            measure=measure,
            texts=texts,
            near=near,
            groups=groups,
            is_tested=is_tested,
        )
        undefined = _undefined(
            measure,
            gold,
            {members[number]: values for number, values in predicted.items()},
            groups,
            scored["source"],
        )
        setting = (aggregate if item_slice.is_whole else "all") if block.is_aggregated else None
        chosen = () if has_classes else (THRESHOLD,)
        yield replace(
            made,
            title=title,
            notes=(*notes, *undefined, *chosen),
            setting=setting,
            dataset=block.dataset,
        )


THRESHOLD = "its threshold is the best one on the other half of the topics, not on these pairs"


def _by_threshold(
    gold: NDArray[Any],
    predicted: dict[int, NDArray[Any]],
    texts: NDArray[np.uint64] | None,
    near: NearDuplicates | None,
    *,
    by_f1: bool,
) -> dict[int, NDArray[np.int64]]:
    """Return the class of each pair whose gold is 0 or 1, by the threshold that is best on the
    other half of the topics.
    """
    topics = np.arange(len(gold))
    if texts is not None:
        shares = np.full(len(gold), 1 / max(len(gold), 1))
        shared = SharedSentences.of(texts[:, 0], texts[:, 1])
        known = near if near is not None else NearDuplicates.none()
        topics = families(shared, shares, known, largest_joined(len(gold)))
    folds = two_folds(topics)
    if len(np.unique(folds)) < 2:
        return {}
    return {
        number: classes_by_threshold(gold, scores, folds, by_f1=by_f1)
        for number, scores in predicted.items()
    }


def _gathered(table: pl.DataFrame, rows: NDArray[np.intp]) -> pl.DataFrame:
    """Return the ROWS of a table; those that follow each other are not copied."""
    is_together = len(rows) > 0 and bool((np.diff(rows) == 1).all())
    return table.slice(int(rows[0]), len(rows)) if is_together else table[rows]


def _without_nan(predictions: pl.DataFrame) -> pl.DataFrame:
    """Return PREDICTIONS with null where a number is missing."""
    has_some = any(column.is_nan().any() for column in predictions if column.dtype.is_float())
    return predictions.fill_nan(None) if has_some else predictions


def _near(block: Block) -> NearDuplicates | None:
    return block.near() if block.near is not None else None


def _texts(items: pl.DataFrame) -> NDArray[np.uint64] | None:
    if items["first_text"].null_count():
        return None
    return np.stack([items[name].to_numpy() for name in TEXT_IDS], axis=1)


def _source_groups(items: pl.DataFrame, aggregate: Aggregate) -> ItemGroups:
    """Return the items of each source; none where an item names no source."""
    return ItemGroups(
        rows=correlated_groups(items.select("source", dataset="block"), aggregate),
        aggregate=aggregate,
    )


def _left_out(before: int, after: int, noun: str) -> Iterator[str]:
    if after < before:
        yield f"{before - after} of {before} {noun} left out, not scored by people"


def _unscored(predictions: pl.DataFrame, members: Sequence[str], noun: str) -> Iterator[str]:
    counts = {member: predictions[member].count() for member in members}
    for count in sorted({count for count in counts.values() if count < predictions.height}):
        lacking = ", ".join(member for member in members if counts[member] == count)
        note = f"no number of {lacking}: {count} of {predictions.height} {noun} scored"
        yield note if count else Note(note)  # one that does not apply at all is said before


def _undefined(
    measure: Measure,
    gold: NDArray[Any],
    predicted: dict[str, NDArray[Any]],
    groups: ItemGroups | None,
    sources: pl.Series,
) -> Iterator[str]:
    """Yield why a correlation is not defined, of gold scores once, of predictions for each member;
    of GROUPS with the source.
    """
    if measure.scale != "correlation":
        return
    for rows in groups.rows if groups is not None else [np.arange(len(gold))]:
        where = f" in source {sources[int(rows[0])]!r}" if groups is not None else ""
        if reason := why_undefined_gold(gold[rows]):
            yield f"no number: {reason}{where}"
            return
        if constant := [
            member for member, values in predicted.items() if np.ptp(values[rows]) == 0
        ]:
            yield f"no number of {', '.join(constant)}: {SAME_SIMILARITY}{where}"
            return


def _averages(whole: Mapping[str, Evidence], outcomes: Outcomes, suite: str) -> Iterator[Evidence]:
    """Yield the averages over the WHOLE datasets of a suite, where all of their datasets exist."""
    for name, keys in outcomes.averages.get(suite, {}).items():
        if keys and whole.keys() >= {*keys}:
            yield average_evidence(
                name, [whole[key] for key in keys], outcomes.mixed_metrics.get(suite, "mean")
            )
