"""A user's own files among the arguments of `evaluate` and `compare`, and what is noted of them."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from typing import Protocol, TypeVar

from embedlab.core.errors import EmbedlabError, MissingError, UnknownFieldError, UsageError
from embedlab.core.foreign_files import refuse_foreign
from embedlab.core.settings import Settings
from embedlab.data.file_name import FileName, is_row_file, parse_file_name
from embedlab.data.hub_pairs import is_hub_name
from embedlab.data.own_columns import own_data
from embedlab.data.own_files import is_pair_file
from embedlab.data.table_file import read_rows
from embedlab.models.catalog import finished_runs
from embedlab.workflows.session import Session


class OfTasks(Protocol):
    """Options that select tasks, datasets or files of one's own."""

    @property
    def tasks(self) -> Sequence[str]:
        """Their names."""


Options = TypeVar("Options", bound=OfTasks)
Result = TypeVar("Result")


def hints_at_own_columns(
    report: Callable[[Options, Session], Result],
) -> Callable[[Options, Session], Result]:
    """Let a REPORT say of an unknown property that it is a column of the user's own file, and how
    the file's name makes it the source.
    """

    @wraps(report)
    def reported(options: Options, session: Session) -> Result:
        try:
            return report(options, session)
        except UnknownFieldError as error:
            if (file := _file_with(error.field, options.tasks)) is None:
                raise
            name = file.with_options(source=error.field).text
            hint = (
                f"{error.field} is a column of {file.path}: name the file '{name}', which "
                f"--by source and --where source:VALUE read"
            )
            raise UnknownFieldError(
                error.message, hint=hint, reason=error.reason, field=error.field
            ) from error

    return reported


def _file_with(column: str, names: Sequence[str]) -> FileName | None:
    """Return the first of the user's own files among NAMES that has a COLUMN."""
    for name in names:
        if column and is_pair_file(name) and not is_hub_name(name):
            with suppress(EmbedlabError, OSError):  # whoever opens it says why it cannot be read
                file = parse_file_name(name)
                if column in read_rows(file.path).columns:
                    return file
    return None


def models_and_files(
    arguments: Sequence[str], has_tasks: bool, settings: Settings
) -> tuple[list[str], list[str]]:
    """Return the models among ARGUMENTS, and the files of rows to evaluate them on.

    A table by its ending is such a file: a file that is a model, such as one of scores, is named by
    its prefix. Where tasks are named by an option too, and where a run has the name of a file,
    neither reading is taken.
    """
    files = [name for name in arguments if _is_table(name)]
    models = [name for name in arguments if name not in files]
    for name in files:
        if name in finished_runs(settings.runs):
            raise UsageError(
                f"{name!r} is a file, and a run too",
                hint=f"write ./{name} for the file, or name the run by a seed: {name}@1",
            )
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


def note_files(names: Sequence[str], session: Session) -> None:
    """Note what was detected of the user's own files among NAMES, of those whose columns have other
    names than ours.
    """
    for name in names:
        if not is_pair_file(name) or is_hub_name(name):
            continue
        with suppress(EmbedlabError, OSError):  # whoever opens it says why it cannot be read
            data = own_data(name)
            if not data.said.is_plain and data.file.held_out is None:
                for line in data.lines():
                    session.note(line)


def _is_table(name: str) -> bool:
    return is_row_file(name) and parse_file_name(name).is_table
