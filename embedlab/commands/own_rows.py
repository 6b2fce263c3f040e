"""A user's own files among the arguments of `evaluate` and `compare`, and what is noted of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from embedlab.core.errors import EmbedlabError, MissingError, UnknownFieldError, UsageError
from embedlab.core.foreign_files import refuse_foreign
from embedlab.core.printable import count_text
from embedlab.data.file_name import (
    FileName,
    is_hub_name,
    is_pair_file,
    is_query_folder,
    is_row_file,
    parse_file_name,
)
from embedlab.evaluation import refuse_twice

if TYPE_CHECKING:
    from embedlab.commands.options import GroupedItems, ModelsAndFiles, ModelsOnItems, TwoModels
    from embedlab.core.session import Session
    from embedlab.core.settings import Settings
    from embedlab.scoring.selection import SelectedTask


def with_own_column(error: UnknownFieldError, names: Sequence[str]) -> UnknownFieldError:
    """Return ERROR, or an error that says that the unknown name is a column of the user's file
    among NAMES, and how the file's name makes it the source.
    """
    if (file := _file_with(error.field, names)) is None:
        return error
    name = file.with_options(source=error.field).text
    hint = (
        f"{error.field} is a column of {file.path}: name the file '{name}', which "
        f"--by source and --where source:VALUE read"
    )
    return UnknownFieldError(error.message, hint=hint, reason=error.reason, field=error.field)


def _file_with(column: str, names: Sequence[str]) -> FileName | None:
    """Return the first of the user's own files among NAMES that has a COLUMN."""
    for name in names:
        if column and is_pair_file(name) and not is_hub_name(name):
            from embedlab.data.table_file import read_rows

            with suppress(EmbedlabError, OSError):  # whoever opens it says why it cannot be read
                file = parse_file_name(name)
                if column in read_rows(file.path).columns:
                    return file
    return None


def models_and_files(
    options: ModelsAndFiles | TwoModels, settings: Settings
) -> tuple[list[str], list[str]]:
    """Return the models among what was typed, and the files of rows to evaluate them on.

    A table by its ending is such a file, and so is a folder of queries: a file that is a model,
    such as one of scores, is named by its prefix. Where tasks are named by an option too, and where
    a run has the name of a file, neither reading is taken.
    """
    arguments = options.models
    has_tasks = any(getattr(options, name, ()) for name in ("tasks", "suites"))
    files = [
        name
        for name in arguments
        if (is_row_file(name) and parse_file_name(name).is_table) or is_query_folder(name)
    ]
    models = [name for name in arguments if name not in files]
    for name in files:
        from embedlab.models.catalog import finished_runs

        if name in finished_runs(settings.runs):
            raise UsageError(
                f"{name!r} is a file, and a run too",
                hint=f"write ./{name} for the file, or name the run by a seed: {name}@1",
            )
        if not is_query_folder(name):
            path = parse_file_name(name).path
            refuse_foreign(path)
            if not path.is_file():
                raise MissingError(
                    f"no file {str(path)!r}", hint="give the path of a file, or the name of a model"
                )
        if has_tasks:
            hint = f"scores of a model: scores:{name}; more rows to evaluate on: --task {name}"
            raise UsageError(
                f"{name!r} is a file of rows, and --task or --suite name others", hint=hint
            )
    if files and not models:
        hint = f"for example dice {files[0]}; scores of a model: scores:FILE"
        raise UsageError(f"{files[0]!r} is a file of rows, and no model is named", hint=hint)
    return models, files


Choice = TypeVar("Choice", bound="ModelsOnItems")


def take_choice(options: Choice, session: Session) -> tuple[Choice, Sequence[SelectedTask]]:
    """Return OPTIONS whose models are models alone and whose items are picked by one expression,
    and the tasks on which these are measured: those selected, or files among the models.
    """
    from embedlab.scoring.selection import select_from

    names, files = models_and_files(options, session.settings)
    tasks = options.tasks or files
    note_files(tasks, session)
    options = replace(
        options, models=names, tasks=tasks, where=options.expression, selection="", unseen=False
    )
    return options, select_from(options.suites, tasks, session.settings.data)


def refuse_grouping(options: GroupedItems, selected_tasks: Sequence[SelectedTask]) -> None:
    """Refuse to group by what is no property, and to pick or group where no task has items."""
    from embedlab.evaluation import refuse_without_items
    from embedlab.outcomes.frame import DATASET
    from embedlab.outcomes.grouping import refuse_unknown_property

    if options.by != DATASET:
        refuse_unknown_property(options.by)
    refuse_without_items(selected_tasks, options.by, options.where)


def two_models(
    options: ModelsAndFiles | TwoModels, command: str, settings: Settings
) -> tuple[list[str], list[str]]:
    """Return the two models of a COMMAND that compares two, and the files among what was typed."""
    names, files = models_and_files(options, settings)
    if len(names) != 2:
        raise UsageError(
            f"{count_text(len(names), 'models are')} named, and two are compared",
            hint=f"embedlab {command} {' '.join([*names, *['MODEL'] * 2][:2])} FILE",
        )
    refuse_twice(names)
    return names, files


def note_files(names: Sequence[str], session: Session) -> None:
    """Note what was detected of the user's own files among NAMES, of those whose columns have other
    names than ours; where nothing was guessed, with --notes alone.
    """
    for name in names:
        if not is_pair_file(name) or is_hub_name(name):
            continue
        from embedlab.data.own_columns import own_data

        with suppress(EmbedlabError, OSError):  # whoever opens it says why it cannot be read
            data = own_data(name)
            is_shown = session.settings.notes or not data.is_certain
            if is_shown and not data.explicit_name.is_plain and data.file.held_out is None:
                for line in data.lines(has_examples=False):
                    session.note(line)
