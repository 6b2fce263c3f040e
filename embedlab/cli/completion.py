"""What a shell may complete: names from listings, without loading anything."""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path

import typer

from embedlab.core.settings import load_settings


def completer(kind: str) -> Callable[..., list[str]]:
    """Return the function that completes names of a KIND."""
    if kind == "tables":
        return complete_tables

    def complete(incomplete: str) -> list[str]:
        names = _models(incomplete) if kind == "models" else _names(kind)
        return sorted({name for name in names if name.startswith(incomplete)})

    return complete


# where the names of a kind are listed
_LISTED = {
    "recipes": "core.names.recipe_names",
    "tasks": "core.names.task_names",
    "aliases": "models.aliases.aliases",
    "grids": "experiments.grid_file.grid_names",
    "papers": "experiments.printed.paper_names",
    "datasets": "data.source.dataset_names",
}


def _names(kind: str) -> Iterator[str]:
    if kind == "properties":
        from embedlab.core.plugins import names

        yield from ("dataset", *names("properties"))
    elif kind == "runs":
        from embedlab.runs.store import find_runs

        for run in find_runs(load_settings({})[0].runs):
            yield from (run.name, run.id)
    else:
        module, _, function = _LISTED[kind].rpartition(".")
        listed: Iterable[str] = getattr(import_module(f"embedlab.{module}"), function)()
        yield from listed
        yield from ["all"] * (kind == "tasks")


def _models(incomplete: str) -> Iterator[str]:
    """Yield runs, folders, the names of the catalog and the prefixes of encoders."""
    from embedlab.core.plugins import names
    from embedlab.models.published import CATALOG

    parent = Path(incomplete).parent
    yield from (*_names("runs"), *CATALOG, "dice", *(f"{each}:" for each in names("encoders")))
    if parent.is_dir():
        yield from (str(path) for path in parent.iterdir() if path.is_dir())


def complete_tables(context: typer.Context, incomplete: str) -> list[str]:
    """The tables of the paper that was typed, in its own order."""
    from embedlab.experiments.paper_file import load_paper

    paper = str(context.params.get("paper"))
    tables = load_paper(paper) if paper in _names("papers") else ()
    return [name for name in tables if name.startswith(incomplete)]
