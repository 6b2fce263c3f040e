"""A corpus of one TOML file: what it may say, what is refused with the file and the key, and that
all shipped ones are read lazily.
"""

from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import UsageError
from embedlab.core.paths import CORPORA_FOLDER
from embedlab.data.corpus_file import read_corpus, reader_names, shipped_corpus, shipped_tasks
from embedlab.data.dataset import COLUMNS
from embedlab.data.manifest import get_dataset
from embedlab.data.source import Source, dataset_names
from tests.data.conftest import Write

CORPUS = """
kind = "classification"
summary = "colours of birds"
home = "https://example.org/birds"

[splits.train]
title = "first"
classes = { red = 2, blue = 1 }

[splits.test]
rows = 1

[[layout]]
folders = ["birds", "elsewhere/birds"]
files = ["{split}.tsv"]

[layout.reader]
name = "delimited"
columns = { sentence = "text", label = "colour" }
stripped = ["sentence"]
"""


READER = CORPUS.partition("name = ")[2]


@pytest.fixture
def corpus(write: Write) -> Path:
    return write("birds.toml", CORPUS)


def test_the_files_of_a_split_are_found_in_the_first_folder_that_has_them(
    corpus: Path, write: Write, tmp_path: Path
) -> None:
    found = read_corpus(corpus)
    assert (found.name, found.default_split, [*found.splits]) == (
        "birds",
        "train",
        ["train", "test"],
    )
    write(
        "elsewhere/birds/first.tsv", "text\tcolour\n a robin\tred\none tit\tblue\na finch \tred\n"
    )
    source = Source(folder=tmp_path / "data", offline=True)
    assert source.open_split(found).frame.rows() == [
        ("a robin", "red"),
        ("one tit", "blue"),
        ("a finch", "red"),
    ]
    write("birds/first.tsv", "text\tcolour\na crow\tblack\n")
    with pytest.raises(
        Exception, match=r"birds/first\.tsv, line 2: label is not one of red, blue: 'black'"
    ):
        source.open_split(found)


@pytest.mark.parametrize(
    ("before", "after", "message", "hint"),
    [
        ("summary", "sumary", "unknown key 'sumary'", "did you mean 'summary'?"),
        ("title =", "titel =", "unknown key 'splits.train.titel'", "did you mean 'title'?"),
        (
            "stripped",
            "striped",
            "unknown key 'layout.0.reader.striped'",
            "did you mean 'stripped'?",
        ),
        ("folders =", "folder =", "unknown key 'layout.0.folder'", "did you mean 'folders'?"),
        (
            '"classification"',
            '"clasification"',
            "'kind' is 'clasification'",
            "docs/plugins.md shows a whole one",
        ),
        (
            'kind = "classification"\n',
            "",
            "'kind' is missing",
            "add it; docs/plugins.md shows a whole one",
        ),
        (
            "columns = {",
            "fields = [2] #",
            "'layout.0.reader.columns' is missing",
            "add it; docs/plugins.md shows a whole one",
        ),
        (
            '"delimited"',
            '"delimitted"',
            "'layout.0.reader.name': unknown name 'delimitted'",
            "did you mean 'delimited'?",
        ),
        (
            '"delimited"',
            '"json-lines"',
            "'layout.0.reader.name': 'json-lines' reads nli, not classification",
            "readers: ",
        ),
        (
            "{split}.tsv",
            "{splits}.tsv",
            "'layout.0.files': unknown name 'splits'",
            "did you mean 'split'?",
        ),
        (
            "rows = 1\n",
            "rows = 1\nclasses = { red = 2 }\n",
            "'splits.test.rows' is 1, its classes have 2",
            "correct one of them",
        ),
        (
            "[[layout]]",
            '[[layout]]\nsplits = ["tests"]',
            "'layout.0.splits': unknown name 'tests'",
            "did you mean 'test'?",
        ),
        (
            "[[layout]]",
            '[[layout]]\nsplits = ["test"]',
            "no layout has the split 'train'",
            "add it to the splits of a layout",
        ),
        (
            "[[layout]]",
            '[hub]\nrepository = "a/b"\nrevision = "c"\ncolumns = { sentense = "text" '
            "}\n[[layout]]",
            "'hub.columns': unknown name 'sentense'",
            "did you mean 'sentence'?",
        ),
        (
            "sentence = ",
            "sentense = ",
            "'layout.0.reader.columns': unknown name 'sentense'",
            "did you mean 'sentence'?",
        ),
        (
            'sentence = "text", ',
            "",
            "'layout.0.reader.columns': 'sentence' is missing",
            "name the column that holds it",
        ),
        ('"text"', "3", "'layout.0.reader' is", "docs/plugins.md shows a whole one"),
        (
            '"text", label = "colour"',
            "3, label = 1",
            "columns by position need the numbers of fields",
            "",
        ),
        (
            "{split}.tsv",
            "{split}.{class}",
            "'splits.test.classes' is missing",
            "list the classes: the layout has one file for each ({class})",
        ),
        ('["{split}.tsv"]', "[]", "'layout.0.files' is []: list should have at least 1 item", ""),
        ("rows = 1", "rows = 0", "'splits.test.rows' is 0", ""),
        ("red = 2", "red = 0", "'splits.train.classes.red' is 0", ""),
        ("summary = ", "summary ", "not valid TOML", ""),
        (
            READER,
            '"lines"\npattern = "(["',
            "the pattern is not a regular expression",
            "",
        ),
        (
            READER,
            '"lines"\npattern = "(.*)"',
            "the pattern needs the groups (?P<sentence>…)",
            "",
        ),
        (
            CORPUS.partition("files = ")[2],
            '["a", "b", "c"]\nreader = { name = "lines", pattern = "(?P<label>.)(?P<sentence>.)" }',
            "'layout.0.files' lists 3 files",
            "this reader needs 1 file",
        ),
        (
            "summary",
            'aliases = ["tits"]\nsummary',
            "only shipped corpora may have 'aliases'",
            "remove it",
        ),
    ],
)
def test_a_fault_is_refused_with_file_key_and_the_nearest_name(
    write: Write, before: str, after: str, message: str, hint: str
) -> None:
    path = write("birds.toml", CORPUS.replace(before, after, 1))
    with pytest.raises(UsageError) as caught:
        read_corpus(path)
    assert caught.value.message.startswith(f"{path}: ")
    assert message in caught.value.message
    assert hint in str(caught.value.hint)


