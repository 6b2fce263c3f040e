from pathlib import Path

from embedlab.runs.events import Step
from embedlab.runs.status import RunState, Status
from embedlab.runs.store import RunFolder
from embedlab.tui.runs.board import Board, BoardRun, board_order

NOW = 1_790_000_000.0


def one(name: str, state: RunState, last_s: float | None, step: int, eta_s: float) -> BoardRun:
    facts = {
        "stage": 0,
        "epoch": 0.5,
        "loss": 1.0,
        "lr": 1e-5,
        "rows_per_s": 10.0,
        "memory_mib": 1.0,
    }
    status = Status(
        state=state, last_s=last_s, step=Step(step=step, steps=100, eta_s=eta_s, **facts)
    )
    return BoardRun(run=RunFolder(Path(name) / "seed-1"), status=status, objective="")


def test_runs_are_sorted_by_the_time_the_share_and_the_state_that_the_texts_mean() -> None:
    runs = (
        one("days", "finished", NOW - 9 * 86_400, 100, 0.0),
        one("now", "running", NOW - 2, 9, 5_000.0),  # "2 s ago"
        one("minutes", "running", NOW - 600, 10, 70.0),  # "10 min ago"
        one("never", "starting", None, 1, 0.0),
    )
    board = Board(runs=runs, time_s=NOW, unreadable=((Path("closed"), "forbidden"),))
    frame = board.frame()

    def names(key: str, *, is_descending: bool = False) -> list[str]:
        return [
            frame["run"][int(row)].partition("@")[0]
            for row in board_order(frame, key, is_descending=is_descending)
        ]

    assert names("last", is_descending=True)[:3] == ["now", "minutes", "days"]
    assert names("last")[:3] == ["days", "minutes", "now"]
    assert set(names("last")[3:]) == {"never", "closed"}
    assert names("eta")[:2] == ["minutes", "now"]
    assert names("progress")[:4] == ["never", "now", "minutes", "days"]
    assert names("state")[0] == "never"
