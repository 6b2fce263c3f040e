"""Names that the user gives models, and titles of paths, on the command line."""

import json
from pathlib import Path

import pytest

from embedlab.models.aliases import aliases_file
from tests.cli.conftest import Embedlab


def test_an_alias_is_the_models_name_in_tables_filters_and_json(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    words = ("compare", f"tiny={tiny_encoder}", "dice", "--data", "tiny", "--task", "sts12")
    answer = embedlab(*words, "--json")
    assert {row["model"] for row in json.loads(answer.out)["rows"]} == {"tiny", "dice"}
    assert f"tiny: {tiny_encoder}" in answer.err  # what it is
    assert (
        "tiny"
        in embedlab(
            "compare",
            "tiny",
            "dice",
            "--data",
            "tiny",
            "--task",
            "sts12",
            "--where",
            "tiny>-1",
            "--latex",
        ).out
    )
    by_path = embedlab(
        "compare", str(tiny_encoder), "dice", "--data", "tiny", "--task", "sts12", "--json"
    ).row(model=str(tiny_encoder))
    assert by_path["score"] == answer.row(model="tiny")["score"]


def test_aliases_are_listed_and_one_that_is_forgotten_means_nothing_any_more(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    embedlab("compare", f"tiny={tiny_encoder}", "overlap=dice", "--data", "tiny", "--task", "sts12")
    assert embedlab("models", "ls", "--json").row(name="tiny")["model"] == str(tiny_encoder)
    assert embedlab("models", "ls", "--json").row(name="minilm")["state"] in {
        "installed",
        "missing",
    }
    answer = embedlab("models", "forget", "tiny", "--json")
    assert answer.json | {"name": "tiny", "model": str(tiny_encoder)} == answer.json
    assert [
        row["name"] for row in embedlab("models", "ls", "--json").rows if row["state"] == "alias"
    ] == ["overlap"]
    assert embedlab("compare", "tiny", "dice", "--data", "tiny", "--task", "sts12").code == 2
    assert tiny_encoder.is_dir()


@pytest.mark.parametrize(
    "words",
    [("q=dice", "q=wordllama"), ("q=dice", "--task", "sts1399"), ("q=dice", "--where", "dice>")],
)
def test_a_command_that_is_refused_gives_no_model_a_name(
    embedlab: Embedlab, words: tuple[str, ...]
) -> None:
    assert embedlab("compare", *words, "--data", "tiny").code == 2
    if "--task" in words:
        assert embedlab("evaluate", *words, "--data", "tiny").code == 2
    assert not aliases_file().exists()
