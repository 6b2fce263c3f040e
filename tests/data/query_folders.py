"""A small folder of queries in BEIR's layout, for the tests of what reads it."""

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
