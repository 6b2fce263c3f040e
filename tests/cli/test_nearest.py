from pathlib import Path

from tests.cli.conftest import Embedlab


def test_every_model_that_is_typed_ranks_the_sentences(embedlab: Embedlab, tmp_path: Path) -> None:
    (tmp_path / "sentences.txt").write_text("a dog runs\na puppy runs\nthe stock fell\n")
    (tmp_path / "words.txt").write_text("dog 1 0\npuppy 1 0\nruns 0.5 0.5\nstock 0 1\nfell 0 1\n")
    models = ("-m", "dice", "-m", "word-vectors:words.txt")
    found = embedlab("nearest", "dog", "sentences.txt", "--top", "2", "--json", *models)
    assert [(row["model"], row["rank"], row["row"]) for row in found.rows] == [
        ("dice", 1, 1),
        ("dice", 2, 2),
        ("word-vectors:words.txt", 1, 1),
        ("word-vectors:words.txt", 2, 2),
    ]
    shown, quiet = (embedlab("nearest", "dog", "sentences.txt", *models, *q) for q in ((), ("-q",)))
    assert ("--notes" in shown.out, "--notes" in quiet.out, quiet.err) == (True, False, "")
    assert list(found.rows[0]) == ["model", "rank", "similarity", "row", "sentence"]


def test_without_a_file_the_cached_sentences_of_the_datasets_are_searched(
    embedlab: Embedlab, tiny_encoder: Path, small_world: None
) -> None:
    words = ("nearest", "A dog runs.", "--data", "tiny", "--json")
    models = ("-m", str(tiny_encoder), "--top", "3")
    missing = embedlab(*words, *models)
    assert missing.code == 3
    assert f"no vectors of '{tiny_encoder}' are cached" in missing.err
    by_words = embedlab(*words, "-m", "dice", "--top", "40").rows
    assert {"model", "rank", "similarity", "dataset", "sentence"} == set(by_words[0])
    Path("some.txt").write_text("\n".join(row["sentence"] for row in by_words[:8]))
    from_file = embedlab("nearest", "A dog runs.", "some.txt", "--json", *models).rows
    found = embedlab(*words, *models)
    assert [(row["sentence"], row["similarity"]) for row in found.rows] == [
        (row["sentence"], row["similarity"]) for row in from_file
    ]
    assert f"{tiny_encoder}: 8 of" in found.err + found.out
    assert "--column" in embedlab(*words, *models, "--column", "text").err
