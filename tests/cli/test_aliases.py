"""Names that the user gives models, and titles of paths, on the command line."""

from pathlib import Path

import pytest

from embedlab.models.aliases import aliases_file
from tests.cli.conftest import Embedlab

STS12 = ("--data", "tiny", "--task", "sts12")


def test_aliases_are_listed_and_one_that_is_forgotten_means_nothing_any_more(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    embedlab("compare", f"tiny={tiny_encoder}", "overlap=dice", *STS12)
    listed = embedlab("models", "ls", "--json")
    assert listed.row(name="tiny")["model"] == str(tiny_encoder)
    assert {"minilm", "mpnet", "wordllama"} < {row["name"] for row in listed.rows}
    answer = embedlab("compare", "tiny", "overlap", *STS12, "--json")
    assert {row["model"] for row in answer.rows} == {"tiny", "overlap"}
    forgotten = embedlab("models", "forget", "tiny", "--json")
    assert forgotten.json | {"name": "tiny", "model": str(tiny_encoder)} == forgotten.json
    aliases = [row for row in embedlab("models", "ls", "--json").rows if row["state"] == "alias"]
    assert [row["name"] for row in aliases] == ["overlap"]
    assert embedlab("compare", "tiny", "dice", *STS12).code == 2
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
