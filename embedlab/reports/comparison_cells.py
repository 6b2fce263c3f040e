"""The cells of every comparison: scores with letters and marks, differences with intervals, p."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from embedlab.models.grammar import title_of

if TYPE_CHECKING:
    from embedlab.analysis.comparison import ComparedSlice, Difference, SliceScore
    from embedlab.choices import By
    from embedlab.data.shared_text import Overlap
    from embedlab.evaluation.scored_pairs import ScoredPairs
    from embedlab.reports.tables import Column, TableCell, Value

Shared = Mapping[str, Mapping[str, "Overlap"]]  # by model, then by slice

SMALLEST_P = 0.0001  # smaller values are shown as "< 0.0001"


def columns_of(models: Sequence[str], reference: str, *, with_p: bool) -> "list[Column]":
    """Return a column for each model, then the difference of each other model from the reference, and p if requested."""
    from embedlab.reports.tables import Column

    columns = [Column(key=name, title=title_of(name), align="left") for name in models]
    for name in models:
        if name != reference:
            columns.append(Column(key=f"{name}.delta", title=f"{title_of(name)} − {title_of(reference)}", align="left"))
            columns += [Column(key=f"{name}.p", title="p", align="right")] if with_p else []
    return columns


def row_of(one: "ComparedSlice", shared: Shared, *, scale: float = 100) -> "dict[str, Value | TableCell]":
    """Return every number of a slice: the columns above, and for machines also limits, letters, p, test and shared text."""
    from embedlab.evaluation.provenance import overlap_mark

    row: dict[str, Value | TableCell] = {
        "slice": one.key,
        "pairs": one.pairs,
        "sentences": one.sentences or None,
        "design_effect": one.design_effect,
        "component_rows": one.component.rows if one.component else None,
        "component_share": one.component.share if one.component else None,
    }
    for name, score in one.scores.items():
        counts = shared.get(name, {}).get(one.key)
        row |= _score_cells(name, score, overlap_mark(counts), scale)
        row |= shared_fields(name, counts)
    for name, difference in one.differences.items():
        row |= _difference_cells(name, difference, scale)
    return row


def overlap_footnotes(shared: Shared) -> list[str]:
    """Return what the marks mean, with the counts of each model."""
    from embedlab.evaluation.provenance import overlap_notes

    return [f"{title_of(model)}: {note}" for model, counts in shared.items() for note in overlap_notes(counts)]


def pair_footnotes(scored: "ScoredPairs", by: "By") -> list[str]:
    """Return the footnotes of the datasets, sources or fifths of scored pairs; averages repeat their datasets and are left out."""
    from embedlab.analysis.evidence import STS_AVERAGES

    found = {model.name: scored.model_overlaps(model, by) for model in scored.models}
    return overlap_footnotes({name: {key: counts for key, counts in own.items() if key not in STS_AVERAGES} for name, own in found.items()})


def shared_fields(name: str, shared: "Overlap | None") -> dict[str, int]:
    """Return the fields of a mark for machines: the counts, where any text is shared."""
    return {f"{name}.shared_pairs": shared.shared_pairs, f"{name}.shared_sentences": shared.shared_sentences} if shared else {}


def _score_cells(name: str, score: "SliceScore", mark: str, scale: float) -> "dict[str, Value | TableCell]":
    from embedlab.reports.tables import ABSENT, TableCell

    spread = f" ± {scale * score.sd:.2f}" if len(score.members) > 1 else ""
    text = f"{scale * score.value:.2f}{mark}{spread} {score.letters}" if score.value == score.value else ABSENT
    return {
        name: TableCell(value=scale * score.value, text=text.rstrip()),
        f"{name}.sd": scale * score.sd,
        f"{name}.low": scale * score.low,
        f"{name}.high": scale * score.high,
        f"{name}.letters": score.letters,
    }


def _difference_cells(name: str, difference: "Difference", scale: float) -> "dict[str, Value | TableCell]":
    from embedlab.reports.tables import ABSENT, TableCell

    delta, low, high = (scale * value for value in (difference.delta, difference.low, difference.high))
    interval = f" [{low:+.2f}, {high:+.2f}]" if low == low else ""
    sign = f"{'*' if difference.significant else ''}{'=' if difference.equivalent else ''}"
    text = f"{delta:+.2f}{interval}{sign}" if delta == delta else ABSENT
    return {
        f"{name}.delta": TableCell(value=delta, text=text),
        f"{name}.delta_low": low,
        f"{name}.delta_high": high,
        f"{name}.p": TableCell(value=difference.p, text=_p_text(difference.p)),
        f"{name}.p_holm": difference.p_holm,
        f"{name}.test": difference.test,
        f"{name}.design_effect": difference.uncertainty.design_effect,
        **({f"{name}.p_equivalent": difference.p_equivalent} if difference.p_equivalent == difference.p_equivalent else {}),
    }


def _p_text(p: float) -> str:
    from embedlab.reports.tables import ABSENT

    if p != p:
        return ABSENT
    return f"< {SMALLEST_P}" if p < SMALLEST_P else f"{p:.4f}"
