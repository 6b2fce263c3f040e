import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from embedlab.core.errors import MissingError
from embedlab.experiments.cells import Cells, prepare_grid
from embedlab.experiments.executors.executor import run_cells
from embedlab.experiments.executors.ray import (
    RayTasks,
    ray_tasks,
    run_in_scratch,
    run_on_node,
    unpack_run,
)
from embedlab.experiments.plan import GridPlan
from embedlab.runs.status import run_status
from tests.experiments.conftest import STAND_IN
from tests.experiments.executors.test_local import assert_each_done_once, expected_value
from tests.refusal import refused


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two nodes of one processor each on this machine, reached at 127.0.0.1 alone."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    # Ray's switch for desktop systems: nodes keep to the loopback address. It is read when Ray is
    # imported.
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    pytest.importorskip("ray", reason="the extra embedlab[ray] is not installed")
    from ray.cluster_utils import Cluster

    node = {
        "num_cpus": 1,
        "object_store_memory": 80 * 2**20,
        "include_dashboard": False,
        "node_ip_address": "127.0.0.1",
    }
    started = Cluster(initialize_head=True, head_node_args=node)
    started.add_node(num_cpus=1, object_store_memory=80 * 2**20, node_ip_address="127.0.0.1")
    yield started
    started.shutdown()


def run_ray(plan: GridPlan, cluster: Any, **options: Any) -> None:
    run_cells(plan, ray_tasks(plan, cluster.address, program=STAND_IN), **options)


@pytest.mark.slow
def test_a_cluster_does_every_cell_once(plan: GridPlan, cluster: Any) -> None:
    prepare_grid(plan)
    run_ray(plan, cluster)
    assert_each_done_once(plan)


@pytest.mark.slow
def test_nodes_import_nothing_from_the_working_folder(
    plan: GridPlan,
    cluster: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "hostile").mkdir()
    for name in ("statistics", "datasets", "polars", "tomli_w", "fcntl", "xxhash"):
        (tmp_path / "hostile" / f"{name}.py").write_text(
            f"open({str(tmp_path / 'ran')!r}, 'a').write('{name} ')\nraise SystemExit(66)\n"
        )
    monkeypatch.chdir(tmp_path / "hostile")
    prepare_grid(plan)
    run_ray(plan, cluster)
    assert_each_done_once(plan)
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_a_node_that_is_killed_loses_nothing(
    plan: GridPlan, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_grid(plan)
    killed = []

    def show() -> None:
        is_busy = any(entry.state == "done" for entry in Cells(plan).entries())
        if is_busy and not killed:
            node = cluster.list_all_nodes()[-1]
            cluster.remove_node(node, allow_graceful=False)
            killed.append(node)

    run_ray(plan, cluster, show=show)
    assert killed
    assert_each_done_once(plan)


def test_a_cell_reports_by_its_files_alone(
    plan: GridPlan, capfd: pytest.CaptureFixture[str]
) -> None:
    prepare_grid(plan)
    log = plan.cell(2).run.log_file
    log.parent.mkdir(parents=True)
    log.write_text("printed before\n")
    noisy = (sys.executable, "-c", "print('{\"step\": 1} \\x1b[31mred')")
    returncode, *_ = run_on_node(plan.to_json(), str(plan.folder.path), 2, noisy)
    assert returncode != 0  # it leaves no results
    assert "\x1b[31mred" in log.read_text()
    assert run_on_node(plan.to_json(), str(plan.folder.path), 1, STAND_IN) == (0, "", None)
    assert capfd.readouterr() == ("", "")  # Ray would bring it to whoever started the grid
    assert run_status(plan.cell(1).run).state == "finished"


def test_a_run_made_apart_is_brought_back(plan: GridPlan, tmp_path: Path) -> None:
    *ending, archive = run_in_scratch(plan.to_json(), tmp_path / "scratch", 2, STAND_IN)
    assert ending == [0, ""]
    assert archive is not None
    run = plan.cell(2).run
    unpack_run(archive, run)
    assert run_status(run).state == "finished"
    assert (run.model / "value").read_text() == expected_value(plan, 2)


@pytest.mark.parametrize(
    ("device", "available", "requested"),
    [("auto", 8.0, 1), ("cuda", 1.0, 1), ("cpu", 8.0, 0), ("auto", 0.0, 0)],
)
def test_a_cell_requests_a_gpu_as_on_slurm(
    device: str,
    available: float,
    requested: int,
    plan: GridPlan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: dict[str, int] = {}

    def remote(**options: int) -> Any:
        asked.update(options)
        return lambda function: function

    fake = SimpleNamespace(
        cluster_resources=lambda: {"CPU": 16.0, "GPU": available}, remote=remote, put=str
    )
    monkeypatch.setitem(sys.modules, "ray", fake)
    RayTasks(replace(plan, place=replace(plan.place, device=device)), None, STAND_IN)
    assert asked["num_gpus"] == requested


def test_without_ray_the_extra_is_named(plan: GridPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with refused("Ray, which is not installed", "embedlab[ray]", MissingError):
        run_cells(plan, ray_tasks(plan, "127.0.0.1:1"))


def test_an_address_where_no_process_listens_is_refused_at_once(
    plan: GridPlan,
) -> None:
    pytest.importorskip("ray")
    prepare_grid(plan)
    with pytest.raises(MissingError, match=r"no Ray cluster at '127\.0\.0\.1:1'"):
        run_cells(plan, ray_tasks(plan, "127.0.0.1:1"))
