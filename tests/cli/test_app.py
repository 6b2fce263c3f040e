from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.main import get_command

from embedlab import __version__
from embedlab.cli.app import program
from embedlab.cli.declared import completer

if TYPE_CHECKING:
    from tests.cli.conftest import Embedlab

HEAVY = {"torch", "transformers", "datasets", "accelerate", "sentence_transformers"}
LOADED = """
import json, sys
from embedlab.cli.app import main
codes = [main(words) for words in json.loads(sys.argv[1])]
print(" ".join(sorted({name.split(".")[0] for name in sys.modules})), file=sys.stderr)
sys.exit(max(codes))
"""


def loaded_modules(*commands: list[str]) -> set[str]:
    """What one process has loaded after these commands."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, json.dumps(commands)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split("\n")[-2].split())


def test_light_commands_load_no_heavy_library(tmp_path: Path) -> None:
    commands = (["recipes"], ["recipes", "snli-ce"], ["runs", "ls"], ["config"])
    assert not loaded_modules(*commands) & (HEAVY | {"polars", "scipy"})


def test_what_is_counted_or_looked_up_is_scored_without_torch(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a 1 0\ndog 0 1\n")
    (tmp_path / "pairs.tsv").write_text(
        "sentence1\tsentence2\tscore\na dog\ta dog\t5\na\tdog\t0\na dog\ta\t2\n"
    )
    models = ["dice", f"word-vectors:{tmp_path / 'words.txt'}"]
    score = ["score", "a dog", "a cat", *(word for model in models for word in ("--model", model))]
    compare = ["compare", *models, "--task", str(tmp_path / "pairs.tsv")]
    assert not loaded_modules(score, compare) & HEAVY


def test_help_loads_neither_heavy_libraries_nor_the_data_ones() -> None:
    assert not loaded_modules(["--help"]) & (
        HEAVY | {"polars", "scipy", "numpy", "pydantic", "rich"}
    )


def test_the_version_and_the_help_end_with_0(embedlab: Embedlab) -> None:
    assert embedlab("--version").out == f"embedlab {__version__}\n"
    shown = embedlab("--help")
    assert shown.code == 0
    assert "Exit codes: 0 ok, 1 the work failed" in " ".join(shown.out.split())


def test_every_command_ends_its_help_with_examples_of_itself(embedlab: Embedlab) -> None:
    def walk(command: object, words: tuple[str, ...]) -> list[tuple[str, ...]]:
        children = getattr(command, "commands", {})
        return [
            found
            for name, child in children.items()
            if not child.hidden  # type: ignore[attr-defined]
            for found in walk(child, (*words, name))
        ] or [words]

    commands = walk(get_command(program()), ())
    assert len(commands) > 20
    for words in commands:
        shown = embedlab(*words, "-h")
        assert shown.code == 0, words
        arguments = shown.out.partition("\nArguments:")[2].partition("\n\n")[0]
        assert "\n  -" not in arguments, words
        examples = shown.out.partition("Examples:")[2].strip().splitlines()
        assert len(examples) >= 2, words
        assert all(f"embedlab {' '.join(words)}" in line for line in examples), words


def test_recipes_lists_all_and_prints_one_that_can_be_read_back(embedlab: Embedlab) -> None:
    listed = embedlab("recipes", "--json")
    assert {"snli-ce", "snli-supcl", "sbert"} <= {row["recipe"] for row in listed.rows}
    text = embedlab("recipes", "snli-supcl").out
    assert tomllib.loads(text)["stage"][0]["objective"]["name"] == "supervised_contrastive"
    assert "# λ" in text
    assert (
        embedlab("recipes", "snli-supcl", "--json").json["encoder"]["pooling"] == "mean-without-cls"
    )


def test_config_says_where_each_setting_comes_from(
    embedlab: Embedlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("embedlab.toml").write_text('notes = true\ntextual_tuning = "on"')
    monkeypatch.setenv("EMBEDLAB_DEVICE", "cpu")
    answer = embedlab("config", "--json")
    rows = {row["setting"]: row for row in answer.rows}
    assert "embedlab.toml: 'textual_tuning' has no effect any more" in answer.err
    assert "textual_tuning" not in embedlab("config", "--quiet").err
    sources = {name: rows[name]["source"] for name in ("notes", "device", "precision")}
    assert [*sources.values()] == ["embedlab.toml", "EMBEDLAB_DEVICE", "default"]
    assert rows["device"]["value"] == "cpu"


def test_debug_shows_the_traceback_behind_an_error(embedlab: Embedlab) -> None:
    assert "Traceback" not in embedlab("recipes", "nothing").err
    shown = embedlab("recipes", "nothing", "--debug")
    assert shown.code == 2
    assert "Traceback" in shown.err


@pytest.mark.parametrize(
    ("kind", "begun", "name"),
    [
        ("recipes", "snli-s", "snli-supcl"),
        ("tasks", "al", "all"),
        ("grids", "snli-supcl-l", "snli-supcl-lambda"),
        ("papers", "li", "liao"),
        ("datasets", "sts1", "sts12"),
        ("properties", "wo", "words"),
        ("models", "sber", "sbert-bert-base"),
    ],
)
def test_a_shell_completes_the_names_of_each_kind(kind: str, begun: str, name: str) -> None:
    assert name in completer(kind)(begun)


def test_a_shell_completes_the_tables_of_the_typed_paper() -> None:
    command = get_command(program()).commands["reproduce"]  # type: ignore[attr-defined]
    context = command.make_context("reproduce", ["liao"])
    assert "table6_lambda_sts" in completer("tables")(context, "table6")
