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
from typer.testing import CliRunner

from embedlab.cli.app import main, program
from tests.tasks.labelled_sentences import write_lines, write_mr, write_mrpc, write_probing

if TYPE_CHECKING:
    from tests.cli.conftest import Embedlab

pytestmark = pytest.mark.usefixtures("quick_fits", "small_world")
ROOT = Path(__file__).parents[2]
QUIET = ("--data", "data", "--offline", "--allow-partial", "--threads", "1", "--json", "--quiet")


def test_geometry_is_shown_for_each_model_and_stored(
    tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    words = [
        "evaluate",
        str(tiny_encoder),
        f"{tiny_encoder}?pooling=cls",
        "--suite",
        "geometry",
        "--data",
        "tiny",
        "--json",
    ]
    answer = CliRunner().invoke(program(), words, catch_exceptions=False)
    rows = json.loads(answer.stdout)["rows"]
    measured = {(row["slice"], row["metric"], row["model"]): row["score"] for row in rows}
    assert 0 < measured["sts12", "mean cosine", str(tiny_encoder)] <= 1
    assert measured["sts12", "uniformity", f"{tiny_encoder}?pooling=cls"] < 0
    assert len(list((tmp_path / "cache" / "models").glob("*/evaluations/geometry.json"))) == 2


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
    assert list(tables) == [
        "transfer x 100, exact [partial]",
        "own-probing, accuracy x 100, exact",
        "mine-probing, accuracy x 100, exact",
        "Spearman x 100, all",
    ]
    slices = {
        (row["slice"], row["setting"]) for rows in tables.values() for row in rows if "slice" in row
    }
    assert {
        ("mr", "exact"),
        ("mrpc", "exact"),
        ("own-probing/tree-depth", "exact"),
        ("mine-probing/past-present", "exact"),
    } <= slices
    assert not any("senteval" in title.lower() for title in tables)


def test_every_suite_says_how_its_numbers_were_made(embedlab: Embedlab, tiny_encoder: Path) -> None:
    write_mr(Path("data"))
    words = (
        "evaluate",
        f"{tiny_encoder}?pooling=cls",
        "--task",
        "mr",
        "--setting",
        "exact",
        "--precision",
        "bf16",
        *QUIET,
    )
    (note,) = [note for note in embedlab(*words).json["notes"] if "precision" in note]
    assert note.startswith(f"{tiny_encoder}?pooling=cls: pooling cls, max tokens")
    assert note.endswith("precision bf16")


def test_a_second_evaluation_on_the_same_data_shows_the_stored_scores(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    write_probing(Path("data/probing_own/tree_depth.txt"))
    words = (
        "evaluate",
        f"{tiny_encoder}?pooling=mean",
        "--task",
        "own-probing",
        "--setting",
        "exact",
        *QUIET[:-1],
    )
    first, second = embedlab(*words), embedlab(*words)
    assert second.rows == first.rows
    assert "as it was evaluated before" in second.err
    assert "as it was evaluated before" not in embedlab(*words, "--again").err
    write_probing(Path("data/probing_own/tree_depth.txt"), 63)
    assert "as it was evaluated before" not in embedlab(*words).err


SELECTIONS = (
    "--suite transfer",
    "--task own-probing",
    *(f"--suite {name} --data tiny" for name in ("geometry", "multitask", "word_prediction")),
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
        assert "as it was evaluated before" in report, selected
    assert second.stdout.splitlines()[-1] == "False"


def test_a_disk_that_takes_nothing_costs_the_file_not_the_answer(
    embedlab: Embedlab, tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    write_mr(Path("data"))
    words = (
        "evaluate",
        f"{tiny_encoder}?pooling=mean",
        "--task",
        "mr",
        "--setting",
        "exact",
        *QUIET[:-1],
    )
    rows = embedlab(*words).rows
    shutil.rmtree(tmp_path / "cache" / "models")
    (tmp_path / "cache" / "models").write_text("no folder")
    answer = embedlab(*words)
    assert (answer.code, answer.rows) == (0, rows)
    assert "shown, not stored" in answer.err


def test_a_folder_that_says_it_has_no_head_is_refused_before_torch_is_needed(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    bare = Path("bare")
    shutil.copytree(tiny_encoder, bare)
    config = json.loads((bare / "config.json").read_text())
    (bare / "config.json").write_text(json.dumps(config | {"architectures": ["BertModel"]}))
    code = "import sys; from embedlab.cli.app import main; sys.exit(main(sys.argv[1:]))"
    words = (
        "-X",
        "importtime",
        "-c",
        code,
        "evaluate",
        "./bare",
        "--suite",
        "word_prediction",
        "--data",
        "tiny",
    )
    refused = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "'./bare' has no masked-language-model head" in refused.stderr
    assert "| torch\n" not in refused.stderr


def test_a_second_evaluation_of_named_datasets_shows_their_stored_scores(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    write_mr(Path("data"))
    write_mrpc(Path("data"))
    model, quiet = f"{tiny_encoder}?pooling=mean", ("--setting", "exact", *QUIET[:-1])
    both = ("evaluate", model, "--task", "mr", "--task", "mrpc", *quiet)
    turned = ("evaluate", model, "--task", "mrpc", "--task", "mr", *quiet)
    first, second, third = embedlab(*both), embedlab(*both), embedlab(*turned)
    assert second.rows == third.rows == first.rows
    for answer in (second, third):
        assert "transfer-exact as it was evaluated before" in answer.err
    alone = embedlab("evaluate", model, "--task", "mr", *quiet)
    assert "as it was evaluated before" not in alone.err
    assert [row for row in first.rows if row["slice"] == "mr"] == alone.rows


def test_an_evaluation_of_named_datasets_leaves_that_of_the_whole_task_alone(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    write_mr(Path("data"))
    model, quiet = f"{tiny_encoder}?pooling=mean", ("--setting", "exact", *QUIET[:-1])
    whole = embedlab("evaluate", model, "--suite", "transfer", *quiet)
    embedlab("evaluate", model, "--task", "mr", *quiet)
    again = embedlab("evaluate", model, "--suite", "transfer", *quiet)
    assert "as it was evaluated before" in again.err
    assert again.rows == whole.rows


def test_a_copy_of_a_model_does_not_inherit_its_evaluations(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    write_mr(Path("data"))
    shutil.copytree(tiny_encoder, "copied")
    words = ("--task", "mr", "--setting", "exact", *QUIET[:-1])
    embedlab("evaluate", f"{tiny_encoder}?pooling=mean", *words)
    assert (
        "as it was evaluated before" not in embedlab("evaluate", "copied?pooling=mean", *words).err
    )


def test_a_setting_does_not_part_a_task_without_settings_from_its_stored_scores(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    words = (
        "evaluate",
        f"{tiny_encoder}?pooling=mean",
        "--suite",
        "geometry",
        "--data",
        "tiny",
        "--json",
    )
    first, second = embedlab(*words), embedlab(*words, "--setting", "exact")
    assert second.rows == first.rows
    assert "geometry as it was evaluated before" in second.err


def test_a_missing_mpqa_skips_only_itself(embedlab: Embedlab, tiny_encoder: Path) -> None:
    write_mr(Path("data"))
    answer = embedlab(
        "evaluate",
        f"{tiny_encoder}?pooling=mean",
        "--task",
        "mr",
        "--task",
        "mpqa",
        "--setting",
        "exact",
        *QUIET,
    )
    assert answer.code == 3
    assert {row["slice"] for row in answer.rows} == {"mr"}
    assert "no file 'SentEval/downstream/MPQA/mpqa.neg'" in answer.err
    assert "download it from" in answer.err


def test_a_number_that_is_undefined_is_shown_as_absent(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    write_lines(
        Path("data/STS/STS13-en-test/STS.input.ALL.txt"),
        ["a cat\ta dog", "it rains\tit pours", "a man\tone man"],
    )
    write_lines(Path("data/STS/STS13-en-test/STS.gs.ALL.txt"), ["1", "4", "5"])
    words = (
        "evaluate",
        f"{tiny_encoder}?pooling=mean",
        "--suite",
        "geometry",
        *QUIET[:-2],
        "--format",
        "markdown",
    )
    (hubness,) = (line for line in embedlab(*words).out.splitlines() if "hubness" in line)
    assert [cell.strip() for cell in hubness.strip("|").split("|")][-1] == "–"


def test_what_is_missing_is_reported_again_beside_the_stored_scores(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    write_mr(Path("data"))
    words = (
        "evaluate",
        f"{tiny_encoder}?pooling=mean",
        "--suite",
        "transfer",
        "--setting",
        "exact",
        *QUIET[:-1],
    )
    first, second = embedlab(*words), embedlab(*words)
    assert "as it was evaluated before" in second.err
    assert second.rows == first.rows
    for answer in (first, second):
        assert answer.code == 3
        assert answer.err.count("no file 'SentEval/downstream/MPQA/mpqa.neg'") == 1


def test_a_truncated_subj_ends_with_both_counts(embedlab: Embedlab, tiny_encoder: Path) -> None:
    write_lines(
        Path("data/SentEval/downstream/SUBJ/subj.objective"),
        (f"it moves {number}" for number in range(5_000)),
    )
    write_lines(
        Path("data/SentEval/downstream/SUBJ/subj.subjective"),
        (f"i like it {number}" for number in range(20)),
    )
    answer = embedlab(
        "evaluate", str(tiny_encoder), "--task", "subj", "--data", "data", "--offline"
    )
    assert answer.code == 3
    assert "5,020 rows instead of 10,000" in answer.err
    assert "subjective 20 instead of" in answer.err


def test_a_probing_line_of_no_split_ends_with_file_and_line(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    write_lines(Path("mine/odd.txt"), ["tr\tA\tit rained", "dev\tB\tit rains"])
    answer = embedlab("evaluate", str(tiny_encoder), "--task", "probing:mine", "--offline")
    assert answer.code == 3
    assert "odd.txt, line 2: split 'dev' is none of tr, va, te" in answer.err


def test_all_reports_what_does_not_apply(embedlab: Embedlab) -> None:
    answer = embedlab("evaluate", "dice", "--suite", "all", "--data", "tiny", "--json")
    assert "transfer does not apply: 'dice' has no vectors" in answer.err
    assert [table["title"] for table in answer.json["tables"]] == [
        "contrast, entailed closer x 100 and margin [generated]",
        "Spearman x 100 [generated]",
    ]


def test_an_unknown_suite_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "dice", "--suite", "geometri", "--data", "tiny"]) == 2
    assert "did you mean 'geometry'?" in capsys.readouterr().err


def test_a_task_that_a_model_cannot_do_is_one_clear_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["evaluate", "dice", "--suite", "glue", "--data", "tiny"]) == 2
    assert "is not a run" in capsys.readouterr().err


def test_predictions_are_of_glue_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for selected in (["--suite", "sts"], ["--suite", "geometry"]):
        assert (
            main(
                [
                    "evaluate",
                    "dice",
                    *selected,
                    "--data",
                    "tiny",
                    "--submission",
                    str(tmp_path / "out"),
                ]
            )
            == 2
        )
        assert "predictions of the task glue alone" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
