"""How often 95% intervals of measures of search cover the truth, where queries share documents.

    python research/programs/coverage_search.py [--runs 2000] [--queries 150] [--write]

A large population of topics is made, each with one to six queries and one to four documents that
are relevant to some of them; how hard a topic, a query and a document are decides the ranks of two
models. A test set is a sample of topics. The truth is the score on the whole population; an
interval is that of `compare`, for each score and for the difference of the models.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from record import write_table
from simulated_comparisons import columns_of

METRICS = ("ndcg@10", "mrr@10", "map", "recall@1", "recall@10")
TOPICS = 4_000
LOW, HIGH = 93.0, 97.0


def population(rng: np.random.Generator, share: float) -> tuple[np.ndarray, ...]:
    """Return topic, query and document of each item, and its ranks by two models; SHARE is the part
    of a topic in what makes items hard.
    """
    rows = []
    query = document = 0
    for topic in range(TOPICS):
        queries, documents = int(rng.integers(1, 7)), int(rng.integers(1, 5))
        for own in range(queries):
            relevant = rng.choice(documents, int(rng.integers(1, documents + 1)), replace=False)
            rows += [(topic, query + own, document + int(place)) for place in relevant]
        query, document = query + queries, document + documents
    items = np.array(rows)
    parts = [
        np.sqrt(share),
        np.sqrt((1 - share) * 0.5),
        np.sqrt((1 - share) * 0.3),
        np.sqrt((1 - share) * 0.2),
    ]
    common = [
        rng.standard_normal(items[:, column].max() + 1)[items[:, column]] for column in range(3)
    ]
    ranks = []
    for shift in (0.0, 0.3):
        own = [
            0.8 * shared + 0.6 * rng.standard_normal(items[:, column].max() + 1)[items[:, column]]
            for column, shared in enumerate(common)
        ]
        hard = sum(
            weight * values
            for weight, values in zip(parts, [*own, rng.standard_normal(len(items))], strict=True)
        )
        ranks.append(
            _distinct(items[:, 1], np.ceil(np.exp(1.6 * (hard - shift) + 1)).clip(1, 10_000))
        )
    return items[:, 0], items[:, 1], items[:, 2], ranks[0], ranks[1]


def _distinct(query: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Return the ranks of each query's documents, those that are equal or passed over moved behind
    each other.
    """
    order = np.lexsort((ranks, query))
    found = ranks[order].copy()
    for place in range(1, len(found)):
        if query[order[place]] == query[order[place - 1]]:
            found[place] = max(found[place], found[place - 1] + 1)
    back = np.empty_like(found)
    back[order] = found
    return back


def main() -> None:
    """Count, print the shares, and end with 1 where one is outside the limits by more than its
    Monte Carlo error.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--queries", type=int, default=150, help="that a test set has about")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()

    from embedlab.analysis.comparison import compare_evidence
    from embedlab.analysis.evidence import evidence_of
    from embedlab.analysis.measures import MEASURES

    models = columns_of((1, 1))
    rows, is_outside = [], False
    for share in (0.0, 0.3, 0.6):
        rng = np.random.default_rng(int(10 * share))
        topic, query, document, *ranks = population(rng, share)
        truth = {name: [MEASURES[name].value(query, own) for own in ranks] for name in METRICS}
        ends = np.searchsorted(topic, np.arange(TOPICS + 1))
        hits = {name: np.zeros(3, int) for name in METRICS}
        for _ in range(chosen.runs):
            drawn = rng.choice(TOPICS, round(chosen.queries / 3.5), replace=False)
            own = np.concatenate([np.arange(ends[one], ends[one + 1]) for one in drawn])
            texts = np.stack([query[own], 10**9 + document[own]], axis=1).astype(np.uint64)
            predicted = {number: values[own] for number, values in enumerate(ranks)}
            found = [
                evidence_of(
                    "retrieval",
                    name,
                    query[own].astype(float),
                    predicted,
                    2,
                    measure=MEASURES[name],
                    texts=texts,
                )
                for name in METRICS
            ]
            for name, one in zip(METRICS, compare_evidence(found, models), strict=True):
                true = truth[name]
                ends_shown = [
                    (shown.low, shown.high)
                    for shown in (one.scores["a"], one.scores["b"], one.differences["b"])
                ]
                hits[name] += [
                    low <= value <= high
                    for (low, high), value in zip(
                        ends_shown, [*true, true[1] - true[0]], strict=True
                    )
                ]
        for name in METRICS:
            covered = 100 * hits[name] / chosen.runs
            error = 100 * 1.96 * np.sqrt(0.95 * 0.05 / chosen.runs)
            is_outside |= bool((covered < LOW - error).any() or (covered > HIGH + error).any())
            rows.append([f"{share:g}", name, *(f"{one:.1f}%" for one in covered)])
    notes = [
        f"{chosen.runs} test sets of about {chosen.queries} queries each; Monte Carlo error "
        f"of a share: ± {error:.1f}"
    ]
    columns = ["share of topics", "measure", "first model", "second model", "difference"]
    if chosen.write:
        write_table(
            "coverage-search",
            "Coverage of 95% intervals of search",
            columns,
            rows,
            packages=("embedlab", "numpy"),
            notes=notes,
        )
    else:
        print(*("  ".join(row) for row in [columns, *rows]), *notes, sep="\n")
    sys.exit(is_outside)


if __name__ == "__main__":
    main()
