"""Every table says how its numbers were made."""

import shutil
from pathlib import Path

import polars as pl
import pytest

from embedlab.analysis.pair_notes import PairNotes
from embedlab.data.overlaps import KnownText
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.reports.notes import GENERATED_NOTE
from embedlab.runs.store import RunFolder
from tests.cli.conftest import Embedlab
from tests.stored_json import store_values, stored_values

pytestmark = pytest.mark.usefixtures("small_world")

BF16 = ["--precision", "bf16", "--threads", "1"]
PAIRS = (
    "sentence1\tsentence2\tscore\nA cat.\tA dog.\t2\nIt rains.\tIt pours.\t4\nA man.\tA sun.\t0\n"
)


@pytest.fixture
def my_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.tsv").write_text(PAIRS)
    return "mine.tsv"


@pytest.fixture
def mine(finished_run: RunFolder, tiny_encoder: Path, tmp_path: Path) -> str:
    """A run with two finished seeds."""
    shutil.copytree(tiny_encoder, finished_run.model)
    second = finished_run.path.with_name("seed-2")
    shutil.copytree(finished_run.path, second)
    build_random_encoder(tmp_path / "other", seed=2)  # equal weights would be one seed
    shutil.copy(tmp_path / "other" / "model.safetensors", second / "model" / "model.safetensors")
    return "mine"


@pytest.mark.parametrize("mark", ["partial", "generated"])
@pytest.mark.parametrize(
    "command", [["score", "A cat.", "A dog."], ["nearest", "A cat.", "lines.txt"]]
)
def test_typed_sentences_are_scored_with_marks_pooling_precision_and_seeds(
    embedlab: Embedlab, mine: str, tmp_path: Path, command: list[str], mark: str
) -> None:
    (tmp_path / "lines.txt").write_text("A dog barks.\nA cat sleeps.\n")
    for file in tmp_path.glob("runs/mine/*/environment.json"):
        values = stored_values(file)
        if mark == "generated":
            values["data"] = [
                part | {"partial": False, "origin": "tiny"} for part in values["data"]
            ]
        store_values(file, values)
    answer = embedlab(*command, "--model", mine, *BF16, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["title"].endswith(f" [{mark}]")
    note = {
        "partial": "mine: trained on partial snli train: 3 of 9 rows",
        "generated": GENERATED_NOTE,
    }[mark]
    assert answer.json["notes"] == [
        note,
        "mine: pooling mean, max tokens 128, precision bf16, trained in float32, mean of 2 seeds",
    ]


def test_pairs_say_which_of_them_a_model_was_trained_on(
    embedlab: Embedlab, mine: str, my_pairs: str, finished_run: RunFolder
) -> None:
    training_text = pl.DataFrame(
        {"sentence1": ["a DOG", "It rains."], "sentence2": ["A cat", "The sun shines."]}
    )
    for seed in (1, 2):
        KnownText.of([training_text]).write(
            RunFolder(finished_run.path.with_name(f"seed-{seed}")).training_text_file
        )
    words = ["pairs", mine, "dice", "--dataset", my_pairs, "--sort", "-gold"]
    answer = embedlab(*words, "--json")
    assert answer.code == 0, answer.err
    assert "[overlap]" in answer.json["title"]
    shared = [
        (row["shared_pairs"], row["shared_sentences"])
        for row in answer.rows
        if row["model"] == mine
    ]
    assert shared == [(None, None), (1, 2), (0, 1)]
    assert (
        "mine: pooling mean, max tokens 128, precision float32, trained in float32, mean of 2 seeds"
        in answer.json["notes"]
    )
    lines = embedlab(*words).out.splitlines()
    assert [
        "" if "†" not in line and "‡" not in line else "†" if "†" in line else "‡"
        for line in lines[4:7]
    ] == ["", "†", "‡"]
    assert "† the pair, ‡ a sentence of it is in the model's training data" in lines

    PairNotes.load().change("A man.", "A sun.", "odd one")
    call = ("pairs", mine, "dice", "--dataset", my_pairs, *BF16, "--where")
    assert {row["pair"] for row in embedlab(*call, "trained:†mine", "--json").rows} == {0}
    assert {row["pair"] for row in embedlab(*call, "note:*odd* -trained:*", "--json").rows} == {2}
    assert {row["pair"] for row in embedlab(*call[:-1], "--unseen", "--json").rows} == {2}
    unseen = embedlab("compare", mine, "dice", "--task", my_pairs, *BF16, "--unseen", "--json")
    assert unseen.code == 0, unseen.err
    assert [row["items"] for row in unseen.rows if row["model"] == mine] == [
        1,
        2,
    ]  # and the rest, below it

    assert "odd one" in embedlab(*call, "note:*").out
    assert any("[overlap] in the training data: † test pairs" in line for line in lines)
    assert (
        "mine: † test pairs that are in its training data: mine.tsv 1 of 3"
        in embedlab(*words, "--notes").out.splitlines()
    )


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_an_absent_correlation_has_its_reason(
    embedlab: Embedlab, tmp_path: Path, command: str
) -> None:
    (tmp_path / "own.tsv").write_text("sentence1\tsentence2\tscore\na dog\ta cat\t2\n")
    words = [command, "dice", "--aggregate", "all", "--task", "./own.tsv"]
    answer = embedlab(*words, "--json")
    assert answer.code == 0, answer.err
    assert (answer.rows[0]["slice"], answer.rows[0]["score"]) == ("own.tsv", None)
    note = "own.tsv: no number: a correlation needs two pairs, and it has 1"  # the same in both
    assert note in answer.json["notes"]
    shown = embedlab(*words).out
    assert " – " in shown.replace("\n", "  ")
    assert note in " ".join(shown.split())
