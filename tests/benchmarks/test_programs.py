"""Every benchmark still imports what it measures and says what it takes, and every fuzzer finds no
fault in some fixed mutations.
"""

import json
import os
import subprocess
import sys
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
# The smallest real run of each benchmark that ends within seconds; the others take minutes, or
# another checkout.
SMALLEST = {
    "comparison": "--data DATA --models 2 --resamples 20 --turns 1",
    "gpu_training": "--device cpu --sizes small --steps 20 --sentences 40 --recipes sbert",
    "grids": "--plan-cells 100 --table-cells 100 --runs 1",
    "many_pairs": "--pairs 500",
    "mutations": "--list --mutants 3",
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


@pytest.mark.parametrize("name", SMALLEST)
def test_the_smallest_run_of_a_benchmark_ends_with_its_numbers(
    name: str, shared_data: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    folders = {"DATA": str(shared_data), "MODEL": str(tiny_encoder)}
    words = [folders.get(word, word) for word in SMALLEST[name].split()]
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / f"{name}.py"), *words],
        env={
            **os.environ,
            "BENCHMARK_RESULTS": str(tmp_path),
            "PYTHONPATH": str(BENCHMARKS.parent),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert (done.returncode in {0, 1}, bool(done.stdout)) == (True, True)  # 1: a limit is missed


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
