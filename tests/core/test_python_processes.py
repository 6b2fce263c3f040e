"""Only one module starts Python processes, and what it starts imports nothing from the working
folder.
"""

import asyncio
import json
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from embedlab.commands import tui
from embedlab.core import python_processes
from embedlab.core.paths import PACKAGE
from embedlab.core.settings import Settings
from embedlab.runs.launch import start_detached

STARTS = re.compile(
    r"\bsys\.executable\b|\bos\.(?:exec|spawn|fork|system|popen|posix_spawn)|\bmultiprocessing\b"
    r"|\bsubprocess\.(?:run|Popen|\w*call|\w*output)\((?!\s*(?:\[\s*[\"'](?:git|nvidia-smi)[\"']|command,))"
    r"|\bfrom subprocess\b|\bimport subprocess as\b"
    r"|\b(?:create_subprocess|ProcessPoolExecutor|start_processes)"
)


def test_only_one_module_starts_python_processes() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    assert len(files) > 300
    starting = [path for path in files if STARTS.search(path.read_text(encoding="utf-8"))]
    assert [path.relative_to(PACKAGE).as_posix() for path in starting] == [
        "core/python_processes.py"
    ]


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a file for each module of Python and some others, which says that it
    ran, and with a false package.
    """
    folder = tmp_path / "hostile"
    folder.mkdir()
    others = ("datasets", "numpy", "polars", "torch", "typer", "tomli_w", "xxhash", "platformdirs")
    for name in {*sys.stdlib_module_names, *others}:
        (folder / f"{name}.py").write_text(
            f"open({str(tmp_path / 'ran')!r}, 'a').write('{name} ')\nraise SystemExit(66)\n"
        )
    (folder / "evil.dist-info").mkdir()
    (folder / "evil.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: evil\nVersion: 1\n"
    )
    (folder / "evil.dist-info" / "entry_points.txt").write_text(
        "[embedlab.poolings]\nevil = evil:pool\n"
    )
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(autouse=True)
def _nothing_ran(tmp_path: Path) -> Iterator[None]:
    yield
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


def test_a_detached_process_imports_nothing_from_its_folder(hostile: Path, tmp_path: Path) -> None:
    started = start_detached(["doctor", "--plugins", "--json"], tmp_path / "log")
    assert started.process.wait(60) == 0
    assert "evil" not in (tmp_path / "log").read_text()


def test_a_served_dashboard_imports_nothing_from_its_folder(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[str] = []

    def served(command: str, **_: Any) -> Any:
        commands.append(command)
        raise KeyboardInterrupt

    pytest.importorskip("textual_serve")
    monkeypatch.setattr("embedlab.tui.serving.DashboardServer", served)
    options = tui.DashboardOptions(pairs=Path("mine.tsv"), serve=True)
    with pytest.raises(KeyboardInterrupt):
        tui._serve(options, SimpleNamespace(settings=Settings()))  # type: ignore[arg-type]
    assert "tui --pairs mine.tsv --runs runs " in commands[0]
    found = subprocess.run(
        f"{commands[0]} --help", shell=True, capture_output=True, text=True, check=False
    )  # as textual-serve does
    assert (found.returncode, "Browse pairs" in found.stdout) == (0, True), found.stderr


def test_the_module_that_is_typed_imports_nothing_from_its_folder_once_it_runs(
    hostile: Path,
) -> None:
    # What Python itself imports before it runs any module comes from the working folder: `python -P
    # -m embedlab` prevents it.
    before = "import sys, embedlab, runpy; print(*{name.partition('.')[0] for name in sys.modules})"
    listed = subprocess.run(
        [sys.executable, "-P", "-c", before], capture_output=True, text=True, check=True
    )
    for name in listed.stdout.split():
        (hostile / f"{name}.py").unlink(missing_ok=True)
    found = subprocess.run(
        [sys.executable, "-m", "embedlab", "doctor", "--plugins", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, json.loads(found.stdout)["rows"]) == (0, []), found.stderr


def test_libraries_inherit_that_nothing_comes_from_the_folder(hostile: Path) -> None:
    program = (
        "import multiprocessing as m; m.set_start_method('spawn'); p = "
        "m.Process(target=print); p.start(); p.join(); exit(p.exitcode)"
    )
    process = python_processes.start([sys.executable, "-c", program])
    assert process.wait(60) == 0
    show = """
        import os, sys
        from embedlab.__main__ import main
        sys.argv[1:] = ["config", "--quiet"]
        main()
        os.execv(sys.executable, [sys.executable, "-c", "import random"])
    """
    subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(show)], check=True, stdout=subprocess.DEVNULL
    )


def test_what_a_dashboard_started_with_pipes_ends_with_it() -> None:
    async def started_and_ended() -> int:
        sleeping = (sys.executable, "-c", "import time; time.sleep(600)")
        process = await python_processes.start_piped(sleeping, stderr=asyncio.subprocess.PIPE)
        python_processes.end_piped()
        return await process.wait()

    assert asyncio.run(started_and_ended()) == -signal.SIGTERM
