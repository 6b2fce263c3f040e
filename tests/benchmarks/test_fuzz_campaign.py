"""A campaign names every way in which a case can end, and goes on after the worst of them."""

import os
import sys
import time
from collections.abc import Callable

from embedlab.core.errors import MissingError
from tests.benchmarks.conftest import BENCHMARKS

sys.path.append(str(BENCHMARKS / "fuzz"))

from campaign import Case, generator, run
from damage import MUTATIONS


def refuse(hint: str) -> None:
    raise MissingError("no file 'x'", hint=hint)


def test_each_ending_is_recognised_and_the_cases_after_it_are_run() -> None:
    calls: dict[str, tuple[Callable[[], object], str]] = {
        "fine": (lambda: None, "accepted"),
        "refused": (lambda: refuse("get it"), "two lines"),
        "refused without a hint": (lambda: refuse(""), "traceback"),
        "refused in three lines": (lambda: refuse("get\nit"), "traceback"),
        "a bug": (lambda: 1 / 0, "traceback"),
        "killed": (lambda: os._exit(9), "killed"),
        "stuck": (lambda: time.sleep(60), "hang"),
        "the last": (lambda: None, "accepted"),
    }
    cases = [Case(target=name, mutation="none", run=call) for name, (call, _) in calls.items()]
    assert {one.target: one.ending for one in run(cases, limit_s=0.5)} == {
        name: ending for name, (_, ending) in calls.items()
    }


def test_a_mutation_is_the_same_for_the_same_seed() -> None:
    content = "a\tb\t1\nü\td\t2\n".encode()
    for name, mutate in MUTATIONS.items():
        results = {mutate(content, generator(3, number)) for number in range(20)}
        assert results == {mutate(content, generator(3, number)) for number in range(20)}
        assert results != {content}, name
