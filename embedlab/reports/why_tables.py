"""The tables of `embedlab why`: where two models differ, and, in detail, combinations of two
properties, what the items of each side have in common, and typical ones.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isfinite, isnan
from statistics import median

import numpy as np
import polars as pl

from embedlab.analysis.comparison import Difference, hanging_note
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.rank_errors import RIGHT, WRONG
from embedlab.analysis.seed_notes import REACH_NOTE, REACHES
from embedlab.comparison.combinations import FEWEST_OF_HALF, FEWEST_SEEDS
from embedlab.comparison.explanation import Explanation, Side
from embedlab.comparison.in_common import FEWEST_WITH_WORD
from embedlab.comparison.uneven import FEWEST, Uneven
from embedlab.core.note import Note
from embedlab.models.grammar import titles_of
from embedlab.reports.captions import DEPENDENCE, data_sentences, subject_of
from embedlab.reports.comparison_table import general_notes, score_title
from embedlab.reports.frames import Row, Schema, tidy_frame
from embedlab.reports.tables import Column, Table, TableCell, Value
from embedlab.reports.verdicts import verdicts
from embedlab.runs.outcomes import SENTENCES
from embedlab.scoring.task_comparison import TaskComparison
from embedlab.tasks.task import scale_of

_FEW = 3  # rows of what is not clear

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
    """Return the tables of an explanation, each of ROWS rows at most; their frames have all.

    People see the first one, and the others with all notes.
    """
    marks = ", ".join(compared.marks)
    parts = [_where(explanation, compared, rows)]
    if explanation.search.tested:
        parts.append(_combined(explanation, rows))
    parts += [_common(side, explanation, rows) for side in explanation.sides if side.items]
    parts += [_typical(side, explanation) for side in explanation.sides if side.typical]
    return [
        replace(
            table,
            frame=tidy_frame(({**fact, "marks": marks} for fact in facts), WHY),
            titles=_titles(explanation),
            is_detail=place > 0,
        )
        for place, (table, facts) in enumerate(parts)
    ]


def _where(
    explanation: Explanation, compared: TaskComparison, rows: int
) -> tuple[Table, list[Row]]:
    """Return the kinds of items on which the difference is most unlike that on the others."""
    first, second = _titles(explanation).values()
    kinds = explanation.uneven
    facts = [_kind_facts(kind, explanation) for kind in kinds]
    whole = explanation.whole.differences[explanation.second]
    shown: list[Mapping[str, Value | TableCell]] = [
        {
            "slice": "all",
            "items": explanation.items,
            **_difference_cells(_difference_facts(whole, "", explanation), whole.reach_sign),
        }
    ]
    for kind, fact in zip(kinds[:rows], facts, strict=False):
        sign = f"{kind.contrast.reach_sign}{kind.contrast.topic_sign}"
        shown.append({**fact, **_difference_cells(fact, "", sign), "slice": kind.title})
    count = len(kinds)
    caption = (
        f"{second} minus {first} on the {len(shown) - 1} of {count} kinds of items whose "
        f"difference is most unlike that on the others, the surest first; {subject_of(compared)}",
        *data_sentences(compared.marks),
        f"Intervals: 95%, each on its own, over items; {DEPENDENCE}.",
        "A sign marks a difference that is unlike that on the others: 5% after Holm's correction "
        f"over all {count} kinds.",
    )
    table = Table(
        title=f"Where {second} and {first} differ: {score_title(compared)}",
        columns=_difference_columns(explanation),
        rows=shown,
        answer=[*_answer(explanation)],
        notes=[*general_notes(compared), *_where_notes(explanation, len(shown) - 1)],
        signatures=compared.signatures,
        caption=" ".join(caption),
    )
    return table, facts


def _answer(explanation: Explanation) -> Iterator[str]:
    """Yield in words which model is better, on what that is unlike, and who alone is right."""
    names = _titles(explanation)
    yield from verdicts([explanation.whole], [*names])
    clear = [kind for kind in explanation.uneven if kind.contrast.significant]
    second = names[explanation.second]
    if not clear:
        yield "on no kind of items is the difference clearly unlike that on the others"
    for kind in clear[:1]:
        points = _scale(explanation) * kind.contrast.delta
        does = "more" if points > 0 else "less"
        yield f"{second} gains {abs(points):z.1f} points {does} on {kind.title} than on other items"
    alone = [f"{names[side.model]} on {side.items:,}" for side in explanation.sides]
    yield f"alone right, of {explanation.items:,} items: {', '.join(alone)}"


def _where_notes(explanation: Explanation, shown: int) -> Iterator[str]:
    kinds = explanation.uneven
    if not kinds:
        yield f"no property splits a dataset into {FEWEST} items or more and as many others"
        return
    sign = REACHES[kinds[0].contrast.reach]
    clear = sum(kind.contrast.significant for kind in kinds)
    yield _sign(
        "more than elsewhere: the difference minus that on all other items; "
        f"{sign}: 5% after Holm over {len(kinds)} kinds of items, of which {clear} "
        f"{'is' if clear == 1 else 'are'} clear"
    )
    if sign != REACHES["models"]:
        yield REACH_NOTE
    yield from hanging_note((kind.title, kind.contrast.topic) for kind in kinds[:shown])
    for each in explanation.steadiness:
        yield (
            f"{each.model}, {each.seeds} seeds: of {each.items} items on which one model alone is "
            f"right, {100 * each.changed:z.0f}% are on another side with another seed"
        )
    if not explanation.steadiness:
        text = "neither model has two seeds: how many items change sides with the seed is unknown"
        yield Note(text, kind="detail")
    if shown < len(kinds):
        yield f"{shown} of {len(kinds)} kinds, the surest first; --rows shows more, JSON all"
    if any(len(kind.datasets) > 1 for kind in kinds):
        yield "differences are means over the datasets that have both kinds of items"
    if not explanation.search.tested:
        yield (
            f"two properties together are not tested: no two have {FEWEST_OF_HALF} items and as "
            "many others in either half of the topics"
        )


def _combined(explanation: Explanation, rows: int) -> tuple[Table, list[Row]]:
    """Return the combinations of two properties that the other half confirms; the surest three
    where it confirms none.
    """
    search, scale = explanation.search, _scale(explanation)
    facts: list[Row] = [
        {
            **_kind_facts(tested.found, explanation),
            "part": "combination",
            "searched": scale * tested.searched,
            "could_find": scale * tested.smallest,
            "p_corrected": tested.p_corrected,
            "significant": tested.is_confirmed,
        }
        for tested in search.tested
    ]
    chosen = search.confirmed[:rows] or search.tested[:_FEW]
    shown = []
    for tested in chosen:
        sign = REACHES[tested.reach] if tested.is_confirmed else ""
        fact = _kind_facts(tested.found, explanation)
        cells = _difference_cells(fact, "", f"{sign}{tested.found.contrast.topic_sign}")
        shown.append({**fact, **cells, "slice": tested.found.title})
    where = "on other topics" + (" and other seeds" if search.seeds else "")
    table = Table(
        title=f"Two properties together, {'confirmed' if search.confirmed else 'none confirmed'} "
        f"{where}",
        columns=_difference_columns(explanation),
        rows=shown,
        notes=[
            *_combined_notes(explanation),
            *hanging_note((tested.found.title, tested.found.contrast.topic) for tested in chosen),
        ],
    )
    return table, facts


def _combined_notes(explanation: Explanation) -> Iterator[str]:
    search, scale = explanation.search, _scale(explanation)
    count, (first, second) = len(search.tested), search.items
    halves = "".join(
        f", seeds {seed} + {other} of {name}" for name, (seed, other) in search.seeds.items()
    )
    yield (
        f"of {search.combinations} combinations the {count} surest on half of the topics "
        f"({first} items) were tested on the other half ({second} items){halves}; the numbers are "
        "of the test"
    )
    yield _sign(
        f"{REACHES[search.reach]}: 5% after Benjamini and Hochberg over the {count}, in the "
        f"direction of the search; {len(search.confirmed)} confirmed"
    )
    if search.reach == "checkpoints":
        yield (
            f"{REACHES['checkpoints']}: of these checkpoints: a recipe needs {FEWEST_SEEDS} seeds, "
            "or both halves have the same ones"
        )
    reaches = sorted(scale * tested.smallest for tested in search.tested)
    yield (
        f"80% power for contrasts of {reaches[0]:z.0f}–{reaches[-1]:z.0f} points, in the median "
        f"{median(reaches):z.0f}"
    )


def _common(side: Side, explanation: Explanation, rows: int) -> tuple[Table, list[Row]]:
    """Return what is more or less frequent among the items on which one model alone is right."""
    facts: list[Row] = [
        {
            "part": "word" if common.by == "word" else "common",
            "side": side.model,
            "by": common.by,
            "slice": common.title,
            "items": common.items,
            **{
                name: 100 * getattr(common, name)
                for name in ("share", "elsewhere", "difference", "low", "high")
            },
            "p": common.p,
            "p_corrected": common.p_corrected,
            "significant": common.significant,
        }
        for common in (*side.common, *side.words)
    ]
    clear = {
        part: [fact for fact in facts if fact["significant"] and fact["part"] == part][:rows]
        for part in ("common", "word")
    }
    count = len(side.common)
    shown = [
        {
            **fact,
            "share": TableCell(value=fact["share"], text=f"{fact['share']:z.1f}%"),
            "elsewhere": TableCell(value=fact["elsewhere"], text=f"{fact['elsewhere']:z.1f}%"),
            "difference": _interval(
                fact, "difference", "low", "high", "*" if fact["significant"] else ""
            ),
        }
        for fact in [*(clear["common"] or facts[: min(_FEW, count)]), *clear["word"]]
    ]
    notes: list[str] = [_rule_of_sides(explanation)]
    if count:
        confirmed = sum(common.significant for common in side.common)
        notes += [
            _sign(f"*: 5% after Holm over {count} shares, of which {confirmed} are clear"),
            "how seeds vary is not counted",
        ]
    else:
        notes.append("too few items to have something in common")
    if clear["word"]:
        notes.append(
            f"words: of those in {FEWEST_WITH_WORD} items or more, corrected by their number"
        )
    table = Table(
        title=f"Where {_titles(explanation)[side.model]} alone is right: {side.items} of "
        f"{explanation.items} items",
        columns=[
            Column(key="slice", title="items", role="key"),
            Column(key="items", title="n"),
            Column(key="share", title="share", align="right"),
            Column(key="elsewhere", title="of all others", align="right"),
            Column(key="difference", title="difference in points", align="left", role="difference"),
        ],
        rows=shown,
        notes=notes,
    )
    return table, facts


def _rule_of_sides(explanation: Explanation) -> str:
    outcomes = explanation.outcomes
    if explanation.errors.ranks is not None:
        rule = (
            f"right: rank error within {RIGHT:g} points; wrong: {WRONG:g} or more; too high: "
            f"ranked above the gold score"
        )
        golds = outcomes.rows.group_by("block").agg(pl.col("gold").drop_nulls().n_unique())
        if (golds["gold"] == 2).any():
            rule += (
                "; where gold has two values, right: on the side of the threshold that separates "
                "them best in the ranks of the model"
            )
        return rule
    if (measure := MEASURES[outcomes.blocks[0].measures[0]]).is_of_ranks:
        return "right: the relevant text is first; wrong: it is not among the first ten"
    if measure.is_of_queries:
        return "right: the entailed sentence is closer; wrong: the other one is"
    return "right: the class that most seeds give is the gold one"


def _typical(side: Side, explanation: Explanation) -> tuple[Table, list[Row]]:
    """Return items with the largest leads of the model that alone is right."""
    outcomes, errors, titles = explanation.outcomes, explanation.errors, _titles(explanation)
    ranks: dict[str, np.ndarray] = {}
    meaning = ""
    if errors.ranks is not None and errors.gold_ranks is not None:
        ranks = dict(
            zip(("gold", "first", "second"), (errors.gold_ranks, *errors.ranks), strict=True)
        )
        meaning = "; percentile ranks within the dataset"
    elif errors.found_at is not None:
        ranks = dict(zip(("first", "second"), errors.found_at, strict=True))
        meaning = "; ranks of the relevant text, the second one"
    facts: list[Row] = []
    for row in side.typical:
        numbers = {name: float(np.asarray(values)[row]) for name, values in ranks.items()}
        facts.append(
            {
                "part": "typical",
                "side": side.model,
                "datasets": outcomes.blocks[int(outcomes.rows["block"][row])].dataset,
                "items": 1,
                **{name: rank if isfinite(rank) else None for name, rank in numbers.items()},
                **{name: outcomes.sentences[name][row] for name in SENTENCES},
            }
        )
    names = {"gold": "gold rank", **dict(zip(("first", "second"), titles.values(), strict=True))}
    has_second = any(fact["sentence2"] is not None for fact in facts)
    table = Table(
        title=f"Typical items on which {titles[side.model]} alone is right",
        columns=[
            Column(key="datasets", title="dataset", role="key"),
            *(Column(key=key, title=names[key], digits=0) for key in ranks),
            *(
                Column(key=name, title=name, role="sentence")
                for name in SENTENCES[: 2 if has_second else 1]
            ),
        ],
        rows=facts,
        notes=[f"the largest leads, one a topic{meaning}"],
    )
    return table, facts


def _titles(explanation: Explanation) -> dict[str, str]:
    return titles_of([explanation.first, explanation.second])


def _scale(explanation: Explanation) -> float:
    return scale_of(explanation.whole.task, explanation.whole.metric)


def _sign(text: str) -> Note:
    return Note(text, short=[text], kind="sign")


def _difference_columns(explanation: Explanation) -> list[Column]:
    first, second = _titles(explanation).values()
    return [
        Column(key="slice", title="items", role="key"),
        Column(key="items", title="n"),
        Column(key="difference", title=f"{second} − {first}", align="left", role="difference"),
        Column(key="contrast", title="more than elsewhere", align="left", role="difference"),
    ]


def _kind_facts(kind: Uneven, explanation: Explanation) -> Row:
    """Return what the frame has of a kind of items."""
    scale, scores = _scale(explanation), kind.slice.scores
    return {
        "part": "where",
        "by": kind.by,
        "slice": kind.value,
        "datasets": ", ".join(kind.datasets),
        "items": kind.items,
        "first": scale * scores[explanation.first].value,
        "second": scale * scores[explanation.second].value,
        **_difference_facts(kind.slice.differences[explanation.second], "", explanation),
        **_difference_facts(kind.contrast, "contrast_", explanation),
        "p": kind.contrast.p,
        "p_corrected": kind.contrast.p_holm,
        "significant": kind.contrast.significant,
    }


def _difference_facts(difference: Difference, prefix: str, explanation: Explanation) -> Row:
    scale = _scale(explanation)
    return {
        prefix.rstrip("_") or "difference": scale * difference.delta,
        f"{prefix}low": scale * difference.low,
        f"{prefix}high": scale * difference.high,
    }


def _difference_cells(fact: Row, sign: str, contrast_sign: str = "") -> dict[str, TableCell]:
    cells = {"difference": _interval(fact, "difference", "low", "high", sign)}
    if "contrast" in fact:
        ends = ("contrast", "contrast_low", "contrast_high")
        cells["contrast"] = _interval(fact, *ends, contrast_sign)
    return cells


def _interval(fact: Row, value: str, low: str, high: str, sign: str) -> TableCell:
    ends = "" if isnan(fact[low]) else f" [{fact[low]:+z.1f}, {fact[high]:+z.1f}]"
    return TableCell(value=fact[value], text=f"{fact[value]:+z.1f}{ends}{sign}")
