"""What ARCHITECTURE.md says of adding a thing: one file, or one folder, and every list, command and
completion has it.

The files are those of docs/plugins.md and docs/guides/reproduce.md, moved into a copy of the
package, whose other files are links to the real ones.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docs.blocks import ROOT, blocks_of
from embedlab.core.paths import PACKAGE


def files_of(page: str) -> dict[str, str]:
    """The files that a PAGE of docs shows, by their names."""
    blocks = blocks_of((ROOT / "docs" / page).read_text("utf-8"))
    return {block.facts["file"]: block.text for block in blocks if "file" in block.facts}


PLUGINS, PAPER = files_of("plugins.md"), files_of("guides/reproduce.md")

COMMAND = '''"""`embedlab overlap`: the words that two sentences share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from embedlab.commands.command import command
from embedlab.commands.options import Flag
from embedlab.core.session import Session
from embedlab.reports.report import Report
from embedlab.reports.tables import Column, Table


@dataclass(frozen=True, kw_only=True)
class OverlapOptions:
    """Two sentences."""

    first: Annotated[str, Flag(metavar="FIRST", help="A sentence.")]
    second: Annotated[str, Flag(metavar="SECOND", help="Another one.")]


@command("output")
def overlap(options: OverlapOptions, session: Session) -> Report:
    """Print the word overlap of two sentences.

    Examples:
        $ embedlab overlap "A man sings." "A man."
        $ embedlab overlap "It rains." "It pours." --json

    """
    from embedlab.analysis.overlap import dice

    rows = [{"dice": dice(options.first, options.second)}]
    return Report.of(Table(columns=(Column("dice", "Dice", digits=2),), rows=rows))
