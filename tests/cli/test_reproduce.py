"""`embedlab reproduce`: what it prints, from which runs, and how it ends. Plans and orders are
tested in tests/experiments.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from embedlab.core.errors import ExitCode
from embedlab.core.recipe import Recipe, load_recipe
from embedlab.experiments.paper_file import paper_names, select_tables
from embedlab.runs.events import Dev, Event, Finished, Started
from embedlab.runs.store import RunFolder
from tests.stored_scores import begin_run, step_of

if TYPE_CHECKING:
    from tests.cli.conftest import Answer, Embedlab

pytestmark = pytest.mark.usefixtures("small_world")

ROWS = ("--set", "data.rows=64")
SMALL = (*ROWS, "--set", "optim.batch_size=32", "--set", "evaluate.dev=none")
TINY = ("--data", "tiny", "--threads", "1")


@pytest.fixture
def with_runs(embedlab: Embedlab, tiny_encoder: Path) -> Embedlab:
    """Runs of two rows of liao's table 6."""
    for share in ("0.1", "0.3"):
        words = ("--encoder", str(tiny_encoder), "--name", f"mine-{share}")
        changes = ("--set", f"objective.weight={share}", "--set", "evaluate.tasks=[]")
        assert embedlab("train", "snli-supcl", *TINY, *SMALL, *words, *changes).code == 0
    return embedlab


def begun(name: str, seed: int, recipe: Recipe, encoder: Path, *told: Event) -> None:
    """A run with the weights of ENCODER, whose events are these."""
    run = begin_run(RunFolder.of(Path("runs"), name, seed), recipe, *told)
    shutil.copytree(encoder, run.model)


def tables(answer: Answer) -> list[dict[str, object]]:
    assert answer.code == 0, answer.err
    found: list[dict[str, object]] = answer.json.get("tables", [answer.json])
    return found


def test_without_arguments_it_says_which_papers_there_are(embedlab: Embedlab) -> None:
    found = embedlab("reproduce", "--json")
    assert [row["paper"] for row in found.rows] == paper_names()
    assert {"chen", "liao", "sedghamiz", "tsukagoshi"} <= {*paper_names()}
    assert "embedlab reproduce PAPER" in found.json["notes"][0]


def test_a_paper_alone_says_what_of_its_tables_is_trained_and_what_is_missing(
    embedlab: Embedlab, tmp_path: Path
) -> None:
    nothing = ("--offline", "--encoder", "nobody/nothing", "--json", "--data", str(tmp_path))
    found = embedlab("reproduce", "liao", *nothing)
    assert found.code == ExitCode.OK, found.err
    table = found.row(table="table6_lambda_sts")
    assert (table["done"], table["cells"], table["seconds"]) == (0, 15, None)
    assert "dataset 'snli' (train) is missing" in str(table["lacks"])
    assert found.row(table="table1_anchor_example").get("cells") is None
    assert found.row(table="all")["cells"] == 54  # of 18 trainings that tables share
    assert "36 on the paper's V100" in " ".join(found.json["notes"])


def test_a_dry_run_lists_the_rows_whose_data_is_there_and_names_what_the_others_lack(
    embedlab: Embedlab, tmp_path: Path
) -> None:
    task = tmp_path / "data" / "GLUE" / "CoLA"
    task.mkdir(parents=True)
    (task / "train.tsv").write_text("gj04\t1\t\tOur friends won't buy this.\n" * 2)
    words = ("reproduce", "sedghamiz", "table2", "--encoder", "nobody/nothing", "--seeds", "1")
    some = embedlab(*words, "--dry-run", "--offline", "--json", "--data", "data")
    assert some.code == ExitCode.OK, some.err
    assert [row["system"] for row in some.rows] == [
        "Standard CoLA_mcc",
        "Dropout Augmented CoLA_mcc",
        "SupCL-Seq CoLA_mcc",
    ]
    assert "left out, without their data: Standard QQP_f1, " in some.err
    error = next(line for line in some.err.splitlines() if line.startswith("embedlab: error: "))
    assert "glue-qqp, " in error  # all that is missing, once for both rows
    assert "glue-cola" not in error
    assert embedlab(*words, "--offline", "--data", "data").code == ExitCode.MISSING


