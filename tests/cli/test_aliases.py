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


def test_an_alias_that_does_not_exist_cannot_be_forgotten(embedlab: Embedlab) -> None:
    embedlab("compare", "overlap=dice", "--data", "tiny", "--task", "sts12")
    answer = embedlab("models", "forget", "overlop")
    assert answer.code == 2
    assert "no alias named 'overlop'" in answer.err
    assert "did you mean 'overlap'?" in answer.err
    assert len(answer.err.strip().splitlines()) == 2


def test_a_filter_takes_the_title_of_a_model_whose_name_is_a_path(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    words = (
        "pairs",
        str(tiny_encoder),
        "dice",
        "--data",
        "tiny",
        "--dataset",
        "sts12",
        "--limit",
        "5",
        "--json",
    )
    by_title = embedlab(
        *words, "--where", f"{tiny_encoder.name}>0.1 error({tiny_encoder.name})>-200"
    )
    by_name = embedlab(*words, "--where", f'"{tiny_encoder}">0.1')
    assert by_title.code == 0, by_title.err
    assert by_title.rows == by_name.rows


def test_training_starts_from_a_model_that_is_given_a_name(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    answer = embedlab(
        "train",
        "snli-ce",
        "--data",
        "tiny",
        "--encoder",
        f"mini={tiny_encoder}",
        "--dry-run",
        "--json",
    )
    assert answer.code == 0, answer.err
    assert (
        embedlab(
            "train", "snli-ce", "--data", "tiny", "--encoder", "mini", "--dry-run", "--json"
        ).out
        == answer.out
    )
    assert str(tiny_encoder) in answer.out


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
