"""One rule for every task: all data is opened, and every model checked against its tasks, before anything is computed.

A task's file says what it reads in `texts`, and what more it would refuse of one model in `check`; judging opens nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from embedlab.choices import SettingName
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.recipe import Recipe
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.evaluation.dev_score import dev_score
from embedlab.evaluation.selection import SelectedTask
from embedlab.models.catalog import ModelSpec
from embedlab.tasks.task import Selection, Texts, task


@dataclass(frozen=True, kw_only=True, eq=False)
class Readiness:
    """What each of the selected tasks reads, and what cannot be done."""

    texts: Mapping[SelectedTask, Texts]  # of those that read the same whatever the model
    missing: Mapping[SelectedTask, MissingError]  # whose data is missing or refused, for any model
    unfit: Mapping[tuple[str, SelectedTask], UsageError]  # by member: a task that does not apply to it

    def tasks(self, member: str, selected: Sequence[SelectedTask]) -> list[SelectedTask]:
        """Those of the SELECTED tasks that can be done with a member."""
        return [one for one in selected if one not in self.missing and (member, one) not in self.unfit]


def check_all(members: Sequence[ModelSpec], selected: Sequence[SelectedTask], setting: SettingName, settings: Settings) -> Readiness:
    """Open all data of the SELECTED tasks and check all MEMBERS; nothing is loaded or encoded."""
    source = Source.from_settings(settings)
    texts: dict[SelectedTask, Texts] = {}
    missing: dict[SelectedTask, MissingError] = {}
    unfit: dict[tuple[str, SelectedTask], UsageError] = {}
    for one in selected:
        try:
            texts |= _texts(one, setting, source)
            for spec in members:
                try:
                    task(one.task).check(spec, settings)
                except UsageError as error:
                    unfit[spec.name, one] = error
        except MissingError as error:
            missing[one] = error
            texts.pop(one, None)
    return Readiness(texts=texts, missing=missing, unfit=unfit)


def check_recipe_evaluation(recipe: Recipe, settings: Settings) -> tuple[MissingError, ...]:
    """Open all data of RECIPE's evaluation, also that of its dev score, before a model is trained; gives what is missing.

    A dataset of the dev score, or all that is to be evaluated, is not only given but raised, as is a single task that does not apply.
    """
    source, tasks = Source.from_settings(settings), recipe.evaluate.tasks
    if recipe.evaluate.dev != "none":
        dev_score(source, recipe.evaluate.dev)
    absent: dict[str, MissingError] = {}
    parts: list[MissingError] = []
    for name in tasks:
        try:
            for texts in _texts(SelectedTask(task=name), "literature", source).values():
                parts += texts.missing
            task(name).check_recipe(recipe, source)
        except UsageError:
            if len(tasks) == 1:
                raise
        except MissingError as error:
            absent[name] = error
    if absent and len(absent) == len(tasks):
        raise next(iter(absent.values()))
    return (*absent.values(), *parts)


def _texts(one: SelectedTask, setting: SettingName, source: Source) -> dict[SelectedTask, Texts]:
    chosen = task(one.task)
    if chosen.texts is None:
        return {}
    return {one: chosen.texts(source, Selection(names=one.names, setting=chosen.setting(setting)))}
