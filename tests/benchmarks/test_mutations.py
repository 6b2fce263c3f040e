"""Planted faults: every operator plants its own, a fault is the text that it says, and only what a
test notices is caught.
"""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.benchmarks.conftest import BENCHMARKS

from mutants import mutants_of  # isort: skip

SOURCE = '''"""Docstring with 3 numbers."""

from math import sqrt


def mean(values: list[int | None], *, scale: float = 2.5, is_signed: bool = True) -> float:
    """Docstring, −∞."""
    if not values and is_signed:
        raise ValueError(f"{1 + 1} values", 7)
    found = [abs(value) / scale for value in values if value is not None]
    found.append(max(found, key=int))
    return -sqrt(len(found) ** 0.5) if len(found) > 1 else pow(2, scale)
'''


PLANTED = """
6 constant: 2.5 → 5.0
6 constant: True → False
8 removed negation: not values → values
8 and or: not values and is_signed → (not values or is_signed)
8 dropped condition: not values and is_signed → (not values)
8 dropped condition: not values and is_signed → is_signed
8 swapped branches: not values and is_signed → (not (not values and is_signed))
10 dropped filter: [abs(value) / scale for value in values if value is not None] → \
[abs(value) / scale for value in values]
10 removed function: abs(value) → value
10 arithmetic: abs(value) / scale → (abs(value) * scale)
10 comparison: value is not None → (value is None)
11 removed statement: found.append(max(found, key=int)) → pass
11 dropped argument: max(found, key=int) → max(found)
11 opposite function: max(found, key=int) → min(found, key=int)
12 removed negation: -sqrt(len(found) ** 0.5) → sqrt(len(found) ** 0.5)
12 swapped branches: -sqrt(len(found) ** 0.5) if len(found) > 1 else pow(2, scale) → \
(pow(2, scale) if len(found) > 1 else -sqrt(len(found) ** 0.5))
12 removed function: sqrt(len(found) ** 0.5) → (len(found) ** 0.5)
12 arithmetic: len(found) ** 0.5 → (len(found) * 0.5)
12 removed root: len(found) ** 0.5 → len(found)
12 constant: 0.5 → 1.0
12 comparison: len(found) > 1 → (len(found) < 1)
12 comparison: len(found) > 1 → (len(found) >= 1)
12 constant: 1 → 2
12 swapped arguments: pow(2, scale) → pow(scale, 2)
12 constant: 2 → 3
"""


def test_each_operator_plants_its_faults_and_none_in_what_is_said_or_declared() -> None:
    found = [
        f"{one.line} {one.operator}: {one.before} → {one.after}"
        for one in mutants_of("mean.py", SOURCE)
    ]
    assert found == PLANTED.strip().splitlines()


def test_a_check_of_the_programmer_s_own_is_neither_dropped_nor_changed() -> None:
    assert [one.operator for one in mutants_of("x.py", "b = zip(*a, strict=True)\n")] == []


def test_a_fault_changes_only_its_place_and_leaves_a_program() -> None:
    for mutant in mutants_of("mean.py", SOURCE):
        changed = mutant.applied(SOURCE)
        assert ast.unparse(ast.parse(changed)) != ast.unparse(ast.parse(SOURCE)), str(mutant)
        assert changed.startswith(SOURCE[: mutant.start])
        assert changed.endswith(SOURCE[mutant.end :])


def test_the_program_draws_the_same_from_every_area_and_tests_each_in_its_own_package(
    tmp_path: Path,
) -> None:
    program = [sys.executable, str(BENCHMARKS / "mutations.py"), "--list", "--mutants", "36"]
    command = [*program, "--areas", "grammar", "fingerprints"]
    first, second = (
        subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    files = [line.partition(":")[0] for line in first.splitlines()]
    assert first == second
    assert len(files) == 36
    assert {*files[::2]} == {"embedlab/models/grammar.py"}
    assert {*files[1::2]} == {"embedlab/models/location.py"}
    assert not list(tmp_path.iterdir())


def test_an_equivalent_fault_has_a_reason_and_a_place() -> None:
    rows = tomllib.loads((BENCHMARKS / "equivalent_mutants.toml").read_text(encoding="utf-8")).get(
        "mutant", []
    )
    assert rows
    for row in rows:
        text = (BENCHMARKS.parent / row["file"]).read_text(encoding="utf-8")
        planted = {(one.function, one.before, one.after) for one in mutants_of(row["file"], text)}
        assert (row["function"], row["before"], row["after"]) in planted, (
            "no fault is planted so any more"
        )
        assert set(row) == {"file", "function", "before", "after", "reason"}
        assert len(row["reason"].split()) > 3
