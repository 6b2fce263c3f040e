"""Equality of the measures of search with ranx and ir-measures: on random, tied and partly graded
runs.

    python -m venv oracles && oracles/bin/pip install ranx ir-measures python
    benchmarks/search_measures.py --python oracles/bin/python [--queries 200] [--seeds 20] [--write]

Both are computed by an environment of their own, by documents and grades as TREC files have them;
ours go through `trec:FILE` on a file of qrels. What ties is in the worst order for us. trec_eval
puts the larger id first, so that documents are named in that order and ties reach it as they are;
ranx and the RR@10 of ir-measures have no fixed order of ties, so that they read the same run with
the order as its scores.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from record import write_table

NAMES = ("ndcg@10", "mrr@10", "map", "recall@1", "recall@10", "recall@100")
LIMIT = 1e-9
_PROGRAM = """
import json, sys
import ir_measures, ranx
from ir_measures import AP, RR, R, nDCG
NAMES = ("ndcg@10", "mrr@10", "map", "recall@1", "recall@10", "recall@100")
OURS = dict(zip(NAMES, (nDCG @ 10, RR @ 10, AP, R @ 1, R @ 10, R @ 100)))
found = []
for folder in json.load(sys.stdin):
    qrels, run = json.load(open(folder + "/qrels.json")), json.load(open(folder + "/run.json"))
    ordered = {query: {own: float(-place) for place, own in enumerate(of)} for query, of in run.items()}
    by_ir = {**ir_measures.calc_aggregate(OURS.values(), qrels, run), **ir_measures.calc_aggregate([RR @ 10], qrels, ordered)}
    relevant = {query: {own: grade for own, grade in of.items() if grade > 0} for query, of in qrels.items()}
    by_ranx = ranx.evaluate(ranx.Qrels(relevant), ranx.Run(ordered), list(NAMES), make_comparable=True)
    found.append({name: [float(by_ir[own]), float(by_ranx[name])] for name, own in OURS.items()})
