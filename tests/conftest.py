"""Fixtures every room shares: a home in tmp, a fixed terminal, a tiny encoder, and the real corpora
when they are there.
"""

import functools
import gc
import importlib
import itertools
import os
import pkgutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Without compiled files each worker rewrites every test file again, and each process that a test
# starts compiles the package again.
sys.dont_write_bytecode = False

for variable in (
    "NO_COLOR",
    "FORCE_COLOR",
    "PY_COLORS",
    "GITHUB_ACTIONS",
    "PYTHONDONTWRITEBYTECODE",
):
    os.environ.pop(variable, None)
os.environ |= {
    "_TYPER_FORCE_DISABLE_TERMINAL": "1",
    "TERMINAL_WIDTH": "100",
    "COLUMNS": "200",
    "TERM": "xterm-256color",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",  # a second thread for small tables costs more than it saves
}

import pytest
import typer.main

import embedlab.commands

pytest_plugins = ["tests.encoders.fixtures"]  # small encoders, for tests of every folder

# A process builds the commands once; here one process calls the program a thousand times.
typer.main.get_command = functools.cache(typer.main.get_command)

# A command's file that is first imported while a test has replaced a function would keep what it
# was replaced by for all later tests of the process.
for module in pkgutil.iter_modules(embedlab.commands.__path__, "embedlab.commands."):
    importlib.import_module(module.name)

# A process started in the background or by nohup ignores these, as its children do: tests that send
# them would wait in vain.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# No test turns the power off, and the disk takes milliseconds for each of ten thousand calls.
os.fsync = lambda _file: None

# A full collection visits each object of torch, transformers and textual: a seventh of the time of
# the tests went into that.
gc.set_threshold(50_000, 20, 10)


def pytest_collection_finish() -> None:
    """Collect no more among what the tests import."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Behind the last test of a file, the same for what its tests imported."""
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `-n`, let a worker that is done take over half of what the slowest one has left."""
    if config.getvalue("dist") != "load":  # a way of distributing was selected
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """With `-n auto`, one worker more than processors: a quarter of a worker's time it waits for
    processes and timers.
    """
    if config.option.numprocesses != "auto" or "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests that need seconds of preparation first and in a row: one worker gets most of them,
    and prepares for all.

    Those are the tests of real processes (tests/processes.py), and those that load mteb. The
    dashboard follows: like the processes it waits for a third of its time, in which the other
    workers compute.
    """
    items.sort(
        key=lambda item: (
            not _starts_processes(item),
            "mteb" not in item.nodeid,
            "tui" not in item.path.parts,
        )
    )


def _starts_processes(item: pytest.Item) -> bool:
    return any(
        getattr(value, "__module__", "") == "tests.processes"
        for value in vars(item.module).values()
    )


SHARED = Path(__file__).parents[2] / "shared"


HOMES = itertools.count(1)


def _move_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = folder / f"home-{next(HOMES)}"
    for variable in (
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "XDG_STATE_HOME",
        "XDG_DATA_HOME",
        "HF_HOME",
    ):
        monkeypatch.setenv(variable, str(home / variable.lower()))


@pytest.fixture(autouse=True, scope="session")
def _home_of_fixtures_in_tmp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fixtures of a module or of the session, which are made before those of a test, have a folder
    of their own.
    """
    with pytest.MonkeyPatch.context() as monkeypatch:
        _move_home(tmp_path_factory.getbasetemp(), monkeypatch)
        yield


@pytest.fixture(autouse=True)
def _home_in_tmp(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own settings, cache or runs; a folder is made for those
    tests alone that write there.
    """
    for variable in [name for name in os.environ if name.startswith("EMBEDLAB_")]:
        monkeypatch.delenv(variable)
    _move_home(tmp_path_factory.getbasetemp(), monkeypatch)
    monkeypatch.setattr("embedlab.models.aliases._of_this_process", {})  # those of another test


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real corpora beside the checkout; tests that need it say so and skip when it is
    absent.
    """
    folder = Path(os.environ.get("EMBEDLAB_TEST_DATA", SHARED / "data"))
    if not folder.is_dir():
        pytest.skip(f"the real corpora are not here: {folder}")
    return folder


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A two-layer BERT with random weights and a whole-word vocabulary, in transformers layout."""
    from embedlab.encoders.random_encoder import build_random_encoder

    folder = tmp_path_factory.mktemp("encoders") / "tiny"
    build_random_encoder(folder, seed=0)
    return folder


@pytest.fixture
def small_world(monkeypatch: pytest.MonkeyPatch) -> None:
    """Generated data whose STS datasets have a tenth of their pairs, of every source: for tests of
    commands, not of numbers.
    """
    thin_out(monkeypatch, 10)


def thin_out(patch: pytest.MonkeyPatch, every: int) -> None:
    """Leave one in so many pairs of the STS datasets of `--data tiny`; what grids know of the
    whole one is known again afterwards.
    """
    from embedlab.experiments.planner import part_state
    from tests.thinned import thinned

    patch.setattr("embedlab.data.source._tiny_frame", functools.partial(thinned, every))
    patch.setattr(
        "embedlab.experiments.planner.part_state", functools.cache(part_state.__wrapped__)
    )
