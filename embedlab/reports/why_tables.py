"""The tables of `embedlab why`: where two models differ, what the items of each side have in
common, and typical ones.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from statistics import median

import numpy as np
import polars as pl

from embedlab.analysis.comparison import hanging_note
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.pairing import RIGHT, WRONG
from embedlab.analysis.seed_notes import REACH_NOTE, REACHES
from embedlab.comparison.combinations import FEWEST_OF_HALF, FEWEST_SEEDS, Tested
from embedlab.comparison.explanation import Explanation, Side
from embedlab.comparison.in_common import FEWEST_WITH_WORD, Common
from embedlab.comparison.uneven import FEWEST, Uneven
from embedlab.models.grammar import titles_of
from embedlab.reports.captions import DEPENDENCE, data_sentences, subject_of
from embedlab.reports.comparison_cells import row_of
from embedlab.reports.comparison_table import general_notes, score_title
from embedlab.reports.frames import Row, Schema, tidy_frame
from embedlab.reports.tables import Column, Table, TableCell, Value
from embedlab.runs.outcomes import SENTENCES
from embedlab.scoring.task_comparison import TaskComparison
from embedlab.tasks.task import scale_of

FEW_SHOWN = 3  # of what is not clear

WHY: Schema = {
    "part": pl.String(),  # "where", "combination", "common", "word" or "typical"
    "side": pl.String(),  # the model that alone is right; null of "where"
    "by": pl.String(),  # a property, "error" (the direction of a model's error) or "word"
    "slice": pl.String(),
    "datasets": pl.String(),  # that scores are means over
    "items": pl.Int64(),
    "first": pl.Float64(),  # scores as tables show them; of typical items the percentile rank
    "second": pl.Float64(),
    # second minus first; of "common" and "word" the share of the side minus that elsewhere, in
    # points
    "difference": pl.Float64(),
    "low": pl.Float64(),  # its 95% interval
    "high": pl.Float64(),
    "contrast": pl.Float64(),  # the difference minus that on the other items
    "contrast_low": pl.Float64(),
    "contrast_high": pl.Float64(),
    "searched": pl.Float64(),  # of a combination the contrast on the half that it was searched on
    # contrast that would be confirmed in four of five cases if no other combination had one
    "could_find": pl.Float64(),
    "share": pl.Float64(),  # of the side's items, per cent
    "elsewhere": pl.Float64(),
    "p": pl.Float64(),  # of the contrast, or of the difference of shares
    "p_corrected": pl.Float64(),
    "significant": pl.Boolean(),
    "sentence1": pl.String(),
    "sentence2": pl.String(),
    "gold": pl.Float64(),  # of typical pairs the percentile rank
    "marks": pl.String(),
}


def why_tables(explanation: Explanation, compared: TaskComparison, *, rows: int) -> list[Table]:
    """Return the tables of an explanation, each of ROWS rows at most; their frames have all."""
    titles = titles_of([explanation.first, explanation.second])
    first = [
        _where(explanation, compared, titles, rows),
        *([_combined(explanation, compared, titles, rows)] if explanation.search.tested else []),
    ]
    tables = [
        *first,
        *(
            _common(side, explanation, compared, titles, rows)
            for side in explanation.sides
            if side.items
        ),
    ]
    return [
        *tables,
        *(
            _typical(side, explanation, compared, titles)
            for side in explanation.sides
            if side.typical
        ),
    ]


def _where(
    explanation: Explanation, compared: TaskComparison, titles: Mapping[str, str], rows: int
) -> Table:
    shown = explanation.uneven[:rows]
    first, second = titles.values()
    whole = row_of(explanation.whole, {}, scale=_scale(explanation))
    return Table(
        title=f"Where {second} and {first} differ: {score_title(compared)}",
        columns=_where_columns(explanation, titles),
        rows=[
            {**whole, "slice": "all", "pairs": explanation.items},
            *(_where_row(uneven, explanation, uneven.contrast.reach_sign) for uneven in shown),
        ],
        frame=tidy_frame(
            (_where_fields(uneven, explanation, compared.marks) for uneven in explanation.uneven),
            WHY,
        ),
        notes=[*general_notes(compared), *_where_notes(explanation, len(shown))],
        signatures=compared.signatures,
        titles=titles,
        caption=_caption(explanation, compared, len(shown)),
    )


def _where_columns(explanation: Explanation, titles: Mapping[str, str]) -> list[Column]:
    first, second = titles.values()
    return [
        Column(key="slice", title="items", role="key"),
        Column(key="pairs", title="n"),
        Column(key=explanation.first, title=first, align="left", role="score"),
        Column(key=explanation.second, title=second, align="left", role="score"),
        Column(
            key=f"{explanation.second}.delta",
            title=f"{second} − {first}",
            align="left",
            role="difference",
        ),
        Column(key="contrast", title="more than elsewhere", align="left", role="difference"),
    ]


def _combined(
    explanation: Explanation, compared: TaskComparison, titles: Mapping[str, str], rows: int
) -> Table:
    """Return the combinations of two properties that the other half confirms; the surest three
    where it confirms none.
    """
    search = explanation.search
    shown = search.confirmed[:rows] or search.tested[:FEW_SHOWN]
    return Table(
        title=f"Two properties together, {'confirmed' if search.confirmed else 'none confirmed'} "
        f"on other topics" + (" and other seeds" if search.seeds else ""),
        columns=_where_columns(explanation, titles),
        rows=[
            _where_row(
                tested.found, explanation, REACHES[tested.reach] if tested.is_confirmed else ""
            )
            for tested in shown
        ],
        frame=tidy_frame(
            (_combined_fields(tested, explanation, compared.marks) for tested in search.tested), WHY
        ),
        notes=[*_combined_notes(explanation, shown)],
        titles=titles,
    )


def _combined_fields(tested: Tested, explanation: Explanation, marks: Sequence[str]) -> Row:
    scale = _scale(explanation)
    fields = {"searched": scale * tested.searched, "could_find": scale * tested.smallest}
    corrected = {"p_corrected": tested.p_corrected, "significant": tested.is_confirmed}
    return {
        **_where_fields(tested.found, explanation, marks),
        "part": "combination",
        **fields,
        **corrected,
    }


def _combined_notes(explanation: Explanation, shown: Sequence[Tested]) -> Iterator[str]:
    search, scale = explanation.search, _scale(explanation)
    tested, (first, second) = len(search.tested), search.items
    halves = "".join(
        f", seeds {seed} + {other} of {name}" for name, (seed, other) in search.seeds.items()
    )
    yield (
        f"of {search.combinations} combinations the {tested} surest on half of the topics "
        f"({first} items) were tested on the other half "
        f"({second} items){halves}; scores are of the test"
    )
    clear = _clear(tested.is_confirmed for tested in search.tested)
    yield (
        f"{REACHES[search.reach]}: 5% after Benjamini and Hochberg over the {tested}, in the "
        f"direction of the search, of which {clear}"
    )
    if search.reach == "checkpoints":
        yield (
            f"{REACHES['checkpoints']}: of these checkpoints: a recipe needs {FEWEST_SEEDS} "
            f"seeds, or both halves have the same ones"
        )
    reaches = sorted(scale * tested.smallest for tested in search.tested)
    yield (
        f"could find, in four of five cases and were it the only one: {reaches[0]:z.2f} to "
        f"{reaches[-1]:z.2f} points more than elsewhere, "
        f"in the median {median(reaches):z.2f}"
    )
    yield from hanging_note((tested.found.title, tested.found.contrast.topic) for tested in shown)


def _caption(explanation: Explanation, compared: TaskComparison, shown: int) -> str:
    """Return what a paper says below the table or its figure."""
    first, second = titles_of([explanation.first, explanation.second]).values()
    tested = (
        f"the {shown} of {len(explanation.uneven)} kinds of items whose difference is most "
        f"unlike that on the others, the surest first"
    )
    brackets = f"Intervals: 95%, each on its own, over items; {DEPENDENCE}."
    stars = (
        f"A sign marks a difference that is unlike that on the others: 5% after Holm's "
        f"correction over all {len(explanation.uneven)} kinds."
    )
    return " ".join(
        [
            f"{second} minus {first} on {tested}; {subject_of(compared)}",
            *data_sentences(compared.marks),
            brackets,
            stars,
        ]
    )


def _scale(explanation: Explanation) -> float:
    return scale_of(explanation.whole.task, explanation.whole.metric)


def _where_row(
    uneven: Uneven, explanation: Explanation, reach_sign: str
) -> Mapping[str, Value | TableCell]:
    cells = row_of(uneven.slice, {}, scale=_scale(explanation))
    scores = {
        name: _without_letters(cells[name]) for name in (explanation.first, explanation.second)
    }
    difference = uneven.slice.differences[explanation.second]
    scale, sign = _scale(explanation), f"{reach_sign}{uneven.contrast.topic_sign}"
    return {
        **scores,
        "slice": uneven.title,
        "pairs": uneven.items,
        f"{explanation.second}.delta": _interval(
            scale, difference.delta, difference.low, difference.high
        ),
        "contrast": _interval(
            scale, uneven.contrast.delta, uneven.contrast.low, uneven.contrast.high, sign
        ),
    }


def _without_letters(cell: Value | TableCell) -> Value | TableCell:
    """Return the cell of a score without letters, which are of one row's models alone."""
    return (
        replace(cell, text=cell.text.removesuffix(cell.raised).rstrip(), raised="")
        if isinstance(cell, TableCell)
        else cell
    )


