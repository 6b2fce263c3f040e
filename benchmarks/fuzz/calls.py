"""Functions of `import embedlab` with an argument of another type or kind than they take.

    python benchmarks/fuzz/calls.py [--cases 2000] [--seed 21] [--write]

One argument or setting of a valid call is replaced by something that people pass by mistake, or
that no caller should: None, numbers, frames, arrays, sets, dictionaries, bytes, generators, texts
with line ends. A fault is any end but an answer, a refusal of one line with a hint, or what Python
says of a file that the system does not open.
"""

import contextlib
import inspect
import io
import os
import random
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pandas as pd
import polars as pl
from campaign import Case, arguments, generator, report, timed

import embedlab
from embedlab.core.errors import EmbedlabError, UsageError

ROWS = [
    ("a man runs", "a man is running", 4.0),
    ("a dog", "a cat", 1.0),
    ("two people walk", "people are walking", 4.5),
    ("a bird sings", "a car stops", 0.0),
] * 3
TWO = ["dice", "wordllama"]
# A call that answers, or is refused for what is not there, with all that it needs.
CALLS: Mapping[str, Mapping[str, Any]] = {
    "compare": {"models": TWO, "tasks": ROWS},
    "encode": {"model": "wordllama", "sentences": ["a", "b"]},
    "evaluate": {"models": ["dice"], "tasks": ROWS},
    "explain": {"first": "a man runs", "second": "a dog runs", "models": ["dice"]},
    "export": {"model": "x", "folder": "out"},
    "grid_status": {"grid": "x"},
    "grid_table": {"grid": "x"},
    "items": {"names": ["starter"], "data": "starter"},
    "list_runs": {"runs": "runs"},
    "load": {"name": "wordllama"},
    "nearest": {"sentence": "a man", "models": ["wordllama"], "file": ["a dog", "a man"]},
    "overlaps": {"training": "starter", "evaluations": ["starter"], "data": "starter"},
    "pairs": {"models": TWO, "tasks": ROWS},
    "power": {"first": "dice", "second": "wordllama", "tasks": ROWS},
    "reproduce": {"paper": "liao"},
    "run": {"name": "x", "runs": "runs"},
    "score": {"first": "a", "second": "b", "models": ["dice"]},
    "score_pairs": {"model": "wordllama", "first": ["a"], "second": ["b"]},
    "train": {"recipe": "snli-ce", "data": "tiny", "max_steps": 1, "threads": 1},
    "verify": {"first": "a", "second": "b"},
    "why": {"first": "dice", "second": "wordllama", "tasks": ROWS},
}
SETTINGS = ("data", "threads", "device", "runs")
# `reproduce` trains where all of its other arguments are right.
LEFT = {"reproduce": {"paper", "table"}}

OTHERS: Mapping[str, Callable[[], object]] = {
    "None": lambda: None,
    "numbers": lambda: random.choice((5, -1, 0, 1.5, float("nan"), float("inf"), 10**20, True)),
    "numpy numbers": lambda: random.choice((np.float64(3), np.int64(2), complex(1, 2))),
    "texts": lambda: random.choice(("x", "", "\0", "a\nb", "é" * 300, "starter", "dice")),
    "bytes": lambda: b"x",
    "lists": lambda: random.choice(([], [None], [1], [[]], ["x"], ("x",), ["dice", "dice"])),
    "dictionaries": lambda: random.choice(({}, {"a": 1}, {1: 2}, {"m": "dice"})),
    "sets": lambda: random.choice((set(), {"x"}, range(3))),
    "arrays": lambda: random.choice((np.array([1.0, 2.0]), np.array("x"), np.array(["a", "b"]))),
    "frames": lambda: random.choice((pl.DataFrame(), pl.DataFrame({"a": [1]}), pd.DataFrame())),
    "pandas frames": lambda: pd.DataFrame({"sentence1": ["a"], "sentence2": [None], "score": [1]}),
    "paths": lambda: random.choice((Path("none"), Path())),
    "functions": lambda: random.choice((lambda texts: texts, Exception, type)),
    "generators": lambda: (text for text in "ab"),
    "objects": object,
}


def case(number: int, seed: int) -> Case:
    """One call with one argument of another kind."""
    rng = generator(seed, number)
    name, kind = rng.choice([*CALLS]), rng.choice([*OTHERS])
    function = getattr(embedlab, name)
    parameters = inspect.signature(function).parameters.values()
    named = [each.name for each in parameters if each.kind is not each.VAR_KEYWORD]
    argument = rng.choice(sorted(LEFT.get(name, {*named, *SETTINGS} - {"progress"})))

    def run() -> None:
        random.seed(f"{seed} {number}")
        value = OTHERS[kind]()
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            try:
                function(**{**CALLS[name], argument: value})
            except OSError as refused:
                if refused.filename is None:
                    raise
                raise UsageError(str(refused)[:200], hint="a path that the system takes") from None
            except EmbedlabError as refused:
                if "\n" in refused.message:
                    raise RuntimeError(f"{name}({argument}=…): {refused.message}") from refused
                raise
            except TypeError as refused:
                (*_, last) = traceback.extract_tb(refused.__traceback__)
                if Path(last.filename).name != "api.py":
                    raise
                raise UsageError(str(refused), hint="what the signature says") from None

    return Case(target=name, mutation=kind, run=run)


def run() -> int:
    """Run the campaign; the exit code is 1 where a case ended with a fault."""
    options = arguments(__doc__ or "", 2000)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["EMBEDLAB_RUNS"] = str(Path(folder, "runs"))
        cases = [case(number, options.seed) for number in range(options.cases)]
        outcomes, seconds = timed(cases, limit_s=max(options.limit_s, 120))
    return report(
        "calls",
        "Calls with an argument of another kind",
        outcomes,
        seconds=seconds,
        notes=("a fault is an error of another library, or a refusal of several lines",),
        write=options.write,
    )


if __name__ == "__main__":
    raise SystemExit(run())
