"""Every table says how its numbers were made."""

import shutil
from pathlib import Path

import polars as pl
import pytest

from embedlab.analysis.pair_notes import PairNotes
from embedlab.data.marks import GENERATED_NOTE
from embedlab.data.overlaps import KnownText
from embedlab.encoders.random_encoder import build_random_encoder
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


@pytest.mark.parametrize(
    ("command", "mark", "note"),
    [
        (["score", "A cat.", "A dog."], "generated", GENERATED_NOTE),
        (
            ["nearest", "A cat.", "mine.tsv", "--column", "sentence1"],
            "partial",
            "mine: trained on partial snli train: 3 of 9 rows",
        ),
    ],
)
def test_typed_sentences_are_scored_with_marks_pooling_precision_and_seeds(
    embedlab: Embedlab, mine: str, my_pairs: str, command: list[str], mark: str, note: str
) -> None:
    for file in Path("runs/mine").glob("*/environment.json"):
        values = stored_values(file)
        if mark == "generated":
            values["data"][0] |= {"partial": False, "origin": "tiny"}
        store_values(file, values)
    answer = embedlab(*command, "--model", mine, *BF16, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["title"].endswith(f" [{mark}]")
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
        run = RunFolder(finished_run.path.with_name(f"seed-{seed}"))
        KnownText.of([training_text]).write(run.training_text_file)
    words = ["pairs", mine, "dice", "--dataset", my_pairs]
    answer = embedlab(*words, "--sort", "-gold", "--json")
    assert "[overlap]" in answer.json["title"]
    assert [
        (row["shared_pairs"], row["shared_sentences"])
        for row in answer.rows
        if row["model"] == mine
    ] == [(None, None), (1, 2), (0, 1)]
    lines = embedlab(*words, "--sort", "-gold").out.splitlines()
    assert ["†" in line for line in lines[4:7]] == [False, True, False]
    assert ["‡" in line for line in lines[4:7]] == [False, False, True]
    assert "† the pair, ‡ a sentence of it is in the model's training data" in lines

    PairNotes.load().change("A man.", "A sun.", "odd one")

    def picked(*filters: str) -> set[int]:
        return {row["pair"] for row in embedlab(*words, *filters, "--json").rows}

    assert picked("--where", "trained:†mine") == {0}
    assert picked("--where", "note:*odd* -trained:*") == {2}
    assert picked("--unseen") == {2}
    unseen = embedlab("compare", mine, "dice", "--task", my_pairs, "--unseen", "--json")
    assert [row["items"] for row in unseen.rows if row["model"] == mine] == [1, 2]
    assert "odd one" in embedlab(*words, "--where", "note:*").out
