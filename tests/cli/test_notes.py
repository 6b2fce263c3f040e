"""Every table says how its numbers were made."""

import shutil
from pathlib import Path

import pytest

from embedlab.runs.store import RunFolder
from tests.cli.conftest import Embedlab
from tests.tasks.labelled_sentences import write_sst2

BF16 = ["--precision", "bf16", "--threads", "1"]
PAIRS = "sentence1\tsentence2\tscore\nA cat.\tA dog.\t2\nIt rains.\tIt pours.\t4\nA man.\tA sun.\t0\n"


@pytest.fixture
def my_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.tsv").write_text(PAIRS)
    return "mine.tsv"


@pytest.fixture
def mine(finished_run: RunFolder, tiny_encoder: Path) -> str:
    """A run with two finished seeds."""
    shutil.copytree(tiny_encoder, finished_run.model)
    shutil.copytree(finished_run.path, finished_run.path.with_name("seed-2"))
    return "mine"


@pytest.mark.parametrize("command", [["evaluate"], ["compare"], ["compare", "--by", "source"]])
def test_pooling_precision_and_seeds_are_told_once_beside_scores_of_pairs(
    embedlab: Embedlab, mine: str, my_pairs: str, tiny_encoder: Path, command: list[str]
) -> None:
    cls = f"{tiny_encoder}?pooling=cls"
    words = [*command, mine, cls, "--task", my_pairs, *BF16]
    answer = embedlab(*words, "--json")
    assert answer.code == 0, answer.err
    told = [note for note in answer.json["notes"] if "precision" in note]
    assert told == [
        "mine: pooling mean, max tokens 128, precision bf16, mean of 2 seeds",
        f"{cls}: pooling cls, max tokens 128, precision bf16",
    ]
    for written in ("table", "markdown"):
        assert all(note in embedlab(*words, "--format", written).out for note in told), written
    assert all(note in embedlab(*words, "--format", "csv").err for note in told)


def test_pooling_and_precision_are_told_once_where_several_tasks_are_compared(
    embedlab: Embedlab, my_pairs: str, tiny_encoder: Path, tmp_path: Path
) -> None:
    write_sst2(tmp_path / "data")
    cls = f"{tiny_encoder}?pooling=cls"
    words = ["compare", cls, "dice", "--task", "sst2", "--data", "data", "--allow-partial", "--setting", "exact", *BF16]
    for more in ([], ["--task", my_pairs]):
        answer = embedlab(*words, *more, "--json")
        assert answer.code == 0, answer.err
        told = [note for note in answer.json["notes"] if note.startswith(f"{cls}: pooling")]
        assert told == [f"{cls}: pooling cls, max tokens 128, precision bf16"]
        assert "transfer: classifiers in the setting 'exact'" in answer.json["notes"]
    assert "sts: aggregated by 'all'" in answer.json["notes"]


def test_the_page_of_a_comparison_tells_pooling_and_precision(embedlab: Embedlab, my_pairs: str, tiny_encoder: Path) -> None:
    answer = embedlab("compare", "dice", f"{tiny_encoder}?pooling=cls", "--task", my_pairs, *BF16, "--html", "page.html")
    assert answer.code == 0, answer.err
    assert "pooling cls, max tokens 128, precision bf16" in Path("page.html").read_text(encoding="utf-8")
