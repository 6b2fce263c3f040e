"""The cells of a comparison, whatever is compared: scores with letters and marks, differences with intervals, p."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from embedlab.models.grammar import titles_of
from embedlab.reports.notes import model_note

if TYPE_CHECKING:
    from embedlab.analysis.comparison import ComparedSlice, Difference, SliceScore
    from embedlab.data.shared_text import Overlap
    from embedlab.evaluation.scored_pairs import ScoredPairs
    from embedlab.reports.tables import Column, TableCell, Value

Shared = Mapping[str, Mapping[str, "Overlap"]]  # by model, then by slice

SMALLEST_P = 0.0001  # smaller ones are shown as "< 0.0001"


def columns_of(models: Sequence[str], reference: str, *, with_p: bool) -> "list[Column]":
    """A column a model, then of each other one its difference from the reference, and p with WITH_P."""
    from embedlab.reports.tables import Column

    titles = titles_of(models)
    columns = [Column(key=name, title=titles[name], align="left", role="score") for name in models]
    for name in models:
        if name != reference:
            title = f"{titles[name]} − {titles[reference]}"
            columns.append(Column(key=f"{name}.delta", title=title, align="left", role="difference"))
            columns += [Column(key=f"{name}.p", title="p", align="right", role="difference")] if with_p else []
    return columns


def row_of(one: "ComparedSlice", shared: Shared, *, scale: float = 100) -> "dict[str, Value | TableCell]":
    """The cells of a slice under the columns above."""
    from embedlab.evaluation.provenance import overlap_mark
    from embedlab.reports.tables import TableCell

    row: dict[str, Value | TableCell] = {"slice": TableCell(value=one.key, text=one.title), "pairs": one.pairs}
    for name, score in one.scores.items():
        row[name] = _score_cell(score, overlap_mark(shared.get(name, {}).get(one.key)), one.letters(name), scale)
    for name, difference in one.differences.items():
        row |= _difference_cells(name, difference, scale)
    return row


def overlap_footnotes(shared: Shared) -> list[str]:
    """What the marks mean, with the counts of each model."""
    from embedlab.evaluation.provenance import overlap_notes

    return [model_note(model, note) for model, counts in shared.items() for note in overlap_notes(counts)]


def pair_footnotes(scored: "ScoredPairs", by: str) -> list[str]:
    """The same of the datasets, sources or fifths of scored pairs; an average says nothing that its datasets do not."""
    found = {model.name: scored.model_overlaps(model, by) for model in scored.models}
    averages = scored.averages if by == "dataset" else {}
    return overlap_footnotes({name: {key: counts for key, counts in own.items() if key not in averages} for name, own in found.items()})


def shared_fields(name: str, shared: "Overlap | None") -> dict[str, int]:
    """What machines read of a mark: the counts, where anything is shared."""
    return {f"{name}.shared_pairs": shared.shared_pairs, f"{name}.shared_sentences": shared.shared_sentences} if shared else {}


def _score_cell(score: "SliceScore", mark: str, letters: str, scale: float) -> "TableCell":
    from embedlab.reports.tables import ABSENT, TableCell

    spread = f" ± {scale * score.sd:z.2f}" if len(score.members) > 1 else ""
    text = f"{scale * score.value:z.2f}{mark}{spread} {letters}" if score.value == score.value else ABSENT
    return TableCell(value=scale * score.value, text=text.rstrip())


def _difference_cells(name: str, difference: "Difference", scale: float) -> "dict[str, Value | TableCell]":
    from embedlab.reports.tables import ABSENT, TableCell

    delta, low, high = (scale * value for value in (difference.delta, difference.low, difference.high))
    interval = f" [{low:+z.2f}, {high:+z.2f}]" if low == low else ""
    signs = (difference.reach_sign, "=" if difference.equivalent else "", difference.topic_sign)
    text = f"{delta:+z.2f}{interval}{''.join(signs)}" if delta == delta else ABSENT
    return {f"{name}.delta": TableCell(value=delta, text=text), f"{name}.p": TableCell(value=difference.p, text=_p_text(difference.p))}


def _p_text(p: float) -> str:
    from embedlab.reports.tables import ABSENT

    if p != p:
        return ABSENT
    return f"< {SMALLEST_P}" if p < SMALLEST_P else f"{p:z.4f}"
