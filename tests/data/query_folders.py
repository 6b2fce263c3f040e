"""A small folder of queries in BEIR's layout, for the tests of what reads it."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

CORPUS = [
    '{"_id": "d1", "title": "Dogs", "text": "A dog barks at night."}',
    '{"_id": "d2", "title": "", "text": "The fox barks too.", "metadata": {"url": 1}}',
    '{"_id": "d3", "text": "A bird sings in the morning."}',
    '{"_id": 4, "text": ""}',
    '{"_id": "q1", "title": "Asked", "text": "what barks"}',
    '{"_id": "d6", "text": "what sings"}',
]
QUERIES = [
    '{"_id": "q1", "text": "what barks"}',
    '{"_id": "q2", "text": "what sings"}',
    '{"_id": "q3", "text": "who reads"}',
]
QRELS = [
    "query-id\tcorpus-id\tscore",
    "q1\td1\t2",
    "q1\td2\t1",
    "q2\td3\t1",
    "q2\td1\t0",
    "q3\td1\t0",
]


def write_folder(
    folder: Path, corpus: list[str] = CORPUS, queries: list[str] = QUERIES, qrels: list[str] = QRELS
) -> Path:
    """Write the folder and return its path."""
    (folder / "qrels").mkdir(parents=True)
    for name, lines in (
        ("corpus.jsonl", corpus),
        ("queries.jsonl", queries),
        ("qrels/test.tsv", qrels),
    ):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def write_texts(
    folder: Path,
    documents: Sequence[str],
    queries: Sequence[str],
    grades: Iterable[tuple[int, int, int]],
) -> str:
    """Write a folder of documents d0, d1 and so on, queries q0, q1 and so on, and of GRADES of a
    query and a document.
    """
    corpus, asked = (
        [json.dumps({"_id": f"{kind}{n}", "text": text}) for n, text in enumerate(texts)]
        for kind, texts in (("d", documents), ("q", queries))
    )
    qrels = [f"q{query}\td{document}\t{grade}" for query, document, grade in grades]
    return str(write_folder(folder, corpus, asked, [QRELS[0], *qrels]))


def write_found(path: Path, *found: str) -> str:
    """Write what another program FOUND, of each a query, a document and a score; return the name
    of that model.
    """
    rows = (line.split() for line in found)
    lines = [f"{query} Q0 {document} 0 {score} x\n" for query, document, score in rows]
    path.write_text("".join(lines))
    return f"trec:{path}"
