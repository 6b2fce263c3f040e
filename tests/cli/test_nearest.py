from pathlib import Path

from tests.cli.conftest import Embedlab


def test_every_model_that_is_typed_ranks_the_sentences(embedlab: Embedlab, tmp_path: Path) -> None:
    file, vectors = tmp_path / "sentences.txt", tmp_path / "words.txt"
    file.write_text("a dog runs\na puppy runs\nthe stock fell\n")
    vectors.write_text("dog 1 0\npuppy 1 0\nruns 0.5 0.5\nstock 0 1\nfell 0 1\na 0.1 0.1\nthe 0.1 0.1\n")
    words = ("nearest", "dog", str(file), "--top", "2", "--json")
    one = embedlab(*words, "-m", "dice")
    assert [list(row) for row in one.rows] == [["model", "rank", "similarity", "row", "sentence"]] * 2
    both = embedlab(*words, "-m", "dice", "-m", f"word-vectors:{vectors}")
    assert both.code == 0, both.err
    assert [(row["model"], row["rank"]) for row in both.rows] == [
        ("dice", 1),
        ("dice", 2),
        (f"word-vectors:{vectors}", 1),
        (f"word-vectors:{vectors}", 2),
    ]
    assert {row["sentence"] for row in both.rows if row["model"] != "dice"} == {"a dog runs", "a puppy runs"}
    assert both.rows[:2] == one.rows
