"""Every program of research/ imports what it measures and says what it takes."""

import json
from pathlib import Path

from tests.benchmarks.programs import show_help_of_all
from tests.processes import Ended, at_once

PROGRAMS = sorted(map(str, (Path(__file__).parents[1] / "programs").glob("*.py")))


def test_every_program_says_what_it_takes(tmp_path: Path) -> None:
    out = tmp_path / "wrong.json"
    ended = at_once([(show_help_of_all, (PROGRAMS, str(out)))], patience_s=1200)
    assert ended == [Ended(code=0, err="")]
    assert json.loads(out.read_text()) == {}
