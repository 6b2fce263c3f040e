"""What embedlab offers, read through its own doors: commands, settings, recipes, grids, papers,
tasks, datasets, models, keys, files.

    python -m tests.inventory            writes tests/inventory.json

`inventory.json` is of the commit before the layout changed; test_inventory compares, so that a move
loses nothing unnoticed.
"""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

import typer

FILE = Path(__file__).with_name("inventory.json")
PROSE = {"claims", "summary", "notes", "deviations", "text", "lacks"}
ADDED = {
    "profile": "paper",
    "pairs": (),
    "model": None,
    "given": None,
    "best_of": (),
    "folder": "",
}  # since, of a paper's table: what means nothing new


def inventory() -> dict[str, Any]:
    """Everything, as plain JSON values; long ones as a digest."""
    return {
        "commands": dict(commands()),
        "settings": settings(),
        "recipes": recipes(),
        "grids": grids(),
        "papers": papers(),
        "tasks": tasks(),
        "objectives": objectives(),
        "datasets": datasets(),
        "models": models(),
        "keys": keys(),
        "files": files(),
    }


def commands() -> Iterator[tuple[str, dict[str, str]]]:
    """Every command with its arguments and options, the choices of each, and whether it is a
    flag.
    """
    from embedlab.cli.app import program

    def walk(command: Any, name: str) -> Iterator[tuple[str, dict[str, str]]]:
        if hasattr(command, "commands"):
            for word, own in command.commands.items():
                yield from walk(own, f"{name} {word}".strip())
        else:
            yield (
                name,
                {one_name: described(one) for one in command.params for one_name in names_of(one)},
            )

    yield from walk(typer.main.get_command(program()), "")


def names_of(parameter: Any) -> Iterator[str]:
    """The names of a word of a command line: each long one with what is short or says the opposite;
    another long one is an alias.
    """
    long = [name for name in parameter.opts if name.startswith("--")]
    others = [name for name in (*parameter.opts, *parameter.secondary_opts) if name not in long]
    yield from ("/".join([name, *others]) for name in long) if long else ("/".join(others),)


def described(parameter: Any) -> str:
    """What a word of a command line may be: one of closed choices, a flag, or any value, once or
    several times.
    """
    choices = get_args(parameter.type_descriptor.annotation)
    if choices and all(isinstance(choice, str) for choice in choices):
        return f"one of {', '.join(sorted(choices))}"
    kind = "flag" if getattr(parameter, "is_flag", False) else "value"
    return f"{kind}s" if parameter.multiple or parameter.nargs != 1 else kind


def settings() -> list[str]:
    """Every key of a settings file; EMBEDLAB_ and its capitals set it too."""
    from embedlab.core.settings import Settings

    return [one.name for one in fields(Settings)]


def recipes() -> dict[str, str]:
    """The digest of every shipped recipe with all its defaults, without its prose."""
    from embedlab.core.names import recipe_names
    from embedlab.core.recipe import identifying, load_recipe, recipe_to_table

    tables = {name: recipe_to_table(load_recipe(name)) for name in recipe_names()}
    for table in tables.values():
        for stage in table["stage"]:
            stage["objective"] = identifying(stage["objective"])
    return {name: digest(without_prose(table)) for name, table in tables.items()}


def grids() -> dict[str, Any]:
    """The runs of every shipped grid: their names hold what decides them."""
    from embedlab.experiments.grid_file import grid_names, load_grid
    from embedlab.experiments.grid_trainings import expand_grid
    from embedlab.experiments.plan import GridPlace

    with tempfile.TemporaryDirectory() as folder:
        place = GridPlace(runs=f"{folder}/runs", cache=folder, sample=True)
        plans = {name: expand_grid(load_grid(name), place) for name in grid_names()}
        return {
            name: {
                "cells": len(plan),
                "runs": digest([plan.run(cell).path.parts[-2:] for cell in plan.cells]),
            }
            for name, plan in plans.items()
        }


def papers() -> dict[str, dict[str, str]]:
    """The digest of every table of every paper without its prose: rows, what makes them, the
    printed numbers.
    """
    from embedlab.experiments.paper_file import load_paper
    from embedlab.experiments.printed import paper_names

    return {
        paper: {
            name: digest(without_prose(asdict(table))) for name, table in load_paper(paper).items()
        }
        for paper in paper_names()
    }


def without_prose(values: Any) -> Any:
    """VALUES without the texts that may be reworded."""
    if isinstance(values, dict):
        said = {
            key: value for key, value in values.items() if key not in ADDED or value != ADDED[key]
        }
        return {key: without_prose(value) for key, value in said.items() if key not in PROSE}
    return (
        [without_prose(value) for value in values] if isinstance(values, list | tuple) else values
    )


def tasks() -> list[str]:
    """Every task and with it every suite."""
    from embedlab.core.names import task_names

    return sorted(task_names())


def objectives() -> list[str]:
    """Every objective."""
    from embedlab.core.names import objective_names

    return sorted(objective_names())


def datasets() -> dict[str, Any]:
    """Every dataset with its kind and the splits with their sizes and places."""
    from embedlab.data.source import dataset, dataset_names

    found = {name: dataset(name) for name in sorted(dataset_names())}
    return {
        name: {"kind": one.kind, "splits": list(one.splits), "manifest": digest(sizes(one.splits))}
        for name, one in found.items()
    }


def sizes(splits: Any) -> dict[str, Any]:
    """What is known of each split but the functions that read it."""
    return {
        name: {key: value for key, value in vars(split).items() if isinstance(value, int | str)}
        for name, split in splits.items()
    }


def models() -> dict[str, str]:
    """Every name of the catalog with all that is known of it, but for its note, which is prose."""
    from embedlab.models.published import CATALOG

    return {
        name: digest({**as_before(asdict(one)), "note": bool(one.note)})
        for name, one in sorted(CATALOG.items())
    }


def as_before(one: dict[str, Any]) -> dict[str, Any]:
    """A published model without what the first of them do not have."""
    return {key: value for key, value in one.items() if key not in {"revision", "prompts"}}


def keys() -> dict[str, dict[str, str]]:
    """Every key of the dashboard with its action, screen by screen."""
    from embedlab.tui.commands import COMMANDS

    return {
        place: {",".join(command.key.keys): command.action for command in own}
        for place, own in COMMANDS.items()
    }


def files() -> list[str]:
    """The names of the files that the wheel holds besides modules."""
    from embedlab.core.paths import PACKAGE, recipes_folder

    own = (
        path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"}
    )
    shipped = (path for path in recipes_folder().rglob("*") if path.suffix in {".toml", ".csv"})
    return sorted({path.name for path in [*own, *shipped]})


def digest(values: Any) -> str:
    """A digest of JSON values; sets and paths count as text."""
    return sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()[:16]


if __name__ == "__main__":
    FILE.write_text(json.dumps(inventory(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
