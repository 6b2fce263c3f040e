"""The table of a task that several models were evaluated on."""

from collections.abc import Sequence
from math import isnan
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from embedlab.core.names import has_own_units
from embedlab.data.published import remarks
from embedlab.models.grammar import title_of
from embedlab.reports.comparison_cells import shared_fields
from embedlab.reports.notes import facts_of, sample_note, usage_note, with_marks

if TYPE_CHECKING:
    from embedlab.data.shared_text import Overlap
    from embedlab.evaluation.selection import SelectedTask
    from embedlab.reports.tables import Table, TableCell, Value
    from embedlab.runs.evaluations import Evaluation
    from embedlab.runs.evaluations import StoredScore as TaskScore

_COLUMNS = ("slice", "metric", "setting", "split")

SuiteEvaluations = dict[str, list["Evaluation"]]  # by model, one a member


def suite_table(selected: "SelectedTask", evaluations: SuiteEvaluations) -> "Table":
    """Return one row a number, one column a model: mean ± standard deviation over its members."""
    from embedlab.reports.tables import Column, Table
    from embedlab.runs.signature import merged

    scale, unit = (1.0, "") if has_own_units(selected.task) else (100.0, " x 100")
    keys = dict.fromkeys(_key(score) for own in evaluations.values() for one in own for score in one.scores)
    rows: list[dict[str, Value | TableCell]] = []
    for key in keys:
        row: dict[str, Value | TableCell] = dict(zip(_COLUMNS, key, strict=True))
        for model, own in evaluations.items():
            shared = next((one.overlaps[key[0]] for one in own if key[0] in one.overlaps), None)
            row |= {model: _cell(_values(own, key), scale, shared), **shared_fields(model, shared)}
        rows.append(row)
    marks = sorted({mark for own in evaluations.values() for one in own for mark in one.marks})
    of_data = dict.fromkeys(remark for own in evaluations.values() for one in own for state in one.data for remark in remarks(state))
    noted = dict.fromkeys(f"{model}: {note}" for model, own in evaluations.items() for one in own for note in one.notes)
    used = [note for model, own in evaluations.items() for note in usage_note(model, [facts_of(one, "truncated") for one in own])]
    columns = [Column(key=key, title=key) for key in _COLUMNS]
    columns += [Column(key=model, title=title_of(model), align="right") for model in evaluations]
    return Table(
        title=with_marks(f"{selected.evaluation_name()}{unit}", marks),
        columns=columns,
        rows=rows,
        notes=(*sample_note(marks), *of_data, *noted, *used),
        signatures={model: str(merged([one.signature for one in own])) for model, own in evaluations.items()},
    )


def _key(score: "TaskScore") -> tuple[str, ...]:
    return score.slice, score.metric, score.setting, score.split or ""


def _values(evaluations: "Sequence[Evaluation]", key: tuple[str, ...]) -> list[float]:
    return [score.value for one in evaluations for score in one.scores if _key(score) == key]


def _cell(values: Sequence[float], scale: float, shared: "Overlap | None") -> "TableCell":
    from embedlab.evaluation.provenance import overlap_mark
    from embedlab.reports.tables import ABSENT, TableCell

    if not values:
        return TableCell(value=None, text=ABSENT)
    mean = scale * fmean(values)
    if isnan(mean):  # undefined for a member
        return TableCell(value=mean, text=ABSENT)
    spread = f" ± {scale * stdev(values):.2f}" if len(values) > 1 else ""
    return TableCell(value=mean, text=f"{mean:.2f}{overlap_mark(shared)}{spread}")
