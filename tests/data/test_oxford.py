"""Oxford definitions in both layouts of DefSent's authors, on generated rows: no real copy was at
hand.
"""

from pathlib import Path

import pytest

from embedlab.core.errors import EmbedlabError
from embedlab.core.recipe import load_recipe
from embedlab.data.definitions import split_of
from embedlab.data.readers.oxford import as_text
from embedlab.data.source import Source
from embedlab.training.stage_data import open_stage

WORDS = [f"word{number}" for number in range(60)]


def downloaded(folder: Path) -> Source:
    """The three files that the authors download: word%number, two columns, the definition in
    tokens, an example.
    """
    (folder / "oxford").mkdir(parents=True)
    for place, name in enumerate(("train", "valid", "test")):
        rows = [
            f"{word}%oxford.{place}\t0\tn\ta thing ( or two ) , of {name}\tan example"
            for word in WORDS[place::3]
        ]
        (folder / "oxford" / f"{name}.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return Source(folder=folder)


def test_the_downloaded_files_are_joined_and_parted_by_word(tmp_path: Path) -> None:
    source = downloaded(tmp_path)
    parts = {
        split: source.open("oxford-definitions", split).frame
        for split in ("train", "dev", "test", "all")
    }
    assert {*parts["all"]["word"]} == {*WORDS}
    for split in ("train", "dev", "test"):
        assert {*parts[split]["word"]} == {word for word in WORDS if split_of(word) == split}
    assert parts["all"]["definition"][0] == "a thing (or two), of train"


def test_the_files_that_the_authors_made_are_their_own_splits(tmp_path: Path) -> None:
    source = downloaded(tmp_path)
    for name in ("train", "valid", "test"):
        (tmp_path / "oxford" / f"{name}.tsv").write_text(
            f"{name}word\tof {name}\n", encoding="utf-8"
        )
    assert source.open("oxford-definitions", "dev").frame.rows() == [("validword", "of valid")]
    assert source.open("oxford-definitions", "train").frame.rows() == [("trainword", "of train")]


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("a dog , of a kind ; ( small ) .", "a dog, of a kind; (small)."),
        ("the driver 's seat", "the driver's seat"),
        ("called `` an Answer '' here", "called An answer here"),
        ("the ‘ inner ’ part", "the ’inner’ part"),
    ],
)
def test_tokens_are_joined_as_the_script_of_the_authors_joins_them(tokens: str, text: str) -> None:
    assert as_text(tokens) == text


def test_a_line_of_too_few_columns_is_refused_with_its_place(tmp_path: Path) -> None:
    source = downloaded(tmp_path)
    (tmp_path / "oxford" / "valid.txt").write_text("word%1\t0\tn\n", encoding="utf-8")
    with pytest.raises(EmbedlabError, match=r"valid.txt, line 1: 3 columns"):
        source.open("oxford-definitions", "train")


def test_defsent_trains_on_them_by_name(tmp_path: Path) -> None:
    data = open_stage(
        load_recipe("defsent", ["data.datasets=oxford-definitions"]), downloaded(tmp_path), 1, 0
    )
    assert {*data.rows.frame["word"]} == {word for word in WORDS if split_of(word) == "train"}
