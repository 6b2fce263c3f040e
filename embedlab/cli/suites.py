"""The evaluations besides `sts`: every member of every model on one task, its numbers kept and shown side by side."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from embedlab.cli.comparison_cells import shared_fields
from embedlab.cli.models import title_of
from embedlab.cli.notes import facts_of, marked, sample_note, usage_note
from embedlab.cli.terminal import Terminal, report
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.names import has_own_units
from embedlab.data.published import remarks

if TYPE_CHECKING:
    from embedlab.choices import SettingName
    from embedlab.data.shared_text import Overlap
    from embedlab.encoders.encoder import Watch
    from embedlab.evaluation.readiness import Readiness
    from embedlab.evaluation.selection import Asked
    from embedlab.models.catalog import Model
    from embedlab.reports.tables import Cell, Table, Value
    from embedlab.runs.evaluations import Evaluation
    from embedlab.runs.evaluations import Score as TaskScore
    from embedlab.tasks.task import Texts

_COLUMNS = ("slice", "metric", "setting", "split")

Evaluations = dict[str, list["Evaluation"]]  # by model, one a member


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is evaluated, in which way."""

    asked: "Sequence[Asked]"
    setting: "SettingName" = "literature"
    again: bool = False  # also what was evaluated before
    skips_unfit: bool = False  # a model that cannot do a single task is left out instead of refused
    is_signed: bool = False  # whether the tables show their signatures

    @property
    def is_one(self) -> bool:
        """Whether a task that cannot be done leaves nothing to show."""
        return len(self.asked) == 1

    def kept_name(self, one: "Asked") -> str:
        """Where the evaluation of ONE of them is kept in a member's folder."""
        from embedlab.tasks.task import task

        return one.kept_name(task(one.task).setting(self.setting))


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """What stands before anything is computed: the texts of the tasks, and each member's evaluations of before."""

    ready: "Readiness"
    kept: "Mapping[tuple[str, Asked], Evaluation]"

    @property
    def texts(self) -> "Mapping[Asked, Texts]":
        """What each task reads, of those whose data is there."""
        return self.ready.texts

    @property
    def is_whole(self) -> bool:
        """Whether nothing was missing."""
        return not self.ready.missing and not any(texts.missing for texts in self.texts.values())

    def refuse_unfit(self, model: "Model", one: "Asked") -> None:
        """Raise why the task ONE does not apply to a member of MODEL, where it does not."""
        for spec in model.members:
            if (spec.name, one) in self.ready.unfit:
                raise self.ready.unfit[spec.name, one]


def encode_for_all(models: "Sequence[Model]", work: Work, terminal: Terminal) -> Known:
    """Open and check all that is selected, then encode, for each member, what it was not evaluated on before, in one pass.

    What is missing is reported first; of a single task that is an error, as is a model that cannot do it.
    """
    from embedlab.data.source import Source
    from embedlab.encoders.stored_scores import ScorePlace
    from embedlab.evaluation.prefetch import encode_once, kept_evaluation

    ready, source = _ready(models, work, terminal), Source.from_settings(terminal.settings)
    kept: dict[tuple[str, Asked], Evaluation] = {}
    for spec in (spec for model in models for spec in model.members):
        place = ScorePlace.of(spec, terminal.settings)
        for one in work.asked:
            if not work.again and not one.scores_pairs:
                found = kept_evaluation(place, work.kept_name(one), ready.texts.get(one), source)
                kept |= {(spec.name, one): found} if found else {}
        todo = {one: own for one, own in ready.texts.items() if (spec.name, one) not in kept and (spec.name, one) not in ready.unfit}
        # Pairs are scored one by one: of sts alone, what it lacks is encoded when it is known.
        if any(not one.scores_pairs for one in todo):
            with terminal.progresses() as watch:
                encode_once(spec, list(todo.values()), terminal.settings, _named(watch, title_of(spec.name)))
    return Known(ready=ready, kept=kept)


def _ready(models: "Sequence[Model]", work: Work, terminal: Terminal) -> "Readiness":
    """What can be done; the error of a single task, or of the last that cannot, is raised."""
    from embedlab.evaluation.readiness import check_all

    check_device(terminal)
    ready = check_all([spec for model in models for spec in model.members], work.asked, work.setting, terminal.settings)
    if work.is_one and ready.missing:
        raise next(iter(ready.missing.values()))
    if work.is_one and ready.unfit and not work.skips_unfit:
        raise next(iter(ready.unfit.values()))
    for error in (*ready.missing.values(), *(error for texts in ready.texts.values() for error in texts.missing)):
        report(error)
    return ready