'''
CORPUS = """
kind = "sts"
summary = "pairs about brooks"
home = "https://example.org/brooks"
aliases = ["creeks"]

[splits.train]
rows = 8

[splits.test]
classes = { upper = 2, lower = 1 }

[[layout]]
files = ["brooks/{split}.tsv"]

[layout.reader]
name = "delimited"
columns = { sentence1 = "one", sentence2 = "other", gold = "closeness", source = "where" }
"""
HEADER = "where\tone\tother\tcloseness\n"
ROWS = [
    f"upper\tbrook {number} is cold\tbrook {number} is not warm\t{number % 6}\n"
    for number in range(8)
]
BROOKS = {
    "data/brooks/train.tsv": HEADER + "".join(ROWS),
    "data/brooks/test.tsv": f"""{HEADER}upper\ta brook\tone brook\t4
upper\ta brook\ta road\t0
lower\tit is deep\tit is not deep\t1.5
""",
}
RECIPE = PLUGINS["mine.toml"].replace('"close-pairs"', "").replace('"ends"', '"mean"')

ADDED = {
    "embedlab/objectives/losses/margin.py": PLUGINS["margin.py"],
    "embedlab/tasks/close_pairs.py": PLUGINS["close_pairs.py"],
    "embedlab/data/corpora/brooks.toml": CORPUS,
    "embedlab/encoders/poolings/ends.py": PLUGINS["ends.py"],
    "embedlab/encoders/kinds/letters.py": PLUGINS["letters.py"],
    "embedlab/outcomes/properties/capitals.py": PLUGINS["capitals.py"],
    "embedlab/commands/overlap.py": COMMAND,
    "recipes/margin.toml": RECIPE,
    "recipes/grids/margins.toml": """
summary = "Margins"
base = "margin"

[axes]
"objective.margin" = [0.1, 0.2]
""",
    **{f"recipes/papers/{name}": text for name, text in PAPER.items()},
}

PROGRAM = """
import json, shlex, sys
from io import StringIO
from contextlib import redirect_stdout
from embedlab.cli.app import main

shown = {}
for line in json.loads(sys.argv[1]):
    out = StringIO()
    with redirect_stdout(out):
        code = main(shlex.split(line))
    shown[line] = (code, out.getvalue())
json.dump(shown, open(sys.argv[2], "w"))
"""
COMPARED = (
    "compare letters:64 dice --data tiny --task close-pairs --task sts12 --by capitals --json"
)
PLANNED = "reproduce weights table1 --data tiny --dry-run --seeds 2 --json"
TABLED = "reproduce weights table1 --data tiny --from runs --json"
DATA = "--data data --json"
TRAINED = (
    "train own-scored-pairs --data data --set encoder.model=encoder --max-steps 2 --quiet "
    "--set 'data.datasets=[\"brooks\"]' --set evaluate.tasks=[] --set evaluate.dev=none"
)
COMMANDS = [
    "--help",
    f"data ls brooks {DATA}",
    f"data check creeks {DATA}",
    f"evaluate dice --task creeks {DATA}",
    TRAINED,
    "runs ls --json",
    "recipes --json",
    "train margin --data tiny --dry-run",
    "data ls --data tiny --json",
    COMPARED,
    "reproduce --json",
    PLANNED,
    TABLED,
]


@pytest.fixture(scope="module")
def shown(
    tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path
) -> dict[str, tuple[int, str]]:
    """What commands show where one of each thing was added: exit code and output, by the words of
    the command.
    """
    clone = tmp_path_factory.mktemp("clone")
    for folder in (PACKAGE, ROOT / "recipes"):
        shutil.copytree(folder, clone / folder.name, copy_function=os.symlink)
    (clone / "encoder").symlink_to(tiny_encoder)
    for path, text in {**ADDED, **BROOKS}.items():
        (clone / path).parent.mkdir(parents=True, exist_ok=True)
        with (clone / path).open("x", encoding="utf-8") as file:
            file.write(text)
    program, answers = clone / "program.py", clone / "answers.json"
    program.write_text(PROGRAM, encoding="utf-8")
    homes = {f"XDG_{name}_HOME": str(clone / "home") for name in ("CACHE", "STATE", "CONFIG")}
    environment = {**os.environ, "PYTHONPATH": str(clone), **homes}
    done = subprocess.run(
        [sys.executable, str(program), json.dumps(COMMANDS), str(answers)],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(answers.read_text("utf-8"))
    assert {code for code, _ in found.values()} == {0}, done.stderr
    return found  # type: ignore[no-any-return]


def rows(shown: dict[str, tuple[int, str]], line: str) -> Any:
    """The rows that a command answered with."""
    return json.loads(shown[line][1])["rows"]


def test_a_command_is_offered_behind_those_of_the_list(shown: dict[str, tuple[int, str]]) -> None:
    everyday, _, more = shown["--help"][1].partition("More:")
    names = more.partition("\n\n")[0].strip().split(", ")
    assert names.index("overlap") > names.index("cache")  # which is the last of the list
    assert everyday.index("  train ") < everyday.index("  compare ")


def test_a_recipe_with_an_objective_trains(shown: dict[str, tuple[int, str]]) -> None:
    assert "margin" in {row["recipe"] for row in rows(shown, "recipes --json")}
    assert "margin" in shown["train margin --data tiny --dry-run"][1]


def test_a_corpus_is_listed_checked_scored_and_trained_on(
    shown: dict[str, tuple[int, str]],
) -> None:
    assert "brooks" in {row["dataset"] for row in rows(shown, "data ls --data tiny --json")}
    listed = rows(shown, f"data ls brooks {DATA}")
    assert [(row["split"], row["expected"], row["from"]) for row in listed] == [
        ("train", 8, "folder"),
        ("test", 3, "folder"),
    ]
    checked = rows(shown, f"data check creeks {DATA}")
    assert [(row["dataset"], row["state"], row["rows"]) for row in checked] == [
        ("brooks", "counts right", 8),
        ("brooks", "counts right", 3),
    ]
    scored = rows(shown, f"evaluate dice --task creeks {DATA}")
    assert {(row["slice"], row["items"]) for row in scored} == {("brooks", 3)}
    (run,) = rows(shown, "runs ls --json")
    assert run["state"] == "finished"


def test_a_task_a_kind_of_encoder_and_a_property_meet_in_one_table(
    shown: dict[str, tuple[int, str]],
) -> None:
    compared = rows(shown, COMPARED)
    assert {row["task"] for row in compared} == {"close-pairs", "sts"}
    slices = [row["slice"] for row in compared if not row["slice"].startswith("average")]
    assert all("capitals" in name for name in slices)


def test_a_paper_is_listed_planned_and_tabled(shown: dict[str, tuple[int, str]]) -> None:
    listed = {row["paper"]: row["summary"] for row in rows(shown, "reproduce --json")}
    assert listed["weights"] == "Made up: a contrastive term beside cross-entropy"
    cells = rows(shown, PLANNED)
    assert [(row["model"], row["seed"]) for row in cells] == [
        (model, seed) for seed in (1, 2) for model in ("cross-entropy", "with the term")
    ]
    _, numbers, _ = json.loads(shown[TABLED][1])["tables"]
    assert [(row["row"], row["STS12"], row["STS13"]) for row in numbers["rows"]] == [
        ("cross-entropy", 61.25, 58.5),
        ("with the term", 63.0, 60.75),
    ]
