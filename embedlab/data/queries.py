"""Queries with the documents that are relevant to each, and the files they come from: a folder in
BEIR's layout (corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv), or TREC's qrels and runs.

A document is its title and its text. Qrels have a header as BEIR writes it or none, or are TREC's
`query 0 document grade`; a run is `query Q0 document rank score name`. Qrels alone compare runs of
other programs, which need no texts. A name is the path, after `retrieval:` or, of a folder, by
itself; `?split=NAME` selects qrels.
"""

import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from hashlib import blake2b
from math import isfinite, lcm
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import MissingError
from embedlab.core.names import option_values, split_name
from embedlab.core.paths import file_hash, typed_path
from embedlab.core.printable import count_text
from embedlab.data.dataset import SIDES, DatasetState, Part
from embedlab.data.file_name import CORPUS, PACKED, PREFIX, QUERIES
from embedlab.data.overlaps import text_keys
from embedlab.data.table_file import refuse_rows, row_places, with_numbers
from embedlab.data.text_file import (
    PLACE,
    bad_line,
    is_seen,
    read_json_lines,
    read_lines,
    refuse_json_values,
    wrong_field_count,
)

QRELS = "qrels"
NONE_RELEVANT = "query without a relevant document"
MOST_RELEVANT = 1024  # the highest grade that a document can have
_SUFFIXES = (".tsv", ".qrels", ".txt")  # of files of qrels
_LAYOUT = f"it has {CORPUS}, {QUERIES} and {QRELS}/SPLIT.tsv"
_HEADER = {  # what programs call the columns of qrels
    "query-id": "queryid query qid topic topicid",
    "corpus-id": "corpusid docid documentid document doc pid passageid did docno",
    "score": "score relevance rel grade label relevancy",
}
_THREE, _FOUR = "query document grade", "query 0 document grade"  # columns without a header
_GRADE = f"a grade is a number, at most {MOST_RELEVANT} times the lowest above 0"

_RUN = ("query", "Q0", "document", "rank", "score", "system")

PAIR = ("query", "document")

Places = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, eq=False)
class Queries:
    """Queries and documents, and the items: a query with a document that is relevant to it."""

    # an item a row: sentence1 the query, sentence2 the document, or its id where it has no text;
    # without these columns where only ids are known
    part: Part
    queries: pl.DataFrame  # id, text
    documents: pl.DataFrame  # id, text
    # the ids of a query and a document, which is never found if it is not there, and a grade from 1
    items: pl.DataFrame
    # a document with the id of a query that holds its text is the query itself, as in ArguAna
    has_queries_by_id: bool = False

    @property
    def has_texts(self) -> bool:
        """Return whether more than the ids is known."""
        return SIDES[0] in self.part.frame.columns

    @cached_property
    def texts(self) -> list[str]:
        """The queries."""
        return self.queries["text"].to_list()

    @cached_property
    def candidates(self) -> list[str]:
        """The documents."""
        return self.documents["text"].to_list()

    @cached_property
    def excluded(self) -> pl.DataFrame:
        """The ids of a query and a document that does not count: the query's own text, unless it is
        graded as relevant.
        """
        with_text = self.documents.filter(pl.col("text") != "")
        own = self.queries.join(with_text, on="text").select(query="id", document="id_right")
        if self.has_queries_by_id:
            holds_text = pl.col("text_right").str.contains(pl.col("text"), literal=True)
            same_id = self.queries.join(self.documents, on="id").filter(holds_text)
            own = pl.concat([own, same_id.select(query="id", document="id")]).unique()
        return own.join(self.items, on=PAIR, how="anti")

    def numbers(self, pairs: pl.DataFrame) -> Iterator[Places]:
        """Yield the row of the query of each of PAIRS, then that of its document, −1 of what is not
        there.
        """
        for side, rows in zip(PAIR, (self.queries, self.documents), strict=True):
            places: dict[str, Any] = {"new": range(rows.height), "return_dtype": pl.Int64}
            yield pairs[side].replace_strict(rows["id"], default=-1, **places).to_numpy()

    def without(self, refused: Collection[str]) -> tuple["Queries", Places]:
        """Return the queries without the texts that a model REFUSED, and which items remain: a
        query is left out if it, or a document that is relevant to it, was refused.
        """
        is_refused = pl.col("text").is_in([*refused])
        refused_ids = self.documents.filter(is_refused)["id"].implode()
        lost = self.items.filter(pl.col("document").is_in(refused_ids))["query"].implode()
        queries = self.queries.filter(~is_refused, ~pl.col("id").is_in(lost))
        remaining = self.items["query"].is_in(queries["id"].implode()).arg_true().to_numpy()
        readable = replace(
            self,
            part=replace(self.part, frame=self.part.frame[remaining]),
            queries=queries,
            documents=self.documents.filter(~is_refused),
            items=self.items[remaining],
        )
        return readable, remaining

    @property
    def keys(self) -> NDArray[np.uint64]:
        """Return hashes of the query and the document of each item, (items, 2), the same on every
        machine.
        """
        if self.has_texts:
            return text_keys(self.part.frame)
        keys = [[_key(f"{side} {name}") for name in self.items[side]] for side in PAIR]
        return np.array(keys, np.uint64).T


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """The documents that a program found, a row each: query, document and score, in the order of
    the file.
    """

    path: Path
    rows: pl.DataFrame


