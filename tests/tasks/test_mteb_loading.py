"""How the rows of mteb's tasks are loaded: with or without the hub, what is said of a failure, and
files of a folder.
"""

import math
import warnings
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from huggingface_hub import constants

from embedlab.core.errors import MissingError, UsageError
from embedlab.data.source import Source
from embedlab.tasks import _mteb_rows
from embedlab.tasks._mteb_rows import TaskName, open_task

TASK = pytest.importorskip("mteb.abstasks").AbsTask

Load = Callable[..., None]


@pytest.fixture
def loaded_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[Load], None]:
    """Lets another function load the rows of mteb's tasks, with a client whose setting allows the
    network.
    """
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


@pytest.mark.parametrize(
    ("said", "expected"),
    [("two\n  lines ", "two lines"), ("", "RuntimeError"), (" \n", "RuntimeError")],
)
def test_why_rows_cannot_be_read_is_said_in_one_line(
    said: str, expected: str, loaded_by: Callable[[Load], None]
) -> None:
    def load(*_: object, **__: object) -> None:
        raise RuntimeError(said)

    loaded_by(load)
    with pytest.raises(MissingError) as raised:
        open_task("mteb:STS12", Source(offline=True))
    assert (
        raised.value.message
        == f"mteb:STS12: its rows, mteb/sts12-sts at a0d554a6, cannot be read: {expected}"
    )


def test_rows_of_a_folder_are_renamed_and_converted_as_the_task_does_with_those_of_the_hub(
    tmp_path: Path,
) -> None:
    """The repository of RUParaPhraserSTS calls its columns text_1, text_2 and class, which is
    text.
    """
    folder = tmp_path / "mteb" / "RUParaPhraserSTS"
    folder.mkdir(parents=True)
    pl.DataFrame({"text_1": ["a", "b"], "text_2": ["c", "d"], "class": ["-1", "1"]}).write_parquet(
        folder / "test.parquet"
    )
    opened = open_task("mteb:RUParaPhraserSTS", Source(folder=tmp_path))
    (part,) = opened.parts.values()
    assert part.frame.rows() == [("a", "c", -1.0), ("b", "d", 1.0)]
    assert opened.task.data_loaded
    state = part.state
    assert (state.name, state.split, state.rows, state.origin, list(state.sha256)) == (
        *("mteb:RUParaPhraserSTS", "test", 2, "folder"),
        ["test.parquet"],
    )


@pytest.mark.parametrize("fails", [False, True])
def test_settings_of_the_hubs_client_are_as_before_behind_a_block(fails: bool) -> None:
    import datasets

    def state() -> tuple[object, ...]:
        return (
            *(
                datasets.config.HF_HUB_OFFLINE,
                constants.HF_HUB_OFFLINE,
                datasets.is_progress_bar_enabled(),
            ),
            *(datasets.config.HF_DATASETS_CACHE, datasets.config.IN_MEMORY_MAX_SIZE),
        )

    before = state()
    for was_enabled in (True, False):
        (datasets.enable_progress_bars if was_enabled else datasets.disable_progress_bars)()
        outside = state()
        ending = pytest.raises(ValueError, match="inside") if fails else warnings.catch_warnings()
        with ending, _mteb_rows._client(offline=True), _mteb_rows._own_cache():
            assert (
                datasets.config.HF_HUB_OFFLINE,
                constants.HF_HUB_OFFLINE,
                datasets.is_progress_bar_enabled(),
            ) == (True, True, False)
            place = Path(datasets.config.HF_DATASETS_CACHE)
            assert place.is_dir()
            assert place != before[3]
            assert math.isinf(datasets.config.IN_MEMORY_MAX_SIZE)
            if fails:
                raise ValueError("inside")
        assert state() == outside
        assert not place.exists()
    (datasets.enable_progress_bars if before[2] else datasets.disable_progress_bars)()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mteb:STS16", TaskName(task="STS16")),
        ("mteb:STS17[en-en,de-en]", TaskName(task="STS17", subsets=("en-en", "de-en"))),
        (
            "mteb:STSBenchmark:validation,test",
            TaskName(task="STSBenchmark", splits=("validation", "test")),
        ),
        ("mteb:STS22.v2[en]:test", TaskName(task="STS22.v2", subsets=("en",), splits=("test",))),
    ],
)
def test_the_name_of_a_task_is_read_and_written_again(text: str, expected: TaskName) -> None:
    assert TaskName.of(text) == expected
    assert str(expected) == text


@pytest.mark.parametrize(
    "text", ["STS16", "mteb:", "mteb:STS17[", "mteb:STS17[]", "mteb:STS17:", "mteb:a:b:c"]
)
def test_what_does_not_name_a_task_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a task of mteb") as error:
        TaskName.of(text)
    assert error.value.hint == "for example mteb:STS16 or mteb:STS17[en-en]"
