"""Queries of a folder in BEIR's layout: corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv; or of
TREC's qrels alone.

A document is its title and its text. Qrels are in BEIR's file or in TREC's. A file of qrels without
texts compares runs of other programs, which need none. A name is the path, after `retrieval:` or,
of a folder, by itself; `?split=NAME` selects qrels.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Self

import numpy as np
import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.name_options import option_values, outside_quotes
from embedlab.core.paths import file_hash, typed_path
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.queries import Queries, item_frame, own_texts
from embedlab.data.text_file import bad_line, json_object, read_lines
from embedlab.data.trec_files import Grade, read_qrels

PREFIX = "retrieval:"
CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"
_SUFFIXES = (".tsv", ".qrels", ".txt")  # of files of qrels
_LAYOUT = f"it has {CORPUS}, {QUERIES} and {QRELS}/SPLIT.tsv"
NONE_RELEVANT = "query without a relevant document"


@dataclass(frozen=True, kw_only=True)
class FolderName:
    """A typed folder, or file of qrels."""

    text: str
    path: Path
    split: str | None

    @classmethod
    def of(cls, name: str) -> Self:
        """Return what NAME means."""
        path, *options = outside_quotes(name.removeprefix(PREFIX), "?")
        return cls(
            text=name,
            path=typed_path(path),
            split=option_values(name, options, ("split",)).get("split"),
        )


def is_query_folder(name: str) -> bool:
    """Return whether a dataset's NAME means queries in a folder, or a file of qrels: by its prefix,
    or by what the folder holds.
    """
    if name.startswith(PREFIX):
        return True
    path = typed_path(outside_quotes(name, "?")[0])
    try:
        return (path / QUERIES).is_file() or (path / CORPUS).is_file()
    except (OSError, ValueError):  # text that cannot be a path
        return False


@dataclass(frozen=True, kw_only=True, eq=False)
class _Texts:
    """The texts of a file by id, in its order, and the line of each."""

    path: Path
    texts: Mapping[str, str]
    lines: Mapping[str, int]


def open_query_folder(name: str) -> Queries:
    """Return the queries of a folder or file of qrels; what is wrong is an error with its file and
    line.
    """
    typed = FolderName.of(name)
    if typed.path.is_file():
        return _of_qrels(typed)
    if not typed.path.is_dir():
        raise MissingError(
            f"no folder or file {str(typed.path)!r}", hint=f"give the path of a folder: {_LAYOUT}"
        )
    graded = _qrels_file(typed)
    qrels, again = read_qrels(graded)
    queries, corpus = (
        _read(typed.path / QUERIES, _query_text),
        _read(typed.path / CORPUS, _document_text),
    )
    unknown = [grade for grade in qrels if grade.query not in queries.texts]
    known = [grade for grade in qrels if grade.query in queries.texts]
    wanted = dict.fromkeys(grade.query for grade in known if grade.grade > 0)
    empty = [query for query in wanted if not queries.texts[query].strip()]
    absent = dict.fromkeys(
        grade.document for grade in known if grade.grade > 0 and grade.document not in corpus.texts
    )
    lines = [grade.line for grade in known if grade.document in absent]
    skipped = {
        f"query that is not in {QUERIES} ({_places(graded, [grade.line for grade in unknown])})": len(
            {grade.query for grade in unknown}
        ),
        f"empty query ({_places(queries.path, [queries.lines[query] for query in empty])})": len(
            empty
        ),
    }
    same = len(corpus.texts) - len({*corpus.texts.values()})
    notes = {
        f"{len(absent)} relevant document{'s are' if len(absent) != 1 else ' is'} not in {CORPUS} "
        f"and never found ({_places(graded, lines)})": len(absent),
        f"{again} line{'s' * (again != 1)} of {graded.name} repeat{'s' * (again == 1)} another and "
        f"{'count' if again != 1 else 'counts'} once": again,
        f"{same} document{'s have' if same != 1 else ' has'} the text of another": same,
    }
    return _queries(
        typed,
        [grade for grade in known if grade.query not in empty],
        {query: queries.texts[query] for query in wanted if query not in empty},
        corpus.texts,
        [graded, queries.path, corpus.path],
        absent=[*absent],
        skipped={reason: count for reason, count in skipped.items() if count},
        notes=[note for note, count in notes.items() if count],
    )


def _places(path: Path, lines: Sequence[int]) -> str:
    return f"{path.name}:{', '.join(map(str, lines[:3]))}{'…' * (len(lines) > 3)}"


def _of_qrels(typed: FolderName) -> Queries:
    """Return queries and documents of which only the ids are known."""
    qrels, _ = read_qrels(typed.path)
    wanted = dict.fromkeys(grade.query for grade in qrels if grade.grade > 0)
    documents = dict.fromkeys((grade.document for grade in qrels), "")
    return _queries(
        typed, qrels, dict.fromkeys(wanted, ""), documents, [typed.path], has_texts=False
    )


def _queries(
    typed: FolderName,
    qrels: Sequence[Grade],
    queries: Mapping[str, str],
    corpus: Mapping[str, str],
    files: Sequence[Path],
    *,
    has_texts: bool = True,
    absent: Sequence[str] = (),
    skipped: Mapping[str, int] = MappingProxyType({}),
    notes: Sequence[str] = (),
) -> Queries:
    relevant = [grade for grade in qrels if grade.grade > 0]
    if not relevant:
        raise MissingError(
            f"{files[0]} names no relevant document",
            hint="a grade above 0 says that a document is relevant",
        )
    ids = [*queries], [*corpus, *absent]
    numbers, places = ({key: index for index, key in enumerate(keys)} for keys in ids)
    query = np.array([numbers[grade.query] for grade in relevant], np.intp)
    document = np.array([places[grade.document] for grade in relevant], np.intp)
    texts, candidates = tuple(queries.values()), tuple(corpus.values())
    without = len({grade.query for grade in qrels}) - len(queries)
    part = Part(
        frame=item_frame(texts, [*candidates, *absent], query, document)
        if has_texts
        else pl.DataFrame({"item": np.arange(len(query))}),
        state=DatasetState(
            name=typed.text,
            split="all",
            rows=len(query),
            expected_rows=None,
            origin="file",
            sha256={str(file): file_hash(file) for file in files},
            skipped={**skipped, **({NONE_RELEVANT: without} if without else {})},
            notes=notes,
            empty=sum(not text.strip() for text in candidates) if has_texts else 0,
        ),
    )
    return Queries(
        part=part,
        texts=texts,
        candidates=candidates,
        query=query,
        relevant=document,
        grade=np.array([grade.grade for grade in relevant], np.int64),
        excluded=own_texts(
            texts, candidates, query, document, _same_ids(queries, corpus) if has_texts else ()
        ),
        ids=ids,
    )


def _same_ids(queries: Mapping[str, str], corpus: Mapping[str, str]) -> list[tuple[int, int]]:
    """Return the pairs of a query and a document of the same id whose text holds that of the query,
    as in ArguAna.
    """
    places = {key: index for index, key in enumerate(corpus)}
    return [
        (number, places[key])
        for number, (key, text) in enumerate(queries.items())
        if key in places and text in corpus[key]
    ]


def _qrels_file(typed: FolderName) -> Path:
    """Return the file of qrels of the split that was typed: test where none was, otherwise the only
    one.
    """
    folder = typed.path / QRELS
    files = (
        {file.stem: file for file in sorted(folder.glob("*")) if file.suffix in _SUFFIXES}
        if folder.is_dir()
        else {}
    )
    if not files:
        raise MissingError(
            f"no qrels in {str(folder)!r}", hint=f"give a folder in BEIR's layout: {_LAYOUT}"
        )
    split = typed.split or ("test" if "test" in files or len(files) > 1 else next(iter(files)))
    if split not in files:
        raise MissingError(
            f"{typed.text!r}: no qrels of the split {split!r}",
            hint=f"select one: ?split= {', '.join(files)}",
        )
    return files[split]


def _read(path: Path, text_of: Callable[[Path, int, Mapping[str, object]], str]) -> _Texts:
    """Return the texts of a file of JSON lines, each with an id of its own under `_id`."""
    if not path.is_file():
        raise MissingError(
            f"no file {str(path)!r}", hint=f"give a folder in BEIR's layout: {_LAYOUT}"
        )
    texts, lines = dict[str, str](), dict[str, int]()
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        row = json_object(path, number, line)
        key = row.get("_id")
        if isinstance(key, bool) or not isinstance(key, str | int) or key == "":
            raise bad_line(path, number, "no id under '_id'")
        if str(key) in texts:
            raise bad_line(
                path, number, f"the id {str(key)!r} a second time, after line {lines[str(key)]}"
            )
        texts[str(key)], lines[str(key)] = text_of(path, number, row), number
    return _Texts(path=path, texts=texts, lines=lines)


def _query_text(path: Path, number: int, row: Mapping[str, object]) -> str:
    return _text(path, number, row, "text")


def _document_text(path: Path, number: int, row: Mapping[str, object]) -> str:
    """Return the title and the text with a blank between them, as BEIR and mteb encode them."""
    title = _text(path, number, row, "title") if row.get("title") is not None else ""
    return f"{title} {_text(path, number, row, 'text')}".strip()


def _text(path: Path, number: int, row: Mapping[str, object], name: str) -> str:
    text = row.get(name)
    if not isinstance(text, str):
        raise bad_line(path, number, f"no text under {name!r}")
    return text
