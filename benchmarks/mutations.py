"""Plant small faults in the code that decides numbers, and count those that the tests of its
package notice.

    python benchmarks/mutations.py [--mutants 154] [--seed 21] [--areas analysis tasks …] [--at-most
    20] [--lock FILE] [--write]

Mutants are drawn by seed from every area, and there from every operator (benchmarks/mutants.py) in
turn. Each is tested in a copy of the checkout: first by the test file of its name, or those of its
package that import it, then by the whole package's, up to the first failure, which counts where the
same test passes without the fault. A package's tests are those of the folder in tests/ that mirrors
it. Endings are stored line by line, so that the same command goes on where it stopped; a survivor
counts as long as neither its file nor the tests change, anything else as long as its file does not.
Survivors that no test can notice are listed in benchmarks/equivalent_mutants.toml, each with its
reason.
"""

import argparse
import contextlib
import fcntl
import hashlib
import itertools
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import cache_from_source
from pathlib import Path
from typing import IO, Any, Literal, get_args

from mutants import Mutant, mutants_of
from record import write_table

ROOT = Path(__file__).parents[1]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
TITLE = "Faults planted in the code that decides numbers"
SEED = 21
MENDED = (21, 24, 25)  # seeds of the draws whose survivors have tests
SHARE = 0.9  # of the mutants that are not equivalent, to be caught
NO_TESTS_LEFT = 5  # pytest's status where all tests of a package are the closest ones
TURN_S = 60  # seconds of mutants for which a lock is held
CLOSEST_S, PACKAGE_S = (
    120,
    900,
)  # seconds of a processor that tests may take: what takes longer is a loop without end
IDLE_S = 1800  # and seconds in all, for what waits without end
SAMPLE_WORLD = (
    "sample",
    "scenes",
    "lexicon",
    "words",
)  # the files of embedlab/data that read nothing
PACKAGES = ("embedlab", "pytest", "torch", "transformers", "polars", "numpy")
AREAS = {
    "analysis": "embedlab/analysis/*.py",
    "comparison": "embedlab/comparison/*.py",
    "outcomes": "embedlab/outcomes/**/*.py",
    "objectives": "embedlab/objectives/**/*.py",
    "tasks": "embedlab/tasks/*.py",
    "readers": "embedlab/data/**/*.py",
    "checkpointing": "embedlab/training/checkpointing.py",
    "grammar": "embedlab/models/grammar.py",
    "fingerprints": "embedlab/models/location.py",
    "commands": "embedlab/commands/*.py",
    "command line": "embedlab/cli/*.py",
    "reports": "embedlab/reports/**/*.py",
    "grids": "embedlab/experiments/**/*.py",
    "runs": "embedlab/runs/**/*.py",
    "dashboard": "embedlab/tui/**/model.py",
}
# What every test process imports anyway is imported once; of embedlab nothing.
PRELOADED = [
    "pytest",
    "pytest_asyncio",
    "scipy.stats",
    "polars",
    "safetensors.torch",
    "typer",
    "transformers.models.auto.modeling_auto",
]
ENVIRONMENT = {  # before those are imported, as tests/conftest.py has it
    "OMP_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
}

End = Literal["caught", "out of time", "survived"]


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How the tests of its package met a mutant."""

    mutant: str  # its key
    source: str  # hash of the file without it
    tests: str  # hash of the tests
    end: End
    by: str  # the test that failed first
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a process of tests: its exit status, the first failure, and the seconds; no
    status where it was too slow.
    """

    status: int | None
    by: str
    seconds: float


def main() -> int:
    """Test what is drawn and not tested yet, print the survivors and the table; 1 where fewer than
    the promised share was caught.
    """
    typed = _arguments()
    drawn = draw(typed.areas, typed.mutants, typed.seed)
    if typed.list:
        print("\n".join(map(str, drawn)))
        return 0
    endings = _tested(drawn, typed)
    name = "mutations" if typed.seed == SEED else f"mutations-seed-{typed.seed}"
    return report(drawn, endings, name=name if typed.write else None)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--mutants",
        type=int,
        default=154,
        help="how many are drawn, the same number from each area",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=SEED,
        help="another one draws faults that have no test of their own yet",
    )
    parser.add_argument("--areas", nargs="+", choices=AREAS, default=list(AREAS))
    parser.add_argument(
        "--at-most",
        type=int,
        default=sys.maxsize,
        help="stop after so many that were not tested before",
    )
    parser.add_argument(
        "--state", type=Path, default=ROOT / "build" / "mutations.jsonl", help="the endings so far"
    )
    parser.add_argument(
        "--lock",
        type=Path,
        help="hold the lock of this file, a minute at a time, as other heavy programs do",
    )
    parser.add_argument("--list", action="store_true", help="print what is drawn, and test nothing")
    parser.add_argument(
        "--write", action="store_true", help="write the table to benchmarks/results"
    )
    return parser.parse_args()


