"""Models compared on tasks of any kind: their answers, or their similarities of pairs, as evidence of one table."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import isnan

from embedlab.analysis.comparison import ComparedSlice, compare_evidence
from embedlab.analysis.evidence import Evidence, member_columns, pair_evidence
from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.uncertainty import METHOD
from embedlab.choices import SettingName, Test
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.settings import Settings
from embedlab.data.shared_text import Overlap
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.evaluation.member import model_facts
from embedlab.evaluation.outcomes import MemberOutcomes, evidence, member_outcomes, shared_text
from embedlab.evaluation.scored_pairs import model_columns, signature_of
from embedlab.evaluation.selection import SelectedTask
from embedlab.evaluation.task_comparison import Facts, TaskComparison
from embedlab.models.catalog import Model, ModelSpec
from embedlab.reports.notes import data_notes, facts_of, model_note, partial_notes, training_facts
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.signature import UNKNOWN, Signature, merged
from embedlab.tasks.task import task
from embedlab.workflows.models import resolve_model
from embedlab.workflows.scoring import score
from embedlab.workflows.session import Session
from embedlab.workflows.suites import Known, Work, encode_for_all, labelled


@dataclass(kw_only=True)
class _Found:
    """The evidence of the tasks so far."""

    evidence: list[Evidence] = field(default_factory=list)
    shared: dict[str, dict[str, Overlap]] = field(default_factory=dict)  # by model, then by row
    counts: dict[str, dict[str, Overlap]] = field(default_factory=dict)  # by model, then by dataset
    facts: dict[str, Facts] = field(default_factory=dict)  # by member, of those that could do a task
    marks: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    signatures: dict[str, list[Signature]] = field(default_factory=dict)  # by model, one a member and task
    is_whole: bool = True


def compare_tasks(
    names: Sequence[str],
    selected: Sequence[SelectedTask],
    session: Session,
    *,
    test: Test,
    margin: float | None,
    setting: SettingName,
    common: bool = False,
) -> TaskComparison:
    """The models on all selected tasks, on pairs that all of them score with COMMON; what is missing is reported, nothing is an error."""
    models = [resolve_model(name, session) for name in names]
    columns = [model_columns(model) for model in models]
    known = encode_for_all(models, Work(selected=selected, setting=setting, skips_unfit=True), session)
    found = _Found(is_whole=known.is_whole)
    for one in selected:
        if one in known.ready.missing:
            continue
        try:
            if one.scores_pairs:
                _add_pairs(found, names, columns, one, session, common=common)
            else:
                _add_answers(found, models, columns, one, known, setting, session)
        except MissingError as error:
            session.report(error)
            found.is_whole = False
    if not found.evidence:
        raise MissingError(f"nothing to compare on {', '.join(one.task for one in selected)}", hint="the notes say why of each task")
    slices = compare_evidence(found.evidence, columns, names[0], test=test, margin=margin)
    return TaskComparison(
        slices=slices,
        models=columns,
        test=test,
        margin=margin,
        shared=found.shared,
        counts=found.counts,
        facts=found.facts,
        marks=tuple(sorted(found.marks)),
        notes=tuple(found.notes),
        signatures=_signatures(found, slices, test, margin),
        states=[state for texts in known.texts.values() for state in texts.states],
        is_whole=found.is_whole,
    )


def _add_pairs(
    found: _Found, names: Sequence[str], columns: Sequence[ModelColumns], one: SelectedTask, session: Session, *, common: bool
) -> None:
    scored, _ = score(names, session, task=one.task, datasets=one.names or None, common=common, is_reported=True)
    with session.progress("comparing") as tick:
        found.evidence += pair_evidence(
            scored.table, columns, task=scored.task, averages=scored.averages, common=scored.common, progress=tick
        )
    for model in scored.models:
        own = scored.model_overlaps(model, "dataset")
        signature = signature_of(scored, model, by="dataset", aggregation=("all",), metric="spearman")
        found.signatures.setdefault(model.name, []).append(signature)
        found.shared.setdefault(model.name, {}).update(own)
        found.counts.setdefault(model.name, {}).update({key: counts for key, counts in own.items() if key not in scored.averages})
    found.marks |= set(scored.marks)
    found.facts |= scored.facts
    found.notes += [*data_notes(scored), f"{one.task}: aggregated by 'all'"]


def _add_answers(
    found: _Found,
    models: Sequence[Model],
    columns: Sequence[ModelColumns],
    one: SelectedTask,
    known: Known,
    setting: SettingName,
    session: Session,
) -> None:
    texts = known.texts.get(one)
    found.notes += partial_notes(texts.states if texts is not None else ())
    members = member_columns(columns)
    answers: dict[int, MemberOutcomes] = {}
    for model in models:
        answered = _answered(model, one, known, setting, session)
        for name, own in answered.items():
            answers[members.index(name)] = own
            found.shared.setdefault(model.name, {}).update(shared_text(one, own))
            found.counts.setdefault(model.name, {}).update(own.overlaps)
            found.marks |= set(own.marks)
            found.notes += [model_note(model.name, note) for note in own.notes]
        for spec in model.members:
            if spec.name in answered and spec.name not in found.facts:
                found.facts[spec.name] = _stored_facts(spec, session.settings)
            if spec.name in answered:
                signature = _signature(spec, one, answered[spec.name], found.facts[spec.name], setting, session.settings)
                found.signatures.setdefault(model.name, []).append(signature)
    if answers and task(one.task).trains_classifiers:
        found.notes.append(f"{one.task}: classifiers in the setting {setting!r}")
    found.evidence += evidence(one, answers, len(members))


def _answered(model: Model, one: SelectedTask, known: Known, setting: SettingName, session: Session) -> dict[str, MemberOutcomes]:
    """The answers of a model's members; none, with a note, where the task does not apply to the model."""
    found = {}
    for spec in model.members:
        try:
            known.refuse_unfit(model, one)
            with session.progresses() as progress:
                found[spec.name] = member_outcomes(one, spec, session.settings, known.texts.get(one), labelled(progress, spec), setting)
        except UsageError as error:
            session.note(f"{model.name}: {one.task} does not apply: {error.message}")
            return {}
    return found


