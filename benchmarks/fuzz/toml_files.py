"""Damaged TOML: recipes, grids, papers' tables, settings and values of `--set`, read as the
commands read them.

python benchmarks/fuzz/toml_files.py [--cases 2400] [--seed 21] [--write]
"""

import os
import random
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import tomli_w
from campaign import Case, arguments, generator, report, timed
from damage import MUTATIONS
from structures import NAMES, ODD, change, command

from embedlab.core.paths import TINY_FOLDER, recipes_folder
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings, load_settings
from embedlab.experiments.grid_file import load_grid, with_fixed
from embedlab.experiments.paper_file import PAPER_FILE, load_paper, paper_folder, read_paper
from embedlab.experiments.planner import expand_grid
from embedlab.objectives.needs import check_columns

SETTINGS = """
data = "corpora"
runs = "runs"
cache_gib = 4.0
sample = true
offline = true
allow_partial = false
device = "cpu"
precision = "float32"
threads = 2
format = "table"
quiet = false
theme = "nord"
"""
KEYS = (
    "summary", "encoder", "encoder.model", "encoder.pooling", "encoder.max_tokens", "stage", "stage.0", "stage.1.optim.lr",
    "stage.0.data.datasets", "stages.optim.lr", "data.datasets", "data.split", "data.rows", "data.task", "data", "objective.name",
    "objective.temperature", "objective.weight", "objective", "optim", "optim.lr", "optim.epochs", "optim.batch_size", "optim.warmup",
    "optim.turn", "optim.clip", "optim.micro_batch", "evaluate", "evaluate.tasks", "evaluate.dev", "evaluate.every", "mix", "mix.combine",
    "tasks", "tasks.a", "a-b", "a..b", "", ".", "optim.", "optim.l-r", "stage.99999999999999999999.optim.lr", "stage.-1.optim.lr",
)  # fmt: skip
TYPED = (
    "[]", "[[]]", "{}", "{a = 1}", '"a\\u0000"', "inf", "-inf", "nan", "1e308", "1e-320", "9" * 5000, "0x" + "f" * 5000, "[" * 5000,
    "1\nb = 2", "\udcff", "a" * 100_000, "", "-1", "0", "true", "2020-02-29", '"""', "'", "#", "=", ".5", "1_0", "\n", '["snli"', "x",
)  # fmt: skip
DEEP = (
    f"x = {'[' * 100_000}", f"x = {'[' * 500}{']' * 500}", f"x{'.a' * 100_000} = 1", f"[{'a.' * 1500}a]", f"x = {'9' * 5000}",
    f"x = {'{a=' * 5000}",
)  # fmt: skip


def recipe(text: bytes, rng: random.Random, folder: Path) -> None:
    """A user's recipe: read alone, or as `train --dry-run` does."""
    path = folder / "mine.toml"
    path.write_bytes(text)
    if rng.random() < 0.95:
        check_columns(load_recipe(str(path)))
    else:
        command("train", str(path), "--data", "tiny", "--dry-run")


def grid(text: bytes, _rng: random.Random, folder: Path) -> None:
    """A user's grid, expanded to its cells as `grid run` does."""
    (folder / "mine.toml").write_bytes(text)
    place = Settings(runs=folder / "runs", cache=folder / "cache", data=TINY_FOLDER)
    expand_grid(
        with_fixed(load_grid(str(folder / "mine.toml")), ["encoder.model=unknown/nothing"]), place
    )


def paper(text: bytes, _rng: random.Random, folder: Path) -> None:
    """The tables of a paper, as `reproduce` reads them."""
    own = folder / "liao"
    if not own.is_dir():
        shutil.copytree(paper_folder("liao"), own)
    (own / PAPER_FILE).write_bytes(text)
    load_paper(str(own))
    read_paper(str(own))


def settings(text: bytes, rng: random.Random, folder: Path) -> None:
    """The settings of a folder, or those in its pyproject.toml."""
    is_project = rng.random() < 0.3
    path = folder / ("pyproject.toml" if is_project else "embedlab.toml")
    path.write_bytes(b"[tool.embedlab]\n" + text if is_project else text)
    try:
        load_settings({}, environment={}, folder=folder)
        if rng.random() < 0.2:
            command("config")
    finally:
        path.unlink()


