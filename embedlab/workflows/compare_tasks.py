"""Models on tasks of any kind, gathered to be compared: their answers, or their similarities of
pairs.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from embedlab.analysis.evidence import member_columns
from embedlab.choices import SettingName
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.settings import Settings
from embedlab.encoders.encoder import EncoderFacts
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.models.catalog import Model, ModelSpec
from embedlab.outcomes.cuts import DATASET
from embedlab.outcomes.selection import item_condition
from embedlab.reports.notes import facts_of, model_note, partial_notes, training_facts
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.signature import UNKNOWN, Signature
from embedlab.scoring.answers import MemberOutcomes, figure_evidence
from embedlab.scoring.member import model_facts
from embedlab.scoring.outcomes import member_outcomes
from embedlab.scoring.selection import SelectedTask
from embedlab.scoring.stated_text import UNCOUNTED, is_text_uncounted
from embedlab.scoring.task_comparison import (
    Facts,
    Gathered,
    Slicing,
    TaskComparison,
    item_outcomes,
    model_columns,
)
from embedlab.scoring.training_text import training_text
from embedlab.tasks.task import evaluation_without_scores, task
from embedlab.workflows.models import resolve_models
from embedlab.workflows.session import Session
from embedlab.workflows.suites import Known, Work, encode_for_all, labelled


def gather(
    names: Sequence[str],
    selected: Sequence[SelectedTask],
    session: Session,
    *,
    slicing: Slicing,
    setting: SettingName,
) -> Gathered:
    """Return what the models called NAMES are and predict on all selected tasks; what is missing is
    reported, nothing left is an error.

    A filter of SLICING that is not understood is refused before a model is looked for.
    """
    if slicing.where:
        item_condition(slicing.where, names)
    models = resolve_models(names, session)
    work = Work(selected=selected, setting=setting, skips_unfit=True, wants_items=True)
    known = encode_for_all(models, work, session)
    gathered = Gathered(
        models=[model_columns(model) for model in models],
        order=[each.task for each in selected],
        is_whole=known.is_whole,
    )
    for selected_task in selected:
        if selected_task in known.ready.missing:
            continue
        try:
            _add_answers(gathered, models, selected_task, known, setting, session)
        except MissingError as error:
            if work.is_one:
                raise
            session.report(error)
            gathered.is_whole = False
    if gathered.is_empty:
        raise MissingError(
            f"nothing to compare on {', '.join(each.task for each in selected)}",
            hint="the notes say why of each task",
        )
    return gathered


def compared(gathered: Gathered, slicing: Slicing, session: Session) -> TaskComparison:
    """Return the gathered models compared on what SLICING picks and cuts; what is left out is
    reported.
    """
    with session.progress("comparing") as tick:
        comparison = gathered.compared(slicing, tick)
    for note in comparison.left_out:
        session.note(note)
    return comparison


def refuse_without_items(selected: Sequence[SelectedTask], by: str, where: str) -> None:
    """Refuse to group BY a property or to pick WHERE an expression holds what none of the SELECTED
    tasks has: items.
    """
    if not any(task(each.task).has_items for each in selected) and (by != DATASET or where):
        what = f"group by {by!r}" if by != DATASET else f"pick by {where!r}"
        names = ", ".join(dict.fromkeys(each.task for each in selected))
        raise UsageError(
            f"{names} has no items to {what}", hint="remove the option, or select a task with items"
        )


def _add_answers(
    gathered: Gathered,
    models: Sequence[Model],
    selected: SelectedTask,
    known: Known,
    setting: SettingName,
    session: Session,
) -> None:
    texts = known.texts.get(selected)
    states = texts.states if texts is not None else ()
    gathered.states += states
    gathered.notes += [*partial_notes(states), *(texts.notes if texts is not None else ())]
    members = member_columns(gathered.models)
    answers: dict[str, MemberOutcomes] = {}
    for model in models:
        answered = _answered(model, selected, known, setting, session)
        for name, answer in answered.items():
            known_texts = {dataset for other in answers.values() for dataset in other.outcomes}
            answers[name] = answer.without_texts(known_texts)
            gathered.overlaps.setdefault(model.name, {}).update(answer.overlaps)
            gathered.marks |= set(answer.marks)
            gathered.notes += [model_note(model.name, note) for note in answer.notes]
        if model.name not in gathered.uncounted:
            known_text = training_text(model.members[0], session.settings)
            if known_text.text is not None:
                gathered.texts[model.name] = known_text.text
            counted = [model_note(model.name, note) for note in known_text.notes]
            gathered.notes += [note for note in counted if note not in gathered.notes]
            is_uncounted = any(is_text_uncounted(spec) for spec in model.members)
            gathered.uncounted[model.name] = known_text.lack or UNCOUNTED if is_uncounted else ""
        for spec in model.members:
            if spec.name in answered and spec.name not in gathered.facts:
                gathered.facts[spec.name] = _stored_facts(spec, session.settings)
            if spec.name in answered:
                signature = _signature(
                    spec,
                    selected,
                    answered[spec.name],
                    gathered.facts[spec.name],
                    setting,
                    session.settings,
                )
                gathered.signatures.setdefault(model.name, []).append(signature)
    if answers and task(selected.task).trains_classifiers:
        gathered.notes.append(f"{selected.task}: classifiers in the setting {setting!r}")
    if (
        outcomes := item_outcomes(
            selected, answers, members, session.settings.cache, gathered.texts
        )
    ) is not None:
        gathered.outcomes.append(outcomes)
    gathered.figures += figure_evidence(selected.task, answers, members)


def _answered(
    model: Model, selected: SelectedTask, known: Known, setting: SettingName, session: Session
) -> dict[str, MemberOutcomes]:
    """The answers of a model's members; none, with a note, where the task does not apply to the
    model.
    """
    answers = {}
    for spec in model.members:
        try:
            known.refuse_unfit(model, selected)
            with session.progresses() as progress:
                answers[spec.name] = member_outcomes(
                    selected,
                    spec,
                    session.settings,
                    known.texts.get(selected),
                    labelled(progress, spec),
                    setting,
                )
        except UsageError as error:
            session.note(f"{model.name}: {selected.task} does not apply: {error.message}")
            return {}
    return answers


def _stored_facts(spec: ModelSpec, settings: Settings) -> Facts:
    """How a member was used, by any evaluation stored under its fingerprint; its precision alone
    where none could be stored.
    """
    place = ScorePlace.of(spec, settings)
    for path in sorted(place.evaluations.rglob("*.json")):
        with suppress(MissingError):
            stored = Evaluation.load(path, where=lambda _: False)
            if stored.fingerprint == place.fingerprint:
                return {**facts_of(stored), **training_facts(spec)}
    return {"precision": place.precision, **training_facts(spec)}


def _signature(
    spec: ModelSpec,
    selected: SelectedTask,
    outcomes: MemberOutcomes,
    facts: Facts,
    setting: SettingName,
    settings: Settings,
) -> Signature:
    """What decides a member's answers to a task."""
    place = ScorePlace.of(spec, settings)
    name, used = (
        selected.evaluation_name(task(selected.task).setting(setting)),
        EncoderFacts.of_stored(facts, precision=place.precision),
    )
    answered = evaluation_without_scores(name, spec.name, place.fingerprint, used, outcomes.data)
    settings_used = (
        ((setting,) if task(selected.task).trains_classifiers else ())
        + outcomes.settings
        + tuple(score.setting for score in outcomes.scores)
    )
    aggregates = task(selected.task).aggregates  # a part of the signature of its own
    signature = replace(
        replace(answered, **model_facts(spec)).signature,
        setting=tuple(each for each in settings_used if each not in aggregates),
    )
    is_unknown = not spec.counts_words and "pooling" not in facts  # nothing could be stored
    return replace(signature, pooling=UNKNOWN, max_tokens=UNKNOWN) if is_unknown else signature