def _stored_facts(spec: ModelSpec, settings: Settings) -> Facts:
    """How a member was used, by any evaluation stored under its fingerprint; its precision alone where none could be stored."""
    place = ScorePlace.of(spec, settings)
    for path in sorted(place.evaluations.rglob("*.json")):
        with suppress(MissingError):
            stored = Evaluation.load(path, where=lambda _: False)
            if place.counts(stored.fingerprint):
                return {**facts_of(stored), **training_facts(spec)}
    return {"precision": place.precision, **training_facts(spec)}


def _signature(
    spec: ModelSpec, one: SelectedTask, own: MemberOutcomes, facts: Facts, setting: SettingName, settings: Settings
) -> Signature:
    """What decides a member's answers to a task."""
    place, tokens = ScorePlace.of(spec, settings), facts.get("max_tokens")
    described = Evaluation(
        task=one.evaluation_name(task(one.task).setting(setting)),
        model=spec.name,
        fingerprint=place.fingerprint,
        earlier_fingerprint=place.earlier,
        precision=place.precision,
        pooling=facts.get("pooling"),
        max_tokens=int(tokens) if tokens else None,
        truncated=0,
        data=own.data,
        marks=(),
        scores=(),
        **model_facts(spec),
    )
    settings_used = ((setting,) if task(one.task).trains_classifiers else ()) + tuple(score.setting for score in own.scores)
    signature = replace(described.signature, setting=settings_used)
    is_unknown = spec.kind != "dice" and "pooling" not in facts  # nothing could be stored
    return replace(signature, pooling=UNKNOWN, max_tokens=UNKNOWN) if is_unknown else signature


def _signatures(found: _Found, slices: Sequence[ComparedSlice], test: Test, margin: float | None) -> dict[str, str]:
    """The signature of each model over all tasks that it has numbers of."""
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
