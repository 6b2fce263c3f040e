"""The program: its commands, and how it ends."""

from collections.abc import Sequence
from typing import Annotated

import typer

from embedlab import __version__
from embedlab.cli import (
    cache,
    compare,
    config,
    data,
    demo,
    doctor,
    encode,
    evaluate,
    export,
    grid,
    nearest,
    pairs,
    recipes,
    runs,
    score,
    train,
    tui,
)
from embedlab.cli.output import report, to_stderr
from embedlab.errors import EmbedlabError, ExitCode, UsageError

EXIT_CODES = (
    "Exit codes: 0 ok, 1 the work failed, 2 what was typed is wrong, 3 something needed is missing or unusable "
    "(data file, hub, checkpoint, device, disk), 130 interrupted."
)

app = typer.Typer(
    name="embedlab",
    help="A lab bench for sentence embeddings: train, evaluate and compare in a terminal.",
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (train, evaluate, compare, pairs, score, nearest, encode, recipes, export, demo, tui, doctor, config):
    app.command(epilog=module.EXAMPLES)(getattr(module, module.__name__.rpartition(".")[2]))
for group in (runs, data, cache, grid):
    app.add_typer(group.app)


def _version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"embedlab {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")] = False,
) -> None:
    """Only `--version` stands before a command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and give its exit code; what a user can cause ends in two lines, a bug in its traceback."""
    try:
        return app(arguments, standalone_mode=False, prog_name="embedlab") or ExitCode.OK
    except EmbedlabError as error:
        report(error)
        return error.exit_code
    except typer.TyperException as error:
        return _usage_error(error)
    except typer.Abort:
        return ExitCode.INTERRUPTED
    except KeyboardInterrupt:
        to_stderr("embedlab: interrupted")
        return ExitCode.INTERRUPTED


def _usage_error(error: typer.TyperException) -> ExitCode:
    """Say what Typer found wrong in the same two lines as every other error."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "embedlab"
    text = error.format_message()
    if type(error).__name__ != "NoArgsIsHelpError":  # that one has shown the help instead
        message = (text[:1].lower() + text[1:]).replace("Value error, ", "").rstrip(".")
        report(UsageError(message, hint=f"`{command} --help` shows what it takes"))
    return ExitCode.USAGE
