"""What embedlab offers, read through its own doors: commands, settings, Python functions, keys of
JSON, terms of `--where`, kinds of plug-ins, recipes, grids, papers, tasks, datasets, models, keys,
files.

    python -m tests.inventory                    adds what is new to tests/inventory.json
    python -m tests.inventory recipes/sbert …    also records these as they are now

`inventory.json` says what users had on 2026-11-27, and what has come since; test_inventory
compares. What may be lost is signed in signed_removals.toml.
"""

import contextlib
import inspect
import io
import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

FILE = Path(__file__).with_name("inventory.json")
SIGNED = FILE.with_name("signed_removals.toml")
PROSE = {"claims", "summary", "notes", "deviations", "text", "lacks"}
LATER = {"chosen", "rates"}  # fields that tables of papers did not have when they were recorded
WHERE = (  # a form of the filter language each, tried on the starter set with dice
    *("dice>0.7", "dice<=0.3", "0.2<dice<0.4", "Dice>0.5", '"dice">0.5', "gold<1", "gold!=5"),
    *("error(dice)>10", "error>10", "gap>1", "pair=3", "words>9", "length<5"),
    *("source:*images*", "source:*images*,*news*", "dataset:*", "trained:*", "note:*"),
    *("tag:negation", "tag:number", "tag:length", "negation:one", "question:both", "number:one"),
    *("man", '"a man"', "s1:man", 's2:"a man"', "sentence1:man", "/m[ae]n/"),
    *("-man", "-gold>1", "gold<1 dice>0.2", "gold<1 and dice>0.2", "gold<1 or gold>4"),
)
TWO = ("dice", "wordllama", "--task", "starter")
SENTENCES = ("A cat sleeps.", "No cat sleeps.")
ANSWERS: dict[str, tuple[str, ...]] = {  # what each command is tried on for the keys of --json
    "compare": (*TWO, "--by", "negation", "--equivalent", "1", "--signature"),
    "compare --cost": (*TWO, "--cost"),
    "evaluate": (*TWO, "--by", "source"),
    "power": (*TWO, "--detect", "2"),
    "why": TWO,
    "pairs": (*TWO, "--limit", "2"),
    "explain": (*SENTENCES, "-m", "dice", "-m", "wordllama"),
    "score": (*SENTENCES, "-m", "dice"),
    "nearest": ("a cat", "rows.txt", "-m", "wordllama"),
    "reproduce": ("tsukagoshi", "table2", "--published-only"),
    "train --dry-run": ("snli-ce", "--encoder", "minilm"),
    "recipes": (),
    "config": (),
    "data ls": (),
    "data overlaps": ("snli", "sts-benchmark"),
    "models ls": (),
    "cache ls": (),
}


