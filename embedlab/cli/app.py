"""The program: its commands, what could once be typed, and how it ends."""

import errno
import os
import shlex
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from embedlab.cli.declared import add_commands, shared_page
from embedlab.cli.help_pages import EXIT_CODES, WHAT, front_page
from embedlab.commands.terminal import open_door, report, to_stderr
from embedlab.core.crash_reports import run_guarded
from embedlab.core.errors import EmbedlabError, ExitCode, Interrupted, MissingError, UsageError
from embedlab.core.interrupts import handle_stops
from embedlab.core.schema import reason_of
from embedlab.core.settings import ERRORS_TO
from embedlab.core.version import __version__

# What the system answers where rights, a disk or the kind of a file are not as needed: nothing that
# a program can mend.
REFUSALS = {
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.EIO,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.ELOOP,
    errno.ESTALE,
    errno.ETXTBSY,
    errno.ENXIO,
    errno.ENODEV,
}


@cache
def program(typed: str = "") -> typer.Typer:
    """Return the program: all of its commands, or the one alone that is called as was TYPED."""
    app = typer.Typer(
        name="embedlab",
        help=WHAT,
        epilog=EXIT_CODES,
        context_settings={"help_option_names": ["-h", "--help"]},
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    add_commands(app, typed)
    app.callback()(_program)
    return app


def _version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"embedlab {__version__}")
        raise typer.Exit


