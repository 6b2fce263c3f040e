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
from tests.tasks.labelled_sentences import write_sst2

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


@pytest.mark.parametrize("command", [["evaluate"], ["compare"], ["compare", "--by", "source"]])
def test_pooling_precision_and_seeds_are_reported_once_beside_scores_of_pairs(
    embedlab: Embedlab, mine: str, my_pairs: str, tiny_encoder: Path, command: list[str]
) -> None:
    cls = f"{tiny_encoder}?pooling=cls"
    words = [*command, mine, cls, "--task", my_pairs, *BF16]
    answer = embedlab(*words, "--json")
    assert answer.code == 0, answer.err
    notes = [note for note in answer.json["notes"] if "precision" in note]
    assert notes == [
        "mine: pooling mean, max tokens 128, precision bf16, trained in float32, mean of 2 seeds",
        f"{cls}: pooling cls, max tokens 128, precision bf16",
    ]
    for written in ("table", "markdown"):
        assert all(
            note in embedlab(*words, "--notes", "--format", written).out for note in notes
        ), written
        lines = [
            line.removeprefix("- ")
            for line in embedlab(*words, "--format", written).out.splitlines()
        ]
        assert any(
            line.startswith("mine: ") and "mean of 2 seeds; trained in float32" in line
            for line in lines
        )
    assert all(note in embedlab(*words, "--format", "csv").err for note in notes)


def test_pooling_and_precision_are_reported_once_where_several_tasks_are_compared(
    embedlab: Embedlab, my_pairs: str, tiny_encoder: Path, tmp_path: Path
) -> None:
    write_sst2(tmp_path / "data")
    cls = f"{tiny_encoder}?pooling=cls"
    words = [
        "compare",
        cls,
        "dice",
        "--task",
        "sst2",
        "--data",
        "data",
        "--allow-partial",
        "--setting",
        "exact",
        *BF16,
    ]
    for more in ([], ["--task", my_pairs]):
        answer = embedlab(*words, *more, "--json")
        assert answer.code == 0, answer.err
        notes = [note for note in answer.json["notes"] if note.startswith(f"{cls}: pooling")]
        assert notes == [f"{cls}: pooling cls, max tokens 128, precision bf16"]
        assert "transfer: classifiers in the setting 'exact'" in answer.json["notes"]
    assert "sts: aggregated by 'all'" in answer.json["notes"]


def test_the_page_of_a_comparison_shows_pooling_and_precision(
    embedlab: Embedlab, my_pairs: str, tiny_encoder: Path
) -> None:
    answer = embedlab(
        "compare",
        "dice",
        f"{tiny_encoder}?pooling=cls",
        "--task",
        my_pairs,
        *BF16,
        "--html",
        "page.html",
    )
    assert answer.code == 0, answer.err
    assert "pooling cls, max tokens 128, precision bf16" in Path("page.html").read_text(
        encoding="utf-8"
    )


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


def test_word_overlap_has_no_mark(embedlab: Embedlab) -> None:
    answer = embedlab(
        "score", "A cat.", "A dog.", "--model", "dice", "--data", "tiny", "--json"
    ).json
    assert (answer["title"], answer["notes"]) == ("A cat. / A dog.", ["dice: precision float32"])


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
    assert {row["pair"] for row in embedlab(*call, "trained:* -note:*", "--json").rows} == {0, 1}
    assert {row["pair"] for row in embedlab(*call, "note:*odd* -trained:*", "--json").rows} == {2}
    assert {row["pair"] for row in embedlab(*call, "-trained:*", "--json").rows} == {2}
    assert {row["pair"] for row in embedlab(*call[:-1], "--unseen", "--json").rows} == {2}
    assert {
        row["pair"] for row in embedlab(*call, "gold>=0 or dice>2", "--unseen", "--json").rows
    } == {2}
    unseen = embedlab("compare", mine, "dice", "--task", my_pairs, *BF16, "--unseen", "--json")
    assert unseen.code == 0, unseen.err
    assert [row["items"] for row in unseen.rows if row["model"] == mine] == [
        1,
        2,
    ]  # and the rest, below it
    assert embedlab(*call, "note:*typo*", "--json").rows == []
    assert "odd one" in embedlab(*call, "note:*").out
    assert any("[overlap] in the training data: † test pairs" in line for line in lines)
    assert (
        "mine: † test pairs that are in its training data: mine.tsv 1 of 3"
        in embedlab(*words, "--notes").out.splitlines()
    )


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (["a dog\ta cat\t2"], "a correlation needs two pairs, and it has 1"),
        (["a dog\ta cat\t3", "a cat\tthe cat sat\t3"], "all gold scores are 3"),
        (
            ["a dog\ta dog\t3", "a cat\ta cat\t4", "cat\tcat\t5"],
            "all its pairs have the same similarity",
        ),
    ],
)
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_an_absent_correlation_has_its_reason(
    embedlab: Embedlab, tmp_path: Path, command: str, rows: list[str], reason: str
) -> None:
    (tmp_path / "own.tsv").write_text("\n".join(["sentence1\tsentence2\tscore", *rows]) + "\n")
    (tmp_path / "words.txt").write_text("a 1 0\ndog 0 1\ncat 1 1\n")
    models = ["dice"] if command == "evaluate" else ["dice", "word-vectors:words.txt"]
    words = [command, *models, "--aggregate", "all", "--task", "./own.tsv"]
    answer = embedlab(*words, "--json")
    assert answer.code == 0, answer.err
    assert (answer.rows[0]["slice"], answer.rows[0]["model"], answer.rows[0]["score"]) == (
        "own.tsv",
        "dice",
        None,
    )
    of_models = f" of {', '.join(models)}" if "similarity" in reason else ""
    note = f"own.tsv: no number{of_models}: {reason}"  # the same words in both
    assert note in answer.json["notes"]
    shown = embedlab(*words).out
    assert " – " in shown.replace("\n", "  ")
    assert note in " ".join(shown.split())


@pytest.mark.parametrize("command", ["evaluate", "compare", "pairs"])
def test_every_table_marks_a_model_of_unknown_training_text(
    embedlab: Embedlab, tiny_encoder: Path, tmp_path: Path, my_pairs: str, command: str
) -> None:
    foreign = Path(shutil.copytree(tiny_encoder, tmp_path / "foreign"))
    (foreign / "embedlab.json").unlink()
    words = [
        command,
        str(foreign),
        "dice",
        "--dataset" if command == "pairs" else "--task",
        my_pairs,
    ]
    answer = embedlab(*words, "--json")
    assert answer.code == 0, answer.err
    assert f"{foreign}: training text unknown" in answer.json["notes"]
    assert "[training text unknown]" in answer.json["title"]


def test_letters_are_explained_below_the_table_that_has_them(embedlab: Embedlab) -> None:
    Path("words.txt").write_text("a 1 0\nthe 0 1\n")
    words = ("compare", "dice", "word-vectors:words.txt", "--data", "starter")
    assert "same letter: not distinguished" not in embedlab(*words).out
    assert "same letter: not distinguished" in embedlab(*words, "--letters").out
