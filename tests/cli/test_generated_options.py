"""The options of `evaluate` are written once: the command line is made from them, and the Python function has the same."""

import inspect
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, get_type_hints

import pytest
import typer
from typer.testing import CliRunner

import embedlab
from embedlab.cli.app import app
from embedlab.cli.generated_options import parameters_of, takes
from embedlab.workflows.evaluate_options import EvaluateOptions
from embedlab.workflows.options import Flag


def flags(options: type) -> dict[str, Flag]:
    """The flag of each field of OPTIONS that carries one."""
    hints = get_type_hints(options, include_extras=True)
    found = {name: next((one for one in getattr(hint, "__metadata__", ()) if isinstance(one, Flag)), None) for name, hint in hints.items()}
    return {name: flag for name, flag in found.items() if flag is not None}


def test_every_field_is_an_option_of_the_command_with_its_help() -> None:
    (command,) = (one for name, one in typer.main.get_command(app).commands.items() if name == "evaluate")  # type: ignore[attr-defined]
    shown = {tuple(one.opts): one for one in command.params}
    assert set(flags(EvaluateOptions)) == {field.name for field in fields(EvaluateOptions)} - {"models"}
    for field in fields(EvaluateOptions):
        if (flag := flags(EvaluateOptions).get(field.name)) is not None:
            assert shown[flag.names].help == flag.help
            assert shown[flag.names].default == (field.default or None if isinstance(field.default, tuple) else field.default)


def test_the_python_function_has_the_options_of_the_command_with_their_defaults() -> None:
    written = inspect.signature(embedlab.evaluate).parameters
    wanted = {field.name: field.default for field in fields(EvaluateOptions)}
    assert {name: one.default for name, one in written.items() if name in wanted and name != "models"} == {
        name: default for name, default in wanted.items() if default is not MISSING
    }
    assert set(written) == {*wanted, "progress", "settings"}


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a command that only this test has."""

    names: Sequence[str]
    size: Annotated[int, Flag(names=("--size",), help="How large.")] = 3
    words: Annotated[Sequence[str], Flag(names=("--word",), metavar="WORD", help="Again for more.")] = ()
    last: Annotated[bool, Flag(names=("--last",), help="Last.")] = False


def made(received: list[Any]) -> typer.Typer:
    """A program with a command that takes these options."""
    program = typer.Typer()

    @program.command()
    @takes(Options, before={"loud": "last"})
    def run(names: list[str], options: Options, loud: bool = False) -> None:
        received.append((names, options, loud))

    return program


@pytest.mark.parametrize(
    ("words", "options", "loud"),
    [
        (["a", "b"], Options(names=["a", "b"]), False),
        (
            ["a", "--size", "5", "--word", "x", "--word", "y", "--last", "--loud"],
            Options(names=["a"], size=5, words=["x", "y"], last=True),
            True,
        ),
    ],
)
def test_a_command_gets_its_options_as_one_value(words: list[str], options: Options, loud: bool) -> None:
    received: list[Any] = []
    assert CliRunner().invoke(made(received), words).exit_code == 0
    assert received == [(options.names, options, loud)]


def test_an_option_of_the_command_alone_is_placed_among_the_generated_ones() -> None:
    command = typer.main.get_command(made([]))
    assert [one.name for one in command.params if one.name in {"size", "words", "loud", "last"}] == ["size", "words", "loud", "last"]
    assert list(parameters_of(Options)) == ["size", "words", "last"]


def test_the_options_load_nothing_that_takes_time() -> None:
    program = "import sys, embedlab.cli.commands.evaluate; print(sorted({'polars', 'numpy', 'torch'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
