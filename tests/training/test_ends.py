"""A process killed between the last step of a run and its end: whoever resumes it ends as if
nothing had happened.
"""

import signal
from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.runs import events
from embedlab.runs.status import is_trained, run_status
from embedlab.runs.store import RunFolder
from tests.processes import process
from tests.training import killed_run
from tests.training.small_runs import (
    Train,
    curve,
    length_of_a_vector,
    recipe_of,
    short_stages,
    stage,
)

# The moments of a training's end, and whether it was finished then.
MOMENTS = {
    "while the heads are written": False,
    "while the model is written": False,
    "before the run is finished": False,
    "before the checkpoints go": True,
    "while the checkpoints go": True,
    "after the checkpoints": True,
}


def left_behind(run: RunFolder) -> dict[str, bytes]:
    """All files of a run but those that say when and where it ran, and in which folder."""
    apart = {"environment.json", "events.jsonl", "pid", "lock", "starting", "model/README.md"}
    files = {
        str(path.relative_to(run.path)): path for path in run.path.rglob("*") if path.is_file()
    }
    return {name: path.read_bytes() for name, path in files.items() if name not in apart}


@pytest.mark.slow
def test_a_kill_at_the_end_changes_nothing(
    train: Train, tiny_encoder: Path, tmp_path: Path
) -> None:
    recipe = short_stages(tiny_encoder)
    whole = train(recipe, "whole", dev_score=length_of_a_vector, keeps_checkpoints=False)
    expected = left_behind(whole)
    assert {"model/model.safetensors", "heads.safetensors", "learnt.parquet"} <= set(expected)
    for number, (moment, is_finished) in enumerate(MOMENTS.items()):
        run = RunFolder.of(tmp_path / "runs", f"killed-{number}", 1)
        child = process(killed_run.end_at, moment, tiny_encoder, tmp_path / "runs", run.name)
        child.start()
        child.join()
        assert child.exitcode == -signal.SIGKILL, moment
        assert (run_status(run).state == "finished") is is_trained(run) is is_finished, moment
        train(recipe, run.name, resume=True, dev_score=length_of_a_vector, keeps_checkpoints=False)
        assert left_behind(run) == expected, moment
        assert curve(run) == curve(whole), moment


def test_resuming_begins_what_never_began_and_leaves_a_finished_run_as_it_is(
    train: Train, tiny_encoder: Path
) -> None:
    recipe = recipe_of(tiny_encoder, stage(rows=32))
    run = train(recipe, resume=True, keeps_checkpoints=False)
    assert not run.checkpoints.exists()
    reported: list[events.Event] = []
    before = run.events_file.read_bytes()
    train(recipe, resume=True, report=reported.append)
    with pytest.raises(UsageError, match="finished"):
        train(recipe)
    assert (reported, run.events_file.read_bytes()) == ([], before)
