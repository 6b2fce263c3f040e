"""Whether an earlier commit was faster: its checkout and this one take turns in one run, and the
ratio of each has an interval.

    python benchmarks/before_and_now.py BEFORE --data DIR --model FOLDER [--models minilm …]
    [--rounds 12] [--only training …]

BEFORE is a checkout of another commit. Both use the installed libraries of this Python, one thread,
and caches of their own. Measured are a training step (snli-supcl, 40 steps of 32 pairs, start and
end left out), encoding of 5,000 sentences of STS Benchmark, the evaluation of the seven STS sets
with nothing stored, a comparison of five models whose scores are stored, and `compare --help`.
Two measurements are a pair, whose order alternates:
before, now, now, before. The ratio is now to before, with the 95% interval of the mean of its
logarithm over the pairs (Student's t). Processor time is what other work on the machine changes
least.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import measure
import polars as pl
from record import write_table

ROOT = Path(__file__).parents[1]
SENTENCES, STEPS, BATCH = 5_000, 40, 32
MODELS = ("dice", "wordllama", "minilm", "concat:minilm,wordllama")
STARTS = ("compare --help",)  # which may take a tenth longer; others a twentieth
TURNS = {
    "seven STS sets": 0.7,
    "stored compare": 2,
    "compare --help": 4,
}  # times the rounds


@dataclass(frozen=True, kw_only=True)
class Times:
    """What one measurement took."""

    processor_s: float
    wall_s: float


def serve(data: Path, model: str) -> None:
    """Answer each line that names a kind of work, training or encoding, with what it took."""
    from embedlab.core.settings import Settings
    from embedlab.data.source import Source
    from embedlab.encoders.checkpoint import load_transformer
    from embedlab.encoders.device import machine

    try:
        from embedlab.models.reading import UsageOptions
    except ImportError:  # an earlier commit has it in another file, under another name
        UsageOptions = import_module("embedlab.models.folder").Wishes  # noqa: N806
    wishes = UsageOptions(pooling="mean", max_tokens=128)
    place = machine(Settings(device="cpu", threads=1))
    encoder = load_transformer(model, place, wishes=wishes)
    frame = Source(folder=data, allow_partial=True).open("sts-benchmark", "train").frame
    texts = (
        pl.concat([frame["sentence1"], frame["sentence2"]])
        .unique()
        .sort()
        .sample(SENTENCES, shuffle=True, seed=0)
        .to_list()
    )
    works: dict[str, Callable[[], Times]] = {
        "training": lambda: train(data, model),
        "encoding": lambda: timed(lambda: encoder.encode(texts)),
    }
    for line in sys.stdin:
        print(json.dumps(asdict(works[json.loads(line)["work"]]())), flush=True)


def timed(work: Callable[[], object]) -> Times:
    """What a call takes."""
    processor, wall = time.process_time(), time.perf_counter()
    work()
    return Times(processor_s=time.process_time() - processor, wall_s=time.perf_counter() - wall)


def train(data: Path, model: str) -> Times:
    """One step of a training, on average."""
    from embedlab.core.recipe import load_recipe
    from embedlab.core.settings import Settings
    from embedlab.data.source import Source
    from embedlab.encoders.device import machine
    from embedlab.runs import events
    from embedlab.runs.store import RunFolder
    from embedlab.training.stages import train_run

    values = [
        f"data.rows={STEPS * BATCH}",
        f"optim.batch_size={BATCH}",
        "optim.epochs=1",
        "evaluate.dev=none",
        "evaluate.keep=last",
    ]
    values.append(
        "evaluate.every=1"
    )  # what is measured of a model now and then is measured before the first step and after the last
    moments: list[tuple[float, float]] = []

    def report(event: events.Event) -> None:
        if isinstance(event, events.Step):
            moments.append((time.process_time(), time.perf_counter()))

    with tempfile.TemporaryDirectory() as folder:
        here = machine(Settings(device="cpu", threads=1), training=True)
        recipe = load_recipe("snli-supcl", values, encoder=model)
        train_run(
            recipe,
            Source(folder=data, allow_partial=True),
            here,
            RunFolder.of(Path(folder), "run", 1),
            1,
            report=report,
        )
    processor, wall = (
        end - start for start, end in zip(moments[0], moments[-1], strict=True)
    )  # after the first step, after the last
    return Times(processor_s=processor / (STEPS - 1), wall_s=wall / (STEPS - 1))


class Checkout:
    """One commit with caches and stored results of its own."""

    def __init__(self, root: Path, home: Path, data: Path, models: Sequence[str]) -> None:
        self.data, self.models, self._root, self._home = data, models, root, home
        homes = {f"XDG_{kind}_HOME": str(home) for kind in ("CONFIG", "STATE", "DATA")}
        threads = dict.fromkeys(("OMP_NUM_THREADS", "POLARS_MAX_THREADS", "EMBEDLAB_THREADS"), "1")
        own = {
            "EMBEDLAB_CACHE": str(home / "cache"),
            "PYTHONPATH": str(root),
            "PYTHONPYCACHEPREFIX": str(home / "bytecode"),
        }
        self.environment = {
            **os.environ,
            **homes,
            **threads,
            **own,
            "PYTHONDONTWRITEBYTECODE": "",
        }  # an installed package is compiled

    def command(self, *words: str) -> Times:
        """Run embedlab as a process of its own, from its start to its end."""
        return self._process([sys.executable, "-m", "embedlab", *words])[0]

    def evaluate(self) -> Times:
        """Score the seven STS sets with the first model, and store nothing for the next time."""
        with tempfile.TemporaryDirectory() as folder:
            before, self.environment["EMBEDLAB_CACHE"] = self.environment["EMBEDLAB_CACHE"], folder
            took = self.command(
                "evaluate",
                self.models[0],
                "--data",
                str(self.data),
                "--allow-partial",
                "--quiet",
                "--runs",
                folder,
            )
            self.environment["EMBEDLAB_CACHE"] = before
        return took

    def compare(self) -> Times:
        """Compare all models on the seven STS sets; the first time scores them."""
        shown = (
            "--data",
            str(self.data),
            "--allow-partial",
            "--quiet",
            "--runs",
            str(self._home / "runs"),
        )
        return self.command("compare", *self.models, *shown)

    def help(self) -> Times:
        """Print the help of compare."""
        return self.command("compare", "--help")

    def _process(self, words: Sequence[str]) -> tuple[Times, str]:
        started = time.perf_counter()
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                words, cwd=self._home, env=self.environment, stdout=output, stderr=errors
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            took = Times(
                processor_s=usage.ru_utime + usage.ru_stime, wall_s=time.perf_counter() - started
            )
            output.seek(0)
            errors.seek(0)
            if status:
                sys.exit(f"{' '.join(words)} failed:\n{errors.read()[-3000:]}")
            return took, output.read()


def alternate(works: Sequence[Callable[[], Times]], rounds: int) -> list[tuple[Times, Times]]:
    """Measure before and now in pairs whose order alternates."""
    pairs = []
    for turn in range(rounds):
        order = (0, 1) if turn % 2 == 0 else (1, 0)
        took = {side: works[side]() for side in order}
        pairs.append((took[0], took[1]))
    return pairs


def ratio(pairs: Sequence[tuple[float, float]]) -> str:
    """The geometric mean of now to before with its 95% interval."""
    low, mean, high = (
        math.exp(value)
        for value in measure.bounds([math.log(now / before) for before, now in pairs])
    )
    return f"{mean:.3f} ({low:.3f} to {high:.3f})"


def row(what: str, pairs: Sequence[tuple[Times, Times]]) -> list[str]:
    """A line of the table: the mean of both sides, the ratios and the limit of their upper ends."""
    means = [sum(pair[side].processor_s for pair in pairs) / len(pairs) for side in (0, 1)]
    took = [f"{1000 * mean:.0f} ms" if mean < 1 else f"{mean:.2f} s" for mean in means]
    ratios = [
        ratio([(getattr(before, field), getattr(now, field)) for before, now in pairs])
        for field in ("processor_s", "wall_s")
    ]
    return [what, *took, *ratios, str(len(pairs)), "1.1" if what in STARTS else "1.05"]


def measured(sides: Sequence[Checkout], rounds: int, chosen: Sequence[str]) -> list[list[str]]:
    """All lines of the table that were chosen."""
    rows: list[list[str]] = []

    def is_chosen(what: str) -> bool:
        return any(word in what for word in chosen)

    def add(what: str, works: Sequence[Callable[[], Times]], turns: float) -> None:
        if is_chosen(what):
            for work in works:  # once for imports, pages of the disk and what is stored
                work()
            rows.append(row(what, alternate(works, max(2, round(turns * rounds)))))
            print(*rows[-1], flush=True)

    with ExitStack() as stack:
        for work, what in (
            ("training", "training step"),
            ("encoding", f"encoding of {SENTENCES:,} sentences"),
        ):
            if is_chosen(what):
                servers = [stack.enter_context(server(side)) for side in sides]
                add(what, [partial(answer, it, work) for it in servers], 1)
                stack.close()
    works: Mapping[str, Callable[[Checkout], Times]] = {
        "seven STS sets": Checkout.evaluate,
        "stored compare": Checkout.compare,
        "compare --help": Checkout.help,
    }
    for what, method in works.items():
        add(what, [partial(method, side) for side in sides], TURNS[what])
    return rows


def server(side: Checkout) -> measure.Side:
    """The process of a side that trains and encodes."""
    return measure.Side(
        __file__, "serve", str(side.data), side.models[0], environment=side.environment
    )


def answer(side: measure.Side, work: str) -> Times:
    """What one piece of work took in a side's process."""
    return Times(**side.answer({"work": work}))


