import hashlib
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.paths import STARTER_FOLDER, TINY_FOLDER
from embedlab.data.dataset import Expected
from embedlab.data.manifest import RECORD, get_dataset
from embedlab.data.source import Source, dataset
from tests.data.conftest import Write, on_hub

LINE = '{"gold_label": "neutral", "sentence1": "a", "sentence2": "b"}\n'


@pytest.mark.parametrize(
    ("source", "name", "split", "message", "hint"),
    [
        (Source(folder=TINY_FOLDER), "sts12", "dev", "'sts12' has no split 'dev'", "splits: test"),
        (
            Source(folder=STARTER_FOLDER, offline=True),
            "snli",
            "dev",
            "dataset 'snli' (dev) is missing: no file 'SNLI/snli_1.0_dev.jsonl' in ",
            "`embedlab data get snli`",
        ),
        (
            Source(folder=Path("nowhere"), offline=True),
            "snli",
            None,
            "no data folder 'nowh",
            "--data",
        ),
        (
            Source(offline=True),
            "sts12",
            None,
            "no data folder is set, and embedlab is set to stay offline",
            "--data",
        ),
        (Source(), "sick-r", None, "no data folder is set", "zenodo"),
    ],
)
def test_what_is_missing_is_named_with_its_place_and_the_way_to_get_it(
    source: Source, name: str, split: str | None, message: str, hint: str
) -> None:
    with pytest.raises(EmbedlabError) as caught:
        source.open(name, split)
    assert message in caught.value.message
    assert hint in str(caught.value.hint)


def test_a_corpus_that_lacks_a_file_is_not_replaced_by_its_other_layout(
    write: Write, tmp_path: Path
) -> None:
    for part in ("input", "gs"):
        write(f"STS/STS13-en-test/STS.{part}.ALL.txt", "a\tb\n" if part == "input" else "1\n")
    source = Source(folder=tmp_path / "data", offline=True, allow_partial=True)
    assert source.open("sts13").state.rows == 1
    write("STS/STS13-en-test/STS.input.FNWN.txt", "a\tb\n")
    with pytest.raises(
        MissingError, match=r"no file '.*STS13-en-test/STS\.gs\.FNWN\.txt'"
    ) as caught:
        source.open("sts13")
    assert "restore the file, or remove" in caught.value.hint


def test_truncated_data_is_refused_with_both_counts_and_marked_when_allowed(
    write: Write, tmp_path: Path
) -> None:
    path = write("SNLI/snli_1.0_dev.jsonl", LINE * 3)
    with pytest.raises(
        MissingError,
        match="3 rows instead of 9,842, classes neutral 3 instead of contradiction 3,278",
    ):
        Source(folder=tmp_path / "data").open("snli", "dev")
    state = Source(folder=tmp_path / "data", allow_partial=True).open("snli", "dev").state
    assert (state.partial, state.rows, state.expected_rows) == (True, 3, 9842)
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    assert state.sha256 == {"SNLI/snli_1.0_dev.jsonl": content}


@pytest.fixture
def nli_repository(tmp_path: Path) -> Path:
    rows = [
        {"premise": "a", "hypothesis": text, "label": label, "other": 1}
        for text, label in (("b", 0), ("c", 2), ("d", -1), ("e", 1))
    ]
    folder = tmp_path / "repository"
    folder.mkdir()
    pl.DataFrame(rows).write_parquet(folder / "train-00000-of-00001.parquet")
    return folder


def test_get_writes_what_the_hub_has_and_what_the_reader_reads(
    nli_repository: Path, tmp_path: Path
) -> None:
    found = on_hub("snli", "train", nli_repository, Expected(rows=3))
    part = Source().open_split(found)
    labels = ["entailment", "contradiction", "neutral"]
    assert part.frame.rows() == list(zip("aaa", "bce", labels, strict=True))
    assert (part.state.origin, part.state.skipped) == ("hub", {"no label": 1})
    assert part.state.revision == f"{nli_repository}@main"

    (written,) = get_dataset(found, tmp_path / "data")
    assert written == tmp_path / "data/SNLI/snli_1.0_train.jsonl"
    assert get_dataset(found, tmp_path / "data") == []
    source = Source(folder=tmp_path / "data", offline=True)
    again = source.open_split(found)
    assert again.frame.equals(part.frame)
    assert (again.state.origin, again.state.revision) == ("folder", part.state.revision)
    # it is known by its revision until it is changed
    written.write_text(written.read_text().replace('"b"', '"x"'))
    assert source.open_split(found).state.revision is None
    (tmp_path / "data" / RECORD).write_bytes(b"\xff\x00\n\t\t\t\n")
    assert source.open_split(found).state.revision is None


def test_get_writes_nothing_of_a_truncated_set_offline_and_of_what_no_hub_has(
    nli_repository: Path, tmp_path: Path
) -> None:
    with pytest.raises(MissingError, match="3 rows instead of 4"):
        get_dataset(on_hub("snli", "train", nli_repository, Expected(rows=4)), tmp_path / "data")
    with pytest.raises(MissingError, match=r"'snli' \(train\) is not downloaded: embedlab is set"):
        get_dataset(dataset("snli"), tmp_path / "data", offline=True)
    with pytest.raises(MissingError, match=r"'sick-r' .* is not on the hub") as caught:
        get_dataset(dataset("sick-r"), tmp_path / "data")
    assert "zenodo" in caught.value.hint
    assert not (tmp_path / "data").exists()
