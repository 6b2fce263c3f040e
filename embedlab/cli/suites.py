"""The evaluations besides `sts`: every member of every model on one task, its numbers kept and shown side by side."""

from collections.abc import Callable, Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from embedlab.cli.models import resolve_model, title_of
from embedlab.cli.output import Terminal, report

if TYPE_CHECKING:
    from embedlab.encoders.catalog import Model
    from embedlab.encoders.encoder import Watch
    from embedlab.reports.tables import Cell, Table, Value
    from embedlab.runs.evaluations import Evaluation
    from embedlab.runs.evaluations import Score as TaskScore

_COLUMNS = ("slice", "metric", "setting", "split")

Evaluations = dict[str, list["Evaluation"]]  # by model, one a member


def evaluate_task(names: Sequence[str], task: str, terminal: Terminal) -> bool:
    """Judge the models on TASK, keep and show what came out; whether nothing was missing."""
    models = [resolve_model(name, terminal) for name in dict.fromkeys(names)]
    evaluations: Evaluations = {}
    is_whole = True
    for model in models:
        evaluations[model.name], is_complete = _judge(model, task, terminal)
        is_whole &= is_complete
    terminal.show(_table(task, evaluations))
    return is_whole


def _judge(model: "Model", task: str, terminal: Terminal) -> "tuple[list[Evaluation], bool]":
    from embedlab.encoders.stored_scores import ScorePlace
    from embedlab.tasks.judged import judge

    found, is_whole = [], True
    for spec in model.members:
        with terminal.progresses() as watch:
            judged = judge(task, spec, terminal.settings, _named(watch, spec.name))
        for error in judged.missing:
            report(error)
        judged.evaluation.save(ScorePlace.of(spec, terminal.settings).evaluations)
        found.append(judged.evaluation)
        is_whole &= not judged.missing
    return found, is_whole


def _named(watch: "Callable[[str], Watch]", member: str) -> "Callable[[str], Watch]":
    """The same callbacks under the member's name."""
    return lambda work: watch(f"{member}: {work}")


def _table(task: str, evaluations: Evaluations) -> "Table":
    """One row a number, one column a model: mean ± standard deviation over its members."""
    from embedlab.reports.tables import Column, Table

    # What geometry measures has units of its own.
    scale, unit = (1.0, "") if task == "geometry" else (100.0, " x 100")
    keys = dict.fromkeys(_key(score) for own in evaluations.values() for one in own for score in one.scores)
    rows: list[dict[str, Value | Cell]] = []
    for key in keys:
        cells = {model: _cell(_values(own, key), scale) for model, own in evaluations.items()}
        rows.append({**dict(zip(_COLUMNS, key, strict=True)), **cells})
    marks = sorted({mark for own in evaluations.values() for one in own for mark in one.marks})
    notes = dict.fromkeys(f"{model}: {note}" for model, own in evaluations.items() for one in own for note in one.notes)
    columns = [Column(key=key, title=key) for key in _COLUMNS]
    columns += [Column(key=model, title=title_of(model), align="right") for model in evaluations]
    return Table(title=" ".join([f"{task}{unit}", *(f"[{mark}]" for mark in marks)]), columns=columns, rows=rows, notes=tuple(notes))


def _key(score: "TaskScore") -> tuple[str, ...]:
    return score.slice, score.metric, score.setting, score.split or ""


def _values(evaluations: "Sequence[Evaluation]", key: tuple[str, ...]) -> list[float]:
    return [score.value for one in evaluations for score in one.scores if _key(score) == key]


def _cell(values: Sequence[float], scale: float) -> "Cell":
    from embedlab.reports.tables import ABSENT, Cell

    if not values:
        return Cell(value=None, text=ABSENT)
    mean = scale * fmean(values)
    spread = f" ± {scale * stdev(values):.2f}" if len(values) > 1 else ""
    return Cell(value=mean, text=f"{mean:.2f}{spread}")
