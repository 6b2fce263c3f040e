"""The two files that evaluations of search exchange since TREC: qrels (how relevant documents are),
and runs (what a program found).

A line of qrels is `query 0 document grade`, one of a run `query Q0 document rank score name`, with
blanks or tabs between them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isfinite, lcm
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.data.queries import MOST_RELEVANT
from embedlab.data.table_file import PLACE, read_rows
from embedlab.data.text_file import bad_line, read_lines

_HEADER = ("query-id", "corpus-id", "score")  # of qrels as BEIR writes them
_GRADE = f"a grade is a number up to {MOST_RELEVANT}; fractions have a common denominator that is as small"


@dataclass(frozen=True, kw_only=True)
class Grade:
    """How relevant a document is to a query, as people say; 0 and less: not at all."""

    line: int
    query: str
    document: str
    grade: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """The documents that a program found, a row each: query, document and score, in the order of
    the file.
    """

    path: Path
    rows: pl.DataFrame


def read_qrels(path: Path) -> tuple[list[Grade], int]:
    """Return the grades in a file of qrels, as BEIR writes it with a header or without, or as TREC
    does; and how many lines say again what another one said, which count once.

    Fractions are multiplied by their common denominator: no measure depends on the unit of grades.
    A pair that is graded twice differently is an error with its line.
    """
    found: dict[tuple[str, str], tuple[int, Fraction]] = {}
    again = 0
    for line, query, document, text in _graded(path):
        try:
            grade = Fraction(text.strip())
        except (ValueError, ZeroDivisionError) as error:
            raise MissingError(
                f"{path}, line {line}: grade {text!r} is not a number", hint=_GRADE
            ) from error
        first, other = found.setdefault((query, document), (line, grade))
        if other != grade:
            raise bad_line(
                path,
                line,
                f"query {query!r} and document {document!r} a second time, with another grade "
                f"than in line {first}",
            )
        again += first != line
    unit = lcm(*(grade.denominator for _, grade in found.values()))
    for line, grade in found.values():
        if grade * unit > MOST_RELEVANT:
            times = f" in units of 1/{unit}" if unit > 1 else ""
            raise MissingError(
                f"{path}, line {line}: grade {float(grade):g} is above {MOST_RELEVANT}{times}",
                hint=_GRADE,
            )
    grades = [
        Grade(line=line, query=query, document=document, grade=int(grade * unit))
        for (query, document), (line, grade) in found.items()
    ]
    return grades, again


def _graded(path: Path) -> Iterator[tuple[int, str, str, str]]:
    lines = read_lines(path)
    fields = len(lines[0].split())
    if (
        path.suffix.lower() == ".tsv"
        and fields != 4
        and not (fields == 3 and _ends_in_number(lines[0]))
    ):
        rows = read_rows(path, needed=_HEADER)
        if absent := [name for name in _HEADER if name not in rows.columns]:
            raise bad_line(
                path, 1, f"no column {absent[0]!r}: its columns are {', '.join(_HEADER)}"
            )
        for line, *values in rows.select(PLACE, *_HEADER).iter_rows():
            if None in values:
                raise bad_line(path, line, f"{_HEADER[values.index(None)]} is empty")
            yield (line, *values)
        return
    wanted = 3 if fields == 3 else 4
    shape = "query document grade" if wanted == 3 else "query 0 document grade"
    for line, text in enumerate(lines, 1):
        values = text.split()
        if len(values) != wanted:
            fault = f"{len(values)} field{'s' * (len(values) != 1)}, not {wanted}: {shape}"
            raise bad_line(path, line, fault)
        yield line, values[0], values[-2], values[-1]


def _ends_in_number(line: str) -> bool:
    return _number(line.split()[-1]) is not None


def read_run(path: Path) -> Run:
    """Return the run in a file; a document that was found twice for a query is an error, as is a
    score that is not a number.
    """
    status = path.stat()
    return _read_run(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4)
def _read_run(path: Path, _size: int, _modified_ns: int) -> Run:
    queries, documents, scores = list[str](), list[str](), list[float]()
    seen = set[tuple[str, str]]()
    for line, text in enumerate(read_lines(path), 1):
        fields = text.split()
        if len(fields) != 6:
            raise bad_line(
                path,
                line,
                f"{len(fields)} field{'s' * (len(fields) != 1)}, not 6: query Q0 document "
                f"rank score name",
            )
        query, _, document, _, score, _ = fields
        number = _number(score)
        if number is None:
            raise bad_line(path, line, f"score {score!r} is not a number")
        if (query, document) in seen:
            raise bad_line(path, line, f"document {document!r} of query {query!r} a second time")
        seen.add((query, document))
        queries.append(query)
        documents.append(document)
        scores.append(number)
    return Run(
        path=path, rows=pl.DataFrame({"query": queries, "document": documents, "score": scores})
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
