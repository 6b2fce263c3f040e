"""The command line made from the commands: their options, those that they share, what a shell may
complete, and what is done with an answer.
"""

import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, replace
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from embedlab.cli.help_pages import EXPERT, SHARED_PANEL, HelpedCommand, command_names
from embedlab.commands.command import SHARED, Command, answer, commands_of, help_of
from embedlab.commands.options import Option, options_of
from embedlab.commands.terminal import Terminal
from embedlab.core.crash_reports import ENDS, report_unforeseen
from embedlab.core.errors import EmbedlabError, ExitCode, UsageError
from embedlab.core.plugins import gathered_faults
from embedlab.core.settings import load_settings, name_files, process_rank
from embedlab.models.hosts import allow_hosts

if TYPE_CHECKING:
    from embedlab.reports.report import Report


def add_commands(app: typer.Typer, typed: str) -> None:
    """Add all commands to APP, in the order of the help; where one is called as was TYPED, it
    alone, because the options of all take longer than its help.
    """
    names = command_names()
    for name in [typed] if typed in names else names:
        module = import_module(f"embedlab.commands.{name}")
        commands = commands_of(module)
        parent = app
        if [command.name for command in commands] != [name]:
            help = (module.__doc__ or "").partition(": ")[2].strip()
            parent = typer.Typer(name=name, help=help[:1].upper() + help[1:], no_args_is_help=True)
            app.add_typer(parent)
        for command in commands:
            epilog = "\n".join(["\b", "Examples:", *(f"  $ {line}" for line in command.examples)])
            for command_name in (command.name, *command.also):
                add = parent.command(
                    command_name,
                    cls=HelpedCommand,
                    epilog=epilog,
                    hidden=command_name != command.name,
                )
                add(typed_function(command))


def typed_function(command: Command) -> Callable[..., None]:
    """Return the function that Typer calls: with a parameter for each option of a COMMAND."""
    own_options = options_of(command.options) if command.options is not None else ()
    shared_options = [
        option for group in (*command.shared, "files") for option in options_of(SHARED[group])
    ]

    def run(**arguments: Any) -> None:
        typed_settings = {
            option.name: value
            for option in shared_options
            if (value := arguments.pop(option.name)) is not None
        }
        with name_files(typed_settings.pop("config", None), typed_settings.pop("plugin", ())):
            _run(command, own_options, arguments, _settings_typed(typed_settings))

    parameters = [
        *map(_parameter, own_options),
        *(_parameter(option, SHARED_PANEL) for option in shared_options),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in parameters}
    run.__doc__ = help_of(command.work).replace(
        "\n\n    ", "\n\n\b\n    "
    )  # indented lines are not wrapped
    return run


def _parameter(option: Option, panel: str | None = None) -> inspect.Parameter:
    """Return a parameter of an option; one of several values is None where it was not typed."""
    flag, kind, default = option.flag, option.kind, option.default
    if flag.typed is not None:
        kind, default = flag.typed, None
    elif option.is_several:
        kind = list[get_args(kind)[0]]  # type: ignore[misc]
        if default is not MISSING:
            kind, default = kind | None, None
    declare: Callable[..., Any] = typer.Option if option.names else typer.Argument
    declared = declare(
        *option.names,
        metavar=flag.metavar,
        help=flag.help,
        min=flag.min,
        max=flag.max,
        autocompletion=completer(flag.completes) if flag.completes else None,
        show_default=panel is None,
        # what may not be read is refused where it is read, as missing: for Typer it would be a
        # wrong word
        readable=False,
        rich_help_panel=EXPERT if flag.is_expert else panel,
    )
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if default is MISSING else default,
        annotation=Annotated[kind, declared],
    )


def _settings_typed(typed: dict[str, Any]) -> dict[str, Any]:
    """Return the settings among what was TYPED; two formats are a UsageError."""
    allow_hosts(typed.pop("allow_host", ()))
    formats = {f"--format {typed['format']}": typed["format"]} if "format" in typed else {}
    formats |= {f"--{name}": name for name in ("json", "latex") if typed.pop(name, False)}
    if len({*formats.values()}) > 1:
        raise UsageError(
            f"{' and '.join(formats)} exclude each other", hint="choose one format for the answer"
        )
    return typed | ({"format": next(iter(formats.values()))} if formats else {})


