"""What a grid still costs: time from the speed that was measured, disk from the size of the encoders."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from embedlab.encoders.folder import weight_files
from embedlab.errors import EmbedlabError
from embedlab.grids.plan import Cell, Plan
from embedlab.grids.queue import Entry
from embedlab.runs.status import status
from embedlab.runs.store import find_runs

LOOKS = 50  # at most so many runs are looked at for a speed
TRAINING_COPIES = 6  # of the weights: two checkpoints, each with the two moments of AdamW


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What is left to do; absent = nothing was measured that says."""

    cells: int
    seconds: float | None
    measured: str  # what the time is estimated from
    disk_bytes: int | None


def remaining_cost(plan: Plan, entries: Sequence[Entry], workers: int) -> Cost:
    """The cost of the cells that are still to end, with so many workers; those that failed get a new chance only when started anew."""
    todo = [plan.cell(entry.number) for entry in entries if entry.state not in {"done", "stopped", "failed"}]
    done = [entry for entry in entries if entry.state == "done" and entry.seconds > 0]
    seconds, measured = _seconds(plan, todo, done)
    return Cost(
        cells=len(todo),
        seconds=seconds / min(workers, max(1, len(todo))) if seconds is not None else None,
        measured=measured,
        disk_bytes=_disk(todo, workers),
    )


def _seconds(plan: Plan, todo: Sequence[Cell], done: Sequence[Entry]) -> tuple[float | None, str]:
    """Seconds of one worker for the cells in TODO."""
    if not todo:
        return None, "nothing is left to do"
    if done:
        rows = sum(plan.cell(entry.number).variant.rows for entry in done)
        spent = sum(entry.seconds for entry in done)
        scale = spent / rows if rows else 0.0
        per_cell = spent / len(done)
        return sum(cell.variant.rows * scale or per_cell for cell in todo), f"{len(done)} finished cells"
    encoders = {cell.variant.recipe["encoder"]["model"] for cell in todo}
    speeds = _speeds(plan.place.runs_folder, encoders)
    if not encoders <= speeds.keys() or not all(cell.variant.rows for cell in todo):
        return None, "nothing measured yet"
    return sum(cell.variant.rows / speeds[cell.variant.recipe["encoder"]["model"]] for cell in todo), "other runs of the same encoder"


def _speeds(runs: Path, encoders: Iterable[str]) -> dict[str, float]:
    """Rows a second of the newest runs that started from one of ENCODERS."""
    found: dict[str, list[float]] = {}
    newest = sorted(find_runs(runs), key=lambda run: run.path.stat().st_mtime, reverse=True)
    for run in newest[:LOOKS]:
        try:
            step = status(run).step
            if step is not None and step.rows_per_s > 0 and (encoder := run.recipe().encoder.model) in encoders:
                found.setdefault(encoder, []).append(step.rows_per_s)
        except EmbedlabError:  # a damaged run says nothing of the speed, and is no reason to stop
            continue
    return {encoder: fmean(speeds) for encoder, speeds in found.items()}


def _disk(todo: Sequence[Cell], workers: int) -> int | None:
    """Bytes of the models to come, and of the checkpoints of those at work; None for an encoder that is not on this disk."""
    sizes = []
    for cell in todo:
        folder = Path(cell.variant.recipe["encoder"]["model"])
        if not folder.is_dir():
            return None
        sizes.append(sum(file.stat().st_size for file in weight_files(folder)))
    return sum(sizes) + TRAINING_COPIES * workers * max(sizes, default=0)
