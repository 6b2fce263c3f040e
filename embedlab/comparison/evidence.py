"""The evidence of outcomes, slice by slice and measure by measure, with the averages over
datasets and the topics of items, which intervals count as dependent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.correlations import SAME_SIMILARITY, rows_by_source, why_undefined_gold
from embedlab.analysis.evidence import Evidence, ItemGroups, average_evidence, evidence_of
from embedlab.analysis.measures import MEASURES, Measure, classes_by_threshold, two_folds
from embedlab.analysis.near_duplicates import NearDuplicates
from embedlab.analysis.topics import topics_of_texts
from embedlab.core.note import Note
from embedlab.outcomes.frame import DATASET, ItemSlice, Outcomes, text_numbers, whole_blocks
from embedlab.runs.outcomes import TEXT_IDS

if TYPE_CHECKING:
    from embedlab.choices import Aggregate
    from embedlab.outcomes.selection import ItemSelection


CHOSEN = "chosen by results: no interval, no test"
# Similarities that differ by less than this share of the largest are equal but for the rounding of
# float32 vectors, which are exact to 6e-8 a component.
ROUNDING = 1e-5


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
    if by != DATASET:
        from embedlab.outcomes.grouping import group_items, lacking_datasets, split_by_selection

        if isinstance(by, str):
            lacking_datasets(outcomes, by)
            parts = list(group_items(outcomes, by))
        else:
            parts = list(split_by_selection(outcomes, by))
    if selection is not None:
        selected = []
        for items in parts:
            holds = selection.is_selected[items.rows]
            # ties are of whole datasets
            selected_items = replace(items, rows=items.rows[holds], notes=())
            selected += [selected_items] if holds.any() else []
            if has_rest and holds.any() and not holds.all():
                key = f"{items.key}/rest"
                title = f"{items.title} rest"
                rest = replace(
                    selected_items, key=key, title=title, rows=items.rows[~holds], is_whole=False
                )
                selected.append(rest)
        parts = selected
    return [_common_rows(part, outcomes, members) for part in parts] if common else parts


def _common_rows(items: ItemSlice, outcomes: Outcomes, members: Sequence[str]) -> ItemSlice:
    """Return those of ITEMS that all members have predictions of, but for members that have none
    in their dataset.
    """
    predictions = outcomes.predictions.select(members).fill_nan(None)
    block = predictions[outcomes.rows_of(items.block)]
    present = [name for name in members if block[name].count()]
    is_complete = predictions[items.rows].select(
        pl.all_horizontal(pl.lit(value=True), pl.col(present).is_not_null())
    )
    rows = items.rows[is_complete.to_series().to_numpy()]
    count_text = f", {len(rows)} of {len(items.rows)}" if len(rows) < len(items.rows) else ""
    return replace(items, title=f"{items.title}{count_text}", rows=rows)


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
    whole_datasets: dict[str, dict[str, Evidence]] = {suite: {} for suite in by_suite}
    near: dict[int, NearDuplicates] = {}
    for number in {part.block for part in parts} if is_tested else ():
        find = outcomes.blocks[number].near
        if find is not None:
            near[number] = find()
    for done, items in enumerate(parts):
        suite = outcomes.blocks[items.block].suite
        own_near = near.get(items.block)
        measured = _slice_evidence(
            outcomes, items, members, aggregate, near=own_near, is_tested=is_tested
        )
        evidences = list(measured)
        by_suite[suite] += evidences
        if items.is_whole:
            whole_datasets[suite][items.key] = evidences[0]
        if progress:
            progress(done + 1, len(parts))
    for suite, evidences in by_suite.items():
        metric = outcomes.mixed_metrics.get(suite, "mean")
        for name, keys in outcomes.averages.get(suite, {}).items():
            if keys and whole_datasets[suite].keys() >= {*keys}:  # all of its datasets exist
                members_of_average = [whole_datasets[suite][key] for key in keys]
                evidences.append(average_evidence(name, members_of_average, metric))
    evidence = list(chain.from_iterable(by_suite.values()))
    return (
        [
            replace(slice_evidence, rows=None, notes=(*slice_evidence.notes, CHOSEN))
            for slice_evidence in evidence
        ]
        if is_chosen
        else evidence
    )


def _slice_evidence(
    outcomes: Outcomes,
    item_slice: ItemSlice,
    members: Sequence[str],
    aggregate: Aggregate,
    *,
    near: NearDuplicates | None,
    is_tested: bool,
) -> Iterator[Evidence]:
    block = outcomes.blocks[item_slice.block]
    items = gold_items = outcomes.rows[item_slice.rows]
    values = outcomes.predictions.select(members)[item_slice.rows].fill_nan(None)
    if items["gold"].null_count():
        has_gold = items["gold"].is_not_null()
        gold_items = items.filter(has_gold)
        values = values.filter(has_gold)
    complete_members = [
        number for number, member in enumerate(members) if not values[member].null_count()
    ]
    groups = None
    if block.is_aggregated and item_slice.is_whole and aggregate != "all":
        by_source = rows_by_source(gold_items.select("source", dataset="block"))
        groups = ItemGroups(rows=by_source, aggregate=aggregate)
    notes = [*item_slice.notes, *_coverage_notes(items.height, values)]
    if groups is not None and not groups.rows and gold_items.height:
        lacking = gold_items["source"].null_count()
        which = (
            f"{lacking} of its {gold_items.height} items"
            if lacking < gold_items.height
            else "its items"
        )
        notes.append(f"no {aggregate}: {which} name no source")
    dtype = np.int64 if block.classes else np.float64
    gold = gold_items["gold"].to_numpy().astype(dtype)
    predicted = {
        number: values[members[number]].to_numpy().astype(dtype) for number in complete_members
    }
    needs_texts = is_tested or any(MEASURES[name].is_of_classes for name in block.measures)
    texts = None
    if needs_texts and not gold_items["first_text"].null_count():
        texts = np.stack([gold_items[name].to_numpy() for name in TEXT_IDS], axis=1)
    for index, name in enumerate(block.measures):
        measure = MEASURES[name]
        ending = f" {name}" if index else ""
        by_threshold = measure.is_of_classes and not block.classes
        measured = evidence_of(
            block.task,
            f"{item_slice.key}{ending}",
            gold.astype(np.int64) if by_threshold else gold,
            _threshold_classes(gold, predicted, texts, near, by_f1=name == "f1")
            if by_threshold
            else predicted,
            len(members),
            measure=measure,
            texts=texts,
            near=near,
            groups=groups,
            is_tested=is_tested,
        )
        by_member = {members[number]: values for number, values in predicted.items()}
        undefined = _undefined_notes(measure, gold, by_member, groups, gold_items["source"])
        setting = (aggregate if item_slice.is_whole else "all") if block.is_aggregated else None
        yield replace(
            measured,
            title=f"{item_slice.title}{ending}",
            notes=(*notes, *undefined, *([THRESHOLD] if by_threshold else [])),
            setting=setting,
            dataset=block.dataset,
        )


_THRESHOLD = "thresholds of f1 and accuracy: chosen on other topics, never on these pairs"
THRESHOLD = Note(_THRESHOLD, short_texts=[_THRESHOLD])


def _threshold_classes(
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
        topics = topics_of_texts(texts, near or NearDuplicates.none())
    folds = two_folds(topics)
    if len(np.unique(folds)) < 2:
        return {}
    return {
        number: classes_by_threshold(gold, scores, folds, by_f1=by_f1)
        for number, scores in predicted.items()
    }


def _coverage_notes(items: int, predictions: pl.DataFrame) -> Iterator[str]:
    """Yield how many of a slice's ITEMS people scored, and which members have PREDICTIONS of only
    some of these.
    """
    scored_count = predictions.height
    if scored_count < items:
        yield f"{items - scored_count} of {items} items left out, not scored by people"
    counts = {column.name: column.count() for column in predictions}
    for count in sorted({count for count in counts.values() if count < scored_count}):
        partial_members = ", ".join(
            member for member, member_count in counts.items() if member_count == count
        )
        yield f"no number of {partial_members}: {count} of {scored_count} items scored"


def _undefined_notes(
    measure: Measure,
    gold: NDArray[Any],
    predicted: dict[str, NDArray[Any]],
    groups: ItemGroups | None,
    sources: pl.Series,
) -> Iterator[str]:
    """Yield why a correlation is not defined, or hangs on rounding, of gold scores once, of
    predictions for each member; of GROUPS with the source.
    """
    if measure.scale != "correlation":
        return
    number = "number" if groups is None else groups.aggregate
    for rows in groups.rows if groups is not None else [np.arange(len(gold))]:
        location = f" in source {sources[int(rows[0])]!r}" if groups is not None else ""
        if reason := why_undefined_gold(gold[rows]):
            yield f"no {number}: {reason}{location}"
            return
        if constant := [
            member for member, values in predicted.items() if np.ptp(values[rows]) == 0
        ]:
            yield f"no {number} of {', '.join(constant)}: {SAME_SIMILARITY}{location}"
            return
        if rounded := [
            member
            for member, values in predicted.items()
            if np.ptp(values[rows]) < ROUNDING * np.abs(values[rows]).max()
        ]:
            text = f"the similarities of {', '.join(rounded)} hardly differ: rounding orders them"
            yield Note(f"{text}{location}", short_texts=[text], kind="doubted")
            return


Topics = NDArray[np.intp]  # (rows,) the number of each row's topic


def near_sentences(outcomes: Outcomes) -> NearDuplicates:
    """Return which sentences of each dataset are nearly the same; none where words are not at
    hand.
    """
    return NearDuplicates.joined(
        [block.near() for block in outcomes.blocks if block.near is not None]
    )


def item_topics(outcomes: Outcomes) -> Topics:
    """Return the number of each row's topic, as intervals find them: rows that share sentences, or
    have similar ones; (rows,).

    A row of unknown text is a topic of its own.
    """
    return topics_of_texts(text_numbers(outcomes), near_sentences(outcomes))
