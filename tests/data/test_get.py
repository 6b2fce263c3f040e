"""Which splits are fetched from the hub, and what is checked before they are written."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.data import get
from embedlab.data.dataset import Dataset, Expected, FileLayout, HubSource, ParsedRows, Split
from embedlab.data.get import get_dataset, is_fetchable
from embedlab.data.manifest import is_partial

FRAME = pl.DataFrame({"sentence": ["one", "two"]})
HUB = HubSource(repository="owner/made", split="train", columns={}, revision="abc")


def split(file: str, **changes: object) -> Split:
    layout = FileLayout(
        files=(file,),
        read=lambda paths: ParsedRows(frame=FRAME),
        write=lambda frame: ["\n".join(frame["sentence"])],
    )
    return replace(Split(layouts=(layout,), expected=Expected(rows=2), hub=HUB), **changes)  # type: ignore[arg-type]


def made(**splits: Split) -> Dataset:
    return Dataset(name="made", kind="sentences", summary="", home="its home", splits=splits)


@pytest.fixture(autouse=True)
def _hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(get, "read_hub", lambda hub, kind: ParsedRows(frame=FRAME))


def test_a_dataset_is_fetchable_where_all_of_its_splits_are_on_the_hub() -> None:
    there, away = split("a.txt"), split("b.txt", hub=None)
    assert [
        is_fetchable(made(train=one, dev=other)) for one in (there, away) for other in (there, away)
    ] == [True, False, False, False]


def test_what_is_there_is_neither_fetched_nor_missed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("of mine")
    both = made(train=split("a.txt"), dev=split("b.txt"))
    with pytest.raises(MissingError, match=r"--offline forbids fetching 'made' \(dev\)"):
        get_dataset(both, tmp_path, offline=True)
    assert get_dataset(both, tmp_path) == [tmp_path / "b.txt"]
    assert [(tmp_path / name).read_text() for name in ("a.txt", "b.txt")] == ["of mine", "one\ntwo"]
    assert get_dataset(both, tmp_path, offline=True) == []


@pytest.mark.parametrize("lacks", ["hub", "write"])
def test_a_split_that_cannot_be_fetched_or_written_is_refused(lacks: str, tmp_path: Path) -> None:
    one = split("a.txt")
    one = (
        replace(one, hub=None)
        if lacks == "hub"
        else replace(one, layouts=tuple(replace(own, write=None) for own in one.layouts))
    )
    with pytest.raises(MissingError, match=r"'made' \(train\) is not on the hub") as error:
        get_dataset(made(train=one), tmp_path)
    assert error.value.hint == "download it by hand from its home"
    assert not list(tmp_path.iterdir())


def test_other_rows_than_published_are_not_written(tmp_path: Path) -> None:
    expected = Expected(rows=3)
    with pytest.raises(EmbedlabError) as refused:
        is_partial("'made' (train) on the hub", "sentences", FRAME, expected, allow_partial=False)
    with pytest.raises(EmbedlabError) as error:
        get_dataset(made(train=split("a.txt", expected=expected)), tmp_path)
    assert error.value.message == refused.value.message
    assert not (tmp_path / "a.txt").exists()