def test_published_numbers_need_no_run_and_no_data(embedlab: Embedlab) -> None:
    (table,) = tables(embedlab("reproduce", "liao", "table3", "--published-only", "--json"))
    rows = {row["model"]: row for row in table["rows"]}  # type: ignore[attr-defined]
    assert rows["SBERT baseline"]["Avg."] == 75.56
    assert "75.585" in str(table["notes"])  # the misprint is said where it is shown
    assert len(tables(embedlab("reproduce", "tsukagoshi", "--published-only", "--json"))) > 10


def test_runs_that_are_there_are_shown_next_to_the_published_values_under_their_deviations(
    with_runs: Embedlab, tiny_encoder: Path
) -> None:
    words = ("reproduce", "liao", "table6", "--from", "runs", *TINY, *ROWS)
    words += ("--encoder", str(tiny_encoder))
    answer = with_runs(*words, "--json", "--html", "page.html", "--figure", "ours.svg")
    deviations, numbers, orders = tables(answer)
    said = {row["what"]: (row["paper"], row["here"]) for row in deviations["rows"]}  # type: ignore[attr-defined]
    assert said["encoder.model"] == ("google/bert_uncased_L-8_H-512_A-8", tiny_encoder.name)
    assert said["data.rows"] == ("not set", "64")
    assert said["snli train"][1].startswith("generated")
    lines = {(row["row"], row["what"]): row for row in numbers["rows"]}  # type: ignore[attr-defined]
    assert {what for row, what in lines if row == "0.1"} == {"published", "ours", "difference"}
    assert {what for row, what in lines if row == "0.9"} == {"published"}
    ours = lines["0.1", "ours"]
    assert lines["0.1", "difference"]["STS12"] == pytest.approx(ours["STS12"] - 65.72)
    assert ours["Avg."] == pytest.approx(sum(ours[f"STS{year}"] for year in range(12, 17)) / 5)
    again = f"embedlab reproduce liao table6_lambda_sts --encoder {tiny_encoder} --set data.rows=64"
    assert f"`{again} --data tiny` trains" in str(numbers["notes"])
    (pair,) = orders["rows"]  # type: ignore[misc]
    assert (pair["better"], pair["worse"]) == ("0.3", "0.1")
    assert pair["printed"] == pytest.approx(1.26)
    assert 0 <= pair["probability"] <= 1
    drawn = Path("ours.svg").read_text()
    assert "liao table6_lambda_sts: 12 numbers, 1 seed." in drawn  # six columns of two rows
    signed: dict[str, str] = numbers["signatures"]  # type: ignore[assignment]
    assert list(signed) == ["0.1", "0.3"]
    assert f"signature of 0.1: {signed['0.1']}" in Path("page.html").read_text()
    Path("ours.json").write_text(answer.out)
    Path("changed.json").write_text(answer.out.replace(str(ours["STS12"]), str(ours["STS12"] + 1)))
    assert "+1.00" in with_runs("same", "ours.json", "changed.json", "--data", "tiny").out
    claims = with_runs(*words, "--claims", "--json")  # on fewer rows than the recipe has
    assert claims.row(claim="lambda-sts-01")["ours"] is None
    assert {row["verdict"] for row in claims.rows} == {"not measured"}


def test_claims_without_a_run_are_not_measured_and_say_what_to_run(embedlab: Embedlab) -> None:
    answer = embedlab("reproduce", "liao", "--claims", "--json")
    assert answer.code == 0, answer.err
    assert {row["verdict"] for row in answer.rows} == {"not measured"}
    assert len(answer.rows) == sum(len(table.claims) for table in select_tables("liao", None))
    assert answer.row(claim="tau-sts-01")["printed"] == pytest.approx(8.44, abs=0.01)
    assert "`embedlab reproduce liao TABLE` trains" in answer.json["notes"][-1]


