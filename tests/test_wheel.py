"""The installed wheel: what is started by a module's name must be in it, and needs nothing of the
repository.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GRID = """
summary = "Two learning rates"
base = "snli-ce"
axes = { "optim.lr" = [1e-5, 2e-5] }
set = { "data.rows" = 16 }
tasks = []
"""
REFUSE_SOCKETS = """
import socket

def refuse(*_):
    raise OSError("this machine has no network")

socket.socket.connect = refuse
socket.getaddrinfo = refuse
"""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with embedlab installed from a wheel that was built from this checkout."""
    pytest.importorskip("hatchling", reason="it builds the wheel: pip install -e '.[test]'")
    place = tmp_path_factory.mktemp("wheel")
    build = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        "wheel",
        "--directory",
        str(place / "dist"),
    ]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (place / "dist").glob("*.whl")
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(place / "site"),
        str(wheel),
    ]
    subprocess.run(install, check=True, capture_output=True)
    return place / "site"


def python(
    site: Path, folder: Path, *words: str, **more: str
) -> "subprocess.CompletedProcess[str]":
    """Run Python in FOLDER, which is not the repository, with the installed package before
    everything else.
    """
    environment: Mapping[str, str] = {
        **os.environ,
        "PYTHONPATH": str(site),
        "EMBEDLAB_RUNS": "runs",
        "EMBEDLAB_CACHE": "cache",
        **more,
    }
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def embedlab(site: Path, folder: Path, *words: str, **more: str) -> str:
    """The answer of a command that succeeds."""
    done = python(site, folder, "-m", "embedlab", *words, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_is_what_runs_and_brings_its_recipes(site: Path, tmp_path: Path) -> None:
    where = python(site, tmp_path, "-c", "import embedlab; print(embedlab.__file__)").stdout
    assert Path(where.strip()).is_relative_to(site)
    assert {path.name for path in (ROOT / "recipes").glob("*.toml")} == {
        path.name for path in (site / "embedlab" / "recipes").glob("*.toml")
    }
    assert list((site / "embedlab" / "tui").rglob("*.tcss"))


def test_the_wheel_brings_a_file_for_each_corpus(site: Path) -> None:
    ours, theirs = (
        {
            path.relative_to(folder)
            for path in (folder / "embedlab" / "data" / "corpora").rglob("*.toml")
        }
        for folder in (ROOT, site)
    )
    assert ours == theirs
    assert len(ours) > 60


def test_the_wheel_brings_the_starter_set_with_its_licences(site: Path) -> None:
    ours, theirs = (folder / "embedlab" / "data" / "starter" for folder in (ROOT, site))
    files = {
        path.relative_to(ours): path.read_bytes() for path in ours.rglob("*") if path.is_file()
    }
    assert {
        path.relative_to(theirs): path.read_bytes() for path in theirs.rglob("*") if path.is_file()
    } == files
    assert {path.name for path in files} >= {
        "README.md",
        "CC-BY-SA-4.0.txt",
        "OEWN-LICENSE.txt",
        "WNDB_License.txt",
    }
    assert sum(map(len, files.values())) < 2 * 2**20


@pytest.mark.slow
def test_the_workers_of_a_grid_start_from_the_wheel(site: Path, tmp_path: Path) -> None:
    (tmp_path / "lr.toml").write_text(GRID)
    embedlab(
        site, tmp_path, "grid", "run", "lr.toml", "--data", "tiny", "--workers", "2", "--quiet"
    )
    rows = json.loads(embedlab(site, tmp_path, "grid", "status", "lr", "--data", "tiny", "--json"))
    assert "done" in json.dumps(rows)
    assert len(list(tmp_path.rglob("model/model.safetensors"))) == 2


@pytest.mark.slow
def test_offline_commands_connect_to_nothing(site: Path, tmp_path: Path) -> None:
    (tmp_path / "refusing").mkdir()
    (tmp_path / "refusing" / "sitecustomize.py").write_text(REFUSE_SOCKETS)
    path = os.pathsep.join([str(site), str(tmp_path / "refusing")])
    answer = embedlab(
        site, tmp_path, "evaluate", "dice", "--data", "tiny", "--offline", "--json", PYTHONPATH=path
    )
    assert json.loads(answer)["rows"]
