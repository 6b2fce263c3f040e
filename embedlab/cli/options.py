"""The options that many commands share, added to a command's signature and resolved with files and
environment into Settings.
"""

import functools
import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from embedlab.cli.help_pages import SHARED
from embedlab.cli.terminal import Terminal
from embedlab.core.crash_reports import ENDS, unforeseen
from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.plugins import gathered_faults
from embedlab.core.settings import (
    MOST_THREADS,
    Device,
    Format,
    Precision,
    files_named,
    load_settings,
    process_rank,
)
from embedlab.models.hosts import allow_hosts
from embedlab.store.sealed import unverified_files

Group = Literal["data", "runs", "machine", "output", "latex"]


def _option(
    *names: str,
    text: str,
    metavar: str | None = None,
    least: int | None = None,
    most: int | None = None,
) -> Any:
    # What may not be read is refused where it is read, as missing: for Typer it would be a wrong
    # word.
    return typer.Option(
        *names,
        help=text,
        metavar=metavar,
        min=least,
        max=most,
        show_default=False,
        readable=False,
        rich_help_panel=SHARED,
    )


# None = not typed, so that only what was typed overrides environment and files.
GROUPS: dict[Group, dict[str, Any]] = {
    "data": {
        "data": Annotated[
            Path | None,
            _option(
                "--data",
                text="Folder of corpora in their own layouts, or starter: the small set inside "
                "embedlab.",
                metavar="DIR",
            ),
        ],
        "offline": Annotated[bool | None, _option("--offline", text="Never touch the network.")],
        "allow_host": Annotated[
            list[str] | None,
            _option(
                "--allow-host",
                text="Send sentences, and no key, to this server that a file names; again for "
                "more.",
                metavar="HOST",
            ),
        ],
        "allow_partial": Annotated[
            bool | None,
            _option(
                "--allow-partial", text="Take incomplete data; numbers are then marked partial."
            ),
        ],
    },
    "runs": {
        "runs": Annotated[
            Path | None, _option("--runs", text="Folder of runs (./runs).", metavar="DIR")
        ]
    },
    "machine": {
        "device": Annotated[Device | None, _option("--device", text="Where to compute.")],
        "precision": Annotated[
            Precision | None,
            _option(
                "--precision",
                text="Floating-point type; by default float32, on a GPU bf16 or fp16 to train.",
            ),
        ],
        "deterministic": Annotated[
            bool | None,
            _option("--deterministic", text="On a GPU, too, give the same bits each time; slower."),
        ],
        "threads": Annotated[
            int | None,
            _option(
                "--threads", text="Processor threads.", metavar="N", least=1, most=MOST_THREADS
            ),
        ],
    },
    "output": {
        "format": Annotated[Format | None, _option("--format", text="How the answer is written.")],
        "json": Annotated[bool | None, _option("--json", text="Short for --format json.")],
        "quiet": Annotated[bool | None, _option("--quiet", "-q", text="No progress and no notes.")],
        "notes": Annotated[
            bool | None,
            _option(
                "--notes",
                text="Show all notes, also those that do not change how a number is read.",
            ),
        ],
        "debug": Annotated[
            bool | None, _option("--debug", text="Show the traceback behind an error.")
        ],
    },
    "latex": {
        "latex": Annotated[
            bool | None, _option("--latex", text="Short for --format latex, for booktabs.")
        ]
    },
}


# Files that hold for one command, which every command takes.
FILES = {
    "config": Annotated[
        Path | None, _option("--config", text="File of further settings.", metavar="FILE")
    ],
    "plugin": Annotated[
        list[Path] | None,
        _option(
            "--plugin", text="File with plug-ins, whose code runs (repeatable).", metavar="FILE"
        ),
    ],
}


def shared_page() -> str:
    """Return what `embedlab --options` prints."""
    options = {name: kind for group in (*GROUPS.values(), FILES) for name, kind in group.items()}
    lines = ["Options that most commands take:", ""]
    for kind in options.values():
        declared = kind.__metadata__[0]
        names = ", ".join((declared.default, *declared.param_decls))
        words = f"{names} {declared.metavar or ''}"
        lines += [f"  {words:<18}  {declared.help}"]
    return "\n".join([*lines, ""])


