"""A folder of a part of Quora's questions, in BEIR's layout: what a slow encoder can search in
minutes.

    python research/programs/fewer_questions.py FOLDER --data DIR [--share 0.125] [--seed 0]

Of the groups of questions that a chain of duplicates connects, single questions included, a share
is drawn at random; all their questions are the documents, and those with a duplicate the queries.
Fewer documents make a search easier: scores are to be compared on one set only.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from embedlab.core.settings import load_settings
from embedlab.data.derived import open_queries
from embedlab.data.source import Source


def main() -> None:
    """Draw, and write the folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--share", type=float, default=0.125)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    found = open_queries(
        Source.from_settings(load_settings({"data": chosen.data, "allow_partial": True})[0]),
        "retrieval-questions",
    )
    place = {text: number for number, text in enumerate(found.candidates)}
    query_texts = dict(found.queries.iter_rows())
    document_texts = dict(found.documents.iter_rows())
    queries_at = np.array([place[query_texts[query]] for query in found.items["query"]])
    relevant = np.array([place[document_texts[document]] for document in found.items["document"]])
    links = coo_array((np.ones(len(queries_at)), (queries_at, relevant)), shape=(len(place),) * 2)
    count, group = connected_components(links, directed=False)
    drawn = np.random.default_rng(chosen.seed).random(count) < chosen.share
    (chosen.folder / "qrels").mkdir(parents=True, exist_ok=True)
    documents = [
        json.dumps({"_id": f"d{number}", "text": text})
        for text, number in place.items()
        if drawn[group[number]]
    ]
    rows = [
        (int(query), int(document))
        for query, document in zip(queries_at, relevant, strict=True)
        if drawn[group[query]]
    ]
    queries = [
        json.dumps({"_id": f"q{number}", "text": found.candidates[number]})
        for number in dict.fromkeys(query for query, _ in rows)
    ]
    qrels = [
        "query-id\tcorpus-id\tscore",
        *(f"q{query}\td{document}\t1" for query, document in rows),
    ]
    for name, lines in (
        ("corpus.jsonl", documents),
        ("queries.jsonl", queries),
        ("qrels/test.tsv", qrels),
    ):
        (chosen.folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{len(documents):,} documents, {len(queries):,} queries, {len(rows):,} relevant pairs")


if __name__ == "__main__":
    main()
