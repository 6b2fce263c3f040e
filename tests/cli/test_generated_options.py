"""The options of a command are written once, in a dataclass: the command line is made from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from embedlab.cli.declared import typed_function
from embedlab.commands.command import Command
from embedlab.commands.options import Flag


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
    size: Annotated[int, Flag(names=("--size",), help="How large.", max=9)] = 3
    is_new: Annotated[
        bool,
        Flag(names=("--from",), help="Old.", typed=str | None, reads=lambda place: place is None),
    ] = True
    unseen: int = 0


def made(received: list[Any]) -> typer.Typer:
    """A program with a command that takes these options."""

    def run(options: Options, session: object) -> None:
        """Run."""
        received.append(options)

    program = typer.Typer()
    command = Command(work=run, shared=("output",), draws="", also=())
    program.command()(typed_function(command))
    return program


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["a", "b"], Options(names=("A", "B"))),
        (
            [
                *[
                    "a",
                    "--size",
                    "5",
                    "--word",
                    "x",
                    "--word",
                    "y",
                    "--last",
                    "--quiet",
                    "--from",
                    "runs",
                ]
            ],
            Options(names=("A",), size=5, words=("x", "y"), last=True, is_new=False),
        ),
    ],
)
def test_a_command_gets_its_options_as_values(words: list[str], expected: Options) -> None:
    received: list[Any] = []
    assert CliRunner().invoke(made(received), words).exit_code == 0
    assert received == [expected]
