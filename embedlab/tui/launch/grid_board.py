"""How far a grid is, as the Launch screen shows it: counts, running cells, and the heat map of its
dev scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import fmean

from embedlab.core.errors import EmbedlabError
from embedlab.core.settings import Settings
from embedlab.experiments.pivot import Spread, apart_over_seeds, marked_best
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.progress import CellProgress, GridFollower, GridProgress
from embedlab.experiments.worker import is_alive
from embedlab.runs.events import Step
from embedlab.runs.status import run_status
from embedlab.runs.store import GRIDS
from embedlab.tui.key_table import shown_key
from embedlab.tui.launch.form import cost_text
from embedlab.tui.launch.heat import Heat
from embedlab.tui.widgets.bars import thin_bar

_SIGNS = {
    "waiting": "·",
    "running": "▶",
    "done": "✓",
    "failed": "✗",
    "cancelled": "‖",
}
_STATE_ORDER = (
    "running",
    "failed",
    "cancelled",
    "waiting",
    "done",
)  # of a place whose seeds are in several states
_FAILED_SHOWN = 3
MOST_COMPARED = 10  # columns of Compare

Place = tuple[str, str]  # (row, column)


@dataclass(frozen=True, kw_only=True)
class GridLook:
    """A grid at one moment, ready to be shown."""

    lines: tuple[str, ...]
    heat: Heat
    is_running: bool = False
    is_left: bool = False  # cells that a resumed grid would train
    compared: tuple[
        str, ...
    ] = ()  # of a finished grid the runs that have scores, the best dev score first


class GridBoard:
    """Follows one grid that was started."""

    def __init__(self, settings: Settings, name: str) -> None:
        self.name = name
        self._folder = GridFolder.of(settings.runs, name)

    def look(self) -> GridLook | None:
        """The grid now; None before its plan and queue are there."""
        if not (self._folder.plan_file.is_file() and self._folder.queue_file.is_file()):
            return None
        # A connection belongs to the thread that opened it, and each look may come from another.
        follower = GridFollower(self._folder)
        try:
            return shown(follower.look())
        finally:
            follower.close()


def started_grids(settings: Settings) -> list[str]:
    """Names of the grids that were ever started here, the newest last."""
    plans = sorted(
        (settings.runs / GRIDS).glob("*/plan.json"), key=lambda path: path.stat().st_mtime
    )
    return [path.parent.name for path in plans]


def shown(progress: GridProgress) -> GridLook:
    """The grid in words and as a map."""
    counts = progress.counts
    done = sum(counts.get(state, 0) for state in ("done", "failed", "cancelled"))
    total = len(progress.entries)
    lines = [
        f"{progress.plan.name}  {thin_bar(done, 0, total, 30):<30} {done}/{total}",
        "  ".join(f"{_SIGNS[state]} {count} {state}" for state, count in counts.items()),
        f"left: {cost_text(progress.cost)}"
        if done < total
        else "all cells have ended"
        if total
        else "its cells are being queued",
    ]
    is_running = done < total and (
        bool(progress.running)
        or is_alive(GridFolder.of(progress.plan.place.runs_folder, progress.plan.name))
    )
    if done < total and not is_running:
        lines.append(
            f"no process works on it: embedlab grid run {progress.plan.typed} goes on, as "
            f"does {shown_key('resume')}"
        )
    for cell in progress.running:
        step = step_text(cell.step)
        dev = f"  dev {cell.dev[-1]:z.2f}" if cell.dev else ""
        lines.append(f"▶ {cell.cell.id}  {step}{dev}{_resumed(cell)}")
    for entry in progress.failed[:_FAILED_SHOWN]:
        lines.append(f"✗ {entry.run}@{entry.seed}  {entry.reason}")
        hint = run_status(progress.plan.run(progress.plan.cell(entry.number))).hint
        lines += [f"  hint: {hint}"] if hint else []
    if len(progress.failed) > _FAILED_SHOWN:
        lines.append(f"✗ {len(progress.failed) - _FAILED_SHOWN} more")
    is_left = not is_running and counts.get("done", 0) < total
    compared = scored_runs(progress) if total and not is_running and done == total else ()
    if len(compared) > 1:
        few = f"the {MOST_COMPARED} best cells" if len(compared) > MOST_COMPARED else "these cells"
        lines.append(
            f"{shown_key('open')} compares {few}, with the one under the cursor as the "
            f"reference ({shown_key('view')}: to the map)"
        )
    return GridLook(
        lines=tuple(lines),
        heat=heat_map(progress),
        is_running=is_running,
        is_left=is_left,
        compared=compared[:MOST_COMPARED],
    )


def scored_runs(progress: GridProgress) -> tuple[str, ...]:
    """The runs of a grid with the scores of a finished seed, that with the best mean dev score
    first.
    """
    scores: dict[str, list[float]] = {}
    for entry in progress.entries:
        run = progress.plan.run(progress.plan.cell(entry.number))
        if entry.state == "done" and (run.evaluations / "sts").is_dir():
            scores.setdefault(run.name, []).append(_dev(progress.plan, entry.number) or 0.0)
    return tuple(sorted(scores, key=lambda name: -fmean(scores[name])))


def _resumed(cell: CellProgress) -> str:
    """What brought a running cell here, where it did not begin at its first step."""
    if not cell.resumed_at and not cell.entry.kills:
        return ""
    start = f"from step {cell.resumed_at}" if cell.resumed_at else "from the beginning"
    return f"  goes on {start}{': its process was killed' if cell.entry.kills else ''}"


def heat_map(progress: GridProgress) -> Heat:
    """The mean dev score over seeds, on the two longest axes; other axes are averaged over, and
    named.
    """
    plan = progress.plan
    axes = sorted(plan.axes, key=lambda axis: -len(plan.axes[axis]))[:2]
    across, down = (axes[0] if axes else None), (axes[1] if len(axes) > 1 else None)
    scores: dict[Place, dict[int, list[float]]] = {}  # by seed
    unfinished: set[Place] = set()
    states: dict[Place, str] = {}
    runs: dict[Place, tuple[str, ...]] = {}
    for entry in progress.entries:
        cell = plan.cell(entry.number)
        labels = (
            _label(plan, cell.variant.labels, down),
            _label(plan, cell.variant.labels, across),
        )
        states[labels] = min(states.get(labels, entry.state), entry.state, key=_STATE_ORDER.index)
        runs[labels] = (*runs.get(labels, ()), cell.id)
        if entry.state in {"done", "running"} and (dev := _dev(plan, entry.number)) is not None:
            scores.setdefault(labels, {}).setdefault(entry.seed, []).append(dev)
        if entry.state != "done":
            unfinished.add(labels)
    rest = [axis for axis in plan.axes if axis not in axes]
    averaged = f", mean over {', '.join([*rest, 'seeds'])}" if rest or len(plan.seeds) > 1 else ""
    spreads = {
        labels: Spread(values=tuple(fmean(values) for values in of_seed.values()))
        for labels, of_seed in scores.items()
    }
    marks, note = chosen(
        {labels: spread for labels, spread in spreads.items() if labels not in unfinished}
    )
    return Heat(
        title=f"dev score: {across or 'all'}{f' across, {down} down' if down else ''}{averaged}",
        rows=_labels(plan, down, [state[0] for state in states]),
        columns=_labels(plan, across, [state[1] for state in states]),
        values={labels: spread.mean for labels, spread in spreads.items()},
        states={labels: _SIGNS[state] for labels, state in states.items()},
        runs=runs,
        marks=marks,
        note=note,
    )


def chosen(spreads: Mapping[Place, Spread]) -> tuple[dict[Place, str], str]:
    """The signs of the best of several finished places and of what may be the best as well, and
    what they say; by the rule of the table.
    """
    if len(spreads) < 2:
        return {}, ""
    marked = marked_best(spreads, apart_over_seeds)
    marks = {
        labels: "*" if spread.is_best else "="
        for labels, spread in marked.items()
        if spread.is_best or spread.is_tied
    }
    if "*" not in marks.values():
        return marks, "= equal to the last digit: none is the best"
    too_high = next((spread.optimism for spread in marked.values() if spread.is_best), None)
    if too_high is None or isnan(too_high):
        return marks, f"* best of {len(marked)}, too high by an unknown amount: one seed"
    return (
        marks,
        f"* best of {len(marked)}, about {too_high:z.2f} too high for being chosen; = may be "
        f"as good",
    )


def _dev(plan: GridPlan, number: int) -> float | None:
    try:
        dev = run_status(plan.run(plan.cell(number))).dev
    except EmbedlabError:
        return None
    return dev.score if dev is not None else None


def _label(plan: GridPlan, labels: Mapping[str, str], axis: str | None) -> str:
    return labels.get(axis, "–") if axis is not None else plan.name[:12]


def _labels(plan: GridPlan, axis: str | None, seen: Sequence[str]) -> list[str]:
    """The labels of an axis that cells have, in its order; "–" is last, for variants that lack the
    axis.
    """
    known = [*plan.axes[axis], "–"] if axis is not None else list(dict.fromkeys(seen))
    return [label for label in known if label in seen]


def step_text(step: Step | None) -> str:
    """The state of a running cell."""
    if step is None:
        return "starting"
    if step.step >= step.steps:
        return f"{thin_bar(1, 0, 1, 10)} trained, its tasks are being scored"
    return (
        f"{thin_bar(step.step, 0, step.steps, 10):<10} {step.step}/{step.steps}  loss "
        f"{step.loss:z.4f}"
    )
