"""Whether two checkouts give the same numbers, bit by bit, on one machine.

    python benchmarks/same_numbers.py OLD NEW --data DIR [--model FOLDER]
    python benchmarks/same_numbers.py OLD NEW --data DIR --recipes

DIR has real corpora in their own layouts, of which both get the STS sets whole and the first rows
of the others, and a small random encoder.

With --recipes both train every recipe of OLD that has rows there, all of its stages, on few rows
and in float32 on the processor: the weights, heads and losses of each run are compared, and where
they differ whether its resolved recipe is the same.

Without, both run a training that is interrupted and resumed, another one, a grid of four cells, an
encoding, comparisons of pairs and of classified sentences, and a paper's table with its trainings;
with --model also the seven STS sets with that model. What is compared is what is stored: weights of
models and heads, vectors, and the scores of evaluations; and what is printed of differences and of
the table, intervals to 1e-12.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

from real_lab import SETTINGS, add_data_option, cut_corpora, frequent_words, write_encoder
from same_answers import GRID, SENTENCES, SHORT_SETTING, differences

PRINTED = ("compare.json", "table.json")  # what commands answer, one object after the other

# What says which number a stored score is, and the number.
SCORE = ("by", "slice", "metric", "setting", "split", "value", "items")


# Trains each recipe that is named into a run of its name, in one process; what fails is written
# beside them.
TRAININGS = """
import sys
from pathlib import Path
import embedlab
for name in sys.argv[1:]:
    values = {"stages.data.rows": 40, "stages.optim.epochs": 1, "evaluate.tasks": [], "evaluate.dev": "none", "evaluate.keep": "last"}
    try:
        embedlab.train(name, encoder="tiny", threads=1, device="cpu", precision="float32", name="tiny-" + name, set=values)
    except Exception as error:
        Path(f"failed-{name}.txt").write_text(f"{type(error).__name__}: {error}")
"""


def environment(checkout: Path) -> dict[str, str]:
    """Return the environment of a command of a checkout."""
    return {**os.environ, **SETTINGS, "PYTHONPATH": str(checkout), "EMBEDLAB_DATA": "corpora"}


def make_world(folder: Path, data: Path) -> Path:
    """Write the corpora and the encoder into FOLDER, which has one name for both checkouts: no path
    may make a difference.
    """
    write_encoder(folder / "tiny", frequent_words(cut_corpora(data, folder / "corpora")))
    (folder / "sentences.txt").write_text(SENTENCES)
    return folder


def train_recipes(checkout: Path, folder: Path, recipes: list[str]) -> None:
    """Train RECIPES with a checkout in FOLDER."""
    with (folder / "log.txt").open("ab") as log:
        subprocess.run(
            [sys.executable, "-P", "-c", TRAININGS, *recipes],
            cwd=folder,
            env=environment(checkout),
            stdout=log,
            stderr=log,
            check=True,
        )


def trained(folder: Path, recipe: str) -> dict[str, Any]:
    """What the run of a RECIPE has left: digests of weights and heads, losses of its steps; or why
    it failed.
    """
    if (failure := folder / f"failed-{recipe}.txt").exists():
        return {"failure": failure.read_text()}
    (run_folder,) = folder.glob(f"runs/tiny-{recipe}/seed-1")
    events = [json.loads(line) for line in (run_folder / "events.jsonl").read_text().splitlines()]
    files = [path for path in run_folder.rglob("*.safetensors") if "checkpoints" not in path.parts]
    weights = {
        str(path.relative_to(run_folder)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(files)
    }
    return {**weights, "losses": [event["loss"] for event in events if event["event"] == "step"]}


def resolved(folder: Path, recipe: str) -> str:
    """The resolved recipe of a run without what only its evaluation reads."""
    path = folder / "runs" / f"tiny-{recipe}" / "seed-1" / "recipe.toml"
    return path.read_text().partition("[evaluate]")[0] if path.exists() else ""


def compare_recipes(old: Path, new: Path, data: Path) -> int:
    """Train every recipe of OLD with both checkouts and print what differs; gives how many recipes
    differ without having changed.
    """
    recipes = sorted(
        path.stem for path in (old / "recipes").glob("*.toml") if not path.stem.startswith("own-")
    )
    with tempfile.TemporaryDirectory() as place:
        folders = []
        for checkout, label in ((old, "old"), (new, "new")):
            folder = make_world(Path(place) / label / "lab", data)
            train_recipes(checkout.absolute(), folder, recipes)
            folders.append(folder)
        counts = dict.fromkeys(("equal", "other recipe", "differs", "trained by neither"), 0)
        for recipe in recipes:
            first, second = (trained(folder, recipe) for folder in folders)
            is_same = len({resolved(folder, recipe) for folder in folders}) == 1
            verdict = "equal" if first == second else "differs" if is_same else "other recipe"
            verdict = (
                "trained by neither" if "failure" in first and "failure" in second else verdict
            )
            counts[verdict] += 1
            why = second.get("failure", "") or first.get("failure", "")
            print(f"{recipe}: {verdict}" + (f" ({why})" if why else ""))
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return counts["differs"]


def run(
    checkout: Path, folder: Path, *words: str, step: int | None = None, out: str = "log.txt"
) -> None:
    """One command of a checkout in FOLDER; with STEP it is interrupted by Ctrl-C once its run has
    reported that step.
    """
    with (folder / "log.txt").open("ab") as log, (folder / out).open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "embedlab", *words],
            cwd=folder,
            env=environment(checkout),
            stdout=output,
            stderr=log,
            preexec_fn=_take_interrupts,
        )
        while step is not None and process.poll() is None and reported_step(folder) < step:
            time.sleep(0.02)
        if step is not None:
            process.send_signal(signal.SIGINT)
        code = process.wait()
    if code != (130 if step is not None else 0):
        sys.exit(f"{' '.join(words)} of {checkout} ended with {code}; see {folder / 'log.txt'}")


def _take_interrupts() -> None:
    """A shell lets what it starts in the background ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def reported_step(folder: Path) -> int:
    """The last step in the events of the run `cut`."""
    events = folder / "runs" / "cut" / "seed-1" / "events.jsonl"
    lines = events.read_text().splitlines() if events.exists() else []
    return max((json.loads(line).get("step") or 0 for line in lines), default=0)


