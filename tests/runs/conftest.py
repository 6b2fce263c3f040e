"""A resolved recipe and the folder of a run that follows it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from embedlab.core.recipe import Recipe, from_table
from embedlab.runs.environment import Environment, collect_environment
from embedlab.runs.store import RunFolder
from tests.stored_scores import step_of


def recipe_of(lr: float = 2e-5) -> Recipe:
    stage = {
        "data": {"datasets": ["snli"]},
        "objective": {"name": "nli_softmax"},
        "optim": {"lr": lr, "batch_size": 8},
    }
    encoder = {"model": "tiny", "pooling": "mean"}
    values = {"summary": "A test.", "encoder": encoder, "stage": [stage]}
    return from_table(values, name="mine", where="test")


@pytest.fixture
def recipe() -> Recipe:
    return recipe_of()


STEP = step_of(3, 6, time=5.0, loss=1.25, rows_per_s=100.0, eta_s=9.0, memory_mib=512.0)


@pytest.fixture
def circumstances() -> Environment:
    return collect_environment(
        seed=1,
        device="cpu",
        precision="float32",
        threads=1,
        data=[{"name": "snli", "rows": 3, "partial": True}, {"name": "sick-r", "rows": 9}],
    )


@pytest.fixture
def run(tmp_path: Path, recipe: Recipe, circumstances: Environment) -> RunFolder:
    folder = RunFolder.of(tmp_path / "runs", "mine", 1)
    folder.write_once(recipe, circumstances)
    return folder


HOLD = """
import signal, sys, time
from pathlib import Path
from embedlab.runs import events
from embedlab.runs.store import RunFolder
run = RunFolder(Path(sys.argv[1]))
def stop(*_):
    with events.EventLog(run.events_file) as log:
        log.append(events.RunInterrupted(step=1))
    sys.exit(130)
signal.signal(signal.SIGTERM, stop)
with run.lock():
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def child(program: str, run: RunFolder, **options: Any) -> Iterator["subprocess.Popen[str]"]:
    """A process with a PROGRAM of its own for the run, from its first line on."""
    words = [sys.executable, "-c", program, str(run.path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, **options) as process:
        assert process.stdout is not None
        assert process.stdout.readline() in {"held\n", "scoring\n"}
        try:
            yield process
        finally:
            process.kill()