print(json.dumps(found))
"""


@dataclass(frozen=True, kw_only=True)
class Made:
    """Qrels and a run, by query."""

    kind: str
    qrels: dict[str, dict[str, int]]
    found: dict[str, dict[str, float]]


def made_runs(queries: int, seeds: int) -> Iterator[Made]:
    """Yield a run of each kind and seed: of different scores, of few different scores, and of
    documents few of which are graded.
    """
    for seed in range(seeds):
        for kind in ("random", "tied", "partly graded"):
            rng = np.random.default_rng([seed, len(kind)])
            made = [_one(rng, kind) for _ in range(queries)]
            names = [f"q{number}" for number in range(queries)]
            yield Made(
                kind=kind,
                qrels=dict(zip(names, (one for one, _ in made), strict=True)),
                found=dict(zip(names, (two for _, two in made), strict=True)),
            )


def _one(rng: np.random.Generator, kind: str) -> tuple[dict[str, int], dict[str, float]]:
    """Return the grades and the scores of the documents of a query; ids are in the worst order, the
    largest that of no relevant one.
    """
    documents = int(rng.integers(20, 300))
    grades = np.where(rng.random(documents) < 0.1, rng.integers(1, 4, documents), 0)
    grades[0] = 1
    grades = np.sort(grades)[::-1]
    names = [f"d{place:04}" for place in range(documents)]
    scores = (
        rng.integers(0, 6, documents) / 5
        if kind == "tied"
        else rng.normal(size=documents) + 0.8 * (grades > 0)
    )
    is_graded = (grades > 0) | (rng.random(documents) < (0.2 if kind == "partly graded" else 1))
    is_found = rng.random(documents) < (0.7 if kind == "partly graded" else 1)
    is_found[-1] = True
    graded = {
        name: int(grade) for name, grade, said in zip(names, grades, is_graded, strict=True) if said
    }
    found = {
        name: float(score) for name, score, has in zip(names, scores, is_found, strict=True) if has
    }
    return graded, dict(sorted(found.items(), key=lambda pair: (pair[1], pair[0]), reverse=True))


def ours(made: Made, folder: Path) -> dict[str, float]:
    """Return our scores of a run, through the files that a user has."""
    from embedlab.core.settings import Settings
    from embedlab.models.catalog import resolve
    from embedlab.scoring.results import evaluate_task

    graded = [
        f"{query} 0 {own} {grade}" for query, of in made.qrels.items() for own, grade in of.items()
    ]
    (folder / "graded.qrels").write_text("\n".join(graded) + "\n")
    found = [
        f"{query} Q0 {own} 0 {score!r} made"
        for query, of in made.found.items()
        for own, score in of.items()
    ]
    (folder / "run.trec").write_text("\n".join(found) + "\n")
    (folder / "qrels.json").write_text(json.dumps(made.qrels))
    (folder / "run.json").write_text(json.dumps(made.found))
    spec = resolve(f"trec:{folder / 'run.trec'}", folder).members[0]
    settings = Settings(cache=folder / "cache", runs=folder / "runs", device="cpu")
    result = evaluate_task(
        "retrieval",
        spec,
        settings,
        lambda _: lambda *_: None,
        [f"retrieval:{folder / 'graded.qrels'}"],
    )
    return {score.metric: score.value for score in result.evaluation.scores}


def main() -> None:
    """Compare, print the largest difference of each kind and measure, and end with 1 where one is
    above the limit.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--python", required=True, help="of an environment with ranx and ir-measures"
    )
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    with TemporaryDirectory() as place:
        runs = list(made_runs(chosen.queries, chosen.seeds))
        folders = [Path(place) / str(number) for number in range(len(runs))]
        for folder in folders:
            folder.mkdir()
        scores = [ours(made, folder) for made, folder in zip(runs, folders, strict=True)]
        answer = subprocess.run(
            [chosen.python, "-c", _PROGRAM],
            input=json.dumps([str(folder) for folder in folders]),
            capture_output=True,
            text=True,
            check=True,
        )
        theirs = json.loads(answer.stdout.splitlines()[-1])
        question = (
            "import importlib.metadata as m; print(m.version('ranx'), "
            "m.version('ir-measures'), m.version('pytrec_eval-terrier'))"
        )
        versions = subprocess.run(
            [chosen.python, "-c", question], capture_output=True, text=True, check=True
        ).stdout.split()
    rows, worst = [], 0.0
    for kind in dict.fromkeys(made.kind for made in runs):
        own = [number for number, made in enumerate(runs) if made.kind == kind]
        for name in NAMES:
            gaps = [
                max(abs(scores[number][name] - theirs[number][name][side]) for number in own)
                for side in (0, 1)
            ]
            worst = max(worst, *gaps)
            rows.append(
                [
                    kind,
                    name,
                    str(len(own)),
                    f"{np.mean([scores[number][name] for number in own]):.6f}",
                    *(f"{gap:.1e}" for gap in gaps),
                ]
            )
    columns = [
        "runs",
        "measure",
        "number",
        "mean score",
        "largest difference from ir-measures",
        "from ranx",
    ]
    notes = [
        f"ranx {versions[0]}, ir-measures {versions[1]} with pytrec_eval-terrier "
        f"{versions[2]}; {chosen.queries} queries a run",
        f"largest difference {worst:.1e}; limit {LIMIT:g}",
        "tied runs reach nDCG, AP and recall of ir-measures (trec_eval) as they are; its "
        "RR@10 and ranx read them in our order",
        "tied: of six different scores; partly graded: a fifth of the other documents is "
        "graded, and 30% of all documents were not found",
    ]
    if chosen.write:
        write_table(
            "search-measures",
            "Measures of search beside ranx and ir-measures",
            columns,
            rows,
            packages=("embedlab", "numpy"),
            notes=notes,
        )
    else:
        print("\n".join("  ".join(row) for row in [columns, *rows]), *notes, sep="\n")
    sys.exit(worst > LIMIT)


if __name__ == "__main__":
    main()