def common(*groups: Group) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of GROUPS; its `terminal` parameter then carries the resolved
    settings.
    """
    added = {name: annotation for group in groups for name, annotation in GROUPS[group].items()}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        parameters = [
            parameter
            for name, parameter in inspect.signature(command).parameters.items()
            if name != "terminal"
        ]
        shared = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
            )
            for name, annotation in {**added, **FILES}.items()
        ]

        @functools.wraps(command)
        def with_settings(**arguments: Any) -> None:
            typed = _typed(arguments, added)
            files = files_named(arguments.pop("config"), arguments.pop("plugin") or ())
            with files:
                run(typed, arguments)

        def run(typed: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
            notes: list[str] = []
            settings, _ = load_settings(typed, note=notes.append)
            # Of several processes that train together the first one talks.
            terminal = Terminal(
                settings if process_rank() == 0 else replace(settings, quiet=True),
                _runs(typed),
                _data(typed),
            )
            for text in notes:
                terminal.note(text)
            with unverified_files() as unverified, gathered_faults() as faults:
                try:
                    with _no_end_of_file_is_a_stop():
                        command(**arguments, terminal=terminal)
                except BaseException as error:
                    if isinstance(error, EmbedlabError):
                        error.hint = terminal.placed(error.hint)
                    if terminal.settings.debug and not isinstance(
                        error, (*ENDS, typer.Exit, typer.Abort)
                    ):
                        terminal.error(traceback.format_exc())
                    raise
                finally:
                    for fault in faults:
                        terminal.note(fault)
                    if unverified:
                        terminal.note(_unverified_note(unverified))

        # Typer reads the signature through the wrapper it is given, not through what that wraps.
        del with_settings.__wrapped__
        with_settings.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
            + shared
        )
        with_settings.__annotations__ = {
            parameter.name: parameter.annotation for parameter in [*parameters, *shared]
        }
        return with_settings

    return decorate


@contextmanager
def _no_end_of_file_is_a_stop() -> Iterator[None]:
    """Let the end of a file that nothing expected be a bug: Typer takes any EOFError for a user who
    ends a question.
    """
    try:
        yield
    except EOFError as error:
        raise unforeseen(error) from error


def _unverified_note(paths: Sequence[Path]) -> str:
    """What must be said of files that have no checksum."""
    more = len(set(paths)) - 1
    others = f" and {more} more" if more else ""
    return (
        f"{str(paths[0])!r}{others} of an older embedlab: without a checksum, so that damage "
        f"would not be noticed"
    )


def _typed(arguments: dict[str, Any], added: dict[str, Any]) -> dict[str, Any]:
    """Take the common options out of ARGUMENTS and keep those that were typed; two formats are a
    UsageError.
    """
    flags = {name: value for name in added if (value := arguments.pop(name)) is not None}
    allow_hosts(flags.pop("allow_host", None) or ())
    formats = {f"--format {flags['format']}": flags["format"]} if "format" in flags else {}
    formats |= {f"--{name}": name for name in ("json", "latex") if flags.pop(name, False)}
    if len({*formats.values()}) > 1:
        raise UsageError(
            f"{' and '.join(formats)} exclude each other", hint="choose one format for the answer"
        )
    return flags | ({"format": next(iter(formats.values()))} if formats else {})


def _runs(typed: Mapping[str, Any]) -> list[str]:
    """What was TYPED of where runs lie."""
    return ["--runs", str(typed["runs"])] if "runs" in typed else []


def _data(typed: Mapping[str, Any]) -> list[str]:
    """What was TYPED of where corpora lie."""
    return ["--data", str(typed["data"])] if "data" in typed else []


def examples(*lines: str) -> str:
    """The end of a command's help: what to type, one example a line."""
    return "\n".join(
        ["\b", "Examples:", *(f"  $ {line}" for line in lines)]
    )  # \b keeps the lines as they are
