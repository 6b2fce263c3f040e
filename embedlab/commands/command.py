"""A command: a function from options and a session to its answer, with what else the doors need
of it.

The command line shows the answer; a function of `import embedlab` gives it.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, TypeVar

from embedlab.commands.options import Flag
from embedlab.core.errors import UnknownFieldError, UsageError
from embedlab.core.settings import MOST_THREADS, Device, Format, Precision

Work = TypeVar("Work", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Command:
    """What a command line is made of. Its help and its examples are the text of the function."""

    work: Callable[..., Any]
    shared: Sequence[str]  # groups of SHARED
    draws: str  # whose figures --figure draws
    also: Sequence[str]  # other names

    @property
    def name(self) -> str:
        """The word that is typed."""
        return self.work.__name__

    @property
    def options(self) -> type | None:
        """The dataclass of its options; None where it has none of its own."""
        kind: Any = self.work.__annotations__.get("options")
        options_type: type | None = self.work.__globals__[kind] if isinstance(kind, str) else kind
        return options_type

    @property
    def examples(self) -> list[str]:
        """What can be typed; an example that is longer than a line goes on in the next."""
        text = inspect.getdoc(self.work) or ""
        return [
            " ".join(example.split()) for example in text.partition(_EXAMPLES)[2].split("$ ")[1:]
        ]


_EXAMPLES = "\n\nExamples:\n"


def help_of(work: Callable[..., Any]) -> str:
    """Return what a command or function does, without its examples."""
    return (inspect.getdoc(work) or "").partition(_EXAMPLES)[0]


def command(groups: str, *, draws: str = "", also: Sequence[str] = ()) -> Callable[[Work], Work]:
    """Make a function a command that also takes the options of GROUPS of shared ones."""

    def declare(work: Work) -> Work:
        work.command = Command(  # type: ignore[attr-defined]
            work=work, shared=groups.split(), draws=draws, also=also
        )
        return work

    return declare


def commands_of(module: ModuleType) -> list[Command]:
    """Return the commands of a MODULE in their order: the one of its name, or those of a group."""
    return [
        member.command
        for member in vars(module).values()
        if hasattr(member, "command") and member.__module__ == module.__name__
    ]


def answer(work: Callable[..., Any], options: Any, session: Any) -> Any:
    """Do the WORK of a command; where a property is not known and the user's own file has a column
    of its name, the error says so.
    """
    try:
        return work(session) if options is None else work(options, session)
    except UnknownFieldError as error:
        from embedlab.commands.own_rows import with_own_column

        typed_names = [
            name for key in ("tasks", "models") for name in getattr(options, key, None) or ()
        ]
        raise with_own_column(error, typed_names) from error


# None = not typed, so that only what was typed overrides environment and files.


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """Where data comes from."""

    data: Annotated[
        Path | None,
        Flag(
            help="Folder of corpora in their own layouts, or starter: the small set inside "
            "embedlab.",
            metavar="DIR",
        ),
    ] = None
    offline: Annotated[bool | None, Flag(help="Do not use the network.")] = None
    allow_host: Annotated[
        Sequence[str],
        Flag(
            help="Send sentences, but no key, to this server that a file names; again for more.",
            metavar="HOST",
        ),
    ] = ()
    allow_partial: Annotated[
        bool | None,
        Flag(
            help="Accept incomplete data; numbers are then marked partial.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class RunsOptions:
    """Where runs lie."""

    runs: Annotated[Path | None, Flag(help="Folder of runs (./runs).", metavar="DIR")] = None


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    """Where and how numbers are computed."""

    device: Annotated[Device | None, Flag(help="Where to compute.")] = None
    precision: Annotated[
        Precision | None,
        Flag(
            help="Floating-point type; by default float32, on a GPU bf16 or fp16 to train.",
        ),
    ] = None
    deterministic: Annotated[
        bool | None,
        Flag(help="Give the same bits each time on a GPU too; slower."),
    ] = None
    threads: Annotated[
        int | None,
        Flag(help="Processor threads.", metavar="N", min=1, max=MOST_THREADS),
    ] = None


@dataclass(frozen=True, kw_only=True)
class StepOptions:
    """How the steps of a training are computed."""

    capture: Annotated[
        bool | None,
        Flag(
            is_expert=True,
            help="On a GPU, run passes as CUDA graphs: faster for small batches, not yet measured.",
        ),
    ] = None
    gradient_checkpointing: Annotated[
        bool | None,
        Flag(
            is_expert=True,
            help="Use less memory, more time: layers are computed again in the backward pass.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """How an answer is written."""

    format: Annotated[Format | None, Flag(help="How the answer is written.")] = None
    json: Annotated[bool | None, Flag(help="Short for --format json.")] = None
    quiet: Annotated[
        bool | None, Flag(names=("--quiet", "-q"), help="No progress and no notes.")
    ] = None
    notes: Annotated[
        bool | None,
        Flag(
            help="Show all notes, also those that do not change how a number is read.",
        ),
    ] = None
    debug: Annotated[bool | None, Flag(help="Show the traceback behind an error.")] = None


@dataclass(frozen=True, kw_only=True)
class LatexOptions:
    """A format that some commands have."""

    latex: Annotated[bool | None, Flag(help="Short for --format latex, for booktabs.")] = None


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """Files that hold for one command, which every command takes."""

    config: Annotated[Path | None, Flag(help="A file with further settings.", metavar="FILE")] = (
        None
    )
    plugin: Annotated[
        Sequence[Path],
        Flag(
            help="File with plug-ins, whose code runs (repeatable).",
            metavar="FILE",
        ),
    ] = ()


SHARED: dict[str, type] = {
    "data": DataOptions,
    "runs": RunsOptions,
    "machine": MachineOptions,
    "steps": StepOptions,
    "output": OutputOptions,
    "latex": LatexOptions,
    "files": FileOptions,
}


def confirm(question: str, refusal: str, terminal: Any, *, is_confirmed: bool) -> None:
    """Go on where the user agrees; otherwise it is a UsageError with the REFUSAL."""
    if not is_confirmed and not terminal.confirm(question):
        raise UsageError(f"{refusal}: not confirmed", hint="add --yes")


def refuse(*rules: tuple[bool, str, str]) -> None:
    """Refuse what was typed by the first of RULES that applies: its message and its hint."""
    for applies, message, hint in rules:
        if applies:
            raise UsageError(message, hint=hint)
