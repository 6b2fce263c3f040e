import shutil
from pathlib import Path

import pytest

from embedlab.core.errors import EmbedlabError
from embedlab.runs import events
from embedlab.runs.store import RunFolder
from embedlab.runs.tidy import prune_run, sweep
from tests.refusal import refused
from tests.stored_scores import say

SMALL = {"events.jsonl", "lock", "pid", "recipe.toml", "environment.json"}
UNDER_WAY = (".scores.parquet.tmp-0a", ".learnt.parquet.tmp-0a")
FINISHED = events.Finished(step=9)
STARTED = events.Started(time=1.0, pid=1, host="here", steps=9)


def filled(run: RunFolder, *logged: events.Event) -> RunFolder:
    """A run with two checkpoints of 100 bytes, a model, what killed processes left, and what others
    are writing.
    """
    say(run, *logged)
    for place in (
        *("checkpoints/step-0000003", "checkpoints/step-0000009", "model"),
        *("checkpoints/.step-0000009.tmp-77", "checkpoints/.best-0000003.tmp-77"),
        *(".model.tmp-77", ".model.old-78"),
    ):
        (run.path / place).mkdir(parents=True)
        (run.path / place / "weights").write_bytes(b"x" * 100)
    for name in UNDER_WAY:
        (run.path / name).write_bytes(b"x" * 100)
    return run


def names(run: RunFolder) -> set[str]:
    return {
        str(path.relative_to(run.path)) for path in run.path.rglob("*") if path.is_file()
    } - SMALL


def test_a_finished_run_keeps_what_is_needed(run: RunFolder) -> None:
    filled(run, STARTED, FINISHED)
    assert prune_run(run) == 600
    assert names(run) == {"model/weights", *UNDER_WAY}
    assert prune_run(run) == 0


def test_only_what_is_really_freed_is_counted(run: RunFolder) -> None:
    filled(run, STARTED, FINISHED)
    third, ninth = (run.path / f"checkpoints/step-000000{step}" for step in (3, 9))
    elsewhere = run.path.parent / "elsewhere"
    elsewhere.hardlink_to(third / "weights")
    (ninth / "twice").hardlink_to(ninth / "weights")
    assert prune_run(run) == 500
    assert elsewhere.read_bytes() == b"x" * 100


@pytest.mark.parametrize(
    ("logged", "has_model"),
    [([STARTED], True), ([STARTED, FINISHED, STARTED], True), ([STARTED, FINISHED], False)],
)
def test_a_run_that_is_not_finished_or_lacks_its_model_keeps_its_checkpoints(
    run: RunFolder, logged: list[events.Event], has_model: bool
) -> None:
    filled(run, *logged)
    if not has_model:
        shutil.rmtree(run.model)
    assert prune_run(run) == 400
    assert len(names(run)) == 4 + has_model


def test_a_running_run_is_refused(run: RunFolder) -> None:
    filled(run, STARTED, FINISHED)
    follow = f"runs log {run.id} --follow"
    with RunFolder(run.path).lock(), refused("in use by another process", follow, EmbedlabError):
        prune_run(run)
    assert len(names(run)) == 9


def test_a_link_in_the_place_of_a_leftover_is_removed_and_not_followed(
    run: RunFolder, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").write_text("precious")
    run.path.mkdir(parents=True, exist_ok=True)
    (run.path / ".model.tmp-1").symlink_to(tmp_path / "elsewhere")
    sweep(run)
    assert (tmp_path / "elsewhere" / "file").exists()
    assert not (run.path / ".model.tmp-1").is_symlink()
