"""How the rows of mteb's tasks are loaded: with or without the hub, what is said of a failure, and
files of a folder.
"""

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub import constants

from embedlab.core.errors import MissingError, UsageError
from embedlab.data.source import Source
from embedlab.tasks import _mteb_rows
from embedlab.tasks._mteb_rows import TaskName, _open_task, open_task

TASK = pytest.importorskip("mteb.abstasks").AbsTask

Load = Callable[..., None]


@pytest.fixture
def loaded_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[Load], None]:
    """Lets another function load the rows of mteb's tasks, with a client whose setting allows the
    network.
    """
    _open_task.cache_clear()
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


def test_settings_of_the_hubs_client_are_as_before_behind_a_block_that_fails() -> None:
    import datasets

    def state() -> tuple[object, ...]:
        config = datasets.config
        offline = (config.HF_HUB_OFFLINE, constants.HF_HUB_OFFLINE)
        return *offline, config.IN_MEMORY_MAX_SIZE, config.HF_DATASETS_CACHE

    outside, seen = state(), list[object]()

    def fail() -> None:
        seen.extend(state())
        assert Path(str(seen[-1])).is_dir()
        raise ValueError("inside")

    ending = pytest.raises(ValueError, match="inside")
    with ending, _mteb_rows._client(offline=True), _mteb_rows._private_cache():
        fail()
    assert seen[:3] == [True, True, math.inf]
    assert seen[3] != outside[3]
    assert state() == outside
    assert not Path(str(seen[3])).exists()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("mteb:STS16", ("STS16", (), ())),
        ("mteb:STS17[en-en,de-en]", ("STS17", ("en-en", "de-en"), ())),
        ("mteb:STS22.v2[en]:validation,test", ("STS22.v2", ("en",), ("validation", "test"))),
        *((name, None) for name in ("STS16", "mteb:", "mteb:STS17[]", "mteb:STS17:", "mteb:a:b:c")),
    ],
)
def test_the_name_of_a_task_is_read_and_written_again_or_refused(
    text: str, parts: tuple[str, tuple[str, ...], tuple[str, ...]] | None
) -> None:
    if parts:
        name = TaskName.of(text)
        assert (name.task, name.subsets, name.splits) == parts
        assert str(name) == text
        return
    with pytest.raises(UsageError, match="is not a task of mteb") as error:
        TaskName.of(text)
    assert error.value.hint == "for example mteb:STS16 or mteb:STS17[en-en]"
