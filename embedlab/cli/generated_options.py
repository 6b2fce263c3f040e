"""The options of a command made from frozen dataclasses: flags, types, defaults and help are
written once, there.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, is_dataclass
from typing import Annotated, Any, get_args

import typer

from embedlab.cli import completion
from embedlab.cli.help_pages import EXPERT
from embedlab.workflows.options.fields import FlaggedField, flagged_fields

Command = Callable[..., None]


def takes(command: Command) -> Command:
    """Give a command the fields of each of its parameters that is a dataclass of options; the
    command gets them as one value.
    """
    parameters = inspect.signature(command).parameters
    options: dict[str, type] = {
        name: parameter.annotation
        for name, parameter in parameters.items()
        if has_flags(parameter.annotation)
    }

    @functools.wraps(command)
    def with_options(**arguments: Any) -> None:
        made = {name: kind(**_values(kind, arguments)) for name, kind in options.items()}
        command(**arguments, **made)

    generated = [
        parameter
        for name, as_is in parameters.items()
        for parameter in (parameters_of(options[name]) if name in options else [as_is])
    ]
    placed = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in generated]
    del with_options.__wrapped__
    with_options.__signature__ = inspect.Signature(placed)  # type: ignore[attr-defined]
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in placed}
    return with_options


def has_flags(annotation: Any) -> bool:
    """Return whether the annotation of a parameter is a dataclass of options."""
    return (
        isinstance(annotation, type)
        and is_dataclass(annotation)
        and bool(flagged_fields(annotation))
    )


def parameters_of(options: type) -> list[inspect.Parameter]:
    """Return a parameter for each field of OPTIONS; one of several values is None where it was not
    typed.
    """
    return [_parameter(field) for field in flagged_fields(options)]


def _parameter(field: FlaggedField) -> inspect.Parameter:
    kind, default = (
        field.kind,
        inspect.Parameter.empty if field.default is MISSING else field.default,
    )
    if field.flag.typed is not None:
        kind, default = field.flag.typed, None
    elif field.is_several:
        kind = list[get_args(kind)[0]]  # type: ignore[misc]
        kind, default = (
            (kind, default) if default is inspect.Parameter.empty else (kind | None, None)
        )
    annotation = Annotated[kind, _as_typer(field)]  # type: ignore[valid-type]
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _as_typer(field: FlaggedField) -> Any:
    """Return a field as Typer declares an option or an argument."""
    flag = field.flag
    declare: Callable[..., Any] = typer.Option if flag.names else typer.Argument
    return declare(
        *flag.names,
        metavar=flag.metavar,
        help=flag.help,
        min=flag.min,
        max=flag.max,
        autocompletion=getattr(completion, f"complete_{flag.completes}")
        if flag.completes
        else None,
        # what may not be read is refused where it is read, as missing: for Typer it would be a
        # wrong word
        readable=False,
        rich_help_panel=EXPERT if flag.is_expert else None,
    )


def _values(options: type, arguments: dict[str, Any]) -> dict[str, Any]:
    """Take the fields of OPTIONS out of ARGUMENTS, as far as they were typed or have a default."""
    values = {}
    for field in flagged_fields(options):
        if (value := arguments.pop(field.name)) is not None:
            read = field.flag.reads(value) if field.flag.reads is not None else value
            values[field.name] = tuple(read) if field.is_several else read
    return values
