"""A run says while its model is scored, by whichever process, and no longer."""

import subprocess

from embedlab.runs import events
from embedlab.runs.status import is_being_scored, mark_being_scored, run_status
from embedlab.runs.store import RunFolder
from tests.runs.conftest import child
from tests.stored_scores import say

OTHER = """
import sys
from pathlib import Path
from embedlab.runs.status import mark_being_scored
from embedlab.runs.store import RunFolder
with mark_being_scored([RunFolder(Path(sys.argv[1]))]):
    print("scoring", flush=True)
    sys.stdin.read()
"""


def finished(run: RunFolder) -> None:
    say(run, events.Started(pid=1, host="here", steps=9), events.Finished(step=9))


def test_a_finished_run_is_scoring_until_its_block_ends(run: RunFolder) -> None:
    finished(run)
    before = set(run.path.iterdir())
    with mark_being_scored([run]):
        status = run_status(run)
        assert (status.state, status.shown_state) == ("finished", "scoring")
        with mark_being_scored([run]):  # several tasks at once
            assert run_status(run).is_scoring
        assert run_status(run).is_scoring, "the inner block may not end the outer one"
    assert run_status(run).shown_state == "finished"
    assert set(run.path.iterdir()) == before


def test_a_killed_process_scores_no_longer(run: RunFolder) -> None:
    finished(run)
    with child(OTHER, run, stdin=subprocess.PIPE) as process:
        assert is_being_scored(run)
        process.kill()
        process.wait()
        assert not is_being_scored(run)
        with mark_being_scored([run]):  # over the file that it left
            assert is_being_scored(run)


def test_a_run_whose_folder_is_gone_is_scored_too(run: RunFolder) -> None:
    gone = RunFolder(run.path.with_name("seed-9"))
    with mark_being_scored([gone, run]):
        assert (is_being_scored(gone), is_being_scored(run)) == (False, True)