def _interval(scale: float, value: float, low: float, high: float, sign: str = "") -> TableCell:
    ends = f" [{scale * low:+z.2f}, {scale * high:+z.2f}]" if not isnan(low) else ""
    return TableCell(value=scale * value, text=f"{scale * value:+z.2f}{ends}{sign}")


def _where_fields(uneven: Uneven, explanation: Explanation, marks: Sequence[str]) -> Row:
    scale, difference = _scale(explanation), uneven.slice.differences[explanation.second]
    numbers = {
        "first": uneven.slice.scores[explanation.first].value,
        "second": uneven.slice.scores[explanation.second].value,
        "difference": difference.delta,
        "low": difference.low,
        "high": difference.high,
        "contrast": uneven.contrast.delta,
        "contrast_low": uneven.contrast.low,
        "contrast_high": uneven.contrast.high,
    }
    return {
        "part": "where",
        "by": uneven.by,
        "slice": uneven.value,
        "datasets": ", ".join(uneven.datasets),
        "items": uneven.items,
        **{name: scale * value for name, value in numbers.items()},
        "p": uneven.contrast.p,
        "p_corrected": uneven.contrast.p_holm,
        "significant": uneven.contrast.significant,
        "marks": ", ".join(marks),
    }


def _where_notes(explanation: Explanation, shown: int) -> Iterator[str]:
    kinds = len(explanation.uneven)
    if not kinds:
        yield f"no property splits a dataset into {FEWEST} items or more and as many others"
        return
    clear = _clear(uneven.contrast.significant for uneven in explanation.uneven)
    yield (
        "more than elsewhere: the difference on these items minus that on all others of "
        "their datasets"
    )
    sign = REACHES[explanation.uneven[0].contrast.reach]
    yield f"{sign}: 5% after Holm over {kinds} kinds of items, of which {clear}"
    if sign != REACHES["models"]:
        yield REACH_NOTE
    yield from hanging_note(
        (uneven.title, uneven.contrast.topic) for uneven in explanation.uneven[:shown]
    )
    if shown < kinds:
        yield f"{shown} of {kinds} kinds, the surest first; JSON and CSV have all"
    if any(len(uneven.datasets) > 1 for uneven in explanation.uneven):
        yield "scores and differences are means over the datasets that have both kinds of items"
    yield from (
        f"{steadiness.model}, {steadiness.seeds} seeds: of {steadiness.items} items on which "
        f"one model alone is right, "
        f"{100 * steadiness.changed:z.0f}% are on another side with another seed"
        for steadiness in explanation.steadiness
    )
    if not explanation.search.tested:
        yield (
            f"two properties together are not tested: no two have {FEWEST_OF_HALF} items and "
            f"as many others in either half of the topics"
        )
    if not explanation.steadiness:
        yield "neither model has two seeds: how many items change sides with the seed is unknown"


