"""What a command takes, its function in Python takes too: the names, the order and the defaults of
the options that both are made of.
"""

import inspect
from collections.abc import Mapping
from dataclasses import MISSING

import pytest

import embedlab
from embedlab.workflows.options.fields import flagged_fields
from embedlab.workflows.options.python import FUNCTIONS
from embedlab.workflows.options.sentences import EncodeOptions

OF_PYTHON = {"progress", "settings"}
OTHERWISE: Mapping[tuple[str, str], object] = {  # defaults that differ on purpose
    ("pairs", "limit"): None,  # a frame has every pair, a terminal the first of them
    ("reproduce", "paper"): inspect.Parameter.empty,  # the list of papers is the command's
    ("grid_table", "where"): None,  # a dictionary, as are the following
    ("train", "set"): None,
    ("grid", "set"): None,
    ("reproduce", "set"): None,
    ("reproduce", "row"): None,
}
WITHOUT_OPTIONS = {"load", "score_pairs", "encode", "list_runs"}  # a model; what `runs ls` lists


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_the_options_of_its_command(name: str) -> None:
    wanted = {argument: field.default for argument, field in FUNCTIONS[name].arguments.items()}
    written = {
        own: one.default
        for own, one in inspect.signature(getattr(embedlab, name)).parameters.items()
        if own not in OF_PYTHON
    }
    assert list(written) == list(wanted)
    for argument, default in wanted.items():
        expected = inspect.Parameter.empty if default is MISSING else default
        assert written[argument] == OTHERWISE.get((name, argument), expected), argument


def test_every_function_with_options_is_compared() -> None:
    assert set(embedlab.__all__) - WITHOUT_OPTIONS == set(FUNCTIONS)


def test_encoding_differs_by_where_sentences_and_vectors_are() -> None:
    of_files = {"file", "out", "column", "is_replaced"}
    typed = [field.name for field in flagged_fields(EncodeOptions) if field.name not in of_files]
    assert list(inspect.signature(embedlab.encode).parameters) == [
        *typed,
        "sentences",
        "progress",
        "settings",
    ]