def commands() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every command with its arguments and options, the choices of each, and whether it is a
    flag.
    """
    from embedlab.cli.app import program

    def walk(command: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
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


def described(parameter: Any) -> str | list[str]:
    """What a word of a command line may be: closed choices, a flag, or any value, once or several
    times.
    """
    choices = get_args(parameter.type_descriptor.annotation)
    if choices and all(isinstance(choice, str) for choice in choices):
        return sorted(choices)
    kind = "flag" if getattr(parameter, "is_flag", False) else "value"
    return f"{kind}s" if parameter.multiple or parameter.nargs != 1 else kind


def settings() -> list[str]:
    """Every key of a settings file; EMBEDLAB_ and its capitals set it too."""
    from embedlab.core.settings import Settings

    return [one.name for one in fields(Settings)]


def python() -> Iterator[tuple[str, list[str]]]:
    """The functions of `import embedlab` with their keywords, and what their results have."""
    import embedlab

    for name in embedlab.__all__:
        yield name, list(inspect.signature(getattr(embedlab, name)).parameters)
    from embedlab.api import LoadedModel
    from embedlab.reports.report import Report

    for cls in (LoadedModel, Report):
        public = {*dir(cls), *(one.name for one in fields(cls))}
        yield cls.__name__, sorted(name for name in public if not name.startswith("_"))


def plugins() -> list[str]:
    """The kinds of plug-ins: the groups of entry points, and the keys of PLUGINS."""
    from embedlab.core.plugins import KINDS

    return list(KINDS)


def where() -> dict[str, int]:
    """How many pairs of the starter set each term of `--where` picks, and the properties."""
    import embedlab
    from embedlab.outcomes.property import property_names

    with elsewhere():
        picked = {
            term: len(embedlab.pairs(["dice"], data="starter", where=term, limit=10_000).frame)
            for term in WHERE
        }
    return picked | {f"property {name}": 1 for name in property_names()}


def json_keys() -> dict[str, list[str]]:
    """The keys of what each command answers with --json; those inside lists without a number."""
    from embedlab.cli.app import main

    found = {}
    with elsewhere() as folder:
        (folder / "rows.txt").write_text("a dog\na cat\n")
        for command, words in ANSWERS.items():
            shown = io.StringIO()
            with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()):
                code = main([*command.split(), *words, "--json"])
            assert code == 0, f"embedlab {command} ended with {code}: {shown.getvalue()}"
            found[command] = sorted(keys_in(json.loads(shown.getvalue())))
    return found


def keys_in(value: Any, place: str = "") -> set[str]:
    """The places of all keys in a JSON value; not the names of models and folders."""
    if isinstance(value, list):
        return {key for one in value for key in keys_in(one, f"{place}[]")}
    if not isinstance(value, dict):
        return set()
    named = {key: "*" if key in {"dice", "wordllama", "minilm"} else key for key in value}
    return {f"{place}.{name}".lstrip(".") for name in named.values()} | {
        key for old, name in named.items() for key in keys_in(value[old], f"{place}.{name}")
    }


@contextlib.contextmanager
def elsewhere() -> Iterator[Path]:
    """A folder of its own with the starter set as data, for commands."""
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("EMBEDLAB_DATA", "starter")
        patch.setenv("EMBEDLAB_CACHE", f"{folder}/cache")
        yield Path(folder)


def recipes() -> dict[str, str]:
    """The digest of every shipped recipe with all its defaults, without its prose."""
    from embedlab.core.names import recipe_names
    from embedlab.core.recipe import identifying_options, load_recipe, recipe_to_table

    tables = {name: recipe_to_table(load_recipe(name)) for name in recipe_names()}
    for table in tables.values():
        for stage in table["stage"]:
            stage["objective"] = identifying_options(stage["objective"])
    return {name: digest(without_prose(table)) for name, table in tables.items()}


def grids() -> dict[str, str]:
    """The digest of the file of every shipped grid without its prose."""
    from embedlab.core.paths import recipes_folder

    return {
        path.stem: digest(without_prose(tomllib.loads(path.read_text(encoding="utf-8"))))
        for path in sorted((recipes_folder() / "grids").glob("*.toml"))
    }


def papers() -> dict[str, dict[str, str]]:
    """The digest of every table of every paper without its prose: rows, what makes them, the
    printed numbers.
    """
    from embedlab.experiments.paper_file import load_paper, paper_names

    return {
        paper: {
            name: digest(without_prose(with_sources(table)))
            for name, table in load_paper(paper).items()
        }
        for paper in paper_names()
    }


def with_sources(table: Any) -> dict[str, Any]:
    """The fields of a TABLE; each number has the source of its model, as when they were
    recorded.
    """
    values = asdict(table)
    for point, number in zip(table.points, values["points"], strict=True):
        del number["set"]
        number["source"] = asdict(table.source_of(point.row, point))
    return values


def without_prose(values: Any) -> Any:
    """VALUES without the texts that may be reworded."""
    if isinstance(values, dict):
        kept = values.keys() - PROSE - LATER
        return {key: without_prose(value) for key, value in values.items() if key in kept}
    return (
        [without_prose(value) for value in values] if isinstance(values, list | tuple) else values
    )


def tasks() -> list[str]:
    """Every task and with it every suite."""
    from embedlab.core.names import task_names

    return sorted(task_names())


def figures() -> list[str]:
    """Every figure, behind the command whose results it draws."""
    from embedlab.reports.figures import FIGURES

    return sorted(f"{command} {name}" for command, kinds in FIGURES.items() for name in kinds)


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
        name: digest({**asdict(one), "note": bool(one.note)})
        for name, one in sorted(CATALOG.items())
    }


def keys() -> dict[str, dict[str, str]]:
    """Every key of the dashboard with its action, room by room."""
    from embedlab.tui.app import Dashboard
    from embedlab.tui.compare.room import CompareRoom
    from embedlab.tui.data.room import DataRoom
    from embedlab.tui.runs.grid_screen import GridScreen
    from embedlab.tui.runs.launch_sheet import LaunchSheet
    from embedlab.tui.runs.room import RunsRoom

    places = {
        "all rooms": Dashboard,
        "data room": DataRoom,
        "compare room": CompareRoom,
        "runs room": RunsRoom,
        "launch sheet": LaunchSheet,
        "grid board": GridScreen,
    }
    return {
        place: {binding.key: binding.action for binding in owner.BINDINGS}
        for place, owner in places.items()
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


PARTS: dict[str, Callable[[], Any]] = {
    "commands": lambda: dict(commands()),
    "settings": settings,
    "python": lambda: dict(python()),
    "plugins": plugins,
    "where": where,
    "json": json_keys,
    "recipes": recipes,
    "grids": grids,
    "papers": papers,
    "tasks": tasks,
    "objectives": objectives,
    "figures": figures,
    "datasets": datasets,
    "models": models,
    "keys": keys,
    "files": files,
}


def inventory(*without: str) -> dict[str, Any]:
    """Every part but those WITHOUT, as plain JSON values; long ones as a digest."""
    return {part: make() for part, make in PARTS.items() if part not in without}


def recorded() -> dict[str, Any]:
    """What inventory.json holds."""
    stored: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return stored


def joined(old: Any, new: Any, renewed: set[str], place: str = "") -> Any:
    """What is in OLD or in NEW; of both the old one, but at the places that are RENEWED."""
    if place in renewed:
        return new
    if isinstance(old, dict) and isinstance(new, dict):
        both = {
            key: joined(old[key], new[key], renewed, f"{place}/{key}".lstrip("/"))
            for key in old.keys() & new.keys()
        }
        return {**new, **old, **both}
    if isinstance(old, list) and isinstance(new, list):
        return old + [value for value in new if value not in old]
    return old


def lines(values: Any, prefix: str = "") -> set[str]:
    """Every leaf of nested values as "key / key = value"."""
    if isinstance(values, dict):
        return {
            line
            for key, own in values.items()
            for line in lines(own, f"{prefix} / {key}" if prefix else str(key))
        }
    if isinstance(values, list):
        return {f"{prefix}: {value}" if prefix else str(value) for value in values}
    return {f"{prefix} = {values}"}


@dataclass(frozen=True, kw_only=True)
class Removal:
    """A thing that may be lost, with its lines of the inventory, * for any text."""

    name: str
    lines: list[str]
    reason: str
    instead: str
    pending: bool = False  # still there

    def covers(self, line: str) -> bool:
        """Whether a line of the inventory goes with it."""
        return any(
            re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), line)
            for pattern in self.lines
        )


def removals() -> list[Removal]:
    """What is signed."""
    rows = tomllib.loads(SIGNED.read_text(encoding="utf-8"))["removed"]
    return [Removal(**row) for row in rows]


if __name__ == "__main__":
    both = joined(recorded() if FILE.exists() else {}, inventory(), set(sys.argv[1:]))
    FILE.write_text(json.dumps(both, indent=1, sort_keys=True) + "\n", encoding="utf-8")
