"""Pairs, classified items, a trained classifier's items, a plug-in's task and a task without items
have one table everywhere.
"""

import json
from pathlib import Path

import pytest

import embedlab as package
from tests.cli.conftest import Answer, Embedlab
from tests.cli.test_plugins import FILES

MODELS = ("rte", "letters:64", "letters:8", "letters:16")
TASKS = ("sts12", "mr", "glue", "close-pairs", "geometry")
SETTING = ("--data", "tiny", "--setting", "prototyping")
WORDS = (*SETTING, *(word for task in TASKS for word in ("--task", task)))
NAMES = ["sts", "transfer", "glue", "close-pairs", "geometry"]


@pytest.fixture
def project(
    embedlab: Embedlab, tmp_path: Path, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder with a plug-in's task and encoder, and a run with a classifier of RTE."""
    for name in ("close_pairs.py", "letters.py"):
        (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    monkeypatch.setenv("EMBEDLAB_PLUGINS", "close_pairs.py:letters.py")
    words = ("train", "glue-finetune", "--data", "tiny", "--encoder", str(tiny_encoder))
    values = ("data.task=rte", "evaluate.tasks=[]", "encoder.max_tokens=32")
    typed = (word for value in values for word in ("--set", value))
    assert embedlab(*words, "--name", "rte", "--max-steps", "2", *typed).code == 0
    return tmp_path


def scores(answer: Answer) -> dict[tuple[str, ...], float]:
    return {
        (row["task"], row["slice"], row["metric"], row["model"]): row["score"]
        for row in answer.rows
    }


@pytest.mark.usefixtures("quick_fits", "small_world", "project")
def test_every_result_holds_all_kinds_of_tasks_in_one_table(
    embedlab: Embedlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = embedlab("compare", *MODELS, *WORDS, "--json", "--html", "page.html")
    assert compared.code == 0
    assert list(dict.fromkeys(row["task"] for row in compared.rows)) == NAMES
    tested = {row["task"] for row in compared.rows if row["low"] is not None}
    assert tested == {*NAMES} - {"geometry"}
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(name in page for name in NAMES)
    frame = package.compare(
        list(MODELS), tasks=list(TASKS), setting="prototyping", data="tiny"
    ).frame
    assert json.loads(json.dumps(frame.to_dicts())) == compared.rows

    # what is scored on dev, as GLUE is, has the same interval alone
    alone = embedlab("evaluate", "rte", *SETTING, "--task", "glue", "--json")
    beside = [row for row in compared.rows if (row["task"], row["model"]) == ("glue", "rte")]
    assert alone.rows[0]["low"] == beside[0]["low"] is not None

    monkeypatch.setenv("COLUMNS", "100")
    by = ("--by", "negation", "--where", "words>3")
    shown = embedlab("compare", *MODELS, *WORDS, *by)
    assert max(map(len, shown.out.splitlines())) <= 100
    assert shown.err.count("geometry") == 1
    by_kind = embedlab("evaluate", *MODELS, *WORDS, *by, "--json")
    evaluated = scores(by_kind)
    with_interval = {row["task"] for row in by_kind.rows if row["low"] is not None}
    assert with_interval == {task for task, *_ in evaluated} == {*NAMES} - {"geometry"}
    together = scores(embedlab("compare", *MODELS, *WORDS, *by, "--json"))
    assert together == pytest.approx({key: evaluated.get(key) for key in together}, nan_ok=True)

    power = embedlab("power", *MODELS[:2], *WORDS, "--json")
    assert [row["task"] for row in power.rows] == NAMES[:-1]
    assert "left out, without items: geometry" in power.err

    Path("compared.json").write_text(compared.out, encoding="utf-8")
    evaluations = embedlab("evaluate", "letters:64", *WORDS, "--json")
    Path("evaluated.json").write_text(evaluations.out, encoding="utf-8")
    each = embedlab("same", "compared.json", "evaluated.json")
    assert each.code == 0, each.out
    for name in ("sts", "geometry", "close-pairs"):
        assert f"letters:64 on {name}: of the same thing" in each.out
