"""The installed wheel: what is started by a module's name must be in it, and needs nothing of the
repository.
"""

import json
import os
import subprocess
import sys
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
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    build = [*command, "--directory", str(place / "dist")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (place / "dist").glob("*.whl")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    install = [*command, "--target", str(place / "site"), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    return place / "site"


def python(
    site: Path, folder: Path, *words: str, **more: str
) -> "subprocess.CompletedProcess[str]":
    """Run Python in FOLDER, which is not the repository, with the installed package before
    everything else.
    """
    places = {"PYTHONPATH": str(site), "EMBEDLAB_RUNS": "runs", "EMBEDLAB_CACHE": "cache"}
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=os.environ | places | more,
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


def data_of(package: Path) -> dict[str, bytes]:
    """What lies beside the modules of a package, by its path."""
    files = [path for path in package.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(package)): path.read_bytes()
        for path in files
        if path.suffix not in {".py", ".pyc"} and "recipes" not in path.parts
    }


def test_the_wheel_is_what_runs_and_brings_its_data(site: Path, tmp_path: Path) -> None:
    where = python(site, tmp_path, "-c", "import embedlab; print(embedlab.__file__)").stdout
    assert Path(where.strip()).is_relative_to(site)
    assert {path.name for path in (ROOT / "recipes").glob("*.toml")} == {
        path.name for path in (site / "embedlab" / "recipes").glob("*.toml")
    }
    data = data_of(site / "embedlab")
    assert data == data_of(ROOT / "embedlab")
    starter = {name: text for name, text in data.items() if name.startswith("data/starter/")}
    assert "data/starter/licences/CC-BY-SA-4.0.txt" in starter
    assert sum(map(len, starter.values())) < 2 * 2**20


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