def variable(text: bytes, rng: random.Random, _folder: Path) -> None:
    """A setting from the environment."""
    key = rng.choice(
        (
            "THREADS",
            "CACHE_GIB",
            "DEVICE",
            "SAMPLE",
            "RUNS",
            "FORMAT",
            "THEME",
            "DATA",
            "ALLOW_PARTIAL",
            "XYZ",
        )
    )
    load_settings({}, environment={f"EMBEDLAB_{key}": text.decode(errors="surrogateescape")})


def override(_text: bytes, rng: random.Random, _folder: Path) -> None:
    """One to three `--set`."""
    words = [
        f"{rng.choice((*KEYS, *NAMES))}{rng.choice(('=', '=', '=', '=', ''))}{rng.choice(TYPED)}"
        for _ in range(rng.randint(1, 3))
    ]
    name = rng.choice(("snli-ce", "multitask", "sbert-defsent-multi", "glue-finetune", "simcse"))
    if rng.random() < 0.95:
        check_columns(load_recipe(name, words))
    else:
        command(
            "train",
            name,
            "--data",
            "tiny",
            "--dry-run",
            *(word for one in words for word in ("--set", one)),
        )


def bases() -> dict[
    str, tuple[Sequence[bytes], Callable[[bytes, random.Random, Path], None], float]
]:
    """The valid texts of each target, what reads them, and its share of the cases."""
    shipped = [path.read_bytes() for path in sorted(recipes_folder().glob("*.toml"))]
    grids = [path.read_bytes() for path in sorted((recipes_folder() / "grids").glob("*.toml"))]
    return {
        "recipe": (shipped, recipe, 0.3),
        "grid": (grids, grid, 0.15),
        "paper": ([(paper_folder("liao") / PAPER_FILE).read_bytes()], paper, 0.1),
        "settings": ([SETTINGS.encode()], settings, 0.15),
        "--set": ([b""], override, 0.2),
        "EMBEDLAB_*": ([text.encode(errors="surrogateescape") for text in TYPED], variable, 0.1),
    }


def mutated(text: bytes, rng: random.Random) -> tuple[str, bytes]:
    """The name of a mutation and what it makes of TEXT: one of its values, of its bytes, or
    something without an end.
    """
    kind = rng.random()
    if kind < 0.55:
        odd = [
            value
            for value in ODD
            if value is not None and value != "\ud800" and not _has_none(value)
        ]
        name, values = change(tomllib.loads(text.decode()), rng, odd=odd)
        try:
            return name, tomli_w.dumps(values).encode()
        except (ValueError, TypeError, RecursionError, UnicodeError):
            return "deep or long", rng.choice(DEEP).encode()
    if kind < 0.62:
        return "deep or long", rng.choice((text + b"\n", b"")) + rng.choice(DEEP).encode()
    name = rng.choice([one for one in MUTATIONS if one != "change json"])
    return name, MUTATIONS[name](text, rng)


def _has_none(value: Any) -> bool:
    return isinstance(value, list) and None in value


def cases(count: int, seed: int, folder: Path) -> list[Case]:
    """COUNT cases, the same for the same SEED."""
    targets = bases()
    made = []
    for number in range(count):
        rng = generator(seed, number)
        target = rng.choices(list(targets), [share for _, _, share in targets.values()])[0]
        texts, read, _ = targets[target]
        name, text = (
            ("typed", b"")
            if target == "--set"
            else mutated(rng.choice(texts), rng)
            if target != "EMBEDLAB_*"
            else ("typed", rng.choice(texts))
        )
        made.append(Case(target=target, mutation=name, run=partial(read, text, rng, folder)))
    return made


if __name__ == "__main__":
    options = arguments(__doc__, 2400)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ |= {f"XDG_{name}_HOME": scratch for name in ("CONFIG", "CACHE", "STATE", "DATA")}
        os.chdir(scratch)
        outcomes, seconds = timed(
            cases(options.cases, options.seed, Path(scratch)), limit_s=options.limit_s
        )
    notes = (
        "an error without a hint is one line",
        f"a case that takes more than {options.limit_s:g} s hangs",
    )
    sys.exit(
        report(
            "toml_files",
            "Damaged TOML",
            outcomes,
            seconds=seconds,
            notes=notes,
            write=options.write,
        )
    )
