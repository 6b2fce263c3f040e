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
WORDS = (
    "--data",
    "tiny",
    *(word for task in TASKS for word in ("--task", task)),
    "--setting",
    "prototyping",
)
NAMES = ["sts", "transfer", "glue", "close-pairs", "geometry"]


@pytest.fixture
def project(
    embedlab: Embedlab, tmp_path: Path, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder with a plug-in's task and encoder, and a run with a classifier of RTE."""
    for name in ("close_pairs.py", "letters.py"):
        (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    monkeypatch.setenv("EMBEDLAB_PLUGINS", "close_pairs.py:letters.py")
    steps = (
        "--max-steps",
        "2",
        "--set",
        "data.task=rte",
        "--set",
        "evaluate.tasks=[]",
        "--set",
        "encoder.max_tokens=32",
    )
    assert (
        embedlab(
            "train",
            "glue-finetune",
            "--data",
            "tiny",
            "--encoder",
            str(tiny_encoder),
            "--name",
            "rte",
            *steps,
        ).code
        == 0
    )
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
    assert {row["task"] for row in compared.rows if row["low"] is not None} == {*NAMES} - {
        "geometry"
    }
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(name in page for name in NAMES)
    assert all(name in embedlab("compare", *MODELS, *WORDS, "--latex").out for name in NAMES)

    frame = package.compare(
        list(MODELS), tasks=list(TASKS), setting="prototyping", data="tiny"
    ).frame
    assert json.loads(json.dumps(frame.to_dicts())) == compared.rows

    monkeypatch.setenv("COLUMNS", "100")
    by = ("--by", "negation", "--where", "words>3")
    shown = embedlab("compare", *MODELS, *WORDS, *by)
    lines = shown.out.splitlines()
    assert max(map(len, lines)) <= 100
    body = [
        line.split()[:4]
        for line in lines
        if line.startswith(" ") and not line.startswith((" ─", "  ", " task"))
    ]
    labels = {label for _, _, label, _ in body}
    assert labels == {"none", "one", "both"}  # each on one line
    rows = embedlab("compare", *MODELS, *WORDS, *by, "--json").rows
    named = {(row["task"], *row["slice"].split("/negation="), row["metric"]) for row in rows}
    assert {*map(tuple, body)} == named
    assert len(body) == 4 * len(named)  # two parts with the scores, and two with the differences
    notes = shown.out.rpartition("\n\n")[2].replace("\n  ", " ").splitlines()
    assert len(notes) == len({*notes})
    assert shown.err.count("geometry") == 1

    evaluated = scores(embedlab("evaluate", *MODELS, *WORDS, *by, "--json"))
    assert {task for task, *_ in evaluated} == {*NAMES} - {"geometry"}
    together = scores(embedlab("compare", *MODELS, *WORDS, *by, "--json"))
    assert together == pytest.approx({key: evaluated.get(key) for key in together}, nan_ok=True)

    power = embedlab("power", *MODELS[:2], *WORDS, "--json")
    assert [row["task"] for row in power.rows] == NAMES[:-1]
    assert "left out, without items: geometry" in power.err

    (tmp_path / "compared.json").write_text(compared.out, encoding="utf-8")
    evaluations = embedlab("evaluate", "letters:64", *WORDS, "--json")
    (tmp_path / "evaluated.json").write_text(evaluations.out, encoding="utf-8")
    same = embedlab("same", "compared.json", "compared.json")
    assert same.code == 0
    assert (
        "letters:64 on close-pairs, geometry, sts, transfer-prototyping: of the same thing"
        in same.out.replace("\n", " ")
    )
    each = embedlab("same", "compared.json", "evaluated.json")
    assert each.code == 0, each.out
    assert "another version" not in each.out
    assert all(
        f"letters:64 on {name}: of the same thing" in each.out
        for name in ("sts", "geometry", "close-pairs")
    )
