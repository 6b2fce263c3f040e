"""The tables of `embedlab why`: where two models differ, and, in detail, combinations of two
properties, what the items of each side have in common, and typical ones.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import isfinite
from statistics import median

import numpy as np
import polars as pl

from embedlab.analysis.comparison import Difference, hanging_note
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.rank_errors import RIGHT, WRONG
from embedlab.analysis.seed_notes import REACH_NOTE
from embedlab.comparison.combinations import FEWEST_OF_HALF, FEWEST_SEEDS
from embedlab.comparison.explanation import DifferenceExplanation, Side
from embedlab.comparison.in_common import FEWEST_WITH_WORD
from embedlab.comparison.uneven import FEWEST, KindDifference
from embedlab.core.note import Note
from embedlab.core.printable import MODELS
from embedlab.models.grammar import titles_of
from embedlab.reports.frames import Row, schema_of, tidy_frame
from embedlab.reports.notes import DEPENDENCE, data_sentences, join_sentences, subject_text
from embedlab.reports.scores import general_notes, score_title
from embedlab.reports.tables import (
    Column,
    Table,
    TableCell,
    attributes,
    columns_of,
    number,
)
from embedlab.reports.verdicts import verdicts
from embedlab.runs.outcomes import SENTENCES
from embedlab.scoring.task_comparison import TaskComparison
from embedlab.tasks.task import scale_of

_FEW = 3  # rows of what is not clear

WHY = schema_of(
    """
    part text  # "where", "combination", "common", "word" or "typical"
    side text  # the model that alone is right; null of "where"
    by text  # a property, "error" (the direction of a model's error) or "word"
    slice text
    datasets text  # that scores are means over
    items count
    first number  # scores as tables show them; of typical items the percentile rank
    second number
    # second minus first; of "common" and "word" the share of the side minus that of the others, in
    # points
    difference number
    low number  # its 95% interval
    high number
    contrast number  # the difference minus that on the other items
    contrast_low number
    contrast_high number
    searched number  # of a combination the contrast on the half that it was searched on
    # contrast that would be confirmed in four of five cases if no other combination had one
    could_find number
    share number  # of the side's items, per cent
    elsewhere number
    p number  # of the contrast, or of the difference of shares
    p_corrected number
    significant truth
    sentence1 text
    sentence2 text
    gold number  # of typical pairs the percentile rank
    marks text
    """
)


def why_tables(
    explanation: DifferenceExplanation, comparison: TaskComparison, *, rows: int
) -> list[Table]:
    """Return the tables of an explanation, each of ROWS rows at most; their frames have all.

    People see the first one, and the others with all notes.
    """
    tables = [_kinds_table(explanation, comparison, rows)]
    if explanation.search.tested:
        tables.append(_combinations_table(explanation, rows))
    tables += [
        _commonalities_table(side, explanation, rows) for side in explanation.sides if side.items
    ]
    tables += [
        _typical_items_table(side, explanation) for side in explanation.sides if side.typical
    ]
    marks = {"marks": ", ".join(comparison.marks)}
    return [
        replace(
            table,
            frame=tidy_frame((record | marks for record in records), WHY),
            titles=_titles(explanation),
            is_detail=index > 0,
        )
        for index, (table, records) in enumerate(tables)
    ]


def _kinds_table(
    explanation: DifferenceExplanation, comparison: TaskComparison, rows: int
) -> tuple[Table, list[Row]]:
    """Return the kinds of items on which the difference is most unlike that on the others."""
    first_title, second_title = _titles(explanation).values()
    kinds, whole = explanation.kind_differences, explanation.whole.differences[explanation.second]
    records = [_kind_record(kind, explanation, kind.contrast.star) for kind in kinds]
    all_items: Row = {"slice": "all", "items": explanation.items}
    all_items |= attributes(whole, "low high", _scale(explanation))
    all_items["difference"] = _cell(whole, explanation, whole.star)
    shown = records[:rows]
    table = Table(
        f"Where {second_title} and {first_title} differ: "
        f"{score_title(replace(comparison, slices=(explanation.whole,)))}",
        _difference_columns(explanation),
        [all_items, *shown],
        [*general_notes(comparison), *_where_notes(explanation, shown)],
        answer=[*_answer(explanation)],
        signatures=comparison.signatures,
        caption=lambda: join_sentences(
            f"{second_title} minus {first_title} on the {len(shown)} of {len(kinds)} kinds "
            "of items whose difference is most unlike that on the others, the surest first; "
            f"{subject_text(comparison)}",
            *data_sentences(comparison.marks),
            f"Intervals: 95%, each on its own, over items; {DEPENDENCE}.",
            "A sign marks a difference that is unlike that on the others: 5% after Holm's "
            f"correction over all {len(kinds)} kinds.",
        ),
    )
    return table, records


def _answer(explanation: DifferenceExplanation) -> Iterator[str]:
    """Yield in words which model is better, on what that is unlike, and who alone is right."""
    names = _titles(explanation)
    yield from verdicts([explanation.whole], [*names])
    findings = [*_findings(explanation)]
    yield from findings[:3] or [
        "no kind of items stands out: on none is the difference clearly larger or smaller"
    ]
    lone_texts = [
        f"{names[side.model]} alone gets {side.items:,} right" for side in explanation.sides
    ]
    yield f"of {explanation.items:,} items, {' and '.join(lone_texts)}"


def _findings(explanation: DifferenceExplanation) -> Iterator[str]:
    """Yield the surest clear finding of each kind."""
    (first_title, second_title), search = _titles(explanation).values(), explanation.search
    lead = "confirmed on other topics" + (" and seeds: " if search.seeds else ": ")
    kinds = [(kind, "") for kind in explanation.kind_differences if kind.contrast.significant]
    confirmed = [(tested.kind_difference, lead) for tested in search.confirmed]
    for kind, words in kinds[:1] + confirmed[:1]:
        point_gain = _scale(explanation) * kind.contrast.delta
        name = second_title if point_gain > 0 else first_title
        gain = f"{abs(point_gain):z.1f} points more"
        yield f"{words}{name} gains {gain} on items with {kind.title} than on others"
    for side in explanation.sides:
        shares = (*side.common, *side.words)
        clear = [row for row in shares if row.by != "error" and row.significant]
        for row in clear[:1]:
            yield (
                f"{row.title}: {100 * row.share:.0f}% of the items that only "
                f"{_titles(explanation)[side.model]} gets right, "
                f"{100 * row.elsewhere:.0f}% of the others"
            )


def _where_notes(explanation: DifferenceExplanation, shown: Sequence[Row]) -> Iterator[str]:
    kinds = explanation.kind_differences
    if not kinds:
        yield f"no property splits a dataset into two parts of {FEWEST} items or more"
        return
    yield _sign(
        f"{MODELS.sign}: not zero at 5%, corrected by Holm over {len(kinds)} kinds of items; "
        "--rows shows more"
    )
    if kinds[0].contrast.reach == "checkpoints":
        yield REACH_NOTE
    yield from _topic_notes(shown)
    for steadiness in explanation.steadiness:
        yield (
            f"{steadiness.model}, {steadiness.seeds} seeds: of {steadiness.items} items that only "
            f"one model gets right, {100 * steadiness.changed:z.0f}% change sides with another seed"
        )
    if any(len(kind.datasets) > 1 for kind in kinds):
        yield "differences are means over the datasets that have both kinds of items"
    if not explanation.search.tested:
        yield (
            f"combinations of two properties are not tested: none has {FEWEST_OF_HALF} items and "
            f"{FEWEST_OF_HALF} others in either half of the topics"
        )


def _combinations_table(explanation: DifferenceExplanation, rows: int) -> tuple[Table, list[Row]]:
    """Return the combinations of two properties that the other half confirms; if it confirms none,
    the surest three.
    """
    search, scale = explanation.search, _scale(explanation)
    records = [
        {
            **_kind_record(tested.kind_difference, explanation, MODELS.sign * tested.is_confirmed),
            "part": "combination",
            "searched": scale * tested.searched,
            "could_find": scale * tested.smallest,
            "p_corrected": tested.p_corrected,
            "significant": tested.is_confirmed,
        }
        for tested in search.tested
    ]
    shown = [record for record in records if record["significant"]][:rows] or records[:_FEW]
    confirmation = "confirmed" if search.confirmed else "none confirmed"
    confirmation += " on other topics" + (" and other seeds" if search.seeds else "")
    table = Table(
        f"Two properties together, {confirmation}",
        _difference_columns(explanation),
        shown,
        [*_combined_notes(explanation), *_topic_notes(shown)],
    )
    return table, records


def _topic_notes(records: Iterable[Row]) -> Iterator[str]:
    return hanging_note((record["slice"].text, record["topic"]) for record in records)


def _combined_notes(explanation: DifferenceExplanation) -> Iterator[str]:
    search, scale = explanation.search, _scale(explanation)
    count, (searched_items, tested_items) = len(search.tested), search.items
    seeds_note = "".join(
        f", seeds {seed} + {other_seed} of {name}"
        for name, (seed, other_seed) in search.seeds.items()
    )
    yield (
        f"searched: {search.combinations} combinations on half of the topics ({searched_items} "
        f"items); tested: the {count} surest on the other half ({tested_items} items){seeds_note}, "
        "where the numbers are from"
    )
    yield _sign(
        f"{MODELS.sign}: confirmed, in the direction of the search: 5% after Benjamini "
        f"and Hochberg over the {count}"
    )
    if search.reach == "checkpoints":
        yield (
            f"about these checkpoints; with {FEWEST_SEEDS} seeds each it would be about the recipes"
        )
    reaches = [scale * tested.smallest for tested in search.tested]
    yield (
        f"80% power for effects of {min(reaches):z.0f}–{max(reaches):z.0f} points, median "
        f"{median(reaches):z.0f}"
    )


def _commonalities_table(
    side: Side, explanation: DifferenceExplanation, rows: int
) -> tuple[Table, list[Row]]:
    """Return what is more or less frequent among the items on which one model alone is right."""
    shares, words = list[Row](), list[Row]()
    for common in (*side.common, *side.words):
        difference = attributes(common, "difference low high", 100)
        record: Row = {
            **difference,
            **attributes(common, "by items p p_corrected significant"),
            "part": "word" if common.by == "word" else "common",
            "side": side.model,
            "slice": common.title,
            "share": number(100 * common.share, digits=1, sign="%"),
            "elsewhere": number(100 * common.elsewhere, digits=1, sign="%"),
            "difference": _points(difference.values(), "*" * common.significant),
        }
        (words if common.by == "word" else shares).append(record)
    clear_shares = [record for record in shares if record["significant"]]
    clear_words = [record for record in words if record["significant"]]
    shown = [*(clear_shares[:rows] or shares[:_FEW]), *clear_words[:rows]]
    notes: list[str] = [_rule_of_sides(explanation)]
    if shares:
        family = f"corrected by Holm over {len(shares)} shares; seeds are not counted"
        notes.append(_sign(f"*: differs from 0 at 5%, {family}"))
    else:
        notes.append("too few items to look for what they have in common")
    if clear_words:
        notes.append(
            f"words: those in {FEWEST_WITH_WORD} items or more, corrected for how many these are"
        )
    columns = columns_of(
        "slice = items [key]",
        "items = n",
        "share >",
        "elsewhere = others >",
        "difference = difference in points [difference] <",
    )
    title = (
        f"What {side.items} of {explanation.items} items have in common that only "
        f"{_titles(explanation)[side.model]} gets right"
    )
    return Table(title, columns, shown, notes), shares + words


def _rule_of_sides(explanation: DifferenceExplanation) -> str:
    outcomes = explanation.outcomes
    if explanation.errors.ranks is not None:
        rule = (
            f"right: rank error within {RIGHT:g} points; wrong: {WRONG:g} or more; too high: "
            "ranked above the gold score"
        )
        golds = outcomes.rows.group_by("block").agg(pl.col("gold").drop_nulls().n_unique())
        if (golds["gold"] == 2).any():
            rule += (
                "; of 0/1 labels, right: on the right side of the threshold that is best for the "
                "model's ranks"
            )
        return rule
    if (measure := MEASURES[outcomes.blocks[0].measures[0]]).is_of_ranks:
        return "right: the relevant text is first; wrong: it is not among the first ten"
    if measure.is_of_queries:
        return "right: the entailed sentence is closer; wrong: the other one is"
    return "right: the class that most seeds give is the gold one"


def _typical_items_table(side: Side, explanation: DifferenceExplanation) -> tuple[Table, list[Row]]:
    """Return items with the largest leads of the model that alone is right."""
    outcomes, errors, titles = explanation.outcomes, explanation.errors, _titles(explanation)
    names = dict(zip(("gold", "first", "second"), ("gold rank", *titles.values()), strict=True))
    ranks: dict[str, np.ndarray] = {}
    meaning = ""
    if errors.ranks is not None and errors.gold_ranks is not None:
        ranks = dict(zip(names, (errors.gold_ranks, *errors.ranks), strict=True))
        meaning = "; percentile ranks within the dataset"
    elif errors.mean_ranks is not None:
        ranks = dict(zip(("first", "second"), errors.mean_ranks, strict=True))
        meaning = "; numbers: the rank of the relevant text, which is the second one"
    records: list[Row] = []
    for row in side.typical:
        dataset = outcomes.blocks[int(outcomes.rows["block"][row])].dataset
        record: Row = {"part": "typical", "side": side.model, "datasets": dataset, "items": 1}
        record |= {name: outcomes.sentences[name][row] for name in SENTENCES}
        for name, values in ranks.items():
            rank = float(values[row])
            record[name] = rank if isfinite(rank) else None
        records.append(record)
    has_second = any(record["sentence2"] is not None for record in records)
    columns = columns_of("datasets = dataset [key]")
    columns += [Column(key, names[key], digits=0) for key in ranks]
    columns += [Column(name, name, "sentence") for name in SENTENCES[: 1 + has_second]]
    title = f"Typical items that only {titles[side.model]} gets right"
    notes = [f"the largest leads, one of each topic{meaning}"]
    return Table(title, columns, records, notes), records


def _titles(explanation: DifferenceExplanation) -> dict[str, str]:
    return titles_of([explanation.first, explanation.second])


def _scale(explanation: DifferenceExplanation) -> float:
    return scale_of(explanation.whole.task, explanation.whole.metric)


def _sign(text: str) -> Note:
    return Note(text, short_texts=[text], kind="sign")


def _difference_columns(explanation: DifferenceExplanation) -> list[Column]:
    first_title, second_title = _titles(explanation).values()
    return [
        *columns_of("slice = items [key]", "items = n"),
        Column("difference", f"{second_title} − {first_title}", "difference", "left"),
        *columns_of("contrast = more than on other items [difference] <"),
    ]


def _kind_record(kind: KindDifference, explanation: DifferenceExplanation, sign: str) -> Row:
    """Return the row of a kind of items; SIGN is that of its contrast."""
    scale, contrast = _scale(explanation), kind.contrast
    difference = kind.slice.differences[explanation.second]
    low, high = attributes(contrast, "low high", scale).values()
    first, second = (
        scale * kind.slice.scores[name].value for name in (explanation.first, explanation.second)
    )
    return {
        **attributes(difference, "low high", scale),
        **attributes(kind, "by items"),
        **attributes(contrast, "p significant topic"),
        "part": "where",
        "slice": TableCell(kind.value, kind.title),
        "datasets": ", ".join(kind.datasets.values()),
        "first": first,
        "second": second,
        "difference": _cell(difference, explanation),
        "contrast": _cell(contrast, explanation, f"{sign}{contrast.topic_sign}"),
        "contrast_low": low,
        "contrast_high": high,
        "p_corrected": contrast.p_holm,
    }


def _cell(difference: Difference, explanation: DifferenceExplanation, sign: str = "") -> TableCell:
    return _points(attributes(difference, "delta low high", _scale(explanation)).values(), sign)


def _points(ends: Iterable[float], sign: str) -> TableCell:
    delta, low, high = ends
    return number(delta, digits=1, is_signed=True, low=low, high=high, sign=sign)
