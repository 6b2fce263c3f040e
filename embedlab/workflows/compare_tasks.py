"""Models compared on tasks of any kind: their answers, or their similarities of pairs, as evidence of one table."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import isnan

from embedlab.analysis.comparison import ComparedSlice, compare_evidence
from embedlab.analysis.evidence import Evidence, member_columns
from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.uncertainty import METHOD
from embedlab.choices import Aggregate, SettingName, Test
from embedlab.comparison.evidence import lacking_datasets, outcome_evidence, slices_of
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.settings import Settings
from embedlab.data.overlaps import KnownText
from embedlab.data.shared_text import Overlap
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.evaluation.frames import item_outcomes, keyed_items
from embedlab.evaluation.member import model_facts
from embedlab.evaluation.outcomes import MemberOutcomes, figures, member_outcomes, shared_rows
from embedlab.evaluation.scored_pairs import model_columns, signature_of
from embedlab.evaluation.selection import SelectedTask
from embedlab.evaluation.task_comparison import Facts, TaskComparison
from embedlab.evaluation.training_text import training_text
from embedlab.models.catalog import Model, ModelSpec
from embedlab.outcomes.cuts import DATASET, ItemSlice
from embedlab.outcomes.frame import Outcomes, joined_outcomes
from embedlab.outcomes.selection import Selection, select_items
from embedlab.reports.notes import data_notes, facts_of, model_note, partial_notes, training_facts
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.signature import UNKNOWN, Signature, merged
from embedlab.tasks.task import task
from embedlab.workflows.models import resolve_model
from embedlab.workflows.scoring import score
from embedlab.workflows.session import Session
from embedlab.workflows.suites import Known, Work, encode_for_all, labelled


@dataclass(frozen=True, kw_only=True)
class Slicing:
    """Which items of the tasks are compared, and how they are grouped."""

    by: str = DATASET  # a property
    where: str = ""  # an expression over properties; all items without one
    aggregate: Aggregate = "all"
    common: bool = False  # items alone that all models have predictions of

    @property
    def is_plain(self) -> bool:
        """Whether each number is of a whole dataset."""
        return self.by == DATASET and not self.where and not self.common


@dataclass(kw_only=True)
class _Found:
    """What is known of the tasks so far."""

    outcomes: list[Outcomes] = field(default_factory=list)
    figures: list[Evidence] = field(default_factory=list)  # numbers without items
    overlaps: dict[str, dict[str, Overlap]] = field(default_factory=dict)  # by model, then by dataset
    texts: dict[str, KnownText] = field(default_factory=dict)  # the training text of models, where it is known
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
    slicing: Slicing,
    test: Test,
    margin: float | None,
    setting: SettingName,
) -> TaskComparison:
    """The models on all selected tasks, on the items that SLICING picks out; what is missing is reported, nothing left is an error."""
    models = [resolve_model(name, session) for name in names]
    columns = [model_columns(model) for model in models]
    known = encode_for_all(models, Work(selected=selected, setting=setting, skips_unfit=True), session)
    found = _Found(is_whole=known.is_whole)
    for one in selected:
        if one in known.ready.missing:
            continue
        try:
            if one.scores_pairs:
                _add_pairs(found, models, columns, one, slicing, session)
            else:
                _add_answers(found, models, columns, one, known, setting, session)
        except MissingError as error:
            session.report(error)
            found.is_whole = False
    if not (found.outcomes or found.figures):
        raise MissingError(f"nothing to compare on {', '.join(one.task for one in selected)}", hint="the notes say why of each task")
    evidence, overlaps = _sliced(found, columns, slicing, session)
    places = {one.task: place for place, one in reversed([*enumerate(selected)])}
    evidence.sort(key=lambda one: places[one.task])  # numbers without items stay with their task
    slices = compare_evidence(evidence, columns, names[0], test=test, margin=margin)
    averages = {one.key for one in evidence if one.average_of}
    counts = {name: {key: one for key, one in own.items() if one and key not in averages} for name, own in overlaps.items()}
    return TaskComparison(
        slices=slices,
        models=columns,
        by=slicing.by,
        where=slicing.where,
        test=test,
        margin=margin,
        shared={name: shared_rows(evidence, own) for name, own in overlaps.items()},
        counts=counts,
        facts=found.facts,
        marks=tuple(sorted(found.marks)),
        notes=tuple(found.notes),
        signatures=_signatures(found, slices, slicing, test, margin),
        states=[state for texts in known.texts.values() for state in texts.states],
        is_whole=found.is_whole,
    )


def _sliced(
    found: _Found, columns: Sequence[ModelColumns], slicing: Slicing, session: Session
) -> tuple[list[Evidence], dict[str, dict[str, Overlap]]]:
    """Return the evidence of the slices, and the text that each shares with the training text of a model, by its key."""
    members = member_columns(columns)
    if not found.outcomes:
        return [*found.figures], found.overlaps
    outcomes = joined_outcomes(found.outcomes)
    models = {model.name: model.members for model in columns}
    selection = select_items(outcomes, slicing.where, models) if slicing.where else None
    parts = slices_of(outcomes, members, by=slicing.by, selection=selection, common=slicing.common)
    is_chosen = selection is not None and selection.is_by_results
    with session.progress("comparing") as tick:
        evidence = outcome_evidence(outcomes, members, parts, aggregate=slicing.aggregate, is_chosen=is_chosen, progress=tick)
    for note in _left_out(outcomes, parts, slicing, selection):
        session.note(note)
    if found.figures and not slicing.is_plain:
        session.note(f"left out, without items: {', '.join(one.key for one in found.figures)}")
    overlaps = found.overlaps if slicing.is_plain else _overlaps_of(outcomes, parts, found.texts)
    return [*evidence, *(found.figures if slicing.is_plain else ())], overlaps


def _left_out(outcomes: Outcomes, parts: Sequence[ItemSlice], slicing: Slicing, selection: Selection | None) -> Iterator[str]:
    """Yield which datasets have no slice, and why."""
    by, where = lacking_datasets(outcomes, slicing.by), selection.lacking if selection is not None else ()
    there = {outcomes.blocks[part.block].dataset for part in parts}
    unfit = [block.dataset for block in outcomes.blocks if block.dataset not in {*there, *by, *where}]
    for why, names in ((f"without {slicing.by!r}", by), (f"without what {slicing.where!r} reads", where), ("no item fits", unfit)):
        if names:
            yield f"left out, {why}: {', '.join(names)}"


def _overlaps_of(outcomes: Outcomes, parts: Sequence[ItemSlice], texts: Mapping[str, KnownText]) -> dict[str, dict[str, Overlap]]:
    """Return the text that each slice shares with the training text of each model, by the key of the slice."""
    frames = {part.key: keyed_items(outcomes, part) for part in parts}
    return {name: {key: text.overlap(frame) for key, frame in frames.items()} for name, text in texts.items()}


def _add_pairs(
    found: _Found, models: Sequence[Model], columns: Sequence[ModelColumns], one: SelectedTask, slicing: Slicing, session: Session
) -> None:
    scored, _ = score(models, session, task=one.task, datasets=one.names or None, common=slicing.common, is_reported=True)
    found.texts |= scored.known_texts
    found.outcomes.append(scored.outcomes)
    for model in scored.models:
        signature = signature_of(scored, model, by="dataset", aggregation=("all",), metric="spearman")
        found.signatures.setdefault(model.name, []).append(signature)
        found.overlaps.setdefault(model.name, {}).update(scored.model_overlaps(model, "dataset"))
    found.marks |= set(scored.marks)
    found.facts |= scored.facts
    found.notes += data_notes(scored, is_of_whole_datasets=slicing.is_plain)


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
    answers: dict[str, MemberOutcomes] = {}
    for model in models:
        answered = _answered(model, one, known, setting, session)
        for name, own in answered.items():
            answers[name] = own
            found.overlaps.setdefault(model.name, {}).update(own.overlaps)
            found.marks |= set(own.marks)
            found.notes += [model_note(model.name, note) for note in own.notes]
        for spec in model.members:
            if spec.name in answered and spec.name not in found.facts:
                found.facts[spec.name] = _stored_facts(spec, session.settings)
            if spec.name in answered:
                signature = _signature(spec, one, answered[spec.name], found.facts[spec.name], setting, session.settings)
                found.signatures.setdefault(model.name, []).append(signature)
        if model.name not in found.texts and (text := training_text(model.members[0], session.settings).text) is not None:
            found.texts[model.name] = text
    if answers and task(one.task).trains_classifiers:
        found.notes.append(f"{one.task}: classifiers in the setting {setting!r}")
    if (outcomes := item_outcomes(one, answers, members, session.settings, found.texts)) is not None:
        found.outcomes.append(outcomes)
    found.figures += figures(one.task, answers, members)


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


def _signatures(found: _Found, slices: Sequence[ComparedSlice], slicing: Slicing, test: Test, margin: float | None) -> dict[str, str]:
    """The signature of each model over all tasks that it has numbers of."""
    signed = {}
    for model in (model for model in slices[0].scores if model in found.signatures):
        own = [one for one in slices if not isnan(one.scores[model].value)]
        sizes = {(one.task, one.key.removesuffix(f" {one.metric}")): one.pairs for one in own if not one.average_of}
        signature = replace(
            merged(found.signatures[model]),
            by=(slicing.by, *((f"where {slicing.where}",) if slicing.where else ())),
            aggregation=tuple({one.setting for one in own if one.setting is not None}),
            interval=(METHOD,),
            margin=(f"{100 * margin:g}",) if margin is not None else (),
            metric=tuple(one.metric for one in own),
            n=(str(sum(sizes.values())),),
            test=tuple({difference.test for one in own for difference in one.differences.values()} or {test}),
        )
        signed[model] = str(signature)
    return signed
