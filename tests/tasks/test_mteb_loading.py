"""How the rows of mteb's tasks are loaded: with or without the hub, what is said of a failure, and files of a folder."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from huggingface_hub import constants

from embedlab.core.errors import MissingError
from embedlab.data.source import Source
from embedlab.tasks import _mteb_rows
from embedlab.tasks._mteb_rows import open_task

TASK = pytest.importorskip("mteb.abstasks").AbsTask

Load = Callable[..., None]


@pytest.fixture
def loaded_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[Load], None]:
    """Lets another function load the rows of mteb's tasks, with a client whose setting allows the network."""
    open_task.cache_clear()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    return lambda load: monkeypatch.setattr(TASK, "load_data", load)


@pytest.mark.parametrize(
    ("offline", "reachable", "is_local", "expected"),
    [
        (False, True, False, False),
        (False, False, False, True),
        (True, True, False, True),
        (False, False, True, False),  # the rows are in a folder, for which no hub is needed
    ],
)
def test_the_client_uses_its_cache_alone_where_the_hub_cannot_answer_or_must_not_be_used(
    offline: bool,
    reachable: bool,
    is_local: bool,
    expected: bool,
    loaded_by: Callable[[Load], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    seen: list[bool] = []

    def load(*_: object, **__: object) -> None:
        seen.append(constants.HF_HUB_OFFLINE)
        raise OSError("no rows")

    loaded_by(load)
    monkeypatch.setattr(_mteb_rows, "is_reachable", lambda: reachable)
    monkeypatch.chdir(tmp_path)
    if is_local:
        (tmp_path / "mteb" / "sts12-sts").mkdir(parents=True)
    with pytest.raises(MissingError):
        open_task("mteb:STS12", Source(offline=offline))
    assert seen == [expected]
    assert not constants.HF_HUB_OFFLINE


@pytest.mark.parametrize(("said", "expected"), [("two\n  lines ", "two lines"), ("", "RuntimeError"), (" \n", "RuntimeError")])
def test_why_rows_cannot_be_read_is_said_in_one_line(said: str, expected: str, loaded_by: Callable[[Load], None]) -> None:
    def load(*_: object, **__: object) -> None:
        raise RuntimeError(said)

    loaded_by(load)
    with pytest.raises(MissingError) as raised:
        open_task("mteb:STS12", Source(offline=True))
    assert raised.value.message == f"mteb:STS12: its rows, mteb/sts12-sts at a0d554a6, cannot be read: {expected}"


def test_the_files_of_a_folder_are_recorded_in_alphabetical_order(tmp_path: Path) -> None:
    folder = tmp_path / "mteb" / "STS14"
    folder.mkdir(parents=True)
    rows = pl.DataFrame({"sentence1": ["a", "b"], "sentence2": ["c", "d"], "score": [1.0, 2.0]})
    for split in ("test", "dev", "zero", "train", "extra", "other", "more", "all"):
        rows.write_csv(folder / f"{split}.csv")
    (folder / "notes.txt").write_text("no rows")
    (part,) = open_task("mteb:STS14", Source(folder=tmp_path)).parts.values()
    assert list(part.state.sha256) == [f"{split}.csv" for split in ("all", "dev", "extra", "more", "other", "test", "train", "zero")]
    assert part.frame.rows() == [("a", "c", 1.0), ("b", "d", 2.0)]


def test_rows_of_a_folder_are_renamed_and_converted_as_the_task_does_with_those_of_the_hub(tmp_path: Path) -> None:
    """The repository of RUParaPhraserSTS calls its columns text_1, text_2 and class, which is text."""
    folder = tmp_path / "mteb" / "RUParaPhraserSTS"
    folder.mkdir(parents=True)
    pl.DataFrame({"text_1": ["a", "b"], "text_2": ["c", "d"], "class": ["-1", "1"]}).write_parquet(folder / "test.parquet")
    opened = open_task("mteb:RUParaPhraserSTS", Source(folder=tmp_path))
    (part,) = opened.parts.values()
    assert part.frame.rows() == [("a", "c", -1.0), ("b", "d", 1.0)]
    assert opened.task.data_loaded
    state = part.state
    assert (state.name, state.split, state.rows, state.origin, list(state.sha256)) == (
        *("mteb:RUParaPhraserSTS", "test", 2, "folder"),
        ["test.parquet"],
    )
