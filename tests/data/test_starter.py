"""The starter set: what it holds, that it is a part of the corpora, and that it is read only where
it is named.
"""

import shutil
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

from benchmarks.starter_set import starter_files
from embedlab.core.errors import MissingError
from embedlab.core.paths import STARTER_FOLDER
from embedlab.core.settings import load_settings
from embedlab.data.overlaps import KnownText
from embedlab.data.source import MANIFEST, SOURCES, Source

SIZE = 2 * 2**20
ROWS = [
    ("sts-benchmark", "train", 1_000, 5_749),
    ("sts-benchmark", "dev", 375, 1_500),
    ("sts-benchmark", "test", 375, 1_379),
    ("snli", "train", 8_000, 549_367),
    ("definitions", "all", 2_000, 185_152),
]


def starter() -> Source:
    return Source.from_settings(load_settings({"data": "starter"})[0])


@pytest.mark.parametrize(("name", "split", "rows", "published"), ROWS)
def test_it_holds_parts_of_corpora_that_are_marked_without_being_allowed(
    name: str, split: str, rows: int, published: int
) -> None:
    part = starter().open(name, split)
    assert (part.state.rows, part.state.expected_rows) == (rows, published)
    assert (part.state.origin, part.state.partial) == ("starter", True)


def test_its_pairs_are_a_dataset_by_themselves() -> None:
    part = Source(offline=True).open("starter")  # without any data folder
    assert part.frame["source"].value_counts(sort=True).rows() == [
        ("images", 1_500),
        ("track5.en-en", 250),
    ]
    assert part.frame["gold"].is_between(0, 5).all()
    assert part.frame["gold"].n_unique() > 20
    assert (part.state.origin, part.state.partial, part.state.expected_rows) == (
        "starter",
        True,
        8_628,
    )
    assert tuple(part.frame["source"].unique().sort()) == SOURCES


def test_premises_have_an_entailment_and_another_label_and_none_is_a_scored_sentence() -> None:
    rows = starter().open("snli", "train")
    labels = rows.frame.group_by("premise").agg(pl.col("label").unique())["label"]
    assert all("entailment" in own and len(own) > 1 for own in labels)
    assert len(labels) == 2_641
    together = rows.frame["premise"].rle_id()
    assert together.n_unique() == len(labels)  # the pairs of a premise follow each other
    assert not KnownText.of([rows.frame]).overlap(starter().open("starter").frame)


def test_each_row_is_a_row_of_the_corpora(shared_data: Path) -> None:
    whole = Source(folder=shared_data, allow_partial=True)
    for name, split, rows, _ in ROWS:
        found = starter().open(name, split).frame
        assert (
            found.join(
                whole.open(name, split).frame, on=found.columns, how="semi", nulls_equal=True
            ).height
            == rows
        )
    pairs = pl.concat(
        [whole.open("sts-benchmark", split).frame for split in ("train", "dev", "test")]
    )
    assert starter().open("starter").frame.equals(pairs.filter(pl.col("source").is_in(SOURCES)))


def test_it_can_be_made_again_byte_for_byte(shared_data: Path) -> None:
    made = starter_files(shared_data)
    assert {path: (STARTER_FOLDER / path).read_bytes() for path in made} == {
        path: text.encode() for path, text in made.items()
    }


def test_the_files_are_those_of_the_manifest_with_licences_and_attribution() -> None:
    lines = (STARTER_FOLDER / MANIFEST).read_text("utf-8").splitlines()[1:]
    listed = {
        path: (int(count), digest) for path, count, digest in (line.split("\t") for line in lines)
    }
    there = {path for path in STARTER_FOLDER.rglob("*") if path.is_file()}
    data = {
        path
        for path in there
        if path.suffix in {".csv", ".jsonl"} or path.name == "definitions.tsv"
    }
    assert {path.relative_to(STARTER_FOLDER).as_posix() for path in data} == listed.keys()
    for path, (count, digest) in listed.items():
        content = (STARTER_FOLDER / path).read_bytes()
        assert (content.count(b"\n"), sha256(content).hexdigest()) == (count, digest)
    assert sum(path.stat().st_size for path in there) < SIZE

    page = (STARTER_FOLDER / "README.md").read_text("utf-8")
    texts = {path.name for path in (STARTER_FOLDER / "licences").iterdir()}
    assert texts == {"CC-BY-SA-4.0.txt", "OEWN-LICENSE.txt", "WNDB_License.txt"}
    assert all(f"licences/{name}" in page for name in texts)


def test_a_damaged_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "starter"
    shutil.copytree(STARTER_FOLDER, copy)
    for module in ("embedlab.core.paths", "embedlab.data.source"):
        monkeypatch.setattr(f"{module}.STARTER_FOLDER", copy)
    assert Source(folder=copy).open("snli", "train").state.partial
    path = copy / "SNLI" / "snli_1.0_train.jsonl"
    path.write_text(path.read_text("utf-8").replace("woman", "women", 1), "utf-8")
    with pytest.raises(MissingError, match=r"train\.jsonl' of the starter set is damaged"):
        Source(folder=copy).open("snli", "train")


def test_of_a_whole_task_it_reads_what_it_holds_and_a_named_dataset_that_it_lacks_is_missing() -> (
    None
):
    source = Source.from_settings(load_settings({"data": "starter", "offline": True})[0])
    assert source.suite(("sts12", "sts-benchmark", "sick-r")) == ["sts-benchmark"]
    assert source.suite(("mr", "cr")) == ("mr", "cr")
    assert Source(folder=Path("elsewhere")).suite(("sts12", "sts-benchmark")) == (
        "sts12",
        "sts-benchmark",
    )
    with pytest.raises(MissingError, match="'sts12' \\(test\\) is missing"):
        source.open("sts12")
    with pytest.raises(MissingError, match="'snli' \\(dev\\) is missing") as raised:
        source.open("snli", "dev")
    assert "--data starter" in raised.value.hint
