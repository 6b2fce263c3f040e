"""Models that separate processes score for the dashboard: the arguments of the processes and the
reports of their ends.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from embedlab.core.settings import Settings
from embedlab.runs import launch
from embedlab.tui.scoring_processes import ScoringProcesses
from tests.tui.driving import Open


@pytest.mark.parametrize(
    ("does", "reported"),
    [("os.kill(os.getpid(), 9)", "ended by signal 9"), ("exit(1)", "ended with exit code 1")],
)
def test_a_process_that_ends_without_a_word_has_scored_nothing(
    world: Settings, monkeypatch: pytest.MonkeyPatch, does: str, reported: str
) -> None:
    def start(arguments: Sequence[str], log: Path) -> launch.Detached:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as file:
            process = subprocess.Popen([sys.executable, "-c", f"import os; {does}"], stdout=file)
        return launch.Detached(process=process, log=log, errors=log.with_suffix(".jsonl"), offset=0)

    monkeypatch.setattr(launch, "start_detached", start)
    processes = ScoringProcesses(world)
    processes.start("dice", ["sts"])
    while not (ended := processes.poll()):
        pass
    ((name, error),) = ended
    assert name == "dice"
    assert error is not None
    assert reported in error.message


async def test_a_model_is_scored_on_what_is_at_hand(
    opened: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, world: Settings
) -> None:
    selected: list[Sequence[str]] = []
    monkeypatch.setattr(ScoringProcesses, "start", lambda _, name, tasks: selected.append(tasks))
    path = tmp_path / "mine.tsv"
    path.write_text("sentence1\tsentence2\tscore\na cat\ta dog\t3\n", encoding="utf-8")
    async with opened(pair_file=path) as pilot:
        pilot.app.score_model("dice")
    async with opened() as pilot:
        ranges = dict.fromkeys(("sts12", "sts-benchmark:dev", "sts-benchmark"), (0.0, 5.0))
        pilot.app.data = replace(pilot.app.data, gold_ranges=ranges)
        pilot.app.score_model("dice")
    assert selected == [[str(path)], ["sts12", "sts-benchmark"]]