def test_every_reader_is_of_a_shipped_corpus_and_every_file_is_one() -> None:
    used = {
        type(layout.read.func.__self__).__module__.rpartition(".")[2].replace("_", "-")
        for name in dataset_names()
        for split in shipped_corpus(name).splits.values()
        for layout in split.layouts
    }
    assert used == {*reader_names()}
    assert {path.stem for path in CORPORA_FOLDER.glob("*.toml")} == {*dataset_names()}
    assert [*shipped_tasks("gum-probing")] == sorted(
        path.stem for path in (CORPORA_FOLDER / "gum-probing").iterdir()
    )
    assert shipped_tasks("mine-probing") == {}


def test_what_is_fetched_has_the_header_of_its_corpus_and_is_read_back(
    write: Write, tmp_path: Path
) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    pl.DataFrame({"text": ["a\ttit"], "colour": ["blue"]}).write_parquet(
        repository / "test.parquet"
    )
    hub = (
        f'[hub]\nrepository = "{repository}"\nrevision = "main"\ncolumns = {{ sentence = '
        f'"text", label = "colour" }}\n'
    )
    text = (
        CORPUS.partition("[splits.train]")[0]
        + "[splits.test]\nclasses = { blue = 1 }\n"
        + hub
        + "[[layout]]"
        + CORPUS.partition("[[layout]]")[2]
    )
    path = write(
        "birds.toml",
        text.replace("files =", "written = true\nfiles =")
        + 'header = ["id", "colour", "year", "text"]\n',
    )
    found = read_corpus(path)
    assert get_dataset(found, tmp_path / "fetched") == [tmp_path / "fetched" / "birds" / "test.tsv"]
    assert (
        tmp_path / "fetched" / "birds" / "test.tsv"
    ).read_text() == "id\tcolour\tyear\ttext\n1\tblue\t\ta tit\n"
    again = Source(folder=tmp_path / "fetched", offline=True).open_split(found)
    assert again.frame.rows() == [("a tit", "blue")]
    assert again.frame.columns == [*COLUMNS["classification"]]
