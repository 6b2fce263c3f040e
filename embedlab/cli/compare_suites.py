"""`embedlab compare` on other tasks than sts, or on several: tasks and averages below one another, models side by side."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import isnan
from typing import TYPE_CHECKING

import typer

from embedlab.cli.terminal import Terminal, report
from embedlab.core.errors import ExitCode, MissingError, UsageError
from embedlab.core.names import has_own_units
from embedlab.reports.comparison_cells import columns_of, overlap_footnotes, row_of
from embedlab.reports.notes import Facts, data_notes, facts_of, marked, partial_notes, sample_note, training_facts, usage_notes
from embedlab.workflows.models import resolve_model
from embedlab.workflows.scoring import score
from embedlab.workflows.suites import Known, Work, encode_for_all

if TYPE_CHECKING:
    from embedlab.analysis.comparison import ComparedSlice
    from embedlab.analysis.evidence import Evidence
    from embedlab.analysis.scores import ModelColumns
    from embedlab.choices import SettingName, Test
    from embedlab.core.settings import Settings
    from embedlab.data.shared_text import Overlap
    from embedlab.encoders.encoder import Watch
    from embedlab.evaluation.outcomes import Answers
    from embedlab.evaluation.selection import Asked
    from embedlab.models.catalog import Model, ModelSpec
    from embedlab.reports.tables import Table
    from embedlab.runs.signature import Signature


@dataclass(kw_only=True)
class Found:
    """What the tasks gave, gathered one after the other."""

    evidence: "list[Evidence]" = field(default_factory=list)
    shared: "dict[str, dict[str, Overlap]]" = field(default_factory=dict)  # by model, then by row
    counts: "dict[str, dict[str, Overlap]]" = field(default_factory=dict)  # by model, then by dataset
    facts: dict[str, Facts] = field(default_factory=dict)  # by member, of those that could do a task
    marks: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    signatures: "dict[str, list[Signature]]" = field(default_factory=dict)  # by model, one a member and task
    is_whole: bool = True


def compare_suites(
    names: Sequence[str],
    asked: "Sequence[Asked]",
    test: "Test",
    margin: float | None,
    setting: "SettingName",
    terminal: Terminal,
    *,
    is_signed: bool = False,
) -> None:
    """Show the models on all that was asked for, in one table."""
    from embedlab.analysis.comparison import compare_evidence
    from embedlab.evaluation.scored_pairs import model_columns

    if test in {"williams", "steiger"}:
        raise UsageError(f"--test {test} is for the task sts alone", hint="remove it, or use --test mcnemar for accuracies")
    models = [resolve_model(name, terminal) for name in names]
    columns = [model_columns(model) for model in models]
    known = encode_for_all(models, Work(asked=asked, setting=setting, skips_unfit=True), terminal)
    found = Found(is_whole=known.is_whole)
    for one in asked:
        if one in known.ready.missing:
            continue
        try:
            if one.scores_pairs:
                _add_pairs(found, names, columns, one, terminal)
            else:
                _add_answers(found, models, columns, one, known, setting, terminal)
        except MissingError as error:
            report(error)
            found.is_whole = False
    if not found.evidence:
        raise typer.Exit(ExitCode.MISSING)
    slices = compare_evidence(found.evidence, columns, names[0], test=test, margin=margin)
    signatures = _signatures(found, slices, test, margin)
    terminal.show(replace(_table(found, slices, columns, test, margin), signatures=signatures, is_signed=is_signed))
    if not found.is_whole:
        raise typer.Exit(ExitCode.MISSING)


def _add_pairs(found: Found, names: Sequence[str], columns: "Sequence[ModelColumns]", one: "Asked", terminal: Terminal) -> None:
    from embedlab.analysis.evidence import AVERAGES, pair_evidence
    from embedlab.evaluation.scored_pairs import signature_of

    scored, _ = score(names, terminal, datasets=one.names or None, is_reported=True)
    with terminal.progress("comparing") as tick:
        found.evidence += pair_evidence(scored.table, columns, watch=tick)
    for model in scored.models:
        own = scored.model_overlaps(model, "dataset")
        rows = scored.table.height
        signature = signature_of(scored, model, by="dataset", aggregation=("all",), metric="spearman", rows=rows)
        found.signatures.setdefault(model.name, []).append(signature)
        found.shared.setdefault(model.name, {}).update(own)
        found.counts.setdefault(model.name, {}).update({key: counts for key, counts in own.items() if key not in AVERAGES})
    found.marks |= set(scored.marks)
    found.facts |= scored.facts
    found.notes += [*data_notes(scored), "sts: aggregated by 'all'"]


def _add_answers(
    found: Found,
    models: "Sequence[Model]",
    columns: "Sequence[ModelColumns]",
    one: "Asked",
    known: Known,
    setting: "SettingName",
    terminal: Terminal,
) -> None:
    from embedlab.analysis.evidence import member_columns
    from embedlab.evaluation.outcomes import evidence, shared_text
    from embedlab.tasks.task import task

    texts = known.texts.get(one)
    found.notes += partial_notes(texts.states if texts is not None else ())
    members = member_columns(columns)
    answers: dict[int, Answers] = {}
    for model in models:
        answered = _answered(model, one, known, setting, terminal)
        for name, own in answered.items():
            answers[members.index(name)] = own
            found.shared.setdefault(model.name, {}).update(shared_text(one, own))
            found.counts.setdefault(model.name, {}).update(own.overlaps)
            found.marks |= set(own.marks)
            found.notes += [f"{model.name}: {note}" for note in own.notes]
        for spec in model.members:
            if spec.name in answered and spec.name not in found.facts:
                found.facts[spec.name] = _kept_facts(spec, terminal.settings)
            if spec.name in answered:
                signature = _signature(spec, one, answered[spec.name], found.facts[spec.name], setting, terminal.settings)
                found.signatures.setdefault(model.name, []).append(signature)
    if answers and task(one.task).trains_classifiers:
        found.notes.append(f"{one.task}: classifiers in the setting {setting!r}")
    found.evidence += evidence(one, answers, len(members))


def _answered(model: "Model", one: "Asked", known: Known, setting: "SettingName", terminal: Terminal) -> "dict[str, Answers]":
    """A model's members' answers; none where the task does not apply to it, which is told."""
    from embedlab.evaluation.outcomes import answer

    found = {}
    for spec in model.members:
        try:
            known.refuse_unfit(model, one)
            with terminal.progresses() as watch:
                watches = partial(_named_watch, watch, spec.name)
                found[spec.name] = answer(one, spec, terminal.settings, known.texts.get(one), watches, setting)
        except UsageError as error:
            terminal.note(f"{model.name}: {one.task} does not apply: {error.message}")
            return {}
    return found


def _kept_facts(spec: "ModelSpec", settings: "Settings") -> Facts:
    """How a member was used, as any evaluation kept under its fingerprint says; its precision alone where none could be kept."""
    from embedlab.encoders.stored_scores import ScorePlace
    from embedlab.runs.evaluations import Evaluation

    place = ScorePlace.of(spec, settings)
    for path in sorted(place.evaluations.rglob("*.json")):
        with suppress(MissingError):
            kept = Evaluation.load(path, keep=lambda _: False)
            if kept.fingerprint == place.fingerprint:
                return {**facts_of(kept), **training_facts(spec)}
    return {"precision": place.precision, **training_facts(spec)}


def _signature(spec: "ModelSpec", one: "Asked", own: "Answers", facts: Facts, setting: "SettingName", settings: "Settings") -> "Signature":
    """What decides a member's answers to a task."""
    from embedlab.encoders.stored_scores import ScorePlace
    from embedlab.evaluation.member import known_of
    from embedlab.runs.evaluations import Evaluation
    from embedlab.runs.signature import UNKNOWN
    from embedlab.tasks.task import task

    place, tokens = ScorePlace.of(spec, settings), facts.get("max_tokens")
    described = Evaluation(
        task=one.evaluation_name(task(one.task).setting(setting)),
        model=spec.name,
        fingerprint=place.fingerprint,
        precision=place.precision,
        pooling=facts.get("pooling"),
        max_tokens=int(tokens) if tokens else None,
        truncated=0,
        data=own.data,
        marks=(),
        scores=(),
        **known_of(spec),
    )
    settings_used = ((setting,) if task(one.task).trains_classifiers else ()) + tuple(score.setting for score in own.scores)
    signature = replace(described.signature, setting=settings_used)
    is_unknown = spec.kind != "dice" and "pooling" not in facts  # nothing could be stored
    return replace(signature, pooling=UNKNOWN, max_tokens=UNKNOWN) if is_unknown else signature


