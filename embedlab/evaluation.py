"""Models on tasks of any kind: what typed names mean, what is there, what is encoded, evaluated and
gathered to be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import polars as pl

from embedlab.analysis.evidence import member_columns
from embedlab.comparison.comparison import Slicing
from embedlab.core.errors import EmbedlabError, Hint, MissingError, NamedOption, UsageError
from embedlab.core.names import recipe_names
from embedlab.core.note import Note
from embedlab.core.paths import STARTER
from embedlab.core.printable import first_few
from embedlab.data.source import Source
from embedlab.data.text_file import is_seen, refuse_half
from embedlab.encoders.score_place import ScorePlace
from embedlab.models.aliases import aliased_model
from embedlab.models.catalog import Model, ModelSpec, resolve
from embedlab.models.encoder_kind import prefix_of
from embedlab.models.grammar import title_of
from embedlab.models.hosts import refuse_strangers
from embedlab.models.location import model_usage, pin_snapshots
from embedlab.models.published import packaged_model
from embedlab.outcomes.frame import DATASET
from embedlab.reports.notes import model_note, partial_notes, training_facts, usage_facts
from embedlab.reports.scores import StatedModel
from embedlab.runs.outcomes import PREDICTED
from embedlab.runs.signature import UNKNOWN, Signature
from embedlab.scoring.readiness import Readiness, Work, check_all
from embedlab.scoring.results import (
    has_all_items,
    member_result,
    model_facts,
    stored_evaluation,
)
from embedlab.scoring.selection import is_selectable
from embedlab.scoring.task_comparison import (
    ComparisonInput,
    ModelProvenance,
    TaskComparison,
    figure_evidence,
    item_outcomes,
    model_columns,
)
from embedlab.scoring.training_text import UNCOUNTED, is_text_uncounted, training_text
from embedlab.tasks.task import TaskResult, Texts, task

if TYPE_CHECKING:
    from embedlab.choices import SettingName
    from embedlab.core.session import Session, StartProgress
    from embedlab.core.settings import Settings
    from embedlab.encoders.encoder import PairScorer
    from embedlab.runs.evaluations import Evaluation
    from embedlab.scoring.selection import SelectedTask


def resolve_model(name: str, session: Session) -> Model:
    """The model that a typed name means, with its notes reported; a hub model is fetched where it
    is not at hand.
    """
    resolved_model = resolve(name, session.settings.runs)
    try:
        members = tuple(
            pin_snapshots(spec, offline=session.settings.offline) for spec in resolved_model.members
        )
        for spec in members:
            if spec.kind == "folder" and not spec.is_transformed:  # said before data is looked for
                model_usage(spec, offline=True)
    except MissingError as error:
        if name in {spec.location for spec in resolved_model.members} or not any(
            spec.is_on_hub for spec in resolved_model.members
        ):
            raise
        raise MissingError(
            f"{name!r} was taken for a published model: {error.message}",
            hint=Hint(error.advice, *_alternatives(name, session.settings)),
        ) from error
    model = replace(resolved_model, members=members)
    for note in dict.fromkeys(spec.note for spec in model.members if spec.note):
        session.note(f"{name}: {note}")
    if not session.settings.offline and session.settings.endpoint_check == "on":
        _check_endpoints(model.members, session)
    return model


def resolve_models(
    names: Iterable[str | Model], session: Session, *, has_tasks: bool = False
) -> list[Model]:
    """The models that typed NAMES mean, those that are resolved already as they are; all that are
    missing are one error.

    A command that HAS_TASKS says of a dataset among them with which option it takes it.
    """
    models: list[Model] = []
    missing_errors: list[MissingError] = []
    for name in names:
        try:
            models.append(resolve_model(name, session) if isinstance(name, str) else name)
        except MissingError as error:
            missing_errors.append(error)
        except UsageError as error:
            if has_tasks and isinstance(name, str) and is_selectable(name) and "/" not in name:
                hint = f"{name!r} is a dataset: write --task {name}"
                raise UsageError(error.message, hint=hint) from error
            raise
    if len(missing_errors) > 1:
        raise MissingError(
            "; ".join(dict.fromkeys(error.message for error in missing_errors)),
            hint=missing_errors[0].advice,
        )
    if missing_errors:
        raise missing_errors[0]
    return models


def _alternatives(name: str, settings: Settings) -> Iterator[str | NamedOption]:
    """Yield what this machine has in place of a published model: a recipe of its NAME, and what is
    installed.
    """
    if name in recipe_names():
        yield f"; `embedlab train {name}` trains the recipe of that name"
    minilm = packaged_model("minilm")
    if minilm is not None and minilm.state == "installed":
        yield "; minilm is on this machine"
        if settings.data is None:
            yield ", and "
            yield NamedOption("--data", STARTER)
            yield " has pairs for it"


def needs_network(spec: ModelSpec) -> bool:
    """Whether the vectors of SPEC, or of a part of it, come from a server."""
    return any(part.shipped.is_remote for part in spec.uncombined)


def _check_endpoints(members: Sequence[ModelSpec], session: Session) -> None:
    """Record which models answer at the addresses of MEMBERS; one that is another than before is
    reported.
    """
    for spec in chain.from_iterable(member.uncombined for member in members):
        if spec.shipped.is_remote:
            from embedlab.encoders.kinds.endpoint import check_identity

            refuse_strangers([f"{spec.kind}:{spec.location}"])
            if (note := check_identity(spec.kind, spec.location)) is not None:
                session.warn(note)


def refuse_twice(names: Sequence[str]) -> None:
    """Refuse a model that is named twice where models are compared with each other."""
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"model {repeated!r} is named twice", hint="name each model once")


def refuse_blank(sentences: Sequence[str]) -> None:
    """Refuse a typed sentence without a character that is seen: a similarity to nothing means
    nothing; and one with half of a character.
    """
    for sentence in sentences:
        refuse_half(sentence, "a sentence")
    texts = pl.Series(sentences, dtype=pl.String)
    if len(blank := texts.filter(~is_seen(texts))):
        raise UsageError(f"a sentence is blank: {blank[0]!r}", hint="give each sentence in quotes")


def only_member(model: Model) -> ModelSpec:
    """The only member of a model; a run with several seeds is refused."""
    if len(model.members) > 1:
        raise UsageError(
            f"{model.name!r} has {len(model.members)} seeds",
            hint=f"name one: {model.members[0].name}",
        )
    return model.members[0]


def load_members(model: Model, session: Session, *, cached: bool) -> list[PairScorer]:
    """The scorers of a model: several for a run with several seeds. With CACHED their vectors are
    stored.
    """
    from embedlab.encoders.loading import scorer_for

    settings = session.settings
    return [
        scorer_for(spec, settings, cache=settings.cache if cached else None)
        for spec in model.members
    ]


def split_off_figures(
    names: Sequence[str], session: Session
) -> tuple[list[str], list[StatedModel]]:
    """Return the NAMES of models that score pairs, and the others with their figures."""
    stated_models = []
    for name in dict.fromkeys(names):
        if prefix_of(aliased_model(name) or name) is not None:
            spec = resolve(name, session.settings.runs).members[0]
            if figures := spec.shipped.figures(spec.location):
                stated_models.append(StatedModel(name=name, figures=figures))
    return [
        name for name in names if name not in {model.name for model in stated_models}
    ], stated_models


def encode_for_all(models: Sequence[Model], work: Work, session: Session) -> Readiness:
    """Open and check all that is selected, then encode, for each member, what it was not evaluated
    on before, in one pass.

    What is missing is reported first; of a single task that is an error, as is a model that cannot
    do it.
    """
    if session.settings.device in {"cuda", "mps"}:  # refused also where all scores are stored
        from embedlab.encoders.device import machine

        machine(session.settings)
    members = [spec for model in models for spec in model.members]
    ready = check_all(members, work, session.settings)
    unfit = () if work.skips_unfit else ready.unfit.values()
    refusals = [*ready.missing.values(), *unfit]
    if work.is_one and refusals:
        raise refusals[0]
    missing_parts = [error for texts in ready.texts.values() for error in texts.missing]
    for error in (*ready.missing.values(), *missing_parts):
        session.report(error)
    source = Source.from_settings(session.settings)
    stored: dict[tuple[str, SelectedTask], Evaluation] = {}
    for spec in members:
        score_place = ScorePlace.of(spec, session.settings)
        for selected in () if work.again else work.selected:
            name = selected.stored_name(selected.definition.setting(work.setting))
            texts = ready.texts.get(selected)
            if evaluation := stored_evaluation(score_place, name, texts, session.settings):
                stored[spec.name, selected] = evaluation
        todo = {
            selected: text
            for selected, text in ready.texts.items()
            if (spec.name, selected) not in {*ready.unfit, *stored}
            and not has_all_items(spec, selected, work, text, session.settings)
        }
        for selected in todo:
            for text in selected.definition.cost(spec, source, selected.names):
                session.note(f"{title_of(spec.name)}: {text}")
        if not all(text.is_encoded_at_once for text in todo.values()):
            with session.progresses() as progress:
                encode_once(
                    spec, list(todo.values()), session.settings, label_progress(progress, spec)
                )
    task_texts = {task: replace(text, columns=()) for task, text in ready.texts.items()}
    return replace(ready, texts=task_texts, stored=stored)


def encode_once(
    spec: ModelSpec, texts: Sequence[Texts], settings: Settings, start_progress: StartProgress
) -> None:
    """Put the vectors of all TEXTS into the cache, for each transformer in SPEC; does nothing
    without a cache.
    """
    sentences = [sentence for text in texts for column in text.columns for sentence in column]
    if not sentences or settings.cache_gib == 0:
        return

    # torch is imported only here: a stored evaluation is shown without it.
    from embedlab.encoders.loading import load_cached

    for transformer in (part for part in spec.uncombined if part.is_transformer):
        encoder = load_cached(transformer, settings, settings.cache)
        encoder.store(sentences, start_progress("sentences"))


Results = dict[str, list[TaskResult]]  # by model, one a member; none of one that cannot do the task


def results_on_task(
    models: Sequence[Model], selected: SelectedTask, work: Work, ready: Readiness, session: Session
) -> tuple[Results, dict[str, list[str]]]:
    """The results of each model on a task, and the texts that are left out for all because some
    member has no vector of them, by model.
    """
    results = {model.name: _results_of(model, selected, work, ready, session) for model in models}
    all_results = [result for model_results in results.values() for result in model_results]
    refused_by_model = {
        name: refused
        for name, model_results in results.items()
        if (refused := [text for result in model_results for text in result.evaluation.refused])
    }
    refused_texts = tuple(sorted({*chain(*refused_by_model.values())}))
    is_for_all = (
        not selected.definition.has_lone_items if work.wants_items else len(all_results) > 1
    )
    if not refused_texts or not is_for_all or models[0].members[0].refused_texts:
        return results, {}
    reduced_models = [
        replace(
            model,
            members=tuple(replace(spec, refused_texts=refused_texts) for spec in model.members),
        )
        for model in models
    ]
    return results_on_task(reduced_models, selected, work, ready, session)[0], refused_by_model


def _results_of(
    model: Model, selected: SelectedTask, work: Work, ready: Readiness, session: Session
) -> list[TaskResult]:
    """The results of a model's members; none, with a note, where the task does not apply to the
    model and that is no error.
    """
    results = []
    try:
        ready.refuse_unfit(model, selected)
        for spec in model.members:
            with session.progresses() as progress:
                texts = ready.texts.get(selected)
                stored = ready.stored.get((spec.name, selected))
                ticks = label_progress(progress, spec)
                results.append(member_result(spec, selected, work, texts, stored, session, ticks))
    except UsageError as error:
        if work.is_one and not work.skips_unfit:
            raise
        reason = f"{error.message}{f' ({error.hint})' if error.hint else ''}"
        session.note(f"{model.name}: {selected.task} does not apply: {reason}")
        return []
    return results


def label_progress(progress: StartProgress, spec: ModelSpec) -> StartProgress:
    """The same callbacks under the name of a member."""
    return lambda work: progress(f"{title_of(spec.name)}: {work}")


def gather(
    names: Sequence[str],
    selected: Sequence[SelectedTask],
    session: Session,
    *,
    slicing: Slicing,
    setting: SettingName,
    again: bool = False,
) -> ComparisonInput:
    """Return what the models called NAMES are and predict on all selected tasks, of what is stored
    or computed AGAIN; what is missing is reported, nothing left is an error.

    A filter of SLICING that is not understood is refused before a model is looked for.
    """
    if slicing.where:
        from embedlab.outcomes.selection import item_condition

        item_condition(slicing.where, names)
    models = resolve_models(names, session, has_tasks=True)
    work = Work(selected=selected, setting=setting, again=again, skips_unfit=True, wants_items=True)
    ready = encode_for_all(models, work, session)
    gathered = ComparisonInput(
        models=[model_columns(model) for model in models],
        order=[choice.task for choice in selected],
        is_whole=ready.is_whole,
    )
    for selected_task in selected:
        if selected_task in ready.missing:
            continue
        try:
            _add_results(gathered, models, selected_task, work, ready, session)
        except MissingError as error:
            if work.is_one:
                raise
            session.report(error)
            gathered.is_whole = False
    if not (gathered.outcomes or gathered.figures):
        raise nothing_evaluated(selected, is_whole=gathered.is_whole)
    return gathered


def nothing_evaluated(selected: Sequence[SelectedTask], *, is_whole: bool) -> EmbedlabError:
    """The error of models without a number on SELECTED tasks: none applies, or, where the data is
    not WHOLE, something is missing.
    """
    refusal = UsageError if is_whole else MissingError
    return refusal(
        f"nothing to evaluate on {', '.join(choice.task for choice in selected)}",
        hint="the notes say why for each task",
    )


def compare_gathered(
    gathered: ComparisonInput, slicing: Slicing, session: Session
) -> TaskComparison:
    """Return the gathered models compared on what SLICING picks and cuts; what is left out is
    reported.
    """
    with session.progress("comparing") as tick:
        comparison = gathered.compare(slicing, tick)
    for note in comparison.left_out:
        session.note(note)
    return comparison


def refuse_without_items(selected: Sequence[SelectedTask], by: str, where: str) -> None:
    """Refuse to group BY a property or to pick WHERE an expression holds what none of the SELECTED
    tasks has: items.
    """
    if not any(task(task_selection.task).has_items for task_selection in selected) and (
        by != DATASET or where
    ):
        action = f"group by {by!r}" if by != DATASET else f"pick by {where!r}"
        names = ", ".join(dict.fromkeys(task_selection.task for task_selection in selected))
        raise UsageError(
            f"{names} has no items to {action}",
            hint="remove the option, or select a task with items",
        )


def _add_results(
    gathered: ComparisonInput,
    models: Sequence[Model],
    selected: SelectedTask,
    work: Work,
    ready: Readiness,
    session: Session,
) -> None:
    texts = ready.texts.get(selected)
    states = texts.states if texts is not None else ()
    gathered.states += states
    gathered.notes += [*partial_notes(states), *(texts.notes if texts is not None else ())]
    model_results, refused = results_on_task(models, selected, work, ready, session)
    if refused:
        refused_texts = sorted({*chain(*refused.values())})
        count = f"{len(refused_texts)} text{'s' * (len(refused_texts) > 1)}"
        refusal = f"{selected.task}: {count} without a vector left out for all"
        text = f"{refusal}: {first_few(refused_texts, 3)}"
        gathered.notes.append(Note(text, models=[*refused], short_texts=[text], kind="unread"))
    results: dict[str, TaskResult] = {}
    with_texts: set[str] = set()  # datasets whose items have texts in an earlier result
    for model in models:
        text_notes = _note_training_text(gathered, model, session)
        provenance = gathered.models_by_name[model.name]
        for spec, result in zip(model.members, model_results[model.name], strict=False):
            outcomes = []
            for outcome in result.outcomes:
                items = outcome.items
                if outcome.name in with_texts:  # texts take most memory
                    items = items.select("item", "gold", PREDICTED)
                outcomes.append(replace(outcome, items=items))
            with_texts |= {outcome.name for outcome in outcomes}
            results.setdefault(spec.name, replace(result, outcomes=tuple(outcomes)))
            provenance.overlaps |= result.overlaps
            provenance.signatures.append(_signature(spec, selected, result, work.setting))
            provenance.marks |= result.marks
            notes = dict.fromkeys(note for outcome in result.outcomes for note in outcome.notes)
            gathered.notes += [model_note(model.name, note) for note in notes]
            gathered.facts.setdefault(
                spec.name, {**usage_facts(result.evaluation), **training_facts(spec)}
            )
        gathered.notes += [note for note in text_notes if note not in gathered.notes]
    if results and selected.definition.trains_classifiers:
        gathered.notes.append(f"{selected.task}: classifiers in the setting {work.setting!r}")
    members = member_columns(gathered.models)
    items_of_all = item_outcomes(selected, results, members, session.settings.cache, gathered.texts)
    if items_of_all is not None:
        gathered.outcomes.append(items_of_all)
    gathered.figures += figure_evidence(selected.task, results, members)


def _note_training_text(gathered: ComparisonInput, model: Model, session: Session) -> list[str]:
    """Keep what a model was trained on, once; return the notes on it."""
    if model.name in gathered.models_by_name:
        return []
    text = training_text(model.members[0], session.settings)
    is_uncounted = any(is_text_uncounted(spec) for spec in model.members)
    lack = text.lack or UNCOUNTED if is_uncounted else ""
    gathered.models_by_name[model.name] = ModelProvenance(text=text.text, lack=lack)
    return [model_note(model.name, note) for note in text.notes]


def _signature(
    spec: ModelSpec, selected: SelectedTask, result: TaskResult, setting: SettingName
) -> Signature:
    """What decides a member's numbers on a task."""
    definition = selected.definition
    evaluation = replace(
        result.evaluation, data=result.data, scores=(), scored_by=(), **model_facts(spec)
    )
    settings = (*((setting,) if definition.trains_classifiers else ()), *result.settings)
    signature = replace(
        evaluation.signature,  # aggregation is a part of its own
        setting=tuple(
            setting_name for setting_name in settings if setting_name not in definition.aggregates
        ),
    )
    # nothing is known of its vectors
    is_unknown = not spec.counts_words and evaluation.pooling is None
    return replace(signature, pooling=UNKNOWN, max_tokens=UNKNOWN) if is_unknown else signature
