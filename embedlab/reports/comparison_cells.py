"""The cells of a comparison, whatever is compared: scores with letters and marks, differences with
intervals, p.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from embedlab.analysis.scores import ModelColumns, is_checkpoint
from embedlab.core.signs import MODELS
from embedlab.models.grammar import titles_of
from embedlab.reports.notes import model_note

if TYPE_CHECKING:
    from embedlab.analysis.comparison import ComparedSlice, Difference, SliceScore
    from embedlab.data.shared_text import Overlap
    from embedlab.reports.tables import Column, TableCell, Value

Shared = Mapping[str, Mapping[str, "Overlap"]]  # by model, then by slice

SMALLEST_P = 0.0001  # smaller ones are shown as "< 0.0001"


def columns_of(models: "Sequence[ModelColumns]") -> "list[Column]":
    """A column a model, which says where its numbers are about one checkpoint alone, then of each
    other one its difference from the first.
    """
    from embedlab.reports.tables import Column

    titles, reference = titles_of([model.name for model in models]), models[0].name
    of_scores, of_differences = [], []
    for model in models:
        title = titles[model.name]
        single = "1 seed: " if model.seeds or any(model.runs) else ""
        header = f"{title}, {single}this checkpoint" if is_checkpoint(model) else title
        of_scores.append(Column(key=model.name, title=header, align="left", role="score"))
        if model.name != reference:
            title = f"{title} − {titles[reference]}"
            column = Column(key=f"{model.name}.delta", title=title, align="left", role="difference")
            of_differences.append(column)
    return [*of_scores, *of_differences]


def row_of(
    compared: "ComparedSlice", shared: Shared, *, scale: float = 100
) -> "dict[str, Value | TableCell]":
    """The cells of a slice under the columns above."""
    from embedlab.reports.tables import TableCell
    from embedlab.scoring.provenance import overlap_mark

    row: dict[str, Value | TableCell] = {
        "slice": TableCell(value=compared.key, text=compared.title),
        "pairs": compared.pairs,
    }
    best = best_of({name: score.value for name, score in compared.scores.items()}, scale)
    for name, score in compared.scores.items():
        mark = overlap_mark(shared.get(name, {}).get(compared.key))
        row[name] = _score_cell(score, mark, score.letters, scale, is_best=name in best)
    for name, difference in compared.differences.items():
        cells = _difference_cells(name, difference, scale)
        row |= {**cells, name: _with_difference(row[name], cells[f"{name}.delta"])}
    return row


def _with_difference(
    score: "Value | TableCell", difference: "Value | TableCell"
) -> "Value | TableCell":
    """Return the cell of a score, which also says the difference from the first model where the
    pointer rests on it.
    """
    from dataclasses import replace

    from embedlab.reports.tables import TableCell

    if not (isinstance(score, TableCell) and isinstance(difference, TableCell) and score.hover):
        return score
    return replace(score, hover=f"{score.hover}; difference from the first model {difference.text}")


def overlap_footnotes(shared: Shared) -> list[str]:
    """What the marks mean, with the counts of each model."""
    from embedlab.scoring.provenance import overlap_notes

    return [
        model_note(model, note)
        for model, counts in shared.items()
        for note in overlap_notes(counts)
    ]


def shared_fields(name: str, shared: "Overlap | None") -> dict[str, int]:
    """What machines read of a mark: the counts, where anything is shared."""
    return (
        {
            f"{name}.shared_pairs": shared.shared_pairs,
            f"{name}.shared_sentences": shared.shared_sentences,
        }
        if shared
        else {}
    )


def best_of(values: "Mapping[str, float | None]", scale: float = 100) -> set[str]:
    """Return the models with the highest of several values, as far as digits are shown; none of
    numbers in a unit of their own.
    """
    shown = {
        name: round(scale * value, 2)
        for name, value in values.items()
        if value is not None and value == value
    }
    return (
        {name for name, value in shown.items() if value == max(shown.values())}
        if scale == 100 and len(shown) > 1
        else set()
    )


def interval_hover(low: float, high: float, scale: float) -> str:
    """Return what a notebook shows of a score's interval where the pointer rests on it."""
    return f"95% interval {scale * low:z.2f} to {scale * high:z.2f}" if low == low else ""


def _score_cell(
    score: "SliceScore", mark: str, letters: str, scale: float, *, is_best: bool
) -> "TableCell":
    from embedlab.reports.tables import ABSENT, TableCell

    spread = f" ± {scale * score.sd:z.2f}" if len(score.members) > 1 else ""
    text = (
        f"{scale * score.value:z.2f}{mark}{spread} {letters}"
        if score.value == score.value
        else ABSENT
    )
    hover = interval_hover(score.low, score.high, scale)
    return TableCell(
        value=scale * score.value, text=text.rstrip(), raised=letters, is_best=is_best, hover=hover
    )


def _difference_cells(
    name: str, difference: "Difference", scale: float
) -> "dict[str, Value | TableCell]":
    from embedlab.reports.tables import ABSENT, TableCell

    delta, low, high = (
        scale * value for value in (difference.delta, difference.low, difference.high)
    )
    interval = f" [{low:+z.2f}, {high:+z.2f}]" if low == low else ""
    signs = (
        MODELS.sign if difference.significant else "",
        "=" if difference.equivalent else "",
        difference.topic_sign,
    )
    text = f"{delta:+z.2f}{interval}{''.join(signs)}" if delta == delta else ABSENT
    return {
        f"{name}.delta": TableCell(
            value=delta, text=text, is_dim=low * high > 0 and not difference.significant
        ),
        f"{name}.p": TableCell(value=difference.p, text=_p_text(difference.p)),
    }


def _p_text(p: float) -> str:
    from embedlab.reports.tables import ABSENT

    if p != p:
        return ABSENT
    return f"< {SMALLEST_P}" if p < SMALLEST_P else f"{p:z.4f}"
