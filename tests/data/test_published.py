"""Hashes of published files: what is whole, and what has the right counts alone."""

from dataclasses import asdict
from pathlib import Path

from embedlab.data.dataset import DatasetState
from embedlab.data.published import content_of, other_files, published_hash, remarks, shipped_hashes
from embedlab.data.source import Source

SICK = "SICK/SICK_trial.txt"


def state(
    sha256: dict[str, str], *, rows: int = 500, partial: bool = False, empty: int = 0
) -> dict[str, object]:
    found = DatasetState(
        name="sick-r",
        split="dev",
        rows=rows,
        expected_rows=500,
        origin="folder",
        partial=partial,
        sha256=sha256,
        empty=empty,
    )
    return asdict(found)


def test_a_file_of_another_content_is_distinguished_from_the_published_one() -> None:
    published = shipped_hashes()[SICK]
    assert content_of({SICK: published}) == "published"
    assert content_of({SICK: published, "SNLI/snli_1.0_dev.jsonl": "0" * 64}) == "unrecorded"
    assert (
        content_of({SICK: "0" * 64, "SICK/SICK_train.txt": shipped_hashes()["SICK/SICK_train.txt"]})
        == "unknown"
    )
    assert content_of({}) == "unrecorded"
    assert other_files({SICK: "0" * 64}) == [SICK]


def test_sentevals_own_data_folder_has_the_same_files() -> None:
    assert (
        published_hash("downstream/MR/rt-polarity.pos")
        == published_hash("SentEval/downstream/MR/rt-polarity.pos")
        is not None
    )


def test_what_is_said_of_data_follows_from_its_stored_state() -> None:
    published = {SICK: shipped_hashes()[SICK]}
    assert list(remarks(state(published))) == []
    assert list(remarks(state({SICK: "0" * 64}))) == [
        f"sick-r dev: the counts are right, but {SICK!r} differs from the published file"
    ]
    assert list(remarks(state({SICK: "0" * 64}, rows=7, partial=True))) == [
        "sick-r is partial: 7 of 500 rows"
    ]
    assert list(remarks(state(published, empty=2))) == ["sick-r dev: 2 empty sentences"]
    assert list(remarks(state(published, empty=2), is_named=False)) == ["2 empty sentences"]
    (odd,) = remarks(state({SICK: "0" * 64}, partial=True))
    assert (
        odd == "sick-r dev is partial: its classes or empty sentences are not those of the "
        "published corpus"
    )


def test_a_re_encoded_copy_stays_usable_and_is_said_to_be_unknown(
    shared_data: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "SentEval/downstream/TREC"
    folder.mkdir(parents=True)
    text = (
        (shared_data / "SentEval/downstream/TREC/train_5500.label").read_bytes().decode("latin-1")
    )
    (folder / "train_5500.label").write_text(text, encoding="utf-8")
    official = Source(folder=shared_data, offline=True).open("trec", "train")
    copy = Source(folder=tmp_path, offline=True).open("trec", "train")
    assert copy.frame.equals(official.frame)
    assert not copy.state.partial
    assert list(remarks(asdict(official.state))) == []
    (remark,) = remarks(asdict(copy.state))
    assert "the counts are right, but 'SentEval/downstream/TREC/train_5500.label'" in remark
