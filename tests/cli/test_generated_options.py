"""The options of a command are written once, in a dataclass: the command line is made from it."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import MISSING, dataclass
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from embedlab.cli.app import program
from embedlab.cli.generated_options import parameters_of, takes
from embedlab.cli.reporting import PageOptions
from embedlab.workflows.options.compare import CompareOptions
from embedlab.workflows.options.evaluate import EvaluateOptions
from embedlab.workflows.options.explain import ExplainOptions
from embedlab.workflows.options.fields import flagged_fields
from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.grid import GridOptions
from embedlab.workflows.options.power import PowerOptions
from embedlab.workflows.options.reproduce import ReproductionOptions
from embedlab.workflows.options.why import WhyOptions


def command(*path: str) -> Any:
    """The command of the program that is typed as PATH."""
    found: Any = typer.main.get_command(program())
    for word in path:
        found = found.commands[word]
    return found


@pytest.mark.parametrize(
    ("path", "options"),
    [
        (("evaluate",), EvaluateOptions),
        (("compare",), CompareOptions),
        (("compare",), PageOptions),
        (("power",), PowerOptions),
        (("why",), WhyOptions),
        (("explain",), ExplainOptions),
        (("reproduce",), ReproductionOptions),
        (("grid", "run"), GridOptions),
    ],
)
def test_every_field_is_an_option_of_the_command_with_its_help_and_default(
    path: tuple[str, ...], options: type
) -> None:
    shown = {tuple(one.opts): one for one in command(*path).params}
    for field in flagged_fields(options):
        found = shown[field.flag.names or (field.name,)]
        assert found.help == field.flag.help
        assert found.required is (field.default is MISSING)
        if field.flag.typed is None and not field.is_several and field.default is not MISSING:
            assert found.default == field.default


@dataclass(frozen=True, kw_only=True)
class Shared:
    """Options that two commands share."""

    words: Annotated[
        Sequence[str], Flag(names=("--word",), metavar="WORD", help="Again for more.")
    ] = ()
    last: Annotated[bool, Flag(names=("--last",), help="Last.")] = False


@dataclass(frozen=True, kw_only=True)
class Options(Shared):
    """Options of a command that only this test has."""

    names: Annotated[
        Sequence[str],
        Flag(metavar="NAME...", help="Names.", reads=lambda typed: [one.upper() for one in typed]),
    ]
    size: Annotated[int, Flag(names=("--size",), help="How large.", max=9, after="words")] = 3
    is_new: Annotated[
        bool,
        Flag(names=("--from",), help="Old.", typed=str | None, reads=lambda place: place is None),
    ] = True
    unseen: int = 0


@dataclass(frozen=True, kw_only=True)
class Loud:
    """How this command says it."""

    loud: Annotated[bool, Flag(names=("--loud",), help="Loud.")] = False


def made(received: list[Any]) -> typer.Typer:
    """A program with a command that takes these options."""
    program = typer.Typer()

    @program.command()
    @takes
    def run(options: Options, shown: Loud) -> None:
        received.append((options, shown))

    return program


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["a", "b"], (Options(names=("A", "B")), Loud())),
        (
            [
                "a",
                "--size",
                "5",
                "--word",
                "x",
                "--word",
                "y",
                "--last",
                "--loud",
                "--from",
                "runs",
            ],
            (
                Options(names=("A",), size=5, words=("x", "y"), last=True, is_new=False),
                Loud(loud=True),
            ),
        ),
    ],
)
def test_a_command_gets_its_options_as_values(
    words: list[str], expected: tuple[Options, Loud]
) -> None:
    received: list[Any] = []
    assert CliRunner().invoke(made(received), words).exit_code == 0
    assert received == [expected]


def test_what_is_beyond_a_limit_is_refused() -> None:
    received: list[Any] = []
    assert CliRunner().invoke(made(received), ["a", "--size", "10"]).exit_code == 2
    assert received == []


def test_shared_options_are_before_the_own_ones_unless_these_say_after_which() -> None:
    assert [one.name for one in parameters_of(Options)] == [
        "words",
        "size",
        "last",
        "names",
        "is_new",
    ]
    assert [one.name for one in typer.main.get_command(made([])).params][:6] == [
        "words",
        "size",
        "last",
        "names",
        "is_new",
        "loud",
    ]


def test_the_options_load_nothing_that_takes_time() -> None:
    program = (
        "import sys, embedlab.cli.app as cli; cli.program(); print(sorted({'polars', "
        "'numpy', 'torch'} & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