def _signatures(found: Found, slices: "Sequence[ComparedSlice]", test: "Test", margin: float | None) -> dict[str, str]:
    """The signature of each model over all tasks that it has numbers of."""
    from embedlab.analysis.uncertainty import METHOD
    from embedlab.runs.signature import merged

    signed = {}
    for model in (model for model in slices[0].scores if model in found.signatures):
        own = [one for one in slices if not isnan(one.scores[model].value)]
        sizes = {(one.task, one.key.removesuffix(f" {one.metric}")): one.pairs for one in own if not one.average_of}
        signature = replace(
            merged(found.signatures[model]),
            by=("dataset",),
            interval=(METHOD,),
            margin=(f"{100 * margin:g}",) if margin is not None else (),
            metric=tuple(one.metric for one in own),
            n=(str(sum(sizes.values())),),
            test=tuple({difference.test for one in own for difference in one.differences.values()} or {test}),
        )
        signed[model] = str(signature)
    return signed


def _named_watch(watch: "Callable[[str], Watch]", member: str, work: str) -> "Watch":
    return watch(f"{member}: {work}")


def _table(
    found: Found, slices: "Sequence[ComparedSlice]", models: "Sequence[ModelColumns]", test: "Test", margin: float | None
) -> "Table":
    from embedlab.analysis.comparison import comparison_notes
    from embedlab.reports.tables import Cell, Column, Table

    names = [model.name for model in models]
    rows = [
        {
            **row_of(one, found.shared, scale=1 if has_own_units(one.task) else 100),
            "task": one.task,
            "slice": Cell(value=one.key, text=one.key.removesuffix(f" {one.metric}")),
            "metric": one.metric,
        }
        for one in slices
    ]
    marks = sorted(found.marks)
    used = usage_notes([model for model in models if model.members[0] in found.facts], found.facts)
    tested = [*comparison_notes(slices, models, test, margin), *_slice_notes(slices), *_test_notes(slices)]
    columns = [Column(key="task", title="task"), Column(key="slice", title="dataset"), Column(key="metric", title="metric")]
    columns += [Column(key="pairs", title="items"), *columns_of(names, names[0], with_p=True)]
    return Table(
        title=marked("x 100", marks),
        columns=columns,
        rows=rows,
        notes=list(dict.fromkeys([*sample_note(marks), *found.notes, *overlap_footnotes(found.counts), *used, *tested])),
    )


def _slice_notes(slices: "Sequence[ComparedSlice]") -> list[str]:
    return [f"{one.key}: {note}" for one in slices for note in one.notes]


def _test_notes(slices: "Sequence[ComparedSlice]") -> list[str]:
    """Which tests the p of the table are of."""
    tests = {difference.test for one in slices for difference in one.differences.values() if difference.p == difference.p}
    return ["p of accuracies: McNemar, of single models"] if "mcnemar" in tests else []
