"""What a command of the command line takes, its function in Python takes under the same name."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import embedlab
from embedlab.cli.commands import compare, encode, evaluate, export, nearest, pairs, power, reproduce, train, verify, why
from embedlab.cli.commands.grid import run as grid_run
from embedlab.cli.commands.grid import table as grid_table
from embedlab.cli.commands.runs import show
from embedlab.cli.options import GROUPS

SHARED = {name for group in GROUPS.values() for name in group}
RENAMED = {"task": "tasks", "model": "models", "common_pairs": "common", "set_": "set", "seed": "seeds", "run": "name"}
OF_A_TERMINAL = {
    "signature": "every report has .tables, whose signatures are data",
    "figure": ".plot() gives the figure",
    "html": "a page for a browser",
    "dry_run": "a preview in words",
    "detach": "a call waits; a process of its own is the command's",
    "gpus": "several processes that share a training: the command starts them",
    "cell": "one task of a job array",
}
PAIRED: list[tuple[Callable[..., Any], Callable[..., Any], dict[str, str]]] = [
    (compare.compare, embedlab.compare, {}),
    (evaluate.evaluate, embedlab.evaluate, {}),
    (power.power, embedlab.power, {}),
    (why.why, embedlab.why, {"pairs": "examples"}),
    (pairs.pairs, embedlab.pairs, {"dataset": "datasets"}),
    (nearest.nearest, embedlab.nearest, {}),
    (verify.verify, embedlab.verify, {}),
    (train.train, embedlab.train, {}),
    (export.export, embedlab.export, {"model": "model"}),
    (grid_run.run, embedlab.grid, {}),
    (grid_table.table, embedlab.grid_table, {"task": "task", "setting": "aggregate"}),
    (reproduce.reproduce, embedlab.reproduce, {}),
    (show.show, embedlab.run, {}),
]


@pytest.mark.parametrize(("command", "function", "own"), PAIRED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_function_takes_what_its_command_takes(command: Callable[..., Any], function: Callable[..., Any], own: dict[str, str]) -> None:
    typed = set(inspect.signature(command).parameters) - SHARED - OF_A_TERMINAL.keys()
    wanted = {own.get(name, RENAMED.get(name, name)) for name in typed}
    taken = set(inspect.signature(function).parameters)
    assert wanted <= taken, wanted - taken
    assert taken - wanted <= {"progress", "settings"}


def test_encoding_differs_only_by_where_sentences_and_vectors_are() -> None:
    typed = set(inspect.signature(encode.encode).parameters) - SHARED - OF_A_TERMINAL.keys()
    assert "model" in typed
    assert {"model", "sentences", "progress", "settings"} == set(inspect.signature(embedlab.encode).parameters)