def _common(
    side: Side,
    explanation: Explanation,
    compared: TaskComparison,
    titles: Mapping[str, str],
    rows: int,
) -> Table:
    title = titles[side.model]
    shown = [common for common in side.common if common.significant][:rows] or [
        *side.common[:FEW_SHOWN]
    ]
    words = [word for word in side.words if word.significant][:rows]
    return Table(
        title=f"Where {title} alone is right: {side.items} of {explanation.items} items",
        columns=[
            Column(key="title", title="items", role="key"),
            Column(key="items", title="n"),
            Column(key="share", title="share", align="right"),
            Column(key="elsewhere", title="of all others", align="right"),
            Column(key="difference", title="difference in points", align="left", role="difference"),
        ],
        rows=[_common_row(common) for common in (*shown, *words)],
        frame=tidy_frame(
            (
                _common_fields(common, side, compared.marks)
                for common in (*side.common, *side.words)
            ),
            WHY,
        ),
        notes=[*_common_notes(side, explanation)],
        titles=titles,
    )


def _common_row(common: Common) -> Mapping[str, Value | TableCell]:
    return {
        "title": common.title,
        "items": common.items,
        "share": TableCell(value=100 * common.share, text=f"{100 * common.share:z.1f}%"),
        "elsewhere": TableCell(
            value=100 * common.elsewhere, text=f"{100 * common.elsewhere:z.1f}%"
        ),
        "difference": _interval(
            100, common.difference, common.low, common.high, "*" if common.significant else ""
        ),
    }


