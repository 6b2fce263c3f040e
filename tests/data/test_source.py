import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.data.dataset import Dataset, Expected
from embedlab.data.manifest import RECORD, get_dataset
from embedlab.data.source import Source, dataset
from tests.data.conftest import Write

LINE = '{"gold_label": "neutral", "sentence1": "a", "sentence2": "b"}\n'


def test_an_unknown_dataset_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        dataset("slni")
    assert "'snli'" in caught.value.hint


def test_an_unknown_split_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"'sts12' has no split 'dev'") as caught:
        Source(folder=TINY_FOLDER).open("sts12", "dev")
    assert caught.value.hint == "its splits: test"


def test_a_missing_file_is_named_with_its_folder_and_the_way_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(MissingError) as caught:
        Source(folder=tmp_path, offline=True).open("snli")
    assert (
        caught.value.message
        == f"dataset 'snli' (train) is missing: no file 'SNLI/snli_1.0_train.jsonl' in "
        f"{str(tmp_path)!r}"
    )
    assert "`embedlab data get snli`" in caught.value.hint
    assert "--data DIR" in caught.value.hint


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


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"no data folder '.*nowhere'"):
        Source(folder=tmp_path / "nowhere", offline=True).open("snli")


def test_without_folder_and_network_the_error_says_so() -> None:
    with pytest.raises(
        MissingError, match="no data folder is set, and embedlab is set to stay offline"
    ):
        Source(offline=True).open("sts12")
    with pytest.raises(MissingError) as caught:
        Source().open("sick-r")
    assert "zenodo" in caught.value.hint


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
    assert (state.partial, state.rows, state.expected_rows, state.origin) == (
        True,
        3,
        9842,
        "folder",
    )
    assert state.sha256 == {
        "SNLI/snli_1.0_dev.jsonl": hashlib.sha256(path.read_bytes()).hexdigest()
    }


def test_light_imports_stay_light() -> None:
    code = (
        "import sys, embedlab.data.source as s; s.all_datasets(); print([m for m in "
        "('torch','datasets','scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def on_hub(name: str, split: str, repository: Path, rows: int) -> Dataset:
    """The dataset NAME with one split that comes from a small local repository."""
    found = dataset(name)
    hub = found.splits[split].hub
    assert hub is not None
    local = replace(hub, repository=str(repository), revision="main")
    return replace(
        found, splits={split: replace(found.splits[split], hub=local, expected=Expected(rows=rows))}
    )


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


def test_the_hub_fills_our_columns_and_skips_unlabelled_rows(nli_repository: Path) -> None:
    part = Source().open_split(on_hub("snli", "train", nli_repository, 3))
    assert part.frame.rows() == [
        ("a", "b", "entailment"),
        ("a", "c", "contradiction"),
        ("a", "e", "neutral"),
    ]
    assert part.state.origin == "hub"
    assert part.state.revision == f"{nli_repository}@main"
    assert part.state.skipped == {"no label": 1}


def test_get_writes_what_the_reader_reads(nli_repository: Path, tmp_path: Path) -> None:
    found = on_hub("snli", "train", nli_repository, 3)
    written = get_dataset(found, tmp_path / "data")
    assert written == [tmp_path / "data/SNLI/snli_1.0_train.jsonl"]
    assert len(json.loads(written[0].read_text().splitlines()[0])) == 3
    part = Source(folder=tmp_path / "data", offline=True).open_split(found)
    assert part.frame.equals(Source().open_split(found).frame)
    assert part.state.origin == "folder"
    assert get_dataset(found, tmp_path / "data") == []


def test_what_get_wrote_is_known_by_its_revision_until_it_is_changed(
    nli_repository: Path, tmp_path: Path
) -> None:
    found = on_hub("snli", "train", nli_repository, 3)
    (written,) = get_dataset(found, tmp_path / "data")
    source = Source(folder=tmp_path / "data", offline=True)
    assert source.open_split(found).state.revision == f"{nli_repository}@main"
    written.write_text(written.read_text().replace('"b"', '"x"'))
    assert source.open_split(found).state.revision is None
    (tmp_path / "data" / RECORD).write_bytes(b"\xff\x00\n\t\t\t\n")
    assert source.open_split(found).state.revision is None


def test_get_keeps_that_the_hubs_sts_has_no_sources(tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    pl.DataFrame(
        {"sentence1": ["a", "c"], "sentence2": ["b", "d"], "score": [1.0, 4.25]}
    ).write_parquet(folder / "test.parquet")
    found = on_hub("sts13", "test", folder, 2)
    get_dataset(found, tmp_path / "data")
    frame = Source(folder=tmp_path / "data", offline=True).open_split(found).frame
    assert frame.rows() == [("a", "b", 1.0, None), ("c", "d", 4.25, None)]


def test_get_writes_nothing_when_the_hub_gives_a_truncated_set(
    nli_repository: Path, tmp_path: Path
) -> None:
    with pytest.raises(MissingError, match="3 rows instead of 4"):
        get_dataset(on_hub("snli", "train", nli_repository, 4), tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_get_offline_or_of_what_no_hub_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"'snli' \(train\) is not downloaded: embedlab is set"):
        get_dataset(dataset("snli"), tmp_path, offline=True)
    with pytest.raises(MissingError, match=r"'sick-r' .* is not on the hub") as caught:
        get_dataset(dataset("sick-r"), tmp_path)
    assert "zenodo" in caught.value.hint


def test_what_the_hub_has_but_no_layout_can_hold_is_refused_before_it_is_fetched(
    nli_repository: Path, tmp_path: Path
) -> None:
    found = on_hub("snli", "train", nli_repository, 3)
    split = found.splits["train"]
    unwritable = replace(
        found,
        splits={
            "train": replace(
                split, layouts=tuple(replace(layout, write=None) for layout in split.layouts)
            )
        },
    )
    with pytest.raises(MissingError, match=r"'snli' .train. is not on the hub"):
        get_dataset(unwritable, tmp_path / "data")
