"""The table of runs says what happens with a run after its training, and why one ended."""

from embedlab.core.settings import Settings
from embedlab.runs.events import Finished, Started
from embedlab.runs.scoring import being_scored
from embedlab.tui.runs.board import RunFollower, states
from tests.tui.driving import make_run


def test_a_finished_run_is_scoring_while_its_tasks_are_scored_though_no_file_changes(
    own_world: Settings,
) -> None:
    run = make_run(own_world, "mine", 1, Finished(step=20))
    follower = RunFollower(own_world.runs)
    state = {row["run"]: row["state"] for row in follower.look().frame().to_dicts()}
    assert state["mine@1"] == "✓ finished"
    with being_scored([run]):
        board = follower.look()
        assert {row["run"]: row["state"] for row in board.frame().to_dicts()}[
            "mine@1"
        ] == "▷ scoring"
        assert "▷ 1 scoring" in states(board)
        assert not board.has_ended, "the next look may find it scored"
    assert {row["run"]: row["state"] for row in follower.look().frame().to_dicts()}[
        "mine@1"
    ] == "✓ finished"


def test_a_crash_has_a_note_and_a_resumed_run_says_where_it_goes_on(own_world: Settings) -> None:
    make_run(own_world, "crashed", 1)
    make_run(own_world, "again", 1, Started(pid=1, host="here", steps=20, step=10))
    follower = RunFollower(own_world.runs)
    notes = {row["run"]: row["note"] for row in follower.look().frame().to_dicts()}
    assert "ended at step 20 of 20 without a report" in notes["crashed@1"]
    again = next(found.run for found in follower.look().runs if found.run.id == "again@1")
    with again.lock():
        notes = {row["run"]: row["note"] for row in follower.look().frame().to_dicts()}
    assert notes["again@1"] == "goes on from step 10"
