"""The length of vectors and what computes them, without loading a model."""

from pathlib import Path

import pytest

from embedlab.models.location import backends, vector_length
from tests.encoders.opening import spec_of


def words(folder: Path, text: str) -> str:
    (folder / "words.txt").write_text(text)
    return f"word-vectors:{folder / 'words.txt'}"


def test_a_combination_has_the_length_and_the_backends_of_its_parts(
    tiny_encoder: Path, tmp_path: Path
) -> None:
    vectors = words(tmp_path, "2 3\ncat 1 2 3\ndog 3 2 1\n")
    for name, length, kinds in (
        (str(tiny_encoder), 64, ("torch",)),
        (vectors, 3, ("numpy",)),
        ("dice", None, ("python",)),
        (f"concat:{tiny_encoder},{vectors}", 67, ("numpy", "torch")),
        (f"average:{tiny_encoder},{vectors}", 64, ("numpy", "torch")),
        (f"ensemble:{tiny_encoder},{vectors}", None, ("numpy", "torch")),
        (f"concat:{tiny_encoder},dice", None, ("python", "torch")),
    ):
        assert (vector_length(spec_of(name)), backends(spec_of(name))) == (length, kinds)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("cat 1 2 3\n", 3),
        ("1 3\ncat 1 2 3\n", 3),
        ("2 300\ncat 1\n", None),
        ("", None),
        ("cat\n", None),
    ],
)
def test_word_vectors_say_their_length_in_the_first_line(
    text: str, length: int | None, tmp_path: Path
) -> None:
    spec = spec_of(words(tmp_path, text))
    assert vector_length(spec) == length
    Path(spec.location).unlink()
    assert vector_length(spec) is None


def test_the_length_of_a_damaged_folder_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    assert vector_length(spec_of(tmp_path)) is None