def draw(areas: Sequence[str], number: int, seed: int) -> list[Mutant]:
    """Return so many mutants: in turn one of each area, and there one by each operator, as long as
    there are any.
    """
    return list(
        itertools.islice(
            _in_turn([_drawn(area, random.Random(f"{seed} {area}")) for area in areas]), number
        )
    )


def _drawn(area: str, rng: random.Random) -> list[Mutant]:
    by_operator: dict[str, list[Mutant]] = {}
    for file in files_of(area):
        for mutant in mutants_of(file, (ROOT / file).read_text(encoding="utf-8")):
            by_operator.setdefault(mutant.operator, []).append(mutant)
    piles = [rng.sample(mutants, len(mutants)) for _, mutants in sorted(by_operator.items())]
    rng.shuffle(piles)
    return list(_in_turn(piles))


def _in_turn(piles: Sequence[Sequence[Mutant]]) -> Iterator[Mutant]:
    return (
        mutant for turn in itertools.zip_longest(*piles) for mutant in turn if mutant is not None
    )


def files_of(area: str) -> list[str]:
    """Return the files of an AREA, relative to the checkout."""
    files = [
        path.relative_to(ROOT).as_posix()
        for path in sorted(ROOT.glob(AREAS[area]))
        if path.stem not in SAMPLE_WORLD
    ]
    if not files:
        raise SystemExit(f"{area}: no file is {AREAS[area]}")
    return files


def mirror_of(file: str, root: Path = ROOT) -> Path:
    """Return the folder of tests that mirrors the package of FILE: the nearest one above it that
    exists.
    """
    folder = Path("tests", *Path(file).parts[1:-1])
    return next(place for place in (folder, *folder.parents) if (root / place).is_dir())


def closest_tests(file: str, root: Path = ROOT) -> list[Path]:
    """Return the test file of a module or of its folder, `test_<name>.py`; where there is none,
    those of its package that import it.
    """
    path, folder = Path(file), root / mirror_of(file, root)
    own = [folder / f"test_{name}.py" for name in (path.stem.strip("_"), path.parent.name)]
    if found := [test for test in own if test.is_file()]:
        return [test.relative_to(root) for test in found]
    dotted, beside = (
        ".".join(path.with_suffix("").parts),
        f"{'.'.join(path.parent.parts)} import {path.stem}",
    )
    texts = {test: test.read_text(encoding="utf-8") for test in sorted(folder.glob("test_*.py"))}
    return [
        test.relative_to(root)
        for test, text in texts.items()
        if re.search(rf"{re.escape(dotted)}\b|{re.escape(beside)}\b", text)
    ]


def _tested(drawn: Sequence[Mutant], typed: argparse.Namespace) -> dict[str, Ending]:
    """Return the ending of each mutant by its key, those of earlier calls included."""
    sources = {mutant.file: _hash([ROOT / mutant.file]) for mutant in drawn}
    tests = {file: _hash(sorted((ROOT / mirror_of(file)).rglob("*.py"))) for file in sources}
    endings = {
        ending.mutant: ending
        for ending in _stored(typed.state)
        if ending.source in sources.values()
        and (ending.end != "survived" or ending.tests in tests.values())
    }
    waiting = [mutant for mutant in drawn if mutant.key not in endings and not reason_of(mutant)][
        : typed.at_most
    ]
    if not waiting:
        return endings
    with Copy(typed.lock) as tree:
        for number, mutant in enumerate(waiting, start=1):
            outcome = tree.outcome(mutant)
            end: End = (
                "out of time"
                if outcome.status is None
                else "caught"
                if outcome.status
                else "survived"
            )
            ending = Ending(
                mutant=mutant.key,
                source=sources[mutant.file],
                tests=tests[mutant.file],
                end=end,
                by=outcome.by,
                seconds=round(outcome.seconds, 1),
            )
            endings[mutant.key] = ending
            _store(typed.state, ending)
            print(
                f"{number}/{len(waiting)} {end} in {outcome.seconds:.0f} s: {mutant}; {outcome.by}",
                file=sys.stderr,
                flush=True,
            )
    return endings


