"""Every member of every model on some tasks: data and models are checked first, sentences encoded
in one pass, results stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from embedlab.choices import SettingName
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.progress import StartProgress
from embedlab.data.source import Source
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.models.catalog import Model, ModelSpec
from embedlab.models.grammar import title_of
from embedlab.outcomes.frame import Outcomes
from embedlab.runs.evaluations import Evaluation
from embedlab.scoring.member import evaluate_task, with_training
from embedlab.scoring.outcomes import has_all_items, member_outcomes
from embedlab.scoring.prefetch import encode_once, stored_evaluation
from embedlab.scoring.readiness import Readiness, check_all
from embedlab.scoring.selection import SelectedTask
from embedlab.scoring.task_comparison import item_outcomes
from embedlab.tasks.task import Texts, task
from embedlab.workflows.models import check_device
from embedlab.workflows.session import Session

Evaluations = dict[str, list[Evaluation]]  # by model, one a member


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is evaluated, in which way."""

    selected: Sequence[SelectedTask]
    setting: SettingName = "literature"
    again: bool = False  # also what was evaluated before
    skips_unfit: bool = False  # a model that cannot do a single task is left out instead of refused
    wants_items: bool = False  # what is stored item by item is enough, without an evaluation

    @property
    def is_one(self) -> bool:
        """Whether a task that cannot be done leaves nothing to show."""
        return len(self.selected) == 1

    def stored_name(self, selected: SelectedTask) -> str:
        """The name of the stored evaluation of ONE of them in a member's folder."""
        return selected.stored_name(task(selected.task).setting(self.setting))


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """What is known before anything is computed: the texts of the tasks, and each member's stored
    evaluations.
    """

    ready: Readiness
    stored: Mapping[tuple[str, SelectedTask], Evaluation]

    @property
    def texts(self) -> Mapping[SelectedTask, Texts]:
        """What each task reads, of those whose data is there."""
        return self.ready.texts

    @property
    def is_whole(self) -> bool:
        """Whether nothing was missing."""
        return not self.ready.missing and not any(texts.missing for texts in self.texts.values())

    def refuse_unfit(self, model: Model, selected: SelectedTask) -> None:
        """Raise why the task ONE does not apply to a member of MODEL, where it does not."""
        for spec in model.members:
            if (spec.name, selected) in self.ready.unfit:
                raise self.ready.unfit[spec.name, selected]


def encode_for_all(models: Sequence[Model], work: Work, session: Session) -> Known:
    """Open and check all that is selected, then encode, for each member, what it was not evaluated
    on before, in one pass.

    What is missing is reported first; of a single task that is an error, as is a model that cannot
    do it.
    """
    ready, source = _ready(models, work, session), Source.from_settings(session.settings)
    stored: dict[tuple[str, SelectedTask], Evaluation] = {}
    for spec in (spec for model in models for spec in model.members):
        place = ScorePlace.of(spec, session.settings)
        for selected in work.selected:
            if not work.again:
                evaluation = stored_evaluation(
                    place, work.stored_name(selected), ready.texts.get(selected), session.settings
                )
                stored |= {(spec.name, selected): evaluation} if evaluation else {}
        todo = {
            selected: text
            for selected, text in ready.texts.items()
            if (spec.name, selected) not in stored
            and (spec.name, selected) not in ready.unfit
            and not (
                work.wants_items
                and has_all_items(
                    place, selected, text, task(selected.task).setting(work.setting), source
                )
            )
        }
        for selected in todo:
            for text in task(selected.task).cost(spec, source, selected.names):
                session.note(f"{title_of(spec.name)}: {text}")
        if not all(text.is_encoded_at_once for text in todo.values()):
            with session.progresses() as progress:
                encode_once(spec, list(todo.values()), session.settings, labelled(progress, spec))
    return Known(
        ready=replace(
            ready, texts={one: replace(text, columns=()) for one, text in ready.texts.items()}
        ),
        stored=stored,
    )


def evaluate_on_task(
    models: Sequence[Model], selected: SelectedTask, work: Work, known: Known, session: Session
) -> Evaluations:
    """The evaluations of each model on a task; none where no model can do it."""
    evaluations: Evaluations = {}
    for model in models:
        try:
            evaluations[model.name] = _evaluate_member(model, selected, work, known, session)
        except UsageError as error:
            if work.is_one:
                raise
            session.note(f"{model.name}: {selected.task} does not apply: {error.message}")
    return evaluations


def stored_items(
    selected: SelectedTask,
    model: Model,
    texts: Texts | None,
    setting: SettingName,
    session: Session,
) -> Outcomes | None:
    """What is stored item by item of a model that was evaluated on a task."""
    answers = {}
    for spec in model.members:
        with session.progresses() as progress:
            answers[spec.name] = member_outcomes(
                selected, spec, session.settings, texts, labelled(progress, spec), setting
            )
    return item_outcomes(selected, answers, [*answers], session.settings.cache)


def labelled(progress: StartProgress, spec: ModelSpec) -> StartProgress:
    """The same callbacks under the name of a member."""
    return lambda work: progress(f"{title_of(spec.name)}: {work}")


def _ready(models: Sequence[Model], work: Work, session: Session) -> Readiness:
    """What can be done; the error of a single task, or of the last that cannot, is raised."""
    check_device(session.settings)
    ready = check_all(
        [spec for model in models for spec in model.members],
        work.selected,
        work.setting,
        session.settings,
    )
    if work.is_one and ready.missing:
        raise next(iter(ready.missing.values()))
    if work.is_one and ready.unfit and not work.skips_unfit:
        raise next(iter(ready.unfit.values()))
    for error in (
        *ready.missing.values(),
        *(error for texts in ready.texts.values() for error in texts.missing),
    ):
        session.report(error)
    return ready


def _evaluate_member(
    model: Model, selected: SelectedTask, work: Work, known: Known, session: Session
) -> list[Evaluation]:
    scored = []
    known.refuse_unfit(model, selected)
    for spec in model.members:
        evaluations = ScorePlace.of(spec, session.settings).evaluations
        if stored := known.stored.get((spec.name, selected)):
            session.note(
                f"{spec.name}: {stored.task} as it was evaluated before on the same data; "
                f"--again does it again"
            )
            scored.append(with_training(stored, spec))
        else:
            with session.progresses() as progress:
                result = evaluate_task(
                    selected.task,
                    spec,
                    session.settings,
                    labelled(progress, spec),
                    selected.names,
                    work.setting,
                    known.texts[selected].parts if selected in known.texts else (),
                )
            try:
                result.save(evaluations, work.stored_name(selected))
            except MissingError as full:  # a disk that takes nothing costs time, not the answer
                session.warn(f"{full.message}: the evaluation is shown, not stored")
            scored.append(result.evaluation)
    return scored
