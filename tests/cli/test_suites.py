"""Evaluations besides `sts`: shown in one table, stored, and refused by name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.tasks.labelled_sentences import write_mr, write_mrpc, write_probing

if TYPE_CHECKING:
    from tests.cli.conftest import Embedlab

pytestmark = pytest.mark.usefixtures("quick_fits", "small_world")
ROOT = Path(__file__).parents[2]
QUIET = ("--data", "data", "--offline", "--allow-partial", "--threads", "1", "--json", "--quiet")


def test_named_tasks_of_several_suites_are_shown_together_with_their_setting(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    for write in (write_mr, write_mrpc):
        write(Path("data"))
    write_probing(Path("data/probing_own/tree_depth.txt"))
    write_probing(Path("mine/past_present.txt"))
    tasks = ("mr", "mrpc", "own-probing", "probing:mine", "my.tsv")
    Path("my.tsv").write_text(
        "sentence1\tsentence2\tscore\na cat\ta dog\t1\nit rains\tit pours\t4\na man\ta man\t5\n"
    )
    words = [word for task in tasks for word in ("--task", task)]
    answer = embedlab(
        "evaluate", f"{tiny_encoder}?pooling=mean", *words, "--setting", "exact", *QUIET
    )
    assert answer.code == 0, answer.err
    tables = {table["title"]: table["rows"] for table in answer.json["tables"]}
    assert {title: rows[0]["slice"] for title, rows in tables.items()} == {
        "transfer x 100, exact [partial]": "mr",
        "own-probing, accuracy x 100, exact": "own-probing/tree-depth",
        "mine-probing, accuracy x 100, exact": "mine-probing/past-present",
        "Spearman x 100, all": "my.tsv",
    }


SELECTIONS = (
    "--suite transfer",
    "--task own-probing",
    "--suite geometry --data tiny",
)
SHOW_ALL = """
import json, sys
from embedlab.cli.app import main
from tests.thinned import thin_out_for_good

thin_out_for_good()
for words in json.loads(sys.argv[1]):
    main(words)
    print("---", file=sys.stderr)
print("torch" in sys.modules)
"""


def test_what_is_stored_is_shown_without_torch(embedlab: Embedlab, tiny_encoder: Path) -> None:
    write_mr(Path("data"))
    write_probing(Path("data/probing_own/tree_depth.txt"))
    model = f"{tiny_encoder}?pooling=mean"
    commands = [
        ["evaluate", model, *QUIET[:4], *selected.split(), "--setting", "exact"]
        for selected in SELECTIONS
    ]
    for words in commands:
        embedlab(*words)
    command = [sys.executable, "-c", SHOW_ALL, json.dumps(commands)]
    second = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    *shown, rest = second.stderr.split("---\n")
    assert (len(shown), rest) == (len(SELECTIONS), "")
    for selected, report in zip(SELECTIONS, shown, strict=True):
        assert "was evaluated before" in report, selected
    assert second.stdout.splitlines()[-1] == "False"


def test_a_copy_of_a_model_does_not_inherit_its_evaluations(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    write_mr(Path("data"))
    shutil.copytree(tiny_encoder, "copied")
    words = ("--task", "mr", "--setting", "exact", *QUIET[:-1])
    embedlab("evaluate", f"{tiny_encoder}?pooling=mean", *words)
    assert "was evaluated before" not in embedlab("evaluate", "copied?pooling=mean", *words).err


def test_all_reports_what_does_not_apply(embedlab: Embedlab) -> None:
    answer = embedlab("evaluate", "dice", "--suite", "all", "--data", "tiny", "--json")
    assert "transfer does not apply: 'dice' has no vectors" in answer.err
    assert [table["title"] for table in answer.json["tables"]] == [
        "contrast, entailed closer x 100 and margin [generated]",
        "Spearman x 100 [generated]",
    ]
