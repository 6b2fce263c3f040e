"""Checks before any computation: all data is opened, and every model is checked against its tasks.

A task lists in `texts` what it reads and refuses unsuitable models in `check`; its evaluation opens
nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from embedlab.core.errors import MissingError, NotDownloadedError, UsageError
from embedlab.data.file_name import is_pair_file
from embedlab.data.source import Source
from embedlab.scoring.selection import SelectedTask, recipe_evaluations
from embedlab.tasks.task import Selection, Texts

if TYPE_CHECKING:
    from embedlab.choices import SettingName
    from embedlab.core.recipe import EvaluateSection, Recipe
    from embedlab.core.settings import Settings
    from embedlab.models.catalog import Model, ModelSpec
    from embedlab.runs.evaluations import Evaluation


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Readiness:
    """What is known before anything is computed: the texts that each selected task reads, what
    cannot be evaluated, and what was evaluated before.
    """

    texts: Mapping[SelectedTask, Texts]  # of tasks whose texts do not depend on the model
    # tasks whose data is missing or refused for every model
    missing: Mapping[SelectedTask, MissingError]
    # by member: a task that does not apply to it
    unfit: Mapping[tuple[str, SelectedTask], UsageError]
    # by member too: evaluations that still hold
    stored: Mapping[tuple[str, SelectedTask], Evaluation] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was missing."""
        return not self.missing and not any(texts.missing for texts in self.texts.values())

    def refuse_unfit(self, model: Model, selected: SelectedTask) -> None:
        """Raise why the task SELECTED does not apply to a member of MODEL, where it does not."""
        for spec in model.members:
            if (spec.name, selected) in self.unfit:
                raise self.unfit[spec.name, selected]


def check_all(members: Sequence[ModelSpec], work: Work, settings: Settings) -> Readiness:
    """Open all data of the tasks of WORK and check all MEMBERS; nothing is loaded or encoded."""
    source = Source.from_settings(settings)
    texts: dict[SelectedTask, Texts] = {}
    missing_errors: dict[SelectedTask, MissingError] = {}
    unfit_errors: dict[tuple[str, SelectedTask], UsageError] = {}
    for selected_task in work.selected:
        try:
            texts |= _texts(selected_task, work.setting, source)
            for spec in members:
                try:
                    if spec.shipped.items is not None:
                        continue
                    task = selected_task.definition
                    if spec.only_searches and not task.searches:
                        raise UsageError(
                            f"{spec.name!r} puts the documents of a search in order, and "
                            f"{task.name} searches nothing",
                            hint="use it with --task retrieval-captions, or to your own folder of "
                            "queries and documents",
                        )
                    task.check(spec, settings)
                except UsageError as error:
                    unfit_errors[spec.name, selected_task] = error
        except MissingError as error:
            missing_errors[selected_task] = error
            texts.pop(selected_task, None)
    return Readiness(texts=texts, missing=missing_errors, unfit=unfit_errors)


def check_recipe_evaluation(recipe: Recipe, source: Source) -> tuple[MissingError, ...]:
    """Open all data of RECIPE's evaluation and of its dev score before training; return what SOURCE
    lacks.

    A missing dataset of the dev score is raised, and so are missing data of all tasks and a single
    task that does not apply.
    """
    selected = recipe_evaluations(recipe.evaluate.tasks).values()
    if recipe.evaluate.dev != "none":
        _open_dev(recipe.evaluate, source)
    absent: dict[SelectedTask, MissingError] = {}
    missing_parts: list[MissingError] = []
    for selected_task in selected:
        try:
            for texts in _texts(selected_task, "literature", source).values():
                missing_parts += texts.missing
            selected_task.definition.check_recipe(recipe, source)
        except UsageError:
            if len(selected) == 1:
                raise
        except MissingError as error:
            absent[selected_task] = error
    if absent and len(absent) == len(selected):
        raise _with_hint(
            next(iter(absent.values())), "train without an evaluation: --set 'evaluate.tasks=[]'"
        )
    return (*absent.values(), *missing_parts)


def _open_dev(evaluate: EvaluateSection, source: Source) -> None:
    """Open the data of the dev score; the hint for a public set that is not there says how to train
    without one.
    """
    from embedlab.scoring.dev_score import dev_score

    try:
        dev_score(source, evaluate.dev)
    except MissingError as error:
        if is_pair_file(evaluate.dev):
            raise
        option = "--set evaluate.dev=none" + (
            " --set evaluate.keep=last" if evaluate.keep == "best" else ""
        )
        raise _with_hint(error, f"train without a dev score: {option}") from error


def _with_hint(error: MissingError, option: str) -> MissingError:
    """Return ERROR with the OPTION that avoids it before its own hint; what would be downloaded
    needs none.
    """
    return (
        error
        if isinstance(error, NotDownloadedError)
        else MissingError(error.message, hint=f"{option}; or {error.hint}")
    )


def _texts(
    selected: SelectedTask, setting: SettingName, source: Source
) -> dict[SelectedTask, Texts]:
    task = selected.definition
    texts = task.texts(source, Selection(names=selected.names, setting=task.setting(setting)))
    return {selected: texts} if texts is not None else {}
