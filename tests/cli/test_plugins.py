"""The plug-ins of the page on them: the commands say where they are from and what is wrong with
them; tests/docs executes the page.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.blocks import ROOT, blocks_of
from embedlab.core import plugins
from embedlab.core.settings import load_settings
from embedlab.experiments.cells import cell_environment
from embedlab.experiments.grid_file import load_grid
from embedlab.experiments.plan import GridPlace, GridPlan
from embedlab.experiments.planner import expand_grid
from embedlab.tui.runs.launching import choice_of_file, new_form
from tests.cli.conftest import Embedlab

PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
FILES = {block.facts["file"]: block.text for block in blocks_of(PAGE) if "file" in block.facts}

NAMED = [name for name, text in FILES.items() if name.endswith(".py") or name == "rain.toml"]


@pytest.fixture
def project(tmp_path: Path, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the page, in a folder outside the package; the plug-ins among them are named."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = os.pathsep.join(str(tmp_path / name) for name in NAMED)
    monkeypatch.setenv("EMBEDLAB_PLUGINS", files)
    return tmp_path


@pytest.mark.parametrize("name", NAMED)
def test_each_kind_takes_fewer_than_50_lines(name: str) -> None:
    assert len(FILES[name].splitlines()) < 50


def test_a_changed_encoder_or_task_is_computed_again(embedlab: Embedlab, project: Path) -> None:
    call = ("evaluate", "letters:64", "--data", "tiny", "--suite", "close-pairs", "--json")
    first = embedlab(*call)
    assert "was evaluated before" in embedlab(*call).err

    for name, old, new in (("close_pairs.py", ">= 0.7", ">= 0.2"), ("letters.py", "* 31", "* 37")):
        path = project / name
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        again = embedlab(*call)
        assert "was evaluated before" not in again.err
        assert again.json != first.json
        first = again


def test_a_second_task_of_pairs_has_its_own_datasets_averages_and_results(
    embedlab: Embedlab, project: Path
) -> None:
    scored = embedlab("evaluate", "dice", "--data", "tiny", "--suite", "two-years", "--json").rows
    assert {(row["task"], row["slice"]) for row in scored} == {
        ("two-years", name) for name in ("sts12", "sts13", "both years")
    }
    compared = embedlab(
        "compare", "dice", "letters:8", "--data", "tiny", "--suite", "two-years", "--json"
    ).rows
    assert [row["slice"] for row in compared if row["model"] == "dice"] == [
        "sts12",
        "sts13",
        "both years",
    ]
    assert {row["task"] for row in compared} == {"two-years"}
    assert len(list(load_settings({})[0].cache.rglob("two-years.json"))) == 2  # one of each model
    assert not list(load_settings({})[0].cache.rglob("sts.json"))


def test_a_broken_file_spoils_no_other_command(embedlab: Embedlab, project: Path) -> None:
    (project / "weather.py").write_text(
        FILES["weather.py"].replace("from pathlib import Path", "raise KeyError('wind')"),
        encoding="utf-8",
    )

    answer = embedlab("evaluate", "dice", "--data", "tiny", "--task", "sts12")
    assert answer.code == 0
    assert answer.err.count("weather.py' fails at line 1: KeyError: 'wind'") == 0
    used = embedlab("evaluate", "dice", "--task", "weather")
    assert used.code == 3
    assert "weather.py' fails at line 1: KeyError: 'wind'" in used.err
    listed = {row["name"]: row["state"] for row in embedlab("doctor", "--plugins", "--json").rows}
    assert listed["weather"].startswith("fails: ")
    assert listed["letters"] == "ok"
    assert "KeyError: 'wind'" in embedlab("doctor", "--json").out


def test_the_files_of_one_command_are_named_with_it(
    embedlab: Embedlab, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EMBEDLAB_PLUGINS")
    call = ("doctor", "--plugins", "--json")
    typed = ("--plugin", "letters.py", "--plugin", "ends.py")
    assert {row["name"] for row in embedlab(*call, *typed).rows} == {"letters", "ends"}
    assert embedlab(*call).rows == []
    (project / "lab.toml").write_text("threads = 3")
    for words, threads in ((("--config", "lab.toml"), "3"), ((), None)):
        assert embedlab("config", "--json", *words).row(setting="threads")["value"] == threads
    absent = embedlab("config", "--config", "absent.toml")
    assert (absent.code, len(absent.err.splitlines())) == (3, 2)


@pytest.mark.parametrize("module", ["margin.py", "ends.py"])
def test_a_recipe_names_no_code(
    module: str, embedlab: Embedlab, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EMBEDLAB_PLUGINS")

    assert (
        embedlab(
            "train", "mine.toml", "--data", "tiny", "--dry-run", "--set", f"objective.name={module}"
        ).code
        == 2
    )
    assert (
        embedlab(
            "train",
            "mine.toml",
            "--data",
            "tiny",
            "--dry-run",
            "--set",
            f"encoder.pooling={module}",
        ).code
        == 2
    )


def test_what_the_program_starts_sees_the_same_plugins(project: Path) -> None:
    question = json.dumps(
        {"number": 1, "first": ["a cat"], "second": ["a cat"], "models": ["letters:8"]}
    )
    words = [sys.executable, "-m", "embedlab.encoders.pair_worker", json.dumps({"runs": "runs"})]
    answer = subprocess.run(
        words, input=f"{question}\n", cwd=project, capture_output=True, text=True, check=True
    )

    assert json.loads(answer.stdout)["similarities"] == [1]


def test_the_dashboard_plans_the_objective_of_a_plugin_without_running_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setattr(plugins, "_loading_refused", ["the dashboard runs no plug-in"])
    modules = {name for name in sys.modules if name.startswith("embedlab_plugin")}
    form = new_form(choice_of_file("mine.toml"), load_settings({})[0])
    assert "margin = 0.3" in form.text
    assert {name for name in sys.modules if name.startswith("embedlab_plugin")} == modules


def test_a_grid_trains_again_when_the_code_of_its_objective_changed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project / "grid.toml").write_text(
        'summary = "m"\nbase = "mine.toml"\n[axes]\n"objective.margin" = [0.1]\n', encoding="utf-8"
    )

    def plan() -> GridPlan:
        return expand_grid(load_grid("grid.toml"), GridPlace.of(load_settings({"data": "tiny"})[0]))

    before = plan()
    assert str(project / "margin.py") in cell_environment(before, None)["EMBEDLAB_PLUGINS"]
    assert [one.run for one in plan().variants] == [one.run for one in before.variants]
    values = json.loads(before.to_json())
    values["place"]["plugins"] = ["theirs.py"]  # as plans had them: a plan names no code
    del values["checksum"]
    stored = GridPlan.from_json(
        json.dumps(values), before.place.runs_folder, where=project / "plan.json"
    )
    assert stored == before
    assert "theirs.py" not in cell_environment(stored, None)["EMBEDLAB_PLUGINS"]

    path = project / "margin.py"
    path.write_text(path.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    assert [one.run for one in plan().variants] != [one.run for one in before.variants]
