"""The length of vectors and what computes them, without loading a model."""

from pathlib import Path

import pytest

from embedlab.models.catalog import ModelSpec
from embedlab.models.location import backends, vector_length

DICE = ModelSpec(name="dice", kind="dice")


def words(tmp_path: Path, text: str) -> ModelSpec:
    path = tmp_path / "words.txt"
    path.write_text(text)
    return ModelSpec(name="words", kind="word-vectors", location=str(path))


def test_a_combination_has_the_length_and_the_backends_of_its_parts(
    tiny_encoder: Path, tmp_path: Path
) -> None:
    tiny, vectors = (
        ModelSpec(name="tiny", kind="folder", location=str(tiny_encoder)),
        words(tmp_path, "2 3\ncat 1 2 3\ndog 3 2 1\n"),
    )
    assert (vector_length(tiny), backends(tiny)) == (64, ("torch",))
    assert (vector_length(vectors), backends(vectors)) == (3, ("numpy",))
    assert (vector_length(DICE), backends(DICE)) == (None, ("python",))
    for kind, length in (("concat", 67), ("average", 64), ("ensemble", None)):
        both = ModelSpec(name="both", kind=kind, parts=(tiny, vectors))  # type: ignore[arg-type]
        assert (vector_length(both), backends(both)) == (length, ("numpy", "torch"))
    assert vector_length(ModelSpec(name="both", kind="concat", parts=(tiny, DICE))) is None


@pytest.mark.parametrize(
    ("text", "length"), [("cat 1 2 3\n", 3), ("2 300\ncat 1\n", 300), ("", None), ("cat\n", None)]
)
def test_word_vectors_say_their_length_in_the_first_line(
    text: str, length: int | None, tmp_path: Path
) -> None:
    assert vector_length(words(tmp_path, text)) == length


def test_the_length_of_what_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    assert (
        vector_length(
            ModelSpec(name="gone", kind="word-vectors", location=str(tmp_path / "gone.txt"))
        )
        is None
    )
    (tmp_path / "config.json").write_text("{")
    assert vector_length(ModelSpec(name="damaged", kind="folder", location=str(tmp_path))) is None
