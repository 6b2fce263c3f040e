"""The options of a command made from the frozen options of its workflow: flags, types, defaults and help are written once, there."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Annotated, Any, get_origin, get_type_hints

import typer

from embedlab.cli import completion
from embedlab.workflows.options import Flag

Command = Callable[..., None]


def as_typer(flag: Flag) -> Any:
    """Return FLAG as Typer declares an option."""
    listed = getattr(completion, flag.completes) if flag.completes else None
    return typer.Option(*flag.names, metavar=flag.metavar, help=flag.help, autocompletion=listed)


def takes(options: type, *, before: Mapping[str, str] | None = None) -> Callable[[Command], Command]:
    """Give a command with a parameter `options` the fields of OPTIONS that carry a flag; the command gets them as one value.

    Fields without a flag are other parameters of the command. BEFORE places a parameter of the command's own among the generated ones.
    """
    generated = parameters_of(options)

    def decorate(command: Command) -> Command:
        own = dict(inspect.signature(command).parameters)
        shared = [name for name in own if name in {field.name for field in fields(options)}]

        @functools.wraps(command)
        def with_options(**arguments: Any) -> None:
            typed = {name: value for name in generated if (value := arguments.pop(name)) is not None}
            command(**arguments, options=options(**typed, **{name: arguments[name] for name in shared}))

        placed = _placed([one for name in own for one in (generated.values() if name == "options" else [own[name]])], before or {})
        del with_options.__wrapped__
        with_options.__signature__ = inspect.Signature(placed)  # type: ignore[attr-defined]
        with_options.__annotations__ = {one.name: one.annotation for one in placed}
        return with_options

    return decorate


def parameters_of(options: type) -> dict[str, inspect.Parameter]:
    """Return the parameter of each field of OPTIONS that carries a flag; a sequence is None where it was not typed."""
    hints, found = get_type_hints(options, include_extras=True), {}
    for field in fields(options):
        flag = next((one for one in getattr(hints[field.name], "__metadata__", ()) if isinstance(one, Flag)), None)
        if flag is None:
            continue
        kind, default = hints[field.name].__origin__, field.default if field.default is not MISSING else inspect.Parameter.empty
        if get_origin(kind) is Sequence:
            kind, default = list[str] | None, None
        annotation = Annotated[kind, as_typer(flag)]  # type: ignore[valid-type]
        found[field.name] = inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    return found


def _placed(parameters: Sequence[inspect.Parameter], before: Mapping[str, str]) -> list[inspect.Parameter]:
    """Return PARAMETERS as keywords, each name in BEFORE in front of the one that it names there."""
    apart = {name: one for one in parameters if (name := one.name) in before}
    rest = [one for one in parameters if one.name not in apart]
    for name, place in before.items():
        rest.insert([one.name for one in rest].index(place), apart[name])
    return [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in rest]