def check_device(terminal: Terminal) -> None:
    """Refuse a device that is selected by name and is not there, also where all scores are stored and nothing is to compute."""
    if terminal.settings.device in {"cuda", "mps"}:
        from embedlab.encoders.device import machine

        machine(terminal.settings)


def judge_models(models: "Sequence[Model]", one: "Asked", work: Work, known: Known, terminal: Terminal) -> "Table | None":
    """The table of a task; None where no model can do it."""
    evaluations: Evaluations = {}
    for model in models:
        try:
            evaluations[model.name] = _judge(model, one, work, known, terminal)
        except UsageError as error:
            if work.is_one:
                raise
            terminal.note(f"{model.name}: {one.task} does not apply: {error.message}")
    return _table(one, evaluations) if evaluations else None


def _judge(model: "Model", one: "Asked", work: Work, known: Known, terminal: Terminal) -> "list[Evaluation]":
    from embedlab.encoders.stored_scores import ScorePlace
    from embedlab.evaluation.member import judge, with_training

    found = []
    known.refuse_unfit(model, one)
    for spec in model.members:
        place = ScorePlace.of(spec, terminal.settings).evaluations
        if kept := known.kept.get((spec.name, one)):
            terminal.note(f"{spec.name}: {kept.task} as it was evaluated before on the same data; --again does it again")
            found.append(with_training(kept, spec))
        else:
            with terminal.progresses() as watch:
                judged = judge(one.task, spec, terminal.settings, _named(watch, title_of(spec.name)), one.names, work.setting)
            try:
                judged.keep(place, work.kept_name(one))
            except MissingError as full:  # a disk that takes nothing costs time, not the answer
                terminal.warn(f"{full.message}: what was evaluated is shown, not kept")
            found.append(judged.evaluation)
    return found


def _named(watch: "Callable[[str], Watch]", member: str) -> "Callable[[str], Watch]":
    """The same callbacks under the member's name."""
    return lambda work: watch(f"{member}: {work}")


def _table(asked: "Asked", evaluations: Evaluations) -> "Table":
    """One row a number, one column a model: mean ± standard deviation over its members."""
    from embedlab.reports.tables import Column, Table
    from embedlab.runs.signature import merged

    scale, unit = (1.0, "") if has_own_units(asked.task) else (100.0, " x 100")
    keys = dict.fromkeys(_key(score) for own in evaluations.values() for one in own for score in one.scores)
    rows: list[dict[str, Value | Cell]] = []
    for key in keys:
        row: dict[str, Value | Cell] = dict(zip(_COLUMNS, key, strict=True))
        for model, own in evaluations.items():
            shared = next((one.overlaps[key[0]] for one in own if key[0] in one.overlaps), None)
            row |= {model: _cell(_values(own, key), scale, shared), **shared_fields(model, shared)}
        rows.append(row)
    marks = sorted({mark for own in evaluations.values() for one in own for mark in one.marks})
    of_data = dict.fromkeys(remark for own in evaluations.values() for one in own for state in one.data for remark in remarks(state))
    told = dict.fromkeys(f"{model}: {note}" for model, own in evaluations.items() for one in own for note in one.notes)
    used = [note for model, own in evaluations.items() for note in usage_note(model, [facts_of(one, "truncated") for one in own])]
    columns = [Column(key=key, title=key) for key in _COLUMNS]
    columns += [Column(key=model, title=title_of(model), align="right") for model in evaluations]
    return Table(
        title=marked(f"{asked.evaluation_name()}{unit}", marks),
        columns=columns,
        rows=rows,
        notes=(*sample_note(marks), *of_data, *told, *used),
        signatures={model: str(merged([one.signature for one in own])) for model, own in evaluations.items()},
    )


def _key(score: "TaskScore") -> tuple[str, ...]:
    return score.slice, score.metric, score.setting, score.split or ""


def _values(evaluations: "Sequence[Evaluation]", key: tuple[str, ...]) -> list[float]:
    return [score.value for one in evaluations for score in one.scores if _key(score) == key]


def _cell(values: Sequence[float], scale: float, shared: "Overlap | None") -> "Cell":
    from embedlab.evaluation.provenance import overlap_mark
    from embedlab.reports.tables import ABSENT, Cell

    if not values:
        return Cell(value=None, text=ABSENT)
    mean = scale * fmean(values)
    if isnan(mean):  # undefined for a member
        return Cell(value=mean, text=ABSENT)
    spread = f" ± {scale * stdev(values):.2f}" if len(values) > 1 else ""
    return Cell(value=mean, text=f"{mean:.2f}{overlap_mark(shared)}{spread}")