def _key(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def queries_of_pairs(part: Part, candidates: pl.Series) -> Queries:
    """Return the queries of the pairs in PART: the first text is a query, and the second, one of
    CANDIDATES, is relevant to it.
    """
    texts = [part.frame["sentence1"].unique(maintain_order=True), candidates]
    queries, documents = (
        pl.DataFrame({"id": map(str, range(1, len(column) + 1)), "text": column})
        for column in texts
    )
    items = part.frame.select(
        query=pl.col("sentence1").replace_strict(queries["text"], queries["id"]),
        document=pl.col("sentence2").replace_strict(documents["text"], documents["id"]),
        grade=1,
    )
    return Queries(part=part, queries=queries, documents=documents, items=items)


def open_query_folder(name: str) -> Queries:
    """Return the queries of a folder or file of qrels; a fault is an error with its file and line.

    An absent relevant document is never found, as trec_eval counts it. Absent or empty queries and
    blank grades are skipped. All are counted with their places.
    """
    typed_folder, *parts = split_name(name.removeprefix(PREFIX), ("split",))
    path = typed_path(typed_folder)
    options = option_values(name, parts, ("split",))
    if not path.exists():
        raise MissingError(
            f"no folder or file {str(path)!r}", hint=f"give the path of a folder: {_LAYOUT}"
        )
    has_texts = path.is_dir()
    for file in (CORPUS, QUERIES):
        if (path / (file + PACKED)).is_file() and not (path / file).is_file():
            raise MissingError(
                f"{str(path)!r} has {file}{PACKED}, but no {file}",
                hint=f"unpack it: gunzip -r {shlex.quote(str(path))}",
            )
    graded = _qrels_file(path, options.get("split"), name) if has_texts else path
    qrels, skipped, notes = _read_qrels(graded)
    queries, documents = (
        qrels.select(id=side, text=pl.lit("")).unique(maintain_order=True) for side in PAIR
    )
    files = [graded]
    ungraded_count = 0
    if has_texts:
        files += [path / QUERIES, path / CORPUS]
        queries, query_notes = _read_texts(files[1], "text")
        documents, copy_notes = _read_texts(files[2], "title", "text")
        notes = [*notes, *query_notes, *copy_notes]
        if len(_qrels_files(path)) == 1:  # otherwise another split may have the others
            ungraded = queries.join(qrels, left_on="id", right_on="query", how="anti")
            ungraded_count = ungraded.height
        qrels, lost_queries = _of_known_queries(files, qrels, queries)
        skipped |= lost_queries
    relevant = qrels.filter(pl.col("grade") > 0)
    if relevant.is_empty():
        raise MissingError(
            f"{graded} names no relevant document",
            hint="a grade above 0 says that a document is relevant",
        )
    absent = _unknown(graded, relevant, "document", documents, CORPUS, "relevant documents")
    if lost_documents := absent["document"].n_unique():
        lost_text = count_text(lost_documents, f"relevant documents are not in {CORPUS}")
        notes.insert(0, f"{lost_text} and never found ({row_places(graded, absent)})")
    if has_texts and (copy_count := documents.height - documents["text"].n_unique()):
        notes.append(count_text(copy_count, "documents have the text of another"))
    ids = relevant.select(id="query").unique(maintain_order=True)
    queries = ids.join(queries.select("id", "text"), on="id", maintain_order="left")
    if irrelevant_count := qrels["query"].n_unique() + ungraded_count - queries.height:
        skipped[NONE_RELEVANT] = irrelevant_count
    items = relevant.drop(PLACE)
    state = DatasetState(
        name=name,
        rows=items.height,
        origin="file",
        sha256={str(file): file_hash(file) for file in files},
        skipped=skipped,
        notes=notes,
        empty=int((~is_seen(documents["text"])).sum()) if has_texts else 0,
    )
    frame = items.select("query")
    if has_texts:
        frame = items.select(
            sentence1=pl.col("query").replace_strict(queries["id"], queries["text"]),
            sentence2=pl.col("document").replace(documents["id"], documents["text"]),
        )
    return Queries(
        part=Part(frame=frame, state=state),
        queries=queries,
        documents=documents.select("id", "text"),
        items=items,
        has_queries_by_id=has_texts,
    )


def _of_known_queries(
    files: Sequence[Path], qrels: pl.DataFrame, queries: pl.DataFrame
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the grades of QUERIES that have a text, and how many queries have none."""
    skipped: dict[str, int] = {}
    unknown = _unknown(files[0], qrels, "query", queries, QUERIES, "queries")
    if unknown.height:
        reason = f"query that is not in {QUERIES} ({row_places(files[0], unknown)})"
        skipped[reason] = unknown["query"].n_unique()
    graded = qrels.join(unknown, on="query", how="anti", maintain_order="left")
    relevant = graded.filter(pl.col("grade") > 0)
    empty = queries.filter(~is_seen(queries["text"])).join(
        relevant, left_on="id", right_on="query", how="semi", maintain_order="left"
    )
    if empty.height:
        skipped[f"empty query ({row_places(files[1], empty)})"] = empty.height
    read = graded.join(empty, left_on="query", right_on="id", how="anti", maintain_order="left")
    return read, skipped


def _unknown(
    path: Path, qrels: pl.DataFrame, side: str, texts: pl.DataFrame, file: str, things: str
) -> pl.DataFrame:
    """Return the grades whose query or document (SIDE) is not among the TEXTS of a FILE; where that
    is all of them, the FILE is of another collection, and the error calls what it lacks THINGS.
    """
    unknown = qrels.join(texts, left_on=side, right_on="id", how="anti", maintain_order="left")
    if unknown.height and unknown.height == qrels.height:
        raise MissingError(
            f"{path}: {file} has none of its {things}: line {unknown[PLACE][0]} names "
            f"{unknown[side][0]!r}, {file} has {next(iter(texts['id']), '')!r}",
            hint="give queries, documents and qrels of the same collection",
        )
    return unknown


def _qrels_files(folder: Path) -> dict[str, Path]:
    """Return the files of qrels in a FOLDER by their splits."""
    paths = sorted((folder / QRELS).glob("*"))
    return {file.stem: file for file in paths if file.suffix in _SUFFIXES}


def _qrels_file(folder: Path, split: str | None, name: str) -> Path:
    """Return the qrels of a SPLIT: test where none was typed, otherwise the only one."""
    files = _qrels_files(folder)
    if not files:
        raise MissingError(
            f"no qrels in {str(folder / QRELS)!r}",
            hint=f"give a folder in BEIR's layout: {_LAYOUT}",
        )
    chosen_split = split or ("test" if "test" in files or len(files) > 1 else next(iter(files)))
    if chosen_split not in files:
        raise MissingError(
            f"{name!r}: no qrels of the split {chosen_split!r}",
            hint=f"select one: ?split= {', '.join(files)}",
        )
    return files[chosen_split]


def _read_texts(path: Path, *columns: str) -> tuple[pl.DataFrame, list[str]]:
    """Return the line, id and text of each row of a file of JSON lines, and a note on repeated
    rows. A text joins the COLUMNS with a blank between title and text, as BEIR and mteb encode
    them.
    """
    if not path.is_file():
        raise MissingError(
            f"no file {str(path)!r}", hint=f"give a folder in BEIR's layout: {_LAYOUT}"
        )
    rows = read_json_lines(path, ["_id", *columns])
    refuse_rows(path, rows, pl.col("_id").fill_null("") == "", "no id under '_id'", "_id")
    refuse_json_values(path, rows, columns)
    ids = rows.filter(~pl.col("_id").str.contains(r"^-?\d+$"))  # only whole numbers are ids too
    refuse_json_values(path, ids, ["_id"], hint="write a text or a whole number")
    text = pl.concat_str(pl.col(columns).fill_null(""), separator=" ")
    rows = rows.select(PLACE, id="_id", text=text.str.strip_chars() if columns[1:] else text)
    is_other = pl.col("text") != pl.col("text").first().over("id")
    refuse_rows(path, rows, is_other, "another text than in an earlier line, of the id", "id")
    distinct = rows.unique("id", keep="first", maintain_order=True)
    return distinct, _repeat_notes(path, rows.height - distinct.height)


def _repeat_notes(path: Path, count: int) -> list[str]:
    return [count_text(count, f"repeated lines, read once ({path.name})")] * (count > 0)


def _read_qrels(path: Path) -> tuple[pl.DataFrame, dict[str, int], list[str]]:
    """Return the grades in a file of qrels (its line, query, document, grade; 0 and less: not
    relevant), what is skipped, and a note on repeated lines, which count once.

    Fractions are multiplied by their common denominator, or if that is large, divided by the lowest
    grade: no measure depends on the unit of grades. A pair with two different grades is an error
    with its line.
    """
    skipped: dict[str, int] = {}
    rows = with_numbers(path, _graded_rows(path), "grade", None, _GRADE, skipped)
    is_other = pl.col("grade") != pl.col("grade").first().over(PAIR)
    refuse_rows(path, rows, is_other, "another grade than in an earlier line", "grade")
    qrels = rows.unique(PAIR, keep="first", maintain_order=True)
    grades = [Fraction(repr(grade)) for grade in qrels["grade"]]
    unit = Fraction(lcm(*(grade.denominator for grade in grades)))
    dtype: pl.DataType = pl.Int64()
    if max(grades, default=0) * unit > MOST_RELEVANT:
        lowest = min(grade for grade in grades if grade > 0)
        unit = 1 / lowest
        dtype = pl.Float64()
        limit = f"{MOST_RELEVANT}" if lowest == 1 else f"{MOST_RELEVANT} times {float(lowest):g}"
        is_above = pl.col("grade") > float(MOST_RELEVANT * lowest)
        refuse_rows(path, qrels, is_above, f"grade is above {limit}", "grade", hint=_GRADE)
    scaled = pl.Series("grade", [float(grade * unit) for grade in grades]).cast(dtype)
    return qrels.with_columns(scaled), skipped, _repeat_notes(path, rows.height - qrels.height)


def _graded_rows(path: Path) -> pl.DataFrame:
    """Return the line of each grade, its query, document and text: by the names of a header, or as
    the first, the last but one and the last of three or four fields.
    """
    lines = [(number, text) for number, text in enumerate(read_lines(path), 1) if text.strip()]
    first_number, first_line = lines[0]
    separator = next((mark for mark in ("\t", ",") if first_line.count(mark) > 1), None)
    header = _fields(first_line, separator)
    if _number(header[-1]) is None and len(header) in {1, 3, 4}:
        del lines[0]
    else:
        header = (_THREE if len(header) == 3 else _FOUR).split()
    keys = [re.sub(r"[\W_]", "", name.lower()) for name in header]
    positions = []
    for name, spellings in _HEADER.items():
        matching = [index for index, key in enumerate(keys) if key in spellings.split()]
        if not matching:
            names = ", ".join(_HEADER)
            raise bad_line(path, first_number, f"no column {name!r}: its columns are {names}")
        positions.append(matching[0])
    width = len(header)
    rows = []
    for number, text in lines:
        fields = _fields(text, separator)
        fields = fields if len(fields) == width else text.split()
        if len(fields) != width:
            shape = _THREE if width == 3 else _FOUR
            raise wrong_field_count(path, number, fields, f"not {width} of {shape}")
        rows.append((number, *(fields[position] for position in positions)))
    schema = {PLACE: pl.UInt32, **dict.fromkeys((*PAIR, "grade"), pl.String)}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    for name, column in zip(_HEADER, PAIR, strict=False):
        refuse_rows(path, frame, pl.col(column) == "", f"{name} is empty", column)
    return frame


def _fields(line: str, separator: str | None) -> list[str]:
    """Return the fields of LINE, without the quotes that a writer of tables puts around them."""
    return [re.sub(r'^"(.*)"$', r"\1", field.strip()) for field in line.split(separator)]


def read_run(path: Path) -> Run:
    """Return the run in a file; a document that was found twice for a query is an error, as is a
    score that is not a number, or are scores that contradict all ranks.
    """
    status = path.stat()
    return _read_run(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4)
def _read_run(path: Path, _size: int, _modified_ns: int) -> Run:
    fields = [text.split() for text in read_lines(path)]
    for line, row in enumerate(fields, 1):
        if len(row) != len(_RUN):
            raise wrong_field_count(path, line, row, "not 6 of query Q0 document rank score name")
    rows = pl.DataFrame(fields, schema=_RUN, orient="row").with_row_index(PLACE, offset=1)
    score = pl.col("score").cast(pl.Float64, strict=False)
    is_number = score.is_finite().fill_null(False)
    refuse_rows(path, rows, ~is_number, "score is not a number", "score")
    is_first = pl.struct("query", "document").is_first_distinct()
    refuse_rows(path, rows, ~is_first, "a document is there twice for a query", "document")
    system = rows["system"].first()
    hint = "give one file for each system"
    fault = f"a result of another system than {system!r}"
    refuse_rows(path, rows, pl.col("system") != system, fault, "system", hint=hint)
    ranked = rows.select("query", score, rank=pl.col("rank").cast(pl.Float64, strict=False))
    steps = ranked.sort("rank", maintain_order=True).select(
        pl.col("score", "rank").diff().over("query")
    )
    steps = steps.filter(steps["rank"] > 0)
    if steps.height and not (steps["score"] < 0).any():
        raise MissingError(
            f"{path}: no score falls with its rank",
            hint="the score alone orders the documents: write one that falls, such as 1/rank",
        )
    return Run(path=path, rows=rows.select("query", "document", score))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