def main() -> None:
    """Measure both checkouts and write the table."""
    if sys.argv[1:2] == ["serve"]:
        serve(Path(sys.argv[2]), sys.argv[3])
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path, metavar="BEFORE")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--model",
        type=Path,
        required=True,
        help="a folder, which is trained, encodes and is evaluated",
    )
    parser.add_argument("--models", nargs="+", default=MODELS, help="that are compared with it")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument(
        "--only", nargs="+", default=[""], metavar="WORD", help="of the lines that are measured"
    )
    parser.add_argument("--name", default="before-and-now", help="of the file in results/")
    options = parser.parse_args()
    place = Path(tempfile.mkdtemp())
    models = [str(options.model.absolute()), *options.models]
    try:
        sides = []
        for name, checkout in (("before", options.before), ("now", ROOT)):
            (place / name).mkdir()
            sides.append(
                Checkout(checkout.absolute(), place / name, options.data.absolute(), models)
            )
        rows = measured(sides, options.rounds, options.only)
    finally:
        shutil.rmtree(place)
    write_table(
        options.name,
        "An earlier commit and this one, measured in turns",
        (
            "what",
            "before",
            "now",
            "ratio of processor time (95%)",
            "ratio of wall time (95%)",
            "pairs",
            "limit of the upper end",
        ),
        rows,
        packages=["embedlab", "torch", "numpy", "polars"],
        notes=[
            f"before is commit {commit(options.before)}, now is {commit(ROOT)}",
            "before and now: mean processor time of one thread",
        ],
    )


def commit(checkout: Path) -> str:
    """The commit of a checkout."""
    words = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    answer: Any = subprocess.run(words, capture_output=True, text=True, check=True)
    return str(answer.stdout.strip())


if __name__ == "__main__":
    main()