class Copy:
    """A copy of the checkout in which mutants are tested, one after the other; the checkout itself
    is only read.
    """

    def __init__(self, lock: Path | None = None) -> None:
        self._lock, self._turn_ends = lock, 0.0
        self._sound: set[str] = set()  # tests that pass without a fault
        self._held: IO[str] | None = None
        self._folder = Path(tempfile.mkdtemp(prefix="mutations-"))
        self._tree = self._folder / ROOT.name

    def __enter__(self) -> "Copy":
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (self._tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, self._tree / name)
        if (ROOT.parent / "shared").is_dir():
            (self._folder / "shared").symlink_to(ROOT.parent / "shared")
        os.environ |= ENVIRONMENT
        multiprocessing.set_forkserver_preload(PRELOADED)
        return self

    def __exit__(self, *_: object) -> None:
        if self._held is not None:
            self._held.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def outcome(self, mutant: Mutant) -> Outcome:
        """Return what the tests of its package say of a mutant, the closest ones first; a test that
        fails without it ends this program.
        """
        path = self._tree / mutant.file
        source = path.read_text(encoding="utf-8")
        self._take_turn()
        closest = closest_tests(mutant.file, self._tree)
        try:
            self._put(path, mutant.applied(source))
            found = self._run(closest, CLOSEST_S) if closest else None
            if found is None or found.status == 0:
                found = self._run([mirror_of(mutant.file, self._tree)], PACKAGE_S, without=closest)
        finally:
            self._put(path, source)
        if found.by and found.by not in self._sound:
            if self._run([found.by], PACKAGE_S).status != 0:
                raise SystemExit(f"{found.by} fails without any fault")
            self._sound.add(found.by)
        return found

    def _put(self, path: Path, source: str) -> None:
        """Write SOURCE; what was compiled from another one of the same size in the same second is
        removed.
        """
        path.write_text(source, encoding="utf-8")
        Path(cache_from_source(str(path))).unlink(missing_ok=True)

    def _take_turn(self) -> None:
        """Have the lock, if there is one; after a minute of it others come first."""
        if self._lock is None or time.monotonic() < self._turn_ends:
            return
        if self._held is not None:
            self._held.close()
        self._held = self._lock.open("a")
        fcntl.flock(self._held, fcntl.LOCK_EX)
        self._turn_ends = time.monotonic() + TURN_S

    def _run(
        self, tests: Sequence[Path | str], limit_s: int, *, without: Sequence[Path] = ()
    ) -> Outcome:
        answer = self._folder / "answer.json"
        answer.unlink(missing_ok=True)
        words = [*map(str, tests), *(f"--ignore={test}" for test in without)]
        process = multiprocessing.get_context("forkserver").Process(
            target=_run_tests, args=(self._tree, words, answer, limit_s)
        )
        began = time.monotonic()
        process.start()
        process.join(IDLE_S)
        status = {NO_TESTS_LEFT: 0, -signal.SIGXCPU: None}.get(
            process.exitcode or 0, process.exitcode
        )
        if process.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # and what the tests have started
        process.join()
        by = json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else ""
        return Outcome(status=status, by=by, seconds=time.monotonic() - began)


def _run_tests(tree: Path, tests: Sequence[str], answer: Path, limit_s: int) -> None:
    """Run TESTS on the embedlab of TREE, up to the first failure, whose name is written to ANSWER,
    for LIMIT_S seconds of a processor.
    """
    import pytest

    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 10))
    with Path(os.devnull).open("r+b") as nothing:
        for stream in range(3):
            os.dup2(nothing.fileno(), stream)
    os.chdir(tree)
    os.environ["PYTHONPATH"] = str(tree)  # of the processes that tests start
    sys.path.insert(0, str(tree))
    options = [
        "-x",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        f"--basetemp={tree.parent / 'temporary'}",
    ]
    status = pytest.main([*options, *tests], plugins=[FirstFailure(answer)])
    import embedlab

    assert Path(embedlab.__file__).is_relative_to(tree)
    os._exit(int(status))  # without what threads and handlers would do at the end


