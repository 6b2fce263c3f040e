"""Two halves of real searches: a difference of two models on one half and on the other should agree within their 95% intervals.

    python benchmarks/coverage_search_halves.py --data DIR [--models dice bm25 wordllama minilm] [--runs 200] [--write]

The queries of a set of captions are split by pictures at random, so that the halves share no document that is relevant; every query still
searches all documents. For each score, and for each difference of two models, the half-widths of both halves are added in quadrature: the
two numbers should be nearer to each other than that in 95% of the splits. That holds for splits of one fixed set only on average over
models, measures and splits, because each pair of halves is of the same queries.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from record import write_table

METRICS = ("ndcg@10", "mrr@10", "map", "recall@1", "recall@10")
LOW, HIGH = 93.0, 97.0


def ranks_of(models: Sequence[str], dataset: str, data: Path) -> tuple[np.ndarray, ...]:
    """Return the query, the keys of both texts and the topic of each item, and its ranks by each model, (models, items)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    from embedlab.core.settings import load_settings
    from embedlab.data.query_sets import open_queries
    from embedlab.data.source import Source
    from embedlab.models.catalog import resolve
    from embedlab.tasks._searchers import searcher_of

    settings = load_settings({"data": data, "allow_partial": True})[0]
    queries = open_queries(Source.from_settings(settings), dataset)
    found = []
    for name in models:
        (spec,) = resolve(name, settings.runs_folder).members
        found.append(searcher_of(spec, settings, lambda _: lambda *_: None).search(queries).ranks)
    _, texts = np.unique(queries.keys, return_inverse=True)
    texts = texts.reshape(-1, 2)
    links = coo_array((np.ones(len(texts)), (texts[:, 0], texts[:, 1])), shape=(texts.max() + 1,) * 2)
    topics = connected_components(links, directed=False)[1][texts[:, 0]]
    return queries.query, queries.keys, topics, np.array(found)


def main() -> None:
    """Split, compare, print the shares, and end with 1 where their mean is outside the limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", nargs="+", default=["dice", "bm25", "wordllama", "minilm"])
    parser.add_argument("--dataset", default="retrieval-captions")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()

    from embedlab.analysis.comparison import compare_evidence
    from embedlab.analysis.evidence import evidence_of
    from embedlab.analysis.measures import MEASURES
    from embedlab.analysis.scores import ModelColumns

    query, texts, topic, ranks = ranks_of(chosen.models, chosen.dataset, chosen.data)
    columns = [ModelColumns(name=name, members=(name,), is_published=True) for name in chosen.models]
    rng, agreed = np.random.default_rng(0), {name: [] for name in METRICS}

    def numbers(rows: np.ndarray, metric: str) -> tuple[np.ndarray, np.ndarray]:
        predicted = dict(enumerate(ranks[:, rows]))
        own = evidence_of(
            "retrieval", metric, query[rows].astype(float), predicted, len(columns), measure=MEASURES[metric], texts=texts[rows]
        )
        shown = []
        for first in range(len(columns) - 1):
            (found,) = compare_evidence([own], columns[first:], columns[first].name)
            differences = [found.differences[other.name] for other in columns[first + 1 :]]
            shown += [(one.delta, one.low, one.high) for one in differences]
            shown += [
                (found.scores[columns[first].name].value, found.scores[columns[first].name].low, found.scores[columns[first].name].high)
            ]
        values = np.array(shown)
        return values[:, 0], np.stack([values[:, 0] - values[:, 1], values[:, 2] - values[:, 0]], axis=1)

    for _ in range(chosen.runs):
        side = rng.integers(0, 2, topic.max() + 1)[topic]
        for metric in METRICS:
            (one, near_one), (other, near_other) = (numbers(np.flatnonzero(side == half), metric) for half in (0, 1))
            apart = one - other
            facing = np.where(apart > 0, np.hypot(near_one[:, 0], near_other[:, 1]), np.hypot(near_one[:, 1], near_other[:, 0]))
            agreed[metric].append(np.abs(apart) < facing)
    shares = {metric: 100 * np.mean(found, axis=0) for metric, found in agreed.items()}
    pairs = sum(1 for _ in combinations(chosen.models, 2))
    rows = [[metric, f"{own.mean():.1f}%", f"{own.min():.1f}%", f"{own.max():.1f}%"] for metric, own in shares.items()]
    mean = float(np.mean([own.mean() for own in shares.values()]))
    rows.append(
        ["all", f"{mean:.1f}%", f"{min(own.min() for own in shares.values()):.1f}%", f"{max(own.max() for own in shares.values()):.1f}%"]
    )
    notes = [
        f"{chosen.dataset}: {query.max() + 1} queries, {topic.max() + 1} topics, {len(query)} items; {chosen.runs} splits; "
        f"{', '.join(chosen.models)}: {pairs} differences and {len(chosen.models) - 1} scores a measure",
        f"Monte Carlo error of one share: ± {100 * 1.96 * np.sqrt(0.95 * 0.05 / chosen.runs):.1f}",
    ]
    titles = ["measure", "halves that agree: mean", "least", "most"]
    if chosen.write:
        heading = "Halves of a real set of captions that agree within 95% intervals of search"
        write_table("coverage-search-halves", heading, titles, rows, packages=("embedlab", "numpy"), notes=notes)
    else:
        print(*("  ".join(row) for row in [titles, *rows]), *notes, sep="\n")
    sys.exit(not LOW <= mean <= HIGH)


if __name__ == "__main__":
    main()
