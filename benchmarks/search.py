"""Speed and memory of exact search, beside a plain blocked search by numpy in the same run.

    python benchmarks/search.py [--documents 100000] [--queries 1000] [--dim 384] [--repeats 5]
    [--write]

Plain: unit vectors, products of blocks of documents, the best 100 of each block and then of all,
and where the relevant documents are in those. It finds 100; ours finds the exact rank of every
relevant document among all. Each side reads the vectors from a file and is a process of its own, so
that its memory is its own; the sides take turns, and the medians are compared.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent))

from record import Measured, write

TOP = 100
RELEVANT = 3  # documents of a query
_LIMIT, _MOST_GIB = 1.5, 1.0

_PROGRAM = """
import json, resource, sys, time
import numpy as np
side, folder = sys.argv[1:]
first, second = (np.load(f"{folder}/{name}.npy") for name in ("queries", "documents"))
relevant = np.load(f"{folder}/relevant.npy")
RELEVANT = len(relevant) // len(first)
query = np.repeat(np.arange(len(first)), RELEVANT)
TOP, BLOCK = 100, 8192

def plain():
    unit = first / np.linalg.norm(first, axis=1, keepdims=True)
    best, places = np.full((len(first), 0), -np.inf, np.float32), np.zeros((len(first), 0), np.int64)
    for start in range(0, len(second), BLOCK):
        part = second[start : start + BLOCK]
        scores = unit @ (part / np.linalg.norm(part, axis=1, keepdims=True)).T
        own = np.argpartition(-scores, min(TOP, scores.shape[1] - 1), axis=1)[:, :TOP]
        best = np.concatenate([best, np.take_along_axis(scores, own, axis=1)], axis=1)
        places = np.concatenate([places, own + start], axis=1)
        if best.shape[1] > TOP:
            stay = np.argpartition(-best, TOP, axis=1)[:, :TOP]
            best, places = np.take_along_axis(best, stay, axis=1), np.take_along_axis(places, stay, axis=1)
    order = np.argsort(-best, axis=1)
    places = np.take_along_axis(places, order, axis=1)
    found = places[query] == relevant[:, None]
    return np.where(found.any(axis=1), found.argmax(axis=1) + 1, np.inf)

def ours():
    from embedlab.encoders.exact_search import VectorSearch, relevant_ranks
    return relevant_ranks(VectorSearch(first=first, second=second, similarity="cosine"), wanted)

work = {"plain": plain, "ours": ours}[side]
if side == "ours":
    import polars as pl
    import embedlab.encoders.exact_search
    from embedlab.data.queries import Queries
    ids, documents = (np.arange(len(side)).astype(str) for side in (first, second))
    wanted = Queries(
        part=None,
        queries=pl.DataFrame({"id": ids, "text": ""}),
        documents=pl.DataFrame({"id": documents, "text": ""}),
        items=pl.DataFrame({"query": ids[query], "document": documents[relevant], "grade": 1}),
    )
start = time.perf_counter()
ranks = work()
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"seconds": seconds, "gib": peak / 2**20, "ranks": [min(float(rank), 1e9) for rank in ranks]}))
"""


def made(folder: Path, documents: int, queries: int, dim: int) -> None:
    """Write random vectors, and relevant documents that are nearer to their query than chance;
    every hundredth is there twice.
    """
    import numpy as np

    rng = np.random.default_rng(0)
    second = rng.standard_normal((documents, dim), np.float32)
    second[::100] = second[1::100][: len(second[::100])]
    relevant = rng.choice(documents, queries * RELEVANT, replace=False)
    sums = second[relevant].reshape(queries, RELEVANT, dim).sum(axis=1)
    first = 0.25 * sums + rng.standard_normal((queries, dim), np.float32)
    for name, values in (("queries", first), ("documents", second), ("relevant", relevant)):
        np.save(folder / f"{name}.npy", values)


def run(side: str, folder: Path) -> dict:
    """Return the seconds, the peak memory in GiB and the ranks of a side."""
    answer = subprocess.run(
        [sys.executable, "-c", _PROGRAM, side, str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(answer.stdout)


def main() -> None:
    """Measure, compare the ranks, and end with 1 where a limit is broken."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, value in (("documents", 100_000), ("queries", 1_000), ("dim", 384), ("repeats", 5)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    with TemporaryDirectory() as place:
        folder = Path(place)
        made(folder, chosen.documents, chosen.queries, chosen.dim)
        found: dict[str, list[dict]] = {"ours": [], "plain": []}
        for number in range(2 * chosen.repeats):
            side = ("ours", "plain")[
                (number + number // 2) % 2
            ]  # each is first as often as the other
            found[side].append(run(side, folder))
    ours, plain = (
        statistics.median(one["seconds"] for one in found[side]) for side in ("ours", "plain")
    )
    peaks = {side: max(one["gib"] for one in own) for side, own in found.items()}
    pairs = list(zip(found["ours"][0]["ranks"], found["plain"][0]["ranks"], strict=True))
    seen = [(one, other) for one, other in pairs if other < TOP]
    equal = sum(one == other for one, other in seen)
    later = sum(one > other for one, other in seen)
    notes = [
        f"{chosen.documents:,} documents x {chosen.dim}, {chosen.queries:,} queries, "
        f"{RELEVANT} relevant documents each",
        f"time {ours / plain:.2f} x that of the plain search; limit {_LIMIT} x; memory limit "
        f"{_MOST_GIB:g} GiB, of the whole process",
        f"of {len(seen):,} relevant documents among the plain search's {TOP} the rank is "
        f"equal for {equal:,},"
        f" later for {later:,}: ties are in the worst order",
    ]
    measured = [
        Measured(
            what="exact ranks of all relevant documents",
            ours=ours,
            peer=plain,
            unit="s",
            limit=f"≤ {_LIMIT} x",
            runs=chosen.repeats,
        ),
        Measured(
            what="peak memory",
            ours=peaks["ours"],
            peer=peaks["plain"],
            unit="GiB",
            limit=f"< {_MOST_GIB:g} GiB",
        ),
    ]
    if chosen.write:
        write(
            "search",
            "Exact search beside a plain search by numpy",
            measured,
            packages=("embedlab", "numpy"),
            notes=notes,
        )
    else:
        print(*measured, *notes, sep="\n")
    sys.exit(ours > _LIMIT * plain or peaks["ours"] >= _MOST_GIB)


if __name__ == "__main__":
    main()