class FirstFailure:
    """Writes the name of the first test that fails, or of the file that cannot be collected."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def _write(self, report: Any) -> None:
        if report.failed and not self._path.exists():
            self._path.write_text(json.dumps(report.nodeid), encoding="utf-8")

    pytest_runtest_logreport = _write
    pytest_collectreport = _write


def _hash(files: Sequence[Path]) -> str:
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:16]


def _stored(path: Path) -> list[Ending]:
    """Return the endings of earlier calls; a line that was cut off by a kill is none."""
    endings = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        with contextlib.suppress(ValueError, TypeError):
            endings.append(Ending(**json.loads(line)))
    return endings


def _store(path: Path, ending: Ending) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(asdict(ending), ensure_ascii=False)}\n")


def reason_of(mutant: Mutant) -> str:
    """Return why no test can notice a mutant, from the list of equivalent ones; empty where it is
    not listed.
    """
    return _reasons().get((mutant.file, mutant.function, mutant.before, mutant.after), "")


def _reasons() -> dict[tuple[str, str, str, str], str]:
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    return {
        (row["file"], row["function"], row["before"], row["after"]): row["reason"] for row in rows
    }


def report(drawn: Sequence[Mutant], endings: dict[str, Ending], *, name: str | None) -> int:
    """Print the survivors and the table; it is written to results/NAME.md where that is given and
    all are tested.
    """
    tested = [mutant for mutant in drawn if reason_of(mutant) or mutant.key in endings]
    ends = {
        mutant.key: "equivalent" if reason_of(mutant) else endings[mutant.key].end
        for mutant in tested
    }
    survivors = [mutant for mutant in tested if ends[mutant.key] == "survived"]
    print("\n".join(f"survived: {mutant}" for mutant in survivors))
    areas = {file: area for area in AREAS for file in files_of(area)}
    rows = _rows(Counter((areas[mutant.file], ends[mutant.key]) for mutant in tested))
    rows += _rows(Counter((mutant.operator, ends[mutant.key]) for mutant in tested))[:-1]
    if name is not None and len(tested) == len(drawn):
        listed = ", ".join(map(str, MENDED))
        notes = [
            "each mutant was tested in a copy of the checkout by the tests of its own "
            "package, up to the first failure",
            "out of time: a loop without end; it counts as caught",
            "equivalent: no input shows the fault; benchmarks/equivalent_mutants.toml has "
            "the reason of each",
            f"those that survived the draws of seeds {listed} have tests since: what the "
            f"tests notice of other faults, another seed says",
            *(f"survived: `{mutant}`" for mutant in survivors),
        ]
        write_table(
            name,
            TITLE,
            ["area or operator", "mutants", *get_args(End), "equivalent", "caught share"],
            rows,
            packages=PACKAGES,
            notes=notes,
        )
    else:
        print("\n".join(" | ".join(row) for row in rows))
        print(f"{len(drawn) - len(tested)} of {len(drawn)} are not tested yet")
    counts = Counter(ends.values())
    return int(counts["survived"] > (1 - SHARE) * (len(tested) - counts["equivalent"]))


def _rows(counts: Counter[tuple[str, str]]) -> list[list[str]]:
    """One row a group, with the share of its mutants that were caught, then one of all."""
    groups: dict[str, Counter[str]] = {}
    for (group, end), number in counts.items():
        groups.setdefault(group, Counter())[end] += number
    return [
        _row(group, numbers)
        for group, numbers in [*groups.items(), ("all", sum(groups.values(), Counter()))]
    ]


def _row(group: str, numbers: Counter[str]) -> list[str]:
    shown = numbers["caught"] + numbers["out of time"]
    noticeable = shown + numbers["survived"]
    share = f"{100 * shown / noticeable:.1f}%" if noticeable else "–"
    return [
        group,
        str(numbers.total()),
        *(str(numbers[end]) for end in (*get_args(End), "equivalent")),
        share,
    ]


if __name__ == "__main__":
    sys.exit(main())
