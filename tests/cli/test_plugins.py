"""The plug-ins of the page on them: the commands say where they are from and what is wrong with
them; tests/docs executes the page.
"""

import os
from pathlib import Path

import pytest

from docs.blocks import ROOT, blocks_of
from embedlab.core.settings import load_settings
from embedlab.experiments.cells import cell_environment
from embedlab.experiments.grid_file import load_grid
from embedlab.experiments.plan import GridPlan, absolute_settings
from embedlab.experiments.planner import expand_grid
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


def test_a_broken_file_spoils_no_other_command(embedlab: Embedlab, project: Path) -> None:
    broken = FILES["weather.py"].replace("from pathlib import Path", "raise KeyError('wind')")
    (project / "weather.py").write_text(broken, encoding="utf-8")

    answer = embedlab("evaluate", "dice", "--data", "tiny", "--task", "sts12")
    assert (answer.code, "KeyError" in answer.err) == (0, False)
    used = embedlab("evaluate", "dice", "--task", "weather")
    assert used.code == 3
    assert "weather.py' fails at line 1: KeyError: 'wind'" in used.err
    listed = {row["name"]: row["state"] for row in embedlab("doctor", "--plugins", "--json").rows}
    assert listed["weather"].startswith("fails: ")
    assert listed["letters"] == "ok"
    assert "KeyError: 'wind'" in embedlab("doctor", "--json").out


CAPITALS = "compare letters:64 dice --data tiny --task sts12 --by capitals"
TRAINED = "train mine.toml --data tiny --max-steps 1 --set evaluate.tasks=[]"


@pytest.mark.parametrize(
    ("file", "text", "call"),
    [
        ("capitals.py", 'items["sentence1"]', CAPITALS),
        (
            "close_pairs.py",
            "similarity >= 0.7",
            "evaluate letters:64 --data tiny --task close-pairs",
        ),
        ("margin.py", "options.margin", TRAINED),
        ("margin.py", "self.margin - ", TRAINED),
    ],
)
def test_a_plug_in_that_fails_at_its_work_is_named_with_the_line(
    file: str, text: str, call: str, embedlab: Embedlab, project: Path
) -> None:
    path = project / file
    failing = path.read_text(encoding="utf-8").replace(text, "{}['none'] + " + text)
    path.write_text(failing, encoding="utf-8")
    line = failing.partition("{}['none']")[0].count("\n") + 1

    refused = embedlab(*call.split())
    assert refused.code == 3
    assert f"{file}' fails at line {line}: KeyError: 'none'" in refused.err
    report = Path(refused.err.strip().rpartition(": ")[2])
    assert f'{file}", line {line}' in report.read_text(encoding="utf-8")


def test_the_files_of_one_command_are_named_with_it(
    embedlab: Embedlab, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EMBEDLAB_PLUGINS")
    call = ("doctor", "--plugins", "--json")
    typed = ("--plugin", "letters.py", "--plugin", "ends.py")
    assert {row["name"] for row in embedlab(*call, *typed).rows} == {"letters", "ends"}
    assert embedlab(*call).rows == []
    (project / "lab.toml").write_text("threads = 3")
    named = embedlab("config", "--json", "--config", "lab.toml")
    assert named.row(setting="threads")["value"] == "3"
    assert embedlab("config", "--config", "absent.toml").code == 3


@pytest.mark.parametrize("key", ["objective.name", "encoder.pooling"])
def test_a_recipe_names_no_code(
    key: str, embedlab: Embedlab, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EMBEDLAB_PLUGINS")
    words = ("train", "mine.toml", "--data", "tiny", "--dry-run")
    assert embedlab(*words, "--set", f"{key}=margin.py").code == 2


def test_a_grid_trains_again_when_the_code_of_its_objective_changed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project / "grid.toml").write_text(
        'summary = "m"\nbase = "mine.toml"\n[axes]\n"objective.margin" = [0.1]\n', encoding="utf-8"
    )

    def plan() -> GridPlan:
        return expand_grid(
            load_grid("grid.toml"), absolute_settings(load_settings({"data": "tiny"})[0])
        )

    before = plan()
    assert str(project / "margin.py") in cell_environment(before, None)["EMBEDLAB_PLUGINS"]
    assert [one.run for one in plan().variants] == [one.run for one in before.variants]
    with (project / "margin.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert [one.run for one in plan().variants] != [one.run for one in before.variants]
