from pathlib import Path

from tests.cli.conftest import Embedlab


def test_every_model_that_is_typed_ranks_the_sentences(embedlab: Embedlab, tmp_path: Path) -> None:
    file, vectors = tmp_path / "sentences.txt", tmp_path / "words.txt"
    file.write_text("a dog runs\na puppy runs\nthe stock fell\n")
    vectors.write_text(
        "dog 1 0\npuppy 1 0\nruns 0.5 0.5\nstock 0 1\nfell 0 1\na 0.1 0.1\nthe 0.1 0.1\n"
    )
    words = ("nearest", "dog", str(file), "--top", "2", "--json")
    one = embedlab(*words, "-m", "dice")
    assert [list(row) for row in one.rows] == [
        ["model", "rank", "similarity", "row", "sentence"]
    ] * 2
    both = embedlab(*words, "-m", "dice", "-m", f"word-vectors:{vectors}")
    assert both.code == 0, both.err
    assert [(row["model"], row["rank"]) for row in both.rows] == [
        ("dice", 1),
        ("dice", 2),
        (f"word-vectors:{vectors}", 1),
        (f"word-vectors:{vectors}", 2),
    ]
    assert {row["sentence"] for row in both.rows if row["model"] != "dice"} == {
        "a dog runs",
        "a puppy runs",
    }
    assert both.rows[:2] == one.rows


def test_without_a_file_the_cached_sentences_of_the_datasets_are_searched(
    embedlab: Embedlab, tiny_encoder: Path, small_world: None
) -> None:
    words = (
        "nearest",
        "A dog runs.",
        "--data",
        "tiny",
        "-m",
        str(tiny_encoder),
        "--top",
        "3",
        "--json",
    )
    missing = embedlab(*words)
    assert missing.code == 3
    assert f"embedlab: error: no vectors of '{tiny_encoder}' are cached" in missing.err
    assert (
        f"hint: `embedlab evaluate {tiny_encoder}` caches them, or name a FILE to search"
        in missing.err
    )
    by_words = embedlab(
        "nearest", "A dog runs.", "--data", "tiny", "-m", "dice", "--top", "40", "--json"
    ).rows
    assert {"model", "rank", "similarity", "dataset", "sentence"} == set(by_words[0])
    cached = [row["sentence"] for row in by_words[:8]]
    Path("some.txt").write_text("\n".join(cached))
    from_file = embedlab("nearest", "A dog runs.", "some.txt", *words[4:]).rows
    found = embedlab(*words)
    assert [(row["sentence"], row["similarity"]) for row in found.rows] == [
        (row["sentence"], row["similarity"]) for row in from_file
    ]
    assert f"{tiny_encoder}: 8 of" in found.err + found.out
    assert "--column" in embedlab(*words, "--column", "text").err
