"""What a command takes, its function in Python takes too: the names, the order and the defaults of the options that both are made of."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from typing import Any

import pytest

import embedlab
from embedlab.cli.commands import encode, export, nearest, train, verify
from embedlab.cli.options import GROUPS
from embedlab.workflows.options.compare import CompareOptions
from embedlab.workflows.options.evaluate import EvaluateOptions
from embedlab.workflows.options.explain import ExplainOptions
from embedlab.workflows.options.fields import flagged_fields
from embedlab.workflows.options.grid import GridOptions, ScoresOptions
from embedlab.workflows.options.pairs import PairsOptions
from embedlab.workflows.options.power import PowerOptions
from embedlab.workflows.options.reproduce import ReproductionOptions
from embedlab.workflows.options.runs import RunOptions
from embedlab.workflows.options.why import WhyOptions

CALLED = {"suites": "suite", "overrides": "set", "run": "name"}  # what Python calls a field; `set` takes a dictionary
OF_PYTHON = {"progress", "settings"}
OTHERWISE: Mapping[tuple[str, str], object] = {  # defaults that differ on purpose
    ("pairs", "limit"): None,  # a frame has every pair, a terminal the first of them
    ("reproduce", "paper"): inspect.Parameter.empty,  # the list of papers is the command's
    ("grid_table", "where"): None,  # a dictionary
    ("grid", "set"): None,
    ("reproduce", "set"): None,
    ("reproduce", "row"): None,
}


@pytest.mark.parametrize(
    ("function", "options", "called"),
    [
        (embedlab.evaluate, EvaluateOptions, {}),
        (embedlab.compare, CompareOptions, {}),
        (embedlab.power, PowerOptions, {}),
        (embedlab.why, WhyOptions, {}),
        (embedlab.pairs, PairsOptions, {}),
        (embedlab.explain, ExplainOptions, {}),
        (embedlab.grid, GridOptions, {}),
        (embedlab.grid_table, ScoresOptions, {"setting": "aggregate"}),
        (embedlab.reproduce, ReproductionOptions, {"models": "row"}),
        (embedlab.run, RunOptions, {}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_function_has_the_options_of_its_command(function: Callable[..., Any], options: type, called: Mapping[str, str]) -> None:
    names = {**CALLED, **called}
    wanted = {names.get(field.name, field.name): field.default for field in flagged_fields(options)}
    written = {name: one.default for name, one in inspect.signature(function).parameters.items() if name not in OF_PYTHON}
    assert list(written) == list(wanted)
    for name, default in wanted.items():
        expected = inspect.Parameter.empty if default is MISSING else default
        assert written[name] == OTHERWISE.get((function.__name__, name), expected), name


SHARED = {name for group in GROUPS.values() for name in group}
RENAMED = {"model": "models", "set_": "set", "seed": "seeds"}
OF_A_TERMINAL = {
    "dry_run": "a preview in words",
    "detach": "a call waits; a process of its own is the command's",
    "gpus": "several processes that share a training: the command starts them",
}
PAIRED: list[tuple[Callable[..., Any], Callable[..., Any], dict[str, str]]] = [
    (nearest.nearest, embedlab.nearest, {}),
    (verify.verify, embedlab.verify, {}),
    (train.train, embedlab.train, {}),
    (export.export, embedlab.export, {"model": "model"}),
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
