"""The page of all commands: usage, what each does, its arguments and options, and examples."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

import typer

from docs.reference.text import cell, code, escaped, table


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command as its program states it."""

    name: str
    help: str
    examples: tuple[str, ...]
    parameters: tuple[Any, ...]


def commands() -> list[Command]:
    """Return every command in the order of `embedlab --help`."""
    from embedlab.cli.app import program

    return list(_walk(typer.main.get_command(program()), ""))


def _walk(command: Any, name: str) -> Iterator[Command]:
    if hasattr(command, "commands"):
        for word, own in command.commands.items():
            yield from _walk(own, f"{name} {word}".strip())
        return
    examples = re.findall(r"^\s*\$ (.*)$", command.epilog or "", re.MULTILINE)
    yield Command(
        name=name,
        help=inspect.cleandoc(command.help or "").replace("\b\n", ""),
        examples=tuple(examples),
        parameters=tuple(command.params),
    )


def shared_names() -> dict[str, str]:
    """Return each option that many commands share, with its group."""
    from embedlab.commands.command import SHARED
    from embedlab.commands.options import options_of

    return {option.name: group for group, own in SHARED.items() for option in options_of(own)}


def page() -> str:
    """Return the page."""
    found, shared = commands(), shared_names()
    parts = [
        "# Commands\n\nEach command as the program states it; `embedlab COMMAND --help` "
        "shows the same in a terminal. Options that many "
        "commands share are [at the end](#shared-options). The exit codes are 0 ok, 1 the "
        "work failed, 2 what was typed is wrong, "
        "3 something needed is missing or unusable, 130 interrupted. Examples hold "
        "placeholders, such as DIR and MODEL.\n"
    ]
    parts += [_section(command, shared) for command in found]
    return "\n".join([*parts, _shared_section(found)])


def _section(command: Command, shared: dict[str, str]) -> str:
    own = [one for one in command.parameters if one.name not in shared]
    arguments = [one.metavar or one.name.upper() for one in own if not is_option(one)]
    lines = [
        f"## embedlab {command.name}\n",
        f"`embedlab {' '.join([command.name, *arguments, '[OPTIONS]'])}`\n",
        escaped(command.help) + "\n",
    ]
    if own:
        lines.append(
            table(("argument or option", "is", "default", "meaning"), (_row(one) for one in own))
        )
    groups = dict.fromkeys(shared[one.name] for one in command.parameters if one.name in shared)
    if groups:
        lines.append(
            f"Shared options: {', '.join(f'[{group}](#{group}-options)' for group in groups)}.\n"
        )
    if command.examples:
        lines.append("\n".join(["```console", *(f"$ {one}" for one in command.examples), "```\n"]))
    return "\n".join(lines)


def _shared_section(found: list[Command]) -> str:
    parts, shared = ["## Shared options\n"], shared_names()
    by_name = {
        one.name: one for command in found for one in command.parameters if one.name in shared
    }
    for group in dict.fromkeys(shared.values()):
        rows = [
            _row(by_name[name]) for name, own in shared.items() if own == group and name in by_name
        ]
        parts.append(
            f"### {group.capitalize()} "
            f"options\n\n{table(('option', 'is', 'default', 'meaning'), rows)}"
        )
    return "\n".join(parts)


def is_option(parameter: Any) -> bool:
    """Return whether a parameter has a name that is typed."""
    return any(name.startswith("-") for name in parameter.opts)


def _row(parameter: Any) -> tuple[str, str, str, str]:
    names = (
        ", ".join(code(name) for name in (*parameter.opts, *parameter.secondary_opts))
        if is_option(parameter)
        else code(_metavar(parameter))
    )
    return names, _kind(parameter), code(_default(parameter)), escaped(cell(parameter.help or ""))


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _kind(parameter: Any) -> str:
    annotation = parameter.type_descriptor.annotation
    choices = [one for one in get_args(annotation) if isinstance(one, str)]
    if not choices:
        choices = [
            one for part in get_args(annotation) for one in get_args(part) if isinstance(one, str)
        ]
    if choices:
        return ", ".join(code(one) for one in choices)
    if getattr(parameter, "is_flag", False):
        return "flag"
    return code(parameter.metavar or getattr(annotation, "__name__", "value")) + (
        ", several times" if parameter.multiple else ""
    )


def _default(parameter: Any) -> str:
    value = parameter.default
    return "" if value is None or value is False or value in ((), []) else str(value)