def test_a_figure_along_epochs_has_those_after_the_pre_training(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    recipe = load_recipe("multitask-pretrain-nli+multitask", encoder=str(tiny_encoder))
    before = (step_of(3, 9), Dev(step=3, score=10.0))  # of heads that nothing has trained
    joint = [step_of(6, 9, stage=stage) for stage in (1, 2, 3)]
    for seed, last in ((1, 40.0), (2, 50.0)):
        ends = (Dev(step=6, score=30.0), step_of(9, 9, stage=1), Dev(step=9, score=last))
        begun("pre-trained", seed, recipe, tiny_encoder, *before, *joint, *ends)
    words = ("reproduce", "chen", "figure2", "--from", "runs", "--encoder", str(tiny_encoder))
    _, figure = tables(embedlab(*words, *TINY, "--json", "--figure", "epochs.svg"))
    assert [(row["epoch"], row["NLI"]) for row in figure["rows"]] == [(1, 30.0), (2, 45.0)]  # type: ignore[attr-defined]
    drawn = Path("epochs.svg").read_text()
    assert "Dev score after each epoch of the stages that are trained last" in drawn


def test_minutes_of_whole_trainings_are_beside_the_printed_ones(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    recipe = load_recipe("snli-ce", encoder=str(tiny_encoder))
    started = Started(time=1000.0, pid=1, host="here", steps=9)
    for seed, minutes in ((1, 10), (2, 14)):
        finished = Finished(time=1000.0 + 60 * minutes, step=9)
        begun("base", seed, recipe, tiny_encoder, started, finished)
    begun("base", 3, recipe, tiny_encoder, started)
    RunFolder.of(Path("runs"), "base", 3).events_file.unlink()  # its model alone was copied
    words = ("reproduce", "liao", "section6", "--from", "runs", "--encoder", str(tiny_encoder))
    # what combines runs has no training of its own
    words += ("--row", "allpalln-lambda0.3-SCL=average:base@1,base@2")
    _, numbers = tables(embedlab(*words, "--json"))
    lines = {(row["row"], row["what"]): row["minutes"] for row in numbers["rows"]}  # type: ignore[attr-defined]
    assert lines["SBERT baseline", "published"] == 20
    assert lines["SBERT baseline", "ours"] == pytest.approx(12)
    assert lines["SBERT baseline", "difference"] == pytest.approx(-8)
    assert ("allpalln-lambda0.3-SCL", "ours") not in lines


@pytest.mark.parametrize("more", [(), ("--row", "0.1=dice", "--from", "scores")])
def test_what_trainings_and_rows_of_named_models_lack_is_said_before_any_work(
    embedlab: Embedlab, more: tuple[str, ...]
) -> None:
    answer = embedlab("reproduce", "liao", "table7", "--data", "starter", "--offline", *more)
    assert (answer.code, answer.out) == (ExitCode.MISSING, "")
    assert "sts12, sts13, sts14, sts15, sts16, which this machine does not have" in answer.err
    assert not Path("runs").exists()


OWN_TABLE = """
summary = "mine"
[tables.t1]
summary = "two models"
key = ["model"]
task = "sts"
[tables.t1.rows]
A = { model = "dice" }
[tables.t1.columns]
one = { slice = "sts12" }
two = { slice = "sts13x" }
"""


def test_a_slice_that_no_evaluation_has_is_named_with_those_that_there_are(
    embedlab: Embedlab,
) -> None:
    Path("mine").mkdir()
    Path("mine/paper.toml").write_text(OWN_TABLE)
    Path("mine/t1.csv").write_text("model,one,two\nA,50,60\n")
    typed = ("./mine", "t1", "--row", "A=dice", "--from", "scores", "--data", "tiny", "--json")
    answer = embedlab("reproduce", *typed)
    notes = [note for table in answer.json["tables"] for note in table["notes"]]
    (note,) = [note for note in notes if "no scores here of" in note]
    assert note.startswith("sts has no scores here of sts13x; it has sts12, ")