def _common_fields(common: Common, side: Side, marks: Sequence[str]) -> Row:
    shares = {
        "share": common.share,
        "elsewhere": common.elsewhere,
        "difference": common.difference,
        "low": common.low,
        "high": common.high,
    }
    return {
        "part": "word" if common.by == "word" else "common",
        "side": side.model,
        "by": common.by,
        "slice": common.title,
        "items": common.items,
        **{name: 100 * value for name, value in shares.items()},
        "p": common.p,
        "p_corrected": common.p_corrected,
        "significant": common.significant,
        "marks": ", ".join(marks),
    }


def _common_notes(side: Side, explanation: Explanation) -> Iterator[str]:
    yield _rule_of_sides(explanation)
    if not side.common:
        yield "too few items to have something in common"
        return
    clear = _clear(common.significant for common in side.common)
    yield (
        f"*: 5% after Holm over {len(side.common)} shares, of which {clear}; how seeds vary "
        f"is not counted"
    )
    words = [word for word in side.words if word.significant]
    if words:
        yield f"words: of those in {FEWEST_WITH_WORD} items or more, corrected by their number"


def _clear(significant: Iterable[bool]) -> str:
    count = sum(significant)
    return f"{count or 'none'} {'are' if count > 1 else 'is'} clear"


def _rule_of_sides(explanation: Explanation) -> str:
    if explanation.errors.ranks is not None:
        rule = (
            f"right: rank error within {RIGHT:g} points; wrong: {WRONG:g} or more; too high: "
            f"ranked above the gold score"
        )
        values = explanation.outcomes.rows.group_by("block").agg(
            pl.col("gold").drop_nulls().unique()
        )
        if (values["gold"].list.len() == 2).any():
            rule += (
                "; where gold has two values, right: on the side of the threshold that separates "
                "them best in the ranks of the model"
            )
        return rule
    if (measure := MEASURES[explanation.outcomes.blocks[0].measures[0]]).is_of_ranks:
        return "right: the relevant text is first; wrong: it is not among the first ten"
    if measure.is_of_queries:
        return "right: the entailed sentence is closer; wrong: the other one is"
    return "right: the class that most seeds give is the gold one"


def _typical(
    side: Side, explanation: Explanation, compared: TaskComparison, titles: Mapping[str, str]
) -> Table:
    shown = [_typical_fields(row, side, explanation, compared.marks) for row in side.typical]
    is_ranked = explanation.errors.ranks is not None
    numbers = ("gold", "first", "second")
    names = dict(
        zip(numbers, ("gold rank" if is_ranked else "gold", *titles.values()), strict=True)
    )
    has_second = any(pair["sentence2"] is not None for pair in shown)
    has_ranks = is_ranked or explanation.errors.found_at is not None
    meaning = (
        "percentile ranks within the dataset"
        if is_ranked
        else "ranks of the relevant text, the second one"
    )
    return Table(
        title=f"Typical items on which {titles[side.model]} alone is right",
        columns=[
            Column(key="datasets", title="dataset", role="key"),
            *(
                Column(key=key, title=names[key], digits=0)
                for key in numbers
                if has_ranks and any(key in pair for pair in shown)
            ),
            *(
                Column(key=name, title=name, role="sentence")
                for name in SENTENCES[: 2 if has_second else 1]
            ),
        ],
        rows=shown,
        frame=tidy_frame(shown, WHY),
        notes=["the largest leads, one a topic" + (f"; {meaning}" if has_ranks else "")],
        titles=titles,
    )


def _typical_fields(row: int, side: Side, explanation: Explanation, marks: Sequence[str]) -> Row:
    outcomes, errors = explanation.outcomes, explanation.errors
    ranks: dict[str, float | None] = {}
    if errors.ranks is not None and errors.gold_ranks is not None:
        values = (errors.gold_ranks, *errors.ranks)
        ranks = {
            name: float(np.asarray(value)[row])
            for name, value in zip(("gold", "first", "second"), values, strict=True)
        }
    elif errors.found_at is not None:
        ranks = {
            name: float(values[row]) if np.isfinite(values[row]) else None
            for name, values in zip(("first", "second"), errors.found_at, strict=True)
        }
    return {
        "part": "typical",
        "side": side.model,
        "datasets": outcomes.blocks[int(outcomes.rows["block"][row])].dataset,
        "items": 1,
        **ranks,
        **{name: outcomes.sentences[name][row] for name in SENTENCES},
        "marks": ", ".join(marks),
    }
