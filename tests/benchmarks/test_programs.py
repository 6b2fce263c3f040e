"""Every benchmark still imports what it measures and says what it takes, and every fuzzer finds no
fault in some fixed mutations.
"""

import json
from pathlib import Path

import pytest

from tests.benchmarks.conftest import BENCHMARKS
from tests.benchmarks.programs import run_program, show_help_of_all
from tests.processes import Ended, at_once

PROGRAMS = sorted(str(path) for path in [*BENCHMARKS.glob("*.py"), *BENCHMARKS.glob("fuzz/*.py")])
NO_LIMIT = ("--limit-s", "600")  # a machine with much to do is slow, and nothing hangs
FUZZERS = {
    "arguments": ("--cases", "200", *NO_LIMIT),
    "endpoints": ("--cases", "200", *NO_LIMIT),
    "models": ("--cases", "200", *NO_LIMIT),
    "own_files": ("--cases", "200", *NO_LIMIT),
    "state_files": ("--cases", "200", *NO_LIMIT),
    "toml_files": ("--cases", "200", *NO_LIMIT),
    "flips": ("--flips", "14"),  # of each of 18 kinds
}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_benchmark_says_what_it_takes(tmp_path: Path) -> None:
    out = tmp_path / "wrong.json"
    assert at_once([(show_help_of_all, (PROGRAMS, str(out)))], patience_s=1200) == [
        Ended(code=0, err="")
    ]
    assert json.loads(out.read_text()) == {}


def mutated(fuzzer: str, words: tuple[str, ...], folder: Path) -> int:
    """Run a fuzzer; gives how many mutations there were, none of which is a fault."""
    out = folder / "table.md"
    (ended,) = at_once(
        [(run_program, (str(BENCHMARKS / "fuzz" / f"{fuzzer}.py"), words, str(out)))],
        patience_s=1200,
    )
    assert ended.code == 0, ended.err
    (line,) = {line for line in out.read_text().splitlines() if line.startswith("| all |")}
    return int(line.split("|")[2].replace(",", ""))


@pytest.mark.parametrize("fuzzer", FUZZERS)
def test_fixed_mutations_show_no_fault(fuzzer: str, tmp_path: Path) -> None:
    assert mutated(fuzzer, FUZZERS[fuzzer], tmp_path) >= 200


def test_fixed_mutations_of_real_corpora_show_no_fault(shared_data: Path, tmp_path: Path) -> None:
    assert (
        mutated("corpora", ("--data", str(shared_data), "--cases", "200", *NO_LIMIT), tmp_path)
        == 200
    )


def test_every_fuzzer_is_tried() -> None:
    programs = {
        Path(path).stem
        for path in PROGRAMS
        if "/fuzz/" in path and "__main__" in Path(path).read_text()
    }
    assert programs == {*FUZZERS, "corpora"}
