"""What a shell may complete: names from listings, without loading anything."""

from collections.abc import Iterable
from pathlib import Path

import typer

from embedlab.core.names import recipe_names, task_names
from embedlab.core.settings import load_settings


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if name.startswith(incomplete)})


def complete_recipes(incomplete: str) -> list[str]:
    """Recipes by name."""
    return _starting(incomplete, recipe_names())


def complete_tasks(incomplete: str) -> list[str]:
    """Evaluation tasks by name, and all of them."""
    return _starting(incomplete, ["all", *task_names()])


def complete_runs(incomplete: str) -> list[str]:
    """Runs by name and by name@seed."""
    from embedlab.runs.store import find_runs

    folders = find_runs(load_settings({})[0].runs)
    return _starting(incomplete, [name for run in folders for name in (run.name, run.id)])


def complete_models(incomplete: str) -> list[str]:
    """Runs, folders, the names of the catalog and the prefixes of encoders."""
    from embedlab.core.plugins import names
    from embedlab.models.published import CATALOG

    parent = Path(incomplete).parent
    folders = [str(path) for path in parent.iterdir() if path.is_dir()] if parent.is_dir() else []
    return _starting(
        incomplete,
        [
            *complete_runs(incomplete),
            *CATALOG,
            "dice",
            *folders,
            *(f"{prefix}:" for prefix in names("encoders")),
        ],
    )


def complete_aliases(incomplete: str) -> list[str]:
    """The names that the user gave models."""
    from embedlab.models.aliases import aliases

    return _starting(incomplete, aliases())


def complete_grids(incomplete: str) -> list[str]:
    """Grids of the package by name."""
    from embedlab.experiments.grid_file import grid_names

    return _starting(incomplete, grid_names())


def complete_papers(incomplete: str) -> list[str]:
    """Papers by name."""
    from embedlab.experiments.printed import paper_names

    return _starting(incomplete, paper_names())


def complete_tables(context: typer.Context, incomplete: str) -> list[str]:
    """The tables of the paper that was typed, in its own order."""
    from embedlab.experiments.paper_file import load_paper
    from embedlab.experiments.printed import paper_names

    paper = context.params.get("paper")
    return (
        [name for name in load_paper(paper) if name.startswith(incomplete)]
        if paper in paper_names()
        else []
    )


def complete_datasets(incomplete: str) -> list[str]:
    """Datasets by name."""
    from embedlab.data.source import dataset_names

    return _starting(incomplete, dataset_names())


def complete_properties(incomplete: str) -> list[str]:
    """Properties of items by name."""
    from embedlab.core.plugins import names

    return _starting(incomplete, ["dataset", *names("properties")])