def _run(
    command: Command,
    options: Sequence[Option],
    arguments: Mapping[str, Any],
    typed: Mapping[str, Any],
) -> None:
    """Do the work of a COMMAND with the ARGUMENTS and settings that were TYPED."""
    notes: list[str] = []
    settings, _ = load_settings(typed, note=notes.append)
    # Of several processes that train together the first one talks.
    terminal = Terminal(
        settings if process_rank() == 0 else replace(settings, quiet=True),
        *([f"--{name}", str(typed[name])] if name in typed else [] for name in ("runs", "data")),
    )
    for text in notes:
        terminal.note(text)
    with gathered_faults() as faults:
        try:
            try:
                _answer(command, options, arguments, terminal)
            except EOFError as error:  # Typer takes any for a user who ends a question
                raise report_unforeseen(error) from error
        except BaseException as error:
            if isinstance(error, EmbedlabError):
                error.hint = terminal.placed(error.hint)
            if terminal.settings.debug and not isinstance(error, (*ENDS, typer.Exit, typer.Abort)):
                terminal.error(traceback.format_exc())
            raise
        finally:
            for gathered_error in faults:
                terminal.note(gathered_error)


def _answer(
    command: Command, declared: Sequence[Option], arguments: Mapping[str, Any], terminal: Terminal
) -> None:
    """Do the work, show the answer as was typed, draw its figures, and end."""
    values = {}
    for option in declared:
        if (value := arguments[option.name]) is not None:
            converted = option.flag.reads(value) if option.flag.reads is not None else value
            values[option.name] = tuple(converted) if option.is_several else converted
    options = command.options(**values) if command.options is not None else None
    figures = []
    figure_names: Sequence[str] = getattr(options, "figure", [])
    if figure_names:
        from embedlab.reports.figures import FigureFile

        figures = [FigureFile.parse(name, command.draws) for name in figure_names]
    report = answer(command.work, options, terminal)
    if report is not None and not isinstance(report, ExitCode):
        is_signed = getattr(options, "signature", False)
        if report.tables:
            terminal.show(*(replace(table, is_signed=is_signed) for table in report.tables))
        for figure in figures:
            caption = figure.write(report.figure_subject)
            terminal.note(f"the figure is {figure.path}; caption: {caption}")
    return _end(report, terminal)


def _end(report: "Report | ExitCode | None", terminal: Terminal) -> None:
    """End as the REPORT says: with 3 where something that was selected is missing."""
    code = report or ExitCode.OK
    if not isinstance(code, ExitCode):
        if code.last:
            for line in code.last.splitlines():
                terminal.note(line)
        code = code.exit_code or (ExitCode.OK if code.is_whole else ExitCode.MISSING)
    if code:
        raise typer.Exit(code)


def shared_page() -> str:
    """Return what `embedlab --options` prints."""
    lines = ["Options that most commands take:", ""]
    for group in SHARED.values():
        for option in options_of(group):
            if option.flag.is_expert:  # few commands take it
                continue
            flags_text = f"{', '.join(option.names)} {option.flag.metavar or ''}"
            lines += [f"  {flags_text:<18}  {option.flag.help}"]
    return "\n".join([*lines, ""])


def completer(kind: str) -> Callable[..., list[str]]:
    """Return the function that completes names of a KIND."""
    if kind == "tables":
        return complete_tables

    def complete(incomplete: str) -> list[str]:
        names = _models(incomplete) if kind == "models" else _names(kind)
        return sorted({name for name in names if name.startswith(incomplete)})

    return complete


# where the names of a kind are listed
_LISTED = {
    "recipes": "core.names:recipe_names",
    "tasks": "core.names:task_names",
    "aliases": "models.aliases:aliases",
    "grids": "experiments.grid_file:grid_names",
    "papers": "experiments.paper_file:paper_names",
    "datasets": "data.source:dataset_names",
}


def _names(kind: str) -> Iterator[str]:
    if kind == "properties":
        from embedlab.core.plugins import names

        yield from ("dataset", *names("properties"))
    elif kind == "runs":
        from embedlab.runs.store import find_runs

        for run in find_runs(load_settings({})[0].runs):
            yield from (run.name, run.id)
    else:
        yield from resolve_name(f"embedlab.{_LISTED[kind]}")()
        yield from ["all"] * (kind == "tasks")


def _models(incomplete: str) -> Iterator[str]:
    """Yield runs, folders, the names of the catalog and the prefixes of encoders."""
    from embedlab.core.plugins import names
    from embedlab.models.published import CATALOG

    parent = Path(incomplete).parent
    yield from (*_names("runs"), *CATALOG, "dice", *(f"{kind}:" for kind in names("encoders")))
    if parent.is_dir():
        yield from (str(path) for path in parent.iterdir() if path.is_dir())


def complete_tables(context: typer.Context, incomplete: str) -> list[str]:
    """The tables of the paper that was typed, in its own order."""
    from embedlab.experiments.paper_file import load_paper

    paper = str(context.params.get("paper"))
    tables = load_paper(paper) if paper in _names("papers") else ()
    return [name for name in tables if name.startswith(incomplete)]
