"""Two processes at once on one output: one of them wins as a whole, or is refused; and a killed one
leaves nothing for good.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import polars as pl
import pytest

from embedlab.analysis.named_selections import named_selections, store_selection
from embedlab.analysis.pair_notes import PairNotes
from embedlab.core.disk import atomic_folder, is_locked, sole_holder, write_atomic
from embedlab.core.errors import EmbedlabError
from embedlab.core.paths import TINY_FOLDER
from embedlab.data.source import Source
from embedlab.models.aliases import aliases, store_used, take_alias
from embedlab.runs import store
from embedlab.runs.store import RunFolder, remove_runs, rename_runs, select_runs
from tests.processes import Ended, at_once, embedlab_at_once

TIMES = 40


def write_files(path: str, content: str) -> None:
    for _ in range(TIMES):
        write_atomic(Path(path), content)
        assert len(set(Path(path).read_text())) == 1, "two contents are mixed"


def write_folders(path: str, content: str) -> None:
    for _ in range(TIMES):
        with atomic_folder(Path(path)) as place:
            for name in ("a", "b"):
                (place / name).write_text(content)


def make_new_folder(path: str, content: str) -> None:
    with atomic_folder(Path(path), is_new=True) as place:
        (place / "who").write_text(content)
        time.sleep(0.3)


def be_killed(path: str, is_folder: bool) -> None:
    if is_folder:
        with atomic_folder(Path(path)) as place:
            (place / "half").write_text("x")
            os.kill(os.getpid(), signal.SIGKILL)
    os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
    write_atomic(Path(path), "x")


def remove(runs: Path, name: str, _: str) -> None:
    remove_runs(select_runs(runs, name))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _others(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "out")


@pytest.mark.parametrize("write", [write_files, write_folders])
def test_what_several_write_at_once_is_always_of_one_of_them(
    write: Callable[[str, str], None], here: Path
) -> None:
    contents = [letter * 5_000 for letter in "abc"]
    ended = at_once([(write, ("out", content)) for content in contents])
    assert ended == [Ended(code=0, err="")] * 3
    written = {file.read_text() for file in here.glob("out/*" if Path("out").is_dir() else "out")}
    assert len(written) == 1
    assert written < {*contents}
    assert _others(here) == []


def test_of_two_that_make_a_new_folder_one_is_refused(here: Path) -> None:
    ended = at_once([(make_new_folder, ("out", letter)) for letter in "ab"])
    assert sorted(one.code for one in ended) == [0, 3], ended
    assert Path("out/who").read_text() in {"a", "b"}
    assert _others(here) == []


@pytest.mark.parametrize("is_folder", [False, True])
def test_what_a_killed_process_left_goes_at_the_next_write_and_what_another_writes_stays(
    here: Path, is_folder: bool
) -> None:
    (killed,) = at_once([(be_killed, ("out", is_folder))])
    assert killed.code == -signal.SIGKILL
    Path(".out.tmp-4711").mkdir()  # of an earlier version
    (here / ".out.mine").write_text("of the user")
    assert len(_others(here)) == 3

    @contextmanager
    def being_written() -> Iterator[Path]:
        with atomic_folder(Path("out")) as place:
            yield place
            assert place.is_dir()

    with being_written():
        if not is_folder:
            write_atomic(Path("out"), "x")
            Path("out").unlink()
    assert _others(here) == [".out.mine"]


def test_the_lock_of_a_deleted_file_counts_for_nothing(here: Path) -> None:
    with sole_holder(here / "folder" / "lock") as first:
        assert first
        assert is_locked(here / "folder" / "lock")
        (here / "folder" / "lock").unlink()
        (here / "folder").rmdir()
        with sole_holder(here / "folder" / "lock") as second:
            assert second
            with sole_holder(here / "folder" / "lock") as third:
                assert not third


def test_two_evaluations_of_one_model_store_all_scores_of_both(here: Path) -> None:
    Path("words.txt").write_text("a 1 0\nman 0 1\nthe 1 1\n")
    names = ("sts12", "sick-r")
    ended = embedlab_at_once(
        *[
            ("evaluate", "word-vectors:words.txt", "--data", "tiny", "--task", name)
            for name in names
        ]
    )
    assert [one.code for one in ended] == [0, 0], ended
    stored = {path.stem: path for path in Path(os.environ["XDG_CACHE_HOME"]).rglob("sts/*.parquet")}
    assert {name: pl.read_parquet(path).height for name, path in stored.items()} == {
        name: Source(folder=TINY_FOLDER).open(name).frame.height for name in names
    }


def hold(runs: str, way: str, mine: str, others: str) -> int:
    """Take each of the runs by one WAY at the same moment as the other process; hold it until both
    have tried.

    A query for a lock takes long, as on a slow disk: who queries after taking one lock then meets
    who holds the other.
    """

    def slowly_locked(path: Path) -> bool:
        time.sleep(0.01)
        return is_locked(path)

    store.is_locked = slowly_locked  # type: ignore[attr-defined]
    for number in range(4):
        run = RunFolder.of(Path(runs), f"run-{number}", 1)
        meet(f"{mine}-{number}", f"{others}-{number}")
        try:
            with getattr(run, way)():
                Path(f"{mine}-{number}-won").touch()
                meet(f"{mine}-{number}-tried", f"{others}-{number}-tried")
        except EmbedlabError:
            meet(f"{mine}-{number}-tried", f"{others}-{number}-tried")
    return 0


def meet(mine: str, others: str) -> None:
    Path(mine).touch()
    patience = time.monotonic() + 100
    while not Path(others).exists():
        assert time.monotonic() < patience, f"no {others}"


@pytest.mark.parametrize("ways", [("lock", "claim"), ("claim", "claim")])
def test_of_two_that_take_a_run_at_once_exactly_one_gets_it(
    here: Path, ways: tuple[str, str]
) -> None:
    assert (
        at_once(
            [(hold, ("runs", way, *names)) for way, names in zip(ways, ("ab", "ba"), strict=True)]
        )
        == [Ended(code=0, err="")] * 2
    )
    winners = [
        [name for name in "ab" if Path(f"{name}-{number}-won").exists()] for number in range(4)
    ]
    assert {len(one) for one in winners} == {1}


def begin(runs: str, started: str) -> int:
    """Begin the run as often as it takes, as a job script does, and look whether what is written
    stays.
    """
    run = RunFolder.of(Path(runs), "mine", 1)
    while True:
        with suppress(EmbedlabError), run.lock():
            (run.path / "written").write_text("x")
            time.sleep(0.3)
            return 0 if (run.path / "written").is_file() else 1
        Path(started).touch()


@pytest.mark.parametrize("take_away", [remove, pytest.param(rename_runs, marks=pytest.mark.slow)])
def test_a_run_that_is_taken_away_while_it_begins_is_one_or_the_other(
    here: Path, take_away: Callable[..., None]
) -> None:
    for number in range(3):
        runs = here / str(number)
        run = RunFolder.of(runs, "mine", 1)
        run.path.mkdir(parents=True)
        for name in range(300):
            (run.path / f"file-{name}").touch()
        began, taken = at_once(
            [(begin, (str(runs), "started")), (take_away, (runs, "mine", "other"))]
        )
        assert began == Ended(code=0, err="")
        assert taken.code in {0, 1, 2}, taken
        if taken.code:
            assert {"written", "file-0", "file-299"} <= {path.name for path in run.path.iterdir()}
        assert not list(runs.rglob(".*"))


WRITERS = 10


def name_a_model(number: int) -> None:
    store_used(take_alias(f"mine{number}=dice"))


def name_a_selection(number: int) -> None:
    store_selection(f"mine{number}", f"length > {number}")


def note_a_pair(number: int) -> None:
    PairNotes.load().change(f"first {number}", "second", f"note {number}")


@pytest.mark.parametrize(
    ("write", "count"),
    [
        (name_a_model, lambda: len(aliases())),
        (name_a_selection, lambda: len(named_selections())),
        (note_a_pair, lambda: len(PairNotes.load().notes)),
    ],
    ids=["aliases", "selections", "notes"],
)
def test_of_ten_writers_of_the_users_own_state_none_loses_anything(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: Callable[[int], None],
    count: Callable[[], int],
) -> None:
    for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, str(here / variable))
    ended = at_once([(write, (number,)) for number in range(WRITERS)])
    assert [each.code for each in ended] == [0] * WRITERS, ended
    assert count() == WRITERS
