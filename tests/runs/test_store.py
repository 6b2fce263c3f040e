import fcntl
from pathlib import Path

import pytest

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.recipe import Recipe
from embedlab.runs.environment import Environment
from embedlab.runs.status import run_status
from embedlab.runs.store import RunFolder, find_runs, remove_runs, rename_runs, select_runs
from tests.refusal import refused
from tests.runs.conftest import HOLD, child, recipe_of


def test_recipe_and_environment_read_back_as_written(
    run: RunFolder, recipe: Recipe, circumstances: Environment
) -> None:
    before = run.environment_file.stat().st_mtime_ns, run.recipe_file.stat().st_mtime_ns
    run.write_once(recipe, circumstances)  # keeps what is there
    assert (run.environment_file.stat().st_mtime_ns, run.recipe_file.stat().st_mtime_ns) == before
    assert run.recipe() == recipe
    assert run.environment() == circumstances
    assert run.environment().is_partial
    assert not run.environment().is_generated


def test_another_recipe_is_refused_with_the_keys_that_differ(
    run: RunFolder, circumstances: Environment
) -> None:
    with refused("stage.0.optim.lr was 2e-05, now 0.1", "--name mine-2"):
        run.write_once(recipe_of(lr=0.1), circumstances)


def test_whoever_has_the_lock_and_not_yet_said_so_is_waited_for(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.runs.store.time.sleep", lambda _: run.hand_over(7))
    with (run.path / "lock").open("wb") as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        holder = run.holder()
    assert holder is not None
    assert holder.pid == 7


def test_two_processes_never_hold_one_run(run: RunFolder) -> None:
    assert run.holder() is None
    with child(HOLD, run) as other:
        holder = run.holder()
        assert holder is not None
        assert holder.pid == other.pid
        with pytest.raises(EmbedlabError, match="another process"), run.lock():
            pass
        with pytest.raises(UsageError, match="is running"):
            remove_runs([run])
    assert run.holder() is None
    with run.lock():
        assert run.holder() is not None


@pytest.mark.parametrize("name", ["", "../x", ".hidden", "a b", "a@1", "-x", "dice", "gap"])
def test_a_name_that_would_leave_the_runs_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a run"):
        RunFolder.of(tmp_path, name, 1)


def test_a_name_that_is_too_long_is_refused_with_one_that_works(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="300 characters is too long") as caught:
        RunFolder.of(tmp_path, "n" * 300, 1)
    example = caught.value.hint.rpartition(" ")[2]
    assert RunFolder.of(tmp_path, example, 1).path.parent.name == example


def make_runs(folder: Path, *names: str) -> None:
    for name, _, seed in (name.partition("@") for name in names):
        RunFolder.of(folder, name, int(seed)).path.mkdir(parents=True)


def test_runs_are_found_by_name_and_seed_in_order(tmp_path: Path) -> None:
    assert find_runs(tmp_path / "nowhere") == []
    make_runs(tmp_path, "b@10", "b@9", "a@1")
    (tmp_path / "a" / "notes").mkdir()
    (tmp_path / "a" / "seed-x").mkdir()
    (tmp_path / ".trash" / "seed-1").mkdir(parents=True)
    (tmp_path / "file").touch()
    assert [run.id for run in find_runs(tmp_path)] == ["a@1", "b@9", "b@10"]
    assert [run.id for run in select_runs(tmp_path, "b")] == ["b@9", "b@10"]
    assert [run.id for run in select_runs(tmp_path, "b@9")] == ["b@9"]
    with refused("b@8", "did you mean 'b@"):
        select_runs(tmp_path, "b@8")


def test_removing_the_last_seed_removes_the_name(tmp_path: Path) -> None:
    make_runs(tmp_path, "a@1", "a@2")
    remove_runs(select_runs(tmp_path, "a@1"))
    assert [run.id for run in find_runs(tmp_path)] == ["a@2"]
    remove_runs(select_runs(tmp_path, "a"))
    assert list(tmp_path.iterdir()) == []


def test_renaming_moves_all_seeds_and_never_over_another_run(tmp_path: Path) -> None:
    make_runs(tmp_path, "a@1", "a@2", "b@1")
    rename_runs(tmp_path, "a", "c")
    assert [run.id for run in find_runs(tmp_path)] == ["b@1", "c@1", "c@2"]
    with pytest.raises(UsageError, match="already"):
        rename_runs(tmp_path, "c", "b")
    with pytest.raises(UsageError, match="all seeds"):
        rename_runs(tmp_path, "c@1", "d")


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"pid": "7", "host": "here"}',
        '{"pid": 7}',
        "[" * 100_000,
        '{"pid": 7, "host": 7}',
    ],
)
def test_a_damaged_pid_file_is_refused_by_name(run: RunFolder, text: str) -> None:
    run.pid_file.write_text(text)
    with (run.path / "lock").open("wb") as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        with pytest.raises(MissingError, match="pid: damaged"):
            run.holder()
        assert run_status(run).state == "unreadable"
        assert run_status(run).message.startswith(f"{run.pid_file}: damaged")
