"""The starter set: what it holds, that it is a part of the corpora, and that it is read only where
it is named.
"""

import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from benchmarks.starter_set import starter_files
from embedlab.core.errors import MissingError
from embedlab.core.paths import STARTER_FOLDER
from embedlab.core.settings import load_settings
from embedlab.data.source import MANIFEST, SOURCES, Source

SIZE = 2 * 2**20


def test_its_pairs_are_a_dataset_by_themselves() -> None:
    part = Source(offline=True).open("starter")  # without any data folder
    sources = [("images", 1_500), ("track5.en-en", 250)]
    assert part.frame["source"].value_counts(sort=True).rows() == sources
    assert tuple(part.frame["source"].unique().sort()) == SOURCES
    assert part.frame["gold"].is_between(0, 5).all()
    assert part.frame["gold"].n_unique() > 20
    state = part.state
    assert (state.origin, state.partial, state.expected_rows) == ("starter", True, 8_628)


def test_it_can_be_made_again_byte_for_byte(shared_data: Path) -> None:
    made = starter_files(shared_data)
    assert {path: (STARTER_FOLDER / path).read_bytes() for path in made} == {
        path: text.encode() for path, text in made.items()
    }


def test_the_files_are_those_of_the_manifest_with_licences_and_attribution() -> None:
    lines = (STARTER_FOLDER / MANIFEST).read_text("utf-8").splitlines()[1:]
    files = [path for path in STARTER_FOLDER.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < SIZE
    data = [
        path for path in files if path.suffix in {".csv", ".jsonl"} or path.stem == "definitions"
    ]
    for path in data:
        content, name = path.read_bytes(), path.relative_to(STARTER_FOLDER).as_posix()
        count = len(content.splitlines())
        facts = f"{name}\t{count}\t{sha256(content).hexdigest()}"
        assert facts in lines
    assert len(data) == len(lines)

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
    with pytest.raises(MissingError, match="'snli' \\(dev\\) is missing") as raised:
        source.open("snli", "dev")
    assert "--data starter" in raised.value.hint
