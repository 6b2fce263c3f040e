import json
import math
import os
from dataclasses import replace
from pathlib import Path

import pytest

from embedlab.core.errors import MissingError
from embedlab.runs import events
from embedlab.runs.events import Damaged, EventLog, Noted, events_after, tail
from tests.runs.conftest import STEP


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


def test_a_loss_that_is_not_finite_stays_valid_json() -> None:
    line = events.to_line(replace(STEP, loss=math.nan))
    assert json.loads(line, parse_constant=pytest.fail)["loss"] is None


def test_a_half_written_line_waits_until_it_is_whole(tmp_path: Path) -> None:
    path, line = tmp_path / "events.jsonl", events.to_line(STEP).encode()
    for whole, rest in ((1, line[:20]), (2, b"")):
        path.write_bytes(whole * line + rest)
        assert events_after(path) == ([STEP] * whole, whole * len(line))
        assert events_after(path, len(line)) == ([STEP] * (whole - 1), whole * len(line))


def test_a_file_that_became_shorter_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(events.to_line(STEP))
    assert events_after(path, 10_000)[0] == [STEP]


@pytest.mark.parametrize(
    "damage",
    [
        *("", "not json", "[]", "[" * 100_000, "9" * 5000),
        *('{"event": "future"}', '{"event": "step"}', '{"event": ["step"]}', '{"event": {}}'),
        '{"event": "note", "time": 1, "text": "\\ud800"}',
    ],
    ids=lambda damage: damage[:44],
)
def test_damaged_and_unknown_lines_are_passed_over(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(damage.encode() + b"\n\xff\xfe\n" + events.to_line(STEP).encode())
    found = events_after(path)[0]
    assert [event for event in found if not isinstance(event, Damaged)] == [STEP]
    assert 1 <= len(found[:-1]) <= 2  # the line of bytes that are not text, and what is not a table


def test_a_log_killed_in_mid_line_goes_on_in_a_new_line(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"event": "st')
    with EventLog(path) as log:
        log.append(STEP)
    assert events_after(path)[0] == [Damaged(time=STEP.time), STEP]


def test_the_tail_of_a_long_file_reads_only_its_end(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
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


WRONG: dict[str, list[str | None]] = {  # None: the key is missing
    "time": [None, "1e300", "-1", "null", "Infinity", '"now"', "true"],
    "step": [None, "-1", "1e300", '"3"', "null", "9" * 5000],
    "loss": [None, '"0.5"', "[1]", "false"],
}


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in WRONG.items() for value in values]
)
def test_a_value_that_cannot_be_one_makes_its_line_damaged(key: str, value: str | None) -> None:
    line = events.to_line(STEP)
    own = f'"{key}": {json.loads(line)[key]}'
    damaged = (
        line.replace(f"{own}, ", "") if value is None else line.replace(own, f'"{key}": {value}')
    )
    assert damaged != line
    assert events.from_line(damaged) is None


@pytest.mark.parametrize(
    ("key", "value"), [("loss", "null"), ("eta_s", "-1e300"), ("eta_s", "1e300")]
)
def test_what_is_endless_or_no_number_is_nan(key: str, value: str) -> None:
    line = events.to_line(STEP)
    read = events.from_line(line.replace(f'"{key}": {vars(STEP)[key]}', f'"{key}": {value}'))
    assert math.isnan(getattr(read, key))
