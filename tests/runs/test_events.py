import json
import math
import os
from dataclasses import replace
from pathlib import Path

import pytest

from embedlab.core.disk import sealed_line
from embedlab.core.errors import MissingError
from embedlab.runs import events
from embedlab.runs.events import Damaged, EventLog, Noted, events_after, tail
from tests.runs.conftest import STEP


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


def test_every_kind_of_event_reads_back_as_it_was_written(tmp_path: Path) -> None:
    written = [
        events.Started(time=1.0, pid=7, host="here", steps=6),
        STEP,
        events.Progress(time=1.5, step=4, steps=6, eta_s=2.5),
        events.Dev(time=2.0, step=3, score=61.5),
        events.VectorSpread(time=2.0, step=3, stage=1, mean_cosine=0.75, before=0.5, chance=1.5),
        events.Checkpoint(time=2.0, step=3),
        Noted(time=2.5, text="naïve ☃"),
        events.Failed(time=3.0, message="diverged", hint="lower the rate"),
        events.RunInterrupted(time=3.0, step=4),
        events.Cancelled(time=3.0),
        events.Attempt(time=3.5, state="waiting", reason="why", errors=1, seconds=2.5),
        events.Finished(time=4.0, step=6),
    ]
    with EventLog(tmp_path / "run" / "events.jsonl") as log:
        for event in written:
            log.append(event)
    assert {type(event) for event in written} == set(events.EVENT_KINDS.values())
    assert events_after(log.path)[0] == written
    assert tail(log.path) == written


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_is_null_in_the_file_and_read_as_nan(
    path: Path, loss: float
) -> None:
    with EventLog(path) as log:
        log.append(replace(STEP, loss=loss))
    assert json.loads(path.read_text(), parse_constant=pytest.fail)["loss"] is None
    (read,) = events_after(path)[0]
    assert isinstance(read, events.Step)
    assert math.isnan(read.loss)


def sealed(event: events.Event) -> bytes:
    """The line of an EVENT in a file."""
    return sealed_line(json.loads(events.to_line(event))).encode()


def test_a_half_written_line_waits_until_it_is_whole(path: Path) -> None:
    line = sealed(STEP)
    for whole, rest in ((1, line[:20]), (2, b"")):
        path.write_bytes(whole * line + rest)
        assert events_after(path) == ([STEP] * whole, whole * len(line))
        assert events_after(path, len(line)) == ([STEP] * (whole - 1), whole * len(line))


def test_a_file_that_became_shorter_is_read_from_its_beginning(path: Path) -> None:
    path.write_bytes(sealed(STEP))
    assert events_after(path, 10_000)[0] == [STEP]


@pytest.mark.parametrize(
    "damage",
    [b"not json", b"[]", b"9" * 5000, b'{"event": "future"}', b"\xff\xfe"],
    ids=lambda damage: damage[:20].decode(errors="replace"),
)
def test_damaged_lines_are_passed_over_aloud(path: Path, damage: bytes) -> None:
    path.write_bytes(damage + b"\n\n" + sealed(STEP))
    assert events_after(path)[0] == [Damaged(time=STEP.time), STEP]


def test_a_kind_of_event_of_a_later_version_is_passed_over(path: Path) -> None:
    path.write_text(sealed_line({"event": "future", "time": 1.0}))
    assert events_after(path)[0] == []


def test_a_log_killed_in_mid_line_goes_on_in_a_new_line(path: Path) -> None:
    path.write_text('{"event": "st')
    with EventLog(path) as log:
        log.append(STEP)
    assert events_after(path)[0] == [Damaged(time=STEP.time), STEP]


def test_the_tail_of_a_long_file_reads_only_its_end(path: Path) -> None:
    with EventLog(path) as log:
        for number in range(200):
            log.append(Noted(time=float(number), text="x" * 50))
    last = [event.time for event in tail(path, size=500)]
    assert 1 < len(last) < 10
    assert last == [float(number) for number in range(200 - len(last), 200)]


def test_a_full_disk_is_one_clear_error(tmp_path: Path) -> None:
    with (
        EventLog(tmp_path / "events.jsonl") as log,
        Path("/dev/full").open("ab") as full,
    ):
        os.dup2(full.fileno(), log._file.fileno())
        with pytest.raises(MissingError, match="no space left"):
            log.append(STEP)
