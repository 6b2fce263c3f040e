"""Which grids there are: those of the package, and those that were started in a runs folder."""

from dataclasses import dataclass
from pathlib import Path

from embedlab.core.errors import MissingError
from embedlab.core.schema import read_toml
from embedlab.experiments.grid_file import grid_names, grid_path
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.runs.store import GRIDS


@dataclass(frozen=True, kw_only=True)
class ListedGrid:
    """A grid by its name, and what it is about."""

    name: str
    axes: tuple[tuple[str, int], ...]  # each axis with the number of its values
    is_started: bool
    summary: str  # of a plan that cannot be read, the reason


def list_grids(runs: Path) -> list[ListedGrid]:
    """Return the shipped grids, and those that were started in RUNS, by name."""
    started = {path.parent.name for path in (runs / GRIDS).glob("*/plan.json")}
    return [
        _listed(name, GridFolder.of(runs, name), is_started=name in started)
        for name in sorted({*grid_names(), *started})
    ]


def _listed(name: str, folder: GridFolder, *, is_started: bool) -> ListedGrid:
    """A grid as its file describes it, or as its plan does where the file is the user's own; a
    damaged plan costs its own line.
    """
    if name in grid_names():
        values = read_toml(grid_path(name))
        sizes = [(axis, len(choices)) for axis, choices in values.get("axes", {}).items()]
        return ListedGrid(
            name=name, axes=tuple(sizes), is_started=is_started, summary=values.get("summary", "")
        )
    try:
        plan = GridPlan.load(folder.plan_file)
    except MissingError as error:
        return ListedGrid(name=name, axes=(), is_started=is_started, summary=error.message)
    sizes = [(axis, len(labels)) for axis, labels in plan.axes.items()]
    return ListedGrid(name=name, axes=tuple(sizes), is_started=is_started, summary=plan.summary)
