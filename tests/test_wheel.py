"""The installed wheel: what is started by a module's name must be in it, and needs nothing of the
repository.
"""

import json
import os
import subprocess
import sys
import textwrap
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


def test_the_wheel_says_that_it_is_typed_and_what_it_is_for(site: Path) -> None:
    assert (site / "embedlab" / "py.typed").is_file()
    (metadata,) = (path.read_text("utf-8") for path in site.glob("embedlab-*.dist-info/METADATA"))
    assert "Classifier: Typing :: Typed" in metadata
    assert "Author: The embedlab authors" in metadata
    assert "\nLicense" not in metadata  # the owner's decision


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
def test_a_grid_on_ray_runs_from_the_wheel(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    monkeypatch.setenv("PYTHONPATH", str(site))  # the nodes inherit it
    cluster = pytest.importorskip(
        "ray.cluster_utils", reason="the extra embedlab[ray] is not installed"
    ).Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 2,
            "object_store_memory": 80 * 2**20,
            "include_dashboard": False,
            "node_ip_address": "127.0.0.1",
        },
    )
    try:
        (tmp_path / "lr.toml").write_text(GRID)
        embedlab(
            site,
            tmp_path,
            "grid",
            "run",
            "lr.toml",
            "--data",
            "tiny",
            "--cluster",
            cluster.address,
            "--quiet",
        )
    finally:
        cluster.shutdown()
    assert len(list(tmp_path.rglob("model/model.safetensors"))) == 2


@pytest.mark.slow
def test_a_detached_training_starts_from_the_wheel(site: Path, tmp_path: Path) -> None:
    embedlab(
        site,
        tmp_path,
        "train",
        "snli-ce",
        "--data",
        "tiny",
        "--set",
        "data.rows=16",
        "--set",
        "evaluate.tasks=[]",
        "--name",
        "away",
        "--detach",
    )
    log = embedlab(site, tmp_path, "runs", "log", "away@1", "--data", "tiny", "--follow")
    assert "finished" in log


@pytest.mark.slow
def test_offline_commands_connect_to_nothing(site: Path, tmp_path: Path) -> None:
    (tmp_path / "refusing").mkdir()
    (tmp_path / "refusing" / "sitecustomize.py").write_text(REFUSE_SOCKETS)
    path = os.pathsep.join([str(site), str(tmp_path / "refusing")])
    answer = embedlab(
        site, tmp_path, "evaluate", "dice", "--data", "tiny", "--offline", "--json", PYTHONPATH=path
    )
    assert json.loads(answer)["rows"]


@pytest.mark.slow
def test_a_machine_of_two_gpus_is_seen_from_the_wheel(site: Path, tmp_path: Path) -> None:
    program = """
        import torch
        torch.cuda.is_available = lambda: True
        torch.cuda.device_count = lambda: 2
        torch.cuda.get_device_name = lambda *_: "a card"
        from embedlab.experiments.executors.local import assigned_gpus, visible_gpus
        import embedlab.experiments.executors.local as local
        print(assigned_gpus(4, visible_gpus("cuda")))
    """
    found = python(site, tmp_path, "-c", textwrap.dedent(program), CUDA_VISIBLE_DEVICES="3,1")
    assert found.stdout.strip() == "['3', '1', '3', '1']", found.stderr
