"""Every program of research/ imports what it measures and says what it takes."""

import json
import re
from pathlib import Path

from tests.benchmarks.programs import show_help_of_all
from tests.processes import Ended, at_once

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(map(str, (ROOT / "research/programs").glob("*.py")))


def test_every_program_says_what_it_takes(tmp_path: Path) -> None:
    out = tmp_path / "wrong.json"
    ended = at_once([(show_help_of_all, (PROGRAMS, str(out)))], patience_s=1200)
    assert ended == [Ended(code=0, err="")]
    assert json.loads(out.read_text()) == {}


def test_rows_of_papers_name_commands_and_tests_that_are_there() -> None:
    page = (ROOT / "research/paper-rows.md").read_text(encoding="utf-8")
    commands = re.findall(r"\| `([^`]+)` \|$", page, flags=re.MULTILINE)
    assert len(commands) > 120
    wrong = [
        command
        for command in commands
        if not command.startswith("embedlab ") and not (ROOT / command).exists()
    ]
    assert wrong == []
