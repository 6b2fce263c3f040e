"""Cells as tasks of an existing Ray cluster; their attempts stay in the grid's folder on this
machine.
"""

import io
import logging
import os
import socket
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from embedlab.core.disk import atomic_folder
from embedlab.core.errors import ExitCode, MissingError, in_one_line
from embedlab.core.python_processes import SAFE_PATH
from embedlab.core.settings import PLUGINS, named_plugins
from embedlab.experiments.cells import PROGRAM, is_complete
from embedlab.experiments.executors.executor import POLL_S, Executor
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.single_cell import finish_patiently
from embedlab.runs.store import RunFolder

KNOCK_S = 5.0  # timeout for a connection to the cluster's address
LOST_NODES = 3  # times that Ray restarts a cell on another node before it counts as killed


# The exit code of a task, its reason, and the run folder from a node that does not share our disk.
NodeResult = tuple[int, str, bytes | None]


class RayTasks(Executor[Any]):
    """The cells of one grid as tasks of a cluster, each with the plan's threads, and with a GPU
    where cells may train on one and the cluster has some.

    A node that sees the grid's folder works in it, and a cell whose node dies continues from its
    checkpoint; other nodes work in folders of their own and send the run back when it is complete.
    Cells report through their event files; their output goes to their logs only.
    """

    def __init__(self, plan: GridPlan, at_once: int | None, program: Sequence[str]) -> None:
        import ray

        self.ray: Any = ray
        resources = self.ray.cluster_resources()
        cpus = int(resources.get("CPU", 1))
        super().__init__(plan, at_once or max(1, cpus // plan.threads))
        has_gpus = plan.place.device in {"auto", "cuda"} and resources.get("GPU", 0.0) >= 1
        options = {"num_cpus": plan.threads, "num_gpus": int(has_gpus), "max_retries": LOST_NODES}
        self._remote = ray.remote(**options)(run_on_node)
        self._plan_there, self.program = ray.put(plan.to_json()), tuple(program)

    def submit(self) -> None:
        """Submit cells to the cluster until it has enough."""
        for entry in self.waiting("waiting", "running"):  # of a driver that died
            arguments = (
                self._plan_there,
                str(self.plan.folder.path),
                entry.cell.number,
                self.program,
            )
            self.hold(self._remote.remote(*arguments), entry)

    def check_jobs(self) -> None:
        """Record the tasks that ended."""
        time.sleep(POLL_S)
        tasks = list(self.jobs)
        for task in self.ray.wait(tasks, num_returns=len(tasks), timeout=0)[0] if tasks else ():
            self.record_end(task, *self._ending(task))

    def stop(self) -> None:
        """Request that every task saves its cell's checkpoint and stops."""
        for task in self.jobs:
            self.ray.cancel(task)

    def _ending(self, task: Any) -> tuple[int, str]:
        try:
            returncode, reason, archive = self.ray.get(task)
        except self.ray.exceptions.TaskCancelledError:
            return ExitCode.INTERRUPTED, ""
        except self.ray.exceptions.RayError as error:  # the node was lost, or ran out of memory
            return ExitCode.FAILED, in_one_line(error)
        if archive is not None:
            unpack_run(archive, self.jobs[task][0].cell.run)
        return returncode, reason


@contextmanager
def ray_tasks(
    plan: GridPlan,
    address: str,
    *,
    at_once: int | None = None,
    program: Sequence[str] = PROGRAM,
) -> Iterator[RayTasks]:
    """Run the cells of PLAN on the Ray cluster at ADDRESS within the block."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise MissingError(
            "--cluster needs Ray, which is not installed", hint="pip install 'embedlab[ray]'"
        ) from error
    plugins = os.pathsep.join(map(str, named_plugins()))
    try:
        _check_reachable(address)
        # Ray puts the working folder of this process before the modules of its workers
        with chdir("/"):
            ray.init(
                address=address,
                log_to_driver=False,
                logging_level=logging.WARNING,
                runtime_env={"env_vars": {**SAFE_PATH, PLUGINS: plugins}},
            )
    except (OSError, OverflowError, ValueError, RuntimeError) as error:
        raise MissingError(
            f"no Ray cluster at {address!r}: {in_one_line(error)}",
            hint="`ray start --head` starts one; `ray status` shows it",
        ) from error
    try:
        yield RayTasks(plan, at_once, program)
    finally:
        ray.shutdown()


def run_on_node(
    plan_text: str, folder_path: str, number: int, program: Sequence[str]
) -> NodeResult:
    """Run one cell on a node: in the grid's folder where it sees that."""
    folder = GridFolder(Path(folder_path))
    if folder.plan_file.is_file() and folder.plan_file.read_text("utf-8") == plan_text:
        plan = GridPlan.load(folder.plan_file)
        return *finish_patiently(plan, plan.cell(number), program), None
    with tempfile.TemporaryDirectory(prefix="embedlab-") as scratch:
        return run_in_scratch(plan_text, Path(scratch), number, program)


def run_in_scratch(
    plan_text: str, scratch: Path, number: int, program: Sequence[str]
) -> NodeResult:
    """Run a cell in SCRATCH, on a node that does not see the grid's folder, and pack its run
    folder, without checkpoints.
    """
    plan = GridPlan.from_json(plan_text, scratch / "runs", where=scratch)
    plan = replace(plan, place=replace(plan.place, cache=scratch / "cache"))
    cell = plan.cell(number)
    ending = finish_patiently(plan, cell, program)
    if not is_complete(cell):
        return *ending, None
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for path in {*cell.run.path.iterdir()} - {cell.run.checkpoints}:
            archive.add(path, arcname=path.name)
    return *ending, content.getvalue()


def unpack_run(archive: bytes, run: RunFolder) -> None:
    """Unpack a run into its place in one step."""
    run.path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(run.path) as folder, tarfile.open(fileobj=io.BytesIO(archive)) as content:
        content.extractall(folder, filter="data")


def _check_reachable(address: str) -> None:
    """Refuse a HOST:PORT that does not accept connections; Ray would retry for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():  # of "auto" and the like Ray finds the address
        socket.create_connection((host, int(port)), timeout=KNOCK_S).close()
