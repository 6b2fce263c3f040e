"""What a command takes, its function in Python takes too: the names, the order and the defaults of the options that both are made of."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from typing import Any

import pytest

import embedlab
from embedlab.workflows.options.compare import CompareOptions
from embedlab.workflows.options.evaluate import EvaluateOptions
from embedlab.workflows.options.explain import ExplainOptions
from embedlab.workflows.options.fields import flagged_fields
from embedlab.workflows.options.grid import GridOptions, ScoresOptions
from embedlab.workflows.options.pairs import PairsOptions
from embedlab.workflows.options.power import PowerOptions
from embedlab.workflows.options.reproduce import ReproductionOptions
from embedlab.workflows.options.results import ExportOptions, VerifyOptions
from embedlab.workflows.options.runs import RunOptions
from embedlab.workflows.options.sentences import EncodeOptions, NearestOptions
from embedlab.workflows.options.train import TrainOptions
from embedlab.workflows.options.why import WhyOptions

CALLED = {"suites": "suite", "overrides": "set", "run": "name"}  # what Python calls a field; `set` takes a dictionary
OF_PYTHON = {"progress", "settings"}
OF_A_TERMINAL = {
    ("train", "seed"),  # seeds=1
    ("train", "gpus"),  # processes that share a training: the command starts them
}
OTHERWISE: Mapping[tuple[str, str], object] = {  # defaults that differ on purpose
    ("pairs", "limit"): None,  # a frame has every pair, a terminal the first of them
    ("reproduce", "paper"): inspect.Parameter.empty,  # the list of papers is the command's
    ("grid_table", "where"): None,  # a dictionary
    ("train", "set"): None,
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
        (embedlab.train, TrainOptions, {"keeps_checkpoints": "keep_checkpoints"}),
        (embedlab.nearest, NearestOptions, {}),
        (embedlab.verify, VerifyOptions, {}),
        (embedlab.export, ExportOptions, {}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_function_has_the_options_of_its_command(function: Callable[..., Any], options: type, called: Mapping[str, str]) -> None:
    names = {**CALLED, **called}
    fields = [field for field in flagged_fields(options) if (function.__name__, field.name) not in OF_A_TERMINAL]
    wanted = {names.get(field.name, field.name): field.default for field in fields}
    written = {name: one.default for name, one in inspect.signature(function).parameters.items() if name not in OF_PYTHON}
    assert list(written) == list(wanted)
    for name, default in wanted.items():
        expected = inspect.Parameter.empty if default is MISSING else default
        assert written[name] == OTHERWISE.get((function.__name__, name), expected), name


def test_encoding_differs_by_where_sentences_and_vectors_are() -> None:
    of_files = {"file", "out", "column", "is_replaced"}
    typed = [field.name for field in flagged_fields(EncodeOptions) if field.name not in of_files]
    assert list(inspect.signature(embedlab.encode).parameters) == [*typed, "sentences", "progress", "settings"]