def work(checkout: Path, folder: Path, model: Path | None) -> None:
    """Everything that is compared, by one checkout."""
    small = ("--encoder", "tiny", "--set", "data.rows=300", "--set", "evaluate.dev=none")
    run(checkout, folder, "train", "snli-ce", "--name", "other", *small)
    train = ("train", "snli-supcl", "--name", "cut", *small, "--set", "optim.epochs=12")
    run(checkout, folder, *train, step=20)
    run(checkout, folder, *train, "--resume")
    (folder / "rates.toml").write_text(GRID)
    run(checkout, folder, "grid", "run", "rates.toml", "--encoder", "tiny", "--workers", "1")
    run(checkout, folder, "encode", "cut", "sentences.txt", "-o", "vectors.npy")
    run(checkout, folder, "encode", "tiny?pooling=mean", "sentences.txt", "-o", "start.npy")
    compared = ("compare", "dice", "other", "cut", "--json")
    run(checkout, folder, *compared, out="compare.json")
    tasks = ("--task", "mr", "--task", "trec", *SHORT_SETTING)
    run(checkout, folder, "compare", "other", "cut", "--json", *tasks, out="compare.json")
    table = ("reproduce", "tsukagoshi", "table2", "--encoder", "tiny", "--seeds", "2", "--json")
    run(checkout, folder, *table, out="table.json")
    if model is not None:
        run(checkout, folder, "evaluate", str(model))
        run(checkout, folder, "compare", str(model), "dice", "--json", out="compare.json")


def numbers(folder: Path) -> dict[str, Any]:
    """What was stored, by its path: digests of weights and encoded vectors, the scores of
    evaluations. Caches, whose form may change, are left out.
    """
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if not {"corpora", "tiny", "embeddings"}.isdisjoint(path.parts):
            continue
        if path.name in {"model.safetensors", "heads.safetensors"} or path.suffix == ".npy":
            found[name] = sha256(path.read_bytes()).hexdigest()
        elif path.parent.name == "evaluations" and path.suffix == ".json":
            found[name] = sorted(
                [repr(score[key]) for key in SCORE]
                for score in json.loads(path.read_text())["scores"]
            )
        elif path.name in PRINTED:
            found[name] = [
                row
                for one in json_objects(path.read_text())
                for table in one.get("tables", [one])
                for row in table["rows"]
            ]
    return found


def json_objects(text: str) -> list[Any]:
    """The objects that commands have written one after the other."""
    found, decoder = [], json.JSONDecoder()
    while text := text.lstrip():
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:]
    return found


def differs(name: str, old: Any, new: Any) -> bool:
    """Whether two stored or printed numbers differ: what is printed of differences by more than
    1e-12 where it comes from a variance.
    """
    return any(differences(old, new)) if name in PRINTED else bool(old != new)


def main() -> None:
    """Run both and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkouts", nargs=2, type=Path, metavar="CHECKOUT")
    add_data_option(parser)
    parser.add_argument("--model", type=Path, help="a folder to evaluate on the STS sets too")
    parser.add_argument("--recipes", action="store_true", help="train every recipe in few steps")
    arguments = parser.parse_args()
    if arguments.recipes:
        old, new = arguments.checkouts
        sys.exit(bool(compare_recipes(old, new, arguments.data)))
    model = arguments.model.absolute() if arguments.model else None
    found = []
    for checkout in arguments.checkouts:
        with tempfile.TemporaryDirectory() as place:
            folder = make_world(Path(place) / "lab", arguments.data)
            work(checkout.absolute(), folder, model)
            found.append(numbers(folder))
    old, new = found
    unequal = [name for name in sorted({*old, *new}) if differs(name, old.get(name), new.get(name))]
    for name in unequal:
        print(f"differs: {name}" + ("" if name in old and name in new else " is there once only"))
        if name in PRINTED:
            print(
                *(
                    f"  {place}: {text}"
                    for place, text in sorted(set(differences(old.get(name), new.get(name))))
                ),
                sep="\n",
            )
    print(f"{len(old)} files of stored numbers, {len(unequal)} differ")
    sys.exit(bool(unequal))


if __name__ == "__main__":
    main()
