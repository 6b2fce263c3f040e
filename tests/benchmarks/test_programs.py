"""Every benchmark still imports what it measures and says what it takes, and every fuzzer finds no
fault in some fixed mutations.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.benchmarks.conftest import BENCHMARKS
from tests.benchmarks.programs import run_program, show_help_of_all
from tests.processes import Ended, at_once

PROGRAMS = sorted(str(path) for path in [*BENCHMARKS.glob("*.py"), *BENCHMARKS.glob("fuzz/*.py")])
NO_LIMIT = ("--limit-s", "600")  # a machine with much to do is slow, and nothing hangs
FUZZERS = ("arguments", "endpoints", "models", "own_files", "state_files", "toml_files", "flips")
WHOLE = {
    "calls": 2,
    "few_rows": 4,
    "keys": 36,
}  # commands and screens: one case for so many of the others
KINDS_OF_FLIPS = 12  # at least
CASES = [12, pytest.param(252, marks=pytest.mark.slow)]
# The smallest real run of each benchmark that ends within seconds and has no test file of its own;
# the others take minutes, or another checkout.
SMALLEST = {
    "comparison": "--data DATA --models 2 --resamples 20 --turns 1",
    "grids": "--plan-cells 100 --table-cells 100 --runs 1",
    "many_pairs": "--pairs 500",
    "nodes": f"{BENCHMARKS}",
    "search": "--documents 200 --queries 5 --dim 8 --repeats 1",
    "transfer_classifier": "--data DATA --model MODEL --rows 60 --sample 1",
    "walk": "compare dice wordllama --task starter --data starter",
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


SECONDS = {"walk", "grids", "many_pairs"}  # each takes several


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in SECONDS else name for name in SMALLEST],
)
def test_the_smallest_run_of_a_benchmark_ends_with_its_numbers(
    name: str,
    shared_data: Path,
    tiny_encoder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BENCHMARK_RESULTS", str(tmp_path))
    folders = {"DATA": str(shared_data), "MODEL": str(tiny_encoder)}
    words = [folders.get(word, word) for word in SMALLEST[name].split()]
    ended, printed = run(f"{name}.py", words, tmp_path)
    assert ended.code in {0, 1}, ended.err  # 1: a limit is missed
    assert printed


def run(program: str, words: Sequence[str], folder: Path) -> tuple[Ended, str]:
    """Run a program of benchmarks; gives how it ended, and what it printed."""
    out = folder / "printed"
    (ended,) = at_once(
        [(run_program, (str(BENCHMARKS / program), words, str(out)))], patience_s=1200
    )
    return ended, out.read_text()


def check_mutations(fuzzer: str, words: Sequence[str], cases: int, folder: Path) -> None:
    """Run a fuzzer, which makes at least so many CASES, none of which is a fault."""
    ended, printed = run(f"fuzz/{fuzzer}.py", words, folder)
    assert ended.code == 0, ended.err
    (line,) = {line for line in printed.splitlines() if line.startswith("| all |")}
    assert int(line.split("|")[2].replace(",", "")) >= cases


QUICK = [name for name in (*FUZZERS, *WHOLE) if name not in {"flips", "keys"}]  # 5 and 10 s
RUNS = [
    *((name, 12) for name in QUICK),
    *(pytest.param(name, 252, marks=pytest.mark.slow) for name in (*FUZZERS, *WHOLE)),
]


@pytest.mark.parametrize(("fuzzer", "cases"), RUNS)
def test_fixed_mutations_show_no_fault(fuzzer: str, cases: int, tmp_path: Path) -> None:
    cases //= WHOLE.get(fuzzer, 1)
    words = ("--cases", str(cases), *NO_LIMIT)
    if fuzzer == "flips":
        words = ("--flips", str(cases // KINDS_OF_FLIPS))
    check_mutations(fuzzer, words, cases, tmp_path)


@pytest.mark.parametrize("cases", CASES)
def test_fixed_mutations_of_real_corpora_show_no_fault(
    cases: int, shared_data: Path, tmp_path: Path
) -> None:
    words = ("--data", str(shared_data), "--cases", str(cases), *NO_LIMIT)
    check_mutations("corpora", words, cases, tmp_path)


def test_every_fuzzer_is_tried() -> None:
    programs = {
        Path(path).stem
        for path in PROGRAMS
        if "/fuzz/" in path and "__main__" in Path(path).read_text()
    }
    assert programs == {*FUZZERS, *WHOLE, "corpora"}