def _program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Take `--version`, the only option before a command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and give its exit code; what a user can cause ends in two lines, and so does
    a bug, with the file of its report.

    A process that was started by another one also reports its error as an event, where that one
    said.
    """
    open_door()
    ending, errors = None, list[EmbedlabError]()
    if file := os.environ.get(ERRORS_TO):
        from embedlab.runs.events import EndingReport

        ending = EndingReport(Path(file))

    def show(error: EmbedlabError) -> None:
        errors.append(error)
        report(error)

    code = run_guarded(lambda: _run(arguments), show)
    if ending is not None and code != ExitCode.OK:
        last = [EmbedlabError(f"ended with exit code {code}"), *errors][-1]
        ending.write(last.message, hint=last.hint, exit_code=code, cause=last.cause)
    return code


def _run(arguments: Sequence[str] | None) -> int:
    received: list[int] = []

    def stop(number: int, interrupt: Callable[[], NoReturn]) -> None:
        # It interrupts as Ctrl-C does, because libraries discard any `Exception` that is raised
        # while they probe what is installed; a second one interrupts also what the first one makes
        # the command do.
        received.append(number)
        interrupt()

    typed_arguments = sys.argv[1:] if arguments is None else arguments
    try:
        with handle_stops(stop):
            for argument in typed_arguments:
                _refuse_unreadable(argument)
            if not typed_arguments or list(typed_arguments) in (["--help"], ["-h"]):
                (typer.echo if typed_arguments else to_stderr)(front_page())
                return ExitCode.OK if typed_arguments else ExitCode.USAGE
            if list(typed_arguments) == ["--options"]:
                typer.echo(shared_page())
                return ExitCode.OK
            app = program(typed_arguments[0])
            code = app(arguments, standalone_mode=False, prog_name="embedlab") or ExitCode.OK
        if code == ExitCode.INTERRUPTED:  # what Typer makes of Ctrl-C, without a word
            raise _interruption(received)
        return code
    except typer.TyperException as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # its text is the help of the command
            to_stderr(error.format_message())
            return ExitCode.USAGE
        raise _usage_error(error, typed_arguments) from error
    except (typer.Abort, KeyboardInterrupt) as error:
        raise _interruption(received) from error
    except MemoryError as error:
        raise MissingError(
            f"not enough memory: {error}".removesuffix(": "),
            hint="free some, or take fewer sentences at once",
        ) from error
    except OSError as error:
        raise _system_error(error) from error


def _refuse_unreadable(argument: str) -> None:
    """Refuse an argument that is not text: it could name neither a file for the libraries that read
    files nor anything in a table.
    """
    with suppress(UnicodeEncodeError):
        argument.encode()
        return
    content, hint = os.fsencode(argument), "it is UTF-8, but the locale is not: set LC_ALL=C.UTF-8"
    try:
        content.decode()
    except UnicodeDecodeError:
        hint = "type it in UTF-8; a file with such a name must be renamed first"
    raise UsageError(f"the argument {content!r} cannot be read as text", hint=hint)


def _interruption(received: Sequence[int]) -> Interrupted:
    if received and received[-1] != signal.SIGINT:
        name = signal.Signals(received[-1]).name
        return Interrupted(f"stopped by {name}", hint="what was saved before stays")
    return Interrupted("interrupted")


def _system_error(error: OSError) -> Exception:
    """Return what the system refused in two lines: a place that cannot be read or written, a full
    disk, a name that no file can have.

    Other system errors are bugs.
    """
    if error.errno == errno.ENAMETOOLONG:
        message = f"no file can be called {str(error.filename)[:40]!r}…"
        return UsageError(message, hint="it is too long a name: was a space left out?")
    if error.errno in REFUSALS and error.filename is not None:
        name = error.filename
        path = os.fsdecode(name) if isinstance(name, str | bytes | os.PathLike) else str(name)
        return MissingError(f"cannot use {path!r}: {error.strerror}", hint=_permission_hint(path))
    if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
        return error
    # the interpreter flushes stdout once more when it ends
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    hint = "free some space, or send it elsewhere"
    return MissingError("no space left to write the answer", hint=hint)


def _permission_hint(path: str) -> str:
    """What to look at: the place itself, or the folder on the way to it that may not be
    searched.
    """
    folders = reversed(Path(path).absolute().parents)
    closed = next((str(folder) for folder in folders if not os.access(folder, os.X_OK)), path)
    return f"check the permissions of {closed!r}"


def _usage_error(error: typer.TyperException, arguments: Sequence[str]) -> UsageError:
    """Return what Typer found wrong in the same two lines as every other error, and what to use
    instead of what was removed.
    """
    context = getattr(error, "ctx", None)
    if isinstance(error, typer.BadParameter):
        from pydantic import ValidationError

        if isinstance(error.__cause__, ValidationError):
            error.message = reason_of(error.__cause__.errors(include_url=False)[0])
    unknown_option = getattr(error, "option_name", "")
    if context is not None and unknown_option and hasattr(error, "possibilities"):
        value = unknown_option.lstrip("-").upper()
        options = [
            option for option in context.command.params if option.param_type_name == "option"
        ]
        options_with_value = [option.opts[0] for option in options if option.metavar == value]
        error.possibilities = options_with_value or error.possibilities
    command = context.command_path if context else "embedlab"
    text = error.format_message()
    hint = replacement_for(arguments) or f"`{command} --help` shows what it takes"
    if context is not None and any(map(_is_text_with_dash, arguments)):
        hint = f"put -- before the texts: {_with_texts_last(context, arguments)}"
    return UsageError((text[:1].lower() + text[1:]).rstrip("."), hint=hint)


def _is_text_with_dash(argument: str) -> bool:
    """Return whether an ARGUMENT that looks like an option is a text, such as "-5 degrees", or a
    file.
    """
    is_text = " " in argument.strip() or argument[1:2].isdigit()
    return argument.startswith("-") and (is_text or os.path.isfile(argument))  # noqa: PTH113


def _with_texts_last(context: Any, arguments: Sequence[str]) -> str:
    """Return the command with its options before the other words, which follow --."""
    command = context.command_path.split()
    takes_value = {
        name: not getattr(option, "is_flag", False)
        for option in context.command.params
        for name in (*option.opts, *option.secondary_opts)
        if name.startswith("-")
    }
    options, texts, remaining = [], [], [*arguments[len(command) - 1 :]]
    while remaining:
        argument = remaining.pop(0)
        if _is_text_with_dash(argument) or not argument.startswith("-"):
            texts.append(argument)
        elif argument != "--":
            options.append(argument)
            if takes_value.get(argument) and remaining:
                options.append(remaining.pop(0))
    return shlex.join([*command, *options, "--", *texts])


_DATA = "--data starter, real pairs inside embedlab, or --data tiny, a generated corpus"
_SETTINGS = (
    "put settings into the file that `embedlab config` names, or into one that --config names"
)

# What to use instead of what could once be typed: a command, an option, an option with a value, or
# an option of one command. tests/test_inventory.py compares it with the list of signed removals.
INSTEAD: Mapping[str, str] = {
    "trust": _SETTINGS,
    "plugins trust": "name the file in the user's settings, or give it with --plugin",
    "plugins ls": "embedlab doctor --plugins",
    "data items": "embedlab data ls DATASET --items",
    "data selections": "embedlab data ls --selections",
    "verify": "embedlab same A.json B.json",
    "--sample": _DATA,
    "compare --test": "remove --test: dyadic is the test of every task",
    "grid run --budget": "remove --budget: every cell trains to its end; fewer cells take less",
}


def replacement_for(arguments: Sequence[str]) -> str:
    """Return what to use instead of the first removed thing among typed ARGUMENTS; empty where
    nothing was removed.
    """
    line = f"{' '.join(arguments)} ".replace("=", " ")
    for name, replacement in INSTEAD.items():
        command, dashes, option = name.partition("--")
        is_of_command = line.startswith(command if dashes else f"{command} ")
        if is_of_command and (not dashes or f" {dashes}{option} " in f" {line}"):
            return replacement
    return ""
