"""Cells as tasks of an existing Ray cluster; their attempts stay in the grid's folder on this
machine.
"""

import hashlib
import io
import logging
import os
import socket
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from embedlab.core.disk import atomic_folder
from embedlab.core.errors import ExitCode, MissingError
from embedlab.core.python_processes import SAFE_PATH
from embedlab.core.settings import PLUGINS, named_plugins
from embedlab.experiments.cell import PROGRAM, is_complete
from embedlab.experiments.executors.executor import POLL_S, Claims, Executor
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.single_cell import finish_patiently
from embedlab.runs.store import RunFolder

KNOCK_S = 5.0  # timeout for a connection to the cluster's address
LOST_NODES = 3  # times that Ray restarts a cell on another node before it counts as killed


@dataclass(frozen=True, kw_only=True)
class NodeResult:
    """The result of a task."""

    returncode: int
    reason: str
    archive: bytes | None  # the run folder, from a node that does not share our disk


class RayTasks:
    """The cells of one grid as tasks of a cluster, each with the plan's threads, and with a GPU
    where cells may train on one and the cluster has some.

    A node that sees the grid's folder works in it, and a cell whose node dies continues from its
    checkpoint; other nodes work in folders of their own and send the run back when it is complete.
    Cells report through their event files; their output goes to their logs only.
    """

    def __init__(
        self, plan: GridPlan, folder: GridFolder, at_once: int | None, program: Sequence[str]
    ) -> None:
        import ray

        self.ray: Any = ray
        self.plan, self.folder, self.program = plan, folder, tuple(program)
        resources = self.ray.cluster_resources()
        at_once = at_once or max(1, int(resources.get("CPU", 1)) // plan.threads)
        self.claims: Claims[Any] = Claims(plan, folder, at_once)
        has_gpus = plan.place.device in {"auto", "cuda"} and resources.get("GPU", 0.0) >= 1
        self._remote = ray.remote(
            num_cpus=plan.threads, num_gpus=int(has_gpus), max_retries=LOST_NODES
        )(run_on_node)
        self._plan_here = ray.put(plan.to_json())
        self._is_cancelled = False

    def submit(self) -> None:
        """Claim cells and submit them to the cluster until it has enough."""
        for entry in self.claims.new("waiting", "running"):  # of a driver that died
            self.claims.hold(
                self._remote.remote(
                    self._plan_here, str(self.folder.path), entry.number, self.program
                ),
                entry,
            )

    def poll(self) -> bool:
        """Record the tasks that ended."""
        if self.claims.jobs:
            ended, _ = self.ray.wait(self.claims.jobs, timeout=POLL_S)
            for reference in ended:
                self.claims.settle(
                    reference, *self._ending(reference), is_stopped=self._is_cancelled
                )
        else:
            time.sleep(POLL_S)
        return bool(self.claims.jobs) or (not self._is_cancelled and self.claims.cells.is_open())

    def cancel(self) -> None:
        """Request that every task saves its cell's checkpoint and stops."""
        self._is_cancelled = True
        for reference in self.claims.jobs:
            self.ray.cancel(reference)

    def _ending(self, reference: Any) -> tuple[int, str]:
        try:
            outcome: NodeResult = self.ray.get(reference)
        except self.ray.exceptions.TaskCancelledError:
            return ExitCode.INTERRUPTED, ""
        except self.ray.exceptions.RayError as error:  # the node was lost, or ran out of memory
            lines = str(error).strip().splitlines()
            return ExitCode.FAILED, lines[-1] if lines else type(error).__name__
        if outcome.archive is not None:
            unpack_run(
                outcome.archive,
                self.plan.run(self.plan.cell(self.claims.entry(reference).number)),
            )
        return outcome.returncode, outcome.reason


@contextmanager
def ray_tasks(
    plan: GridPlan,
    folder: GridFolder,
    address: str,
    *,
    at_once: int | None = None,
    program: Sequence[str] = PROGRAM,
) -> Iterator[Executor]:
    """Run the cells of PLAN on the Ray cluster at ADDRESS within the block."""
    with _connected(address):
        yield RayTasks(plan, folder, at_once, program)


def run_on_node(
    plan_text: str, folder_path: str, number: int, program: Sequence[str]
) -> NodeResult:
    """Run one cell on a node."""
    folder = GridFolder(Path(folder_path))
    is_shared = folder.plan_file.is_file() and _digest(
        folder.plan_file.read_text(encoding="utf-8")
    ) == _digest(plan_text)
    if is_shared:
        plan = GridPlan.load(folder.plan_file)
        returncode, reason = finish_patiently(plan, folder, plan.cell(number), program)
        return NodeResult(returncode=returncode, reason=reason, archive=None)
    with tempfile.TemporaryDirectory(prefix="embedlab-") as scratch:
        return run_in_scratch(plan_text, Path(scratch), number, program)


def run_in_scratch(
    plan_text: str, scratch: Path, number: int, program: Sequence[str]
) -> NodeResult:
    """Run a cell in SCRATCH, on a node that does not see the grid's folder, and pack its run
    folder.
    """
    scratch.mkdir(exist_ok=True)
    there = GridPlan.from_json(plan_text, scratch / "runs", where=scratch)
    plan = replace(
        there, place=replace(there.place, runs=str(scratch / "runs"), cache=str(scratch / "cache"))
    )
    cell = plan.cell(number)
    returncode, reason = finish_patiently(plan, GridFolder(scratch), cell, program)
    run = plan.run(cell)
    return NodeResult(
        returncode=returncode,
        reason=reason,
        archive=pack_run(run) if is_complete(plan, cell) else None,
    )


def pack_run(run: RunFolder) -> bytes:
    """Return a run folder as a tar archive, without its checkpoints."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.add(
            run.path,
            arcname=".",
            filter=lambda member: None if member.name.startswith("./checkpoints") else member,
        )
    return content.getvalue()


def unpack_run(archive: bytes, run: RunFolder) -> None:
    """Unpack a run into its place in one step."""
    run.path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(run.path) as folder, tarfile.open(fileobj=io.BytesIO(archive)) as content:
        content.extractall(folder, filter="data")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@contextmanager
def _connected(address: str) -> Iterator[None]:
    """Connect to the cluster within the block."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise MissingError(
            "--cluster needs Ray, which is not installed", hint="pip install 'embedlab[ray]'"
        ) from error
    _knock(address)
    try:
        with chdir(
            "/"
        ):  # Ray puts the working folder of this process before the modules of its workers
            ray.init(
                address=address,
                log_to_driver=False,
                logging_level=logging.WARNING,
                runtime_env={
                    "env_vars": {**SAFE_PATH, PLUGINS: os.pathsep.join(map(str, named_plugins()))}
                },
            )
    except (ConnectionError, ValueError, RuntimeError) as error:
        first = str(error).strip().splitlines()[0]
        raise MissingError(
            f"no Ray cluster at {address!r}: {first}",
            hint="`ray start --head` starts one; `ray status` shows it",
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Refuse a HOST:PORT that does not accept connections; Ray would retry for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return  # "auto" and the like: Ray finds the address
    try:
        socket.create_connection((host, int(port)), timeout=KNOCK_S).close()
    except (OSError, OverflowError) as error:
        raise MissingError(
            f"no Ray cluster at {address!r}: {error}",
            hint="`ray start --head` starts one; `ray status` shows it",
        ) from error
