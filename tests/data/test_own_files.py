"""Files of a user's own as rows: a line of a table is a file, its content, and the rows that it
gives, or its fault with the place.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.recipe import DataSection
from embedlab.data.dataset import DatasetKind
from embedlab.data.own_columns import own_data
from embedlab.data.own_files import (
    RowShape,
    open_own_file,
    open_own_rows,
    open_pair_file,
    open_query_file,
    sentences,
)
from embedlab.data.table_file import number_of, read_rows
from embedlab.data.text_file import PLACE, read_json_lines
from embedlab.encoders.kinds.brought import open_scores, read_items

CLASSES = ("entailment", "neutral", "contradiction")
SHAPES = {
    "nli": RowShape(texts=("premise", "hypothesis"), labels={"label": CLASSES}),
    "scored": RowShape(texts=("sentence1", "sentence2"), numbers={"gold": 5.0}),
    "any": RowShape(texts=("sentence1", "sentence2"), numbers={"gold": None}),
    "lines": RowShape(texts=("sentence",)),
    "binary": RowShape(texts=("sentence",), labels={"label": ("0", "1")}),
    "triplets": RowShape(texts=("anchor", "positive", "negative")),
}
MAPS = {
    "": DataSection(),
    "named": DataSection(
        columns={"premise": "text", "hypothesis": "answer"}, labels={"0": CLASSES[0]}
    ),
    "gold": DataSection(columns={"gold": "points"}),
    "score": DataSection(columns={"score": "points"}),
    "both": DataSection(columns={"gold": "points", "score": "marks"}),
    "odd": DataSection(columns={"sentence": "text"}),
    "gone": DataSection(columns={"premise": "text"}),
    "train": DataSection(labels={"1": "neutral", "2": CLASSES[2]}, where={"split": "train"}),
    "drop": DataSection(labels={"1": "neutral", "2": CLASSES[2]}, drop={"split": "dev"}),
}


def _rows(shape: str, said: str) -> Callable[[Path], Any]:
    return lambda path: open_own_rows(path, SHAPES[shape], MAPS[said])


READERS: dict[str, Callable[[Path], Any]] = {
    "pairs": lambda path: open_pair_file(path),
    "queries": lambda path: open_query_file(str(path)).part,
    "table": lambda path: (rows := read_rows(path)).select(PLACE, *rows.drop(PLACE).columns),
    "corpus": lambda path: read_rows(path, is_corpus=True),
    "texts": lambda path: read_json_lines(path, ["a"]),
    "needs c": lambda path: read_rows(path, needed=["c"]),
    "sentences": lambda path: list(sentences(path)),
    "scores": lambda path: open_scores(f"{path}#score"),
    "items": lambda path: read_items(str(path)),
    "column text": lambda path: list(sentences(path, "text")),
    **{f"{shape}:{said}": _rows(shape, said) for shape in SHAPES for said in MAPS},
}

# reader :: file :: content :: rows (and what was left out), or a fault
FILES = r"""
pairs :: p.tsv :: sentence1\tsentence2\tscore\na\tb\t\nc\td\t0.5\n :: ('c', 'd', 0.5, None) {'blank score at p.tsv:2': 1}
pairs :: p.tsv :: sentence1\tsentence2\tscore\na\tb\t1\nc\td\thigh\n :: line 3: score is not a number: 'high'
pairs :: p.csv :: sentence1,sentence2,score\na,b,N/A\nc,d,2\ne,f,nan\n :: ('c', 'd', 2.0, None) {'blank score at p.csv:2, 4': 2}
pairs :: p.jsonl :: {"sentence1": "a", "sentence2": "b", "score": NaN}\n{"sentence1": "c", "sentence2": "d", "score": 2} :: ('c', 'd', 2.0, None) {'blank score at p.jsonl:1': 1}
pairs :: p.csv :: \nsentence1,sentence2,score\n\na,b,1\n\n :: ('a', 'b', 1.0, None)
pairs :: p.jsonl :: {"sentence1": "a", "sentence2": "b", "score": true}\n{"sentence1": "c", "sentence2": "d", "score": false} :: ('a', 'b', 1.0, None) ('c', 'd', 0.0, None)
pairs :: p.csv :: sentence1,sentence2,score\r\na,b,1\rc,d,2\r\n :: ('a', 'b', 1.0, None) ('c', 'd', 2.0, None)
pairs :: p.csv :: SEP=;\nsentence1;sentence2;score\na;b;1\n :: ('a', 'b', 1.0, None)
pairs :: p.tsv :: sep=\t\nsentence1\tsentence2\tscore\na\tb\t1\n :: ('a', 'b', 1.0, None)
pairs :: p.jsonl :: {"sentence1": "a", "sentence2": "b", "score": 1}\n{"sentence1": "c", "sentence2": "d", "score": [2]} :: line 2: 'score' is [2], unlike in lines before it
pairs :: p.csv :: sentence1,sentence2,score\na,b,inf\n :: line 2: score is not a number: 'inf'
pairs :: p.csv :: sentence1,sentence2,score\na,b,9007199254740993\nc,d,1\n :: line 2: score is too large to be exact: '9007199254740993'
pairs :: p.csv :: sentence1,sentence2,score\na,b,1\na, b,c,1\n :: line 3: 4 fields: the header has 3
pairs :: p.csv :: sentence1,sentence2,score\na,b,1\n"a,b,1\n :: line 3: not readable as CSV
pairs :: p.csv :: score,sentence1,sentence2\n1,a,b\n2,c\n :: line 3: 2 fields: the header has 3
pairs :: p.csv :: sentence1,sentence2,score,source\n"a, b",c,4,x\n :: ('a, b', 'c', 4.0, 'x')
pairs :: p.csv :: premise,hypothesis,label\na b,c d,neutral\ne,f,contradiction\n :: ('a b', 'c d', 0.5, None) ('e', 'f', 0.0, None)
pairs :: p.csv :: sentence1,sentence2,score\na,b,\nc,d,\n :: score is empty in every row
pairs :: p.csv :: question,answer\na b,c d\n :: holds pairs of anchor and positive, not scored pairs
pairs :: p.jsonl :: {"sentence1": "a", "sentence2": "b", "score": 1}\n[1]\n :: line 2: a JSON array, not a JSON object
pairs :: p.jsonl :: {"sentence1": "a", "sentence2": "b", "score": 1}\n\n{"sentence1": :: line 3: broken JSON
pairs :: p.jsonl :: {"sentence1": "\\ud83d\\ude00", "sentence2": "b", "score": 1} :: ('😀', 'b', 1.0, None)
pairs :: p.jsonl :: {"sentence1": "\\ud800", "sentence2": "b", "score": 1} :: line 1: half of a character (
pairs :: p.jsonl :: {"sentence1": "\\u0000", "sentence2": "b", "score": 1} :: line 1: a NUL character
pairs :: p.jsonl :: {"sentence1": "a", "sentence2": "b", "score": NaN} :: score is empty in every row
pairs :: p.jsonl :: {"sentence1": "a", "sentence2": "b", "score": 1}\n\n{"sentence1": "a", "sentence2": true, "score": 1} :: line 3: 'sentence2' is True, not a text
scores :: p.jsonl :: {"sentence1": "a", "sentence2": "b", "score": 1}\n{"sentence1": 5.10, "sentence2": "b", "score": 1} :: line 2: 'sentence1' is 5.1, not a text
items :: p.jsonl :: {"dataset": {"a": 1}, "item": 1, "prediction": "1"} :: line 1: 'dataset' is {'a': 1}, not a text
pairs :: p.tsv :: sentence1\tsentence2\tscore\na\0\tb\t1\n :: line 2: a NUL byte
pairs :: p.tsv :: sentence1\tsentence2\tscore\n\xff\tb\t1\n :: line 2: byte 0xff is not UTF-8
pairs :: p.parquet :: no parquet :: is not a readable parquet file
pairs :: p.csv ::  :: is empty
pairs :: p.csv :: \xef\xbb\xbf\n :: is empty
pairs :: p.xls :: a :: rows cannot be read from '.xls' files
queries :: q.csv :: question,answer\nq one,a one\nq one,a two\nq one,a one\nq two,q two\n :: ('q one', 'a one') ('q one', 'a two') {'anchor equals its positive': 1, 'repeated pair': 1}
queries :: q.csv :: question,answer\na b,c d\ne f,\n :: ('a b', 'c d') {'empty answer at q.csv:3': 1}
queries :: q.csv :: question,answer\na b,a b\n :: holds no pair of different texts
nli: :: p.csv :: premise,hypothesis,label\n"a, b",c,neutral\nd,e,-\n,f,neutral\n :: ('a, b', 'c', 'neutral') {'empty premise at p.csv:4': 1, 'blank label at p.csv:3': 1}
nli: :: p.csv :: sentence1,sentence2,gold_label\na,b,neutral\n :: ('a', 'b', 'neutral')
nli: :: p.csv :: text,hypothesis,label\na,b,neutral\n :: has no column 'premise': found text, hypothesis, label
nli: :: p.csv :: premise,hypothesis,label\n :: has no rows below its header
nli: :: p.csv :: premise,hypothesis,label\n,b,neutral\n :: premise is empty in every row
nli: :: p.csv :: premise,hypothesis,label\na,b\n :: line 2: 2 fields: the header has 3
nli: :: p.csv :: premise,hypothesis,label\na,b,maybe\n :: line 2: label is not one of entailment, neutral, contradiction: 'maybe'
nli: :: p.csv :: premise,hypothesis,label\na,b,-\n :: label is empty in every row
nli: :: p.jsonl :: {"premise": ["a"], "hypothesis": "b", "label": "neutral"} :: line 1: 'premise' is ['a'], not a text
nli: :: p.txt :: a\n :: has no column 'premise': found sentence | give a file that ends in .tsv, .csv, .jsonl, .parquet
nli: :: p.csv :: premise,hypothesis,label,split\na,b,neutral,train\nc,d,neutral,dev\n :: 'split' says which split a row is in
nli:train :: p.csv :: premise,hypothesis,label,split\na,b,2,train\nc,d,1,dev\n :: ('a', 'b', 'contradiction')
nli:drop :: p.csv :: premise,hypothesis,label,split\na,b,2,train\nc,d,1,dev\n :: ('a', 'b', 'contradiction')
nli:named :: p.csv :: text,answer,gold_label\na,b,0\n :: ('a', 'b', 'entailment')
nli:gone :: p.csv :: premise,hypothesis,label\na,b,neutral\n :: no column 'text': found premise, hypothesis, label
nli:odd :: p.csv :: premise,hypothesis,label\na,b,neutral\n :: data.columns names 'sentence', which the objective does not read
scored: :: p.csv :: sentence1,sentence2,score\na,b,4\nc,d,\n :: ('a', 'b', 4.0) {'blank score at p.csv:3': 1}
scored: :: p.csv :: sentence1,sentence2,score\na,b,5.5\n :: line 2: score is not from -5 to 5: '5.5'
scored: :: p.csv :: sentence1,sentence2,score\na,b,high\n :: line 2: score is not a number: 'high'
scored:gold :: p.csv :: sentence1,sentence2,points\na,b,4\n :: ('a', 'b', 4.0)
scored:score :: p.csv :: sentence1,sentence2,points\na,b,4\n :: ('a', 'b', 4.0)
scored:both :: p.csv :: sentence1,sentence2,points\na,b,4\n :: data.columns names both 'points' and 'marks' as 'gold'
any: :: p.csv :: sentence1,sentence2,score\na,b,-80\n :: ('a', 'b', -80.0)
lines: :: s.txt :: one, two\n\nthree\n :: ('one, two',) ('three',) {'empty sentence at s.txt:2': 1}
lines: :: s.txt :: a\tb\nc\td\n :: 2 fields with tabs
lines: :: s.txt :: \n\n :: is empty
binary: :: c.jsonl :: {"sentence": "a", "label": 0.0}\n{"sentence": "b"}\n{"sentence": "c", "label": 1} :: ('a', '0') ('c', '1') {'blank label at c.jsonl:2': 1}
triplets: :: t.csv :: sent0,sent1,hard_neg\na,b,c\n :: ('a', 'b', 'c')
table :: a.csv :: sep=;\r\na, b;c\r\nx, y;z\r\n :: (3, 'x, y', 'z')
table :: a.csv :: a;b\n"x;y";z\n :: (2, 'x;y', 'z')
table :: a.csv :: a|b\nx,y|z\n :: (2, 'x,y', 'z')
table :: a.csv :: a,b\n1,"x\ny"\n2,z\n :: (2, '1', 'x\ny') (4, '2', 'z')
table :: a.csv :: a,b,c\n1,2,3\n4\n,,\n5,6\n,,\n\n :: (2, '1', '2', '3') (3, '4', None, None) (4, None, None, None) (5, '5', '6', None)
table :: a.csv :: a,b,a\n1,2,3\n :: column 'a' occurs twice | begin with a line that gives each
table :: a.csv :: text:en\none text\nanother: text\n :: (2, 'one text') (3, 'another: text')
table :: a.csv :: a::b\nx::y\n :: line 1: its columns are separated by ':'
table :: a.tsv :: "a\tb\n"c\t"d"\n :: (2, '"c', '"d"')
table :: a.tsv :: a\tb\tc\n"a ""b"" c"\t"d"\t"e, f"\nd\t"e" f\tg\n :: (2, 'a "b" c', '"d"', 'e, f') (3, 'd', '"e" f', 'g')
table :: a.tsv :: "a"\tb\n"c"\t"d ""e""\n"f"\tg\n :: (2, 'c', '"d ""e""') (3, 'f', 'g')
table :: a.tsv :: a\tb\n"x\ny"\tz\nu\tv\n :: (2, 'x\ny', 'z') (4, 'u', 'v')
table :: a.tsv :: "a"\t"b"\n"1"\t"x \\"y\\""\t2\n"2"\t"z, ""w"" x"\t3\n :: (2, '1', 'x "y"', '2') (3, '2', 'z, "w" x', '3')
table :: a.tsv :: id\tb\n1\tx\ty\n :: line 2: 3 fields: the header has 2
table :: a.csv :: a,b\n"x, \\"y\\"",z\n :: (2, 'x, "y"', 'z')
table :: a.csv :: a,b,c\n"x", "y, z", 1\nu, v,2\n :: (2, 'x', 'y, z', '1') (3, 'u', 'v', '2')
table :: a.csv :: a,b,,\nx,y,,\nu,v,,\n :: (2, 'x', 'y') (3, 'u', 'v')
table :: a.csv :: a,b,,\nx,y,,1\n :: column '' occurs twice
table :: a.csv :: a,b,,\nx,y,1,\n :: (2, 'x', 'y', '1')
table :: a.csv :: ""\n :: is empty
table :: a.csv :: sep=;\n :: is empty
pairs :: p.csv :: a b,c d,entailment\ne f,g h,neutral\ni j,k l,contradiction\n :: 'entailment' is not the name of a column
table :: a.tsv :: a,b\nc,d\n :: line 1: its columns are separated by ','
table :: a.tsv :: a\tb\rone\ttwo\r :: (2, 'one', 'two')
table :: a.jsonl ::   \n{"a": 1}\n\t\n{"a": 2}\n :: (2, 1) (4, 2)
texts :: a.jsonl :: {"b": "x"}\n{"a": "y", "a": "z"} :: line 2: 'a' occurs twice
texts :: a.jsonl :: {"a": 1.50, "b": "a"}\n{"b": "\\ud800"} :: ('1.5', 1) (None, 2)
corpus :: a.tsv :: a\tb\n"a ""b"" c"\td\n :: ('"a ""b"" c"', 'd', 2)
needs c :: a.csv :: a,b,c\n1,2\n :: line 2: 2 fields: the header has 3
sentences :: a.txt :: one\n\ntwo\r\nthree :: ['one', '', 'two', 'three']
sentences :: a.txt :: one\rtwo\r :: ['one', 'two']
sentences :: a.txt :: \xef\xbb\xbfone\n :: ['one']
sentences :: a.tsv :: id\tsentence\n1\t"one"\n2\ttwo\n\n :: ['"one"', 'two']
sentences :: a.csv :: sentence,id\n"one, ""a""\nb",1\ntwo,2\n :: ['one, "a"\nb', 'two']
sentences :: a.jsonl :: {"sentence": "one"}\n\n{"sentence": "two", "id": 3}\n :: ['one', 'two']
column text :: a.TSV :: id\ttext\n1\tone\n :: ['one']
column text :: a.jsonl :: {"text": "one", "sentence": 5}\n :: ['one']
column text :: a.txt :: one\n :: sentences have columns in .tsv, .csv, .jsonl, .parquet files
sentences :: a.txt :: one\ntwo\0\n :: line 2: a NUL character
sentences :: a.txt :: one\ncaf\xe9\n :: line 2: byte 0xe9 is not UTF-8
sentences :: a.tsv ::  :: is empty
sentences :: a.tsv :: id\ttext\n :: a.tsv has no column 'sentence': found id, text | name one of its columns by --column NAME: id | text
sentences :: a.tsv :: id\tsentence\n1\n2\ttwo\n :: line 2: 1 field: the header has 2
sentences :: a.csv :: sentence\n"one\n :: line 2: not readable as CSV
sentences :: a.jsonl :: {"sentence": "one"}\n{"sentence": 2}\n :: line 2: 'sentence' is 2, not a text
sentences :: a.jsonl :: {"sentence": null}\n :: line 1: 'sentence' is None, not a text
sentences :: a.parquet :: x :: is not a readable parquet file
sentences :: a.npy :: x :: sentences have columns in
sentences :: a.json :: {"sentence": "one"}\n{"sentence": "two"}\n :: is JSON, but a text file has one sentence a line | write one object a line and call it a.jsonl
sentences :: a.json :: [\n  {\n    "sentence": "one"}]\n :: is JSON
sentences :: a.dat :: id\tsentence\n1\tone\n2\ttwo\n :: 2 fields with tabs
sentences :: a.md :: [One] {two}\nthree, four\n"five", six\n :: ['[One] {two}', 'three, four', '"five", six']
"""
LINES = [line for line in FILES.splitlines() if line]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _given(reader: str, file: str, content: bytes) -> str:
    """Return the rows that a reader gives of a file and what it left out, or the fault."""
    Path(file).write_bytes(content)
    try:
        read = READERS[reader](Path(file))
    except EmbedlabError as error:
        return f"refused: {error.message} | {error.hint or 1 / 0}"
    if isinstance(read, list):
        return str(read)
    frame, skipped = (
        (read, {}) if isinstance(read, pl.DataFrame) else (read.frame, read.state.skipped)
    )
    return " ".join(map(str, [*frame.rows(), *([skipped] if skipped else [])]))


@pytest.mark.parametrize("line", LINES)
def test_a_file_gives_its_rows_or_its_fault_with_the_place(line: str) -> None:
    reader, file, content, expected = line.split(" :: ")
    text = content.strip(" ") if file.endswith("csv") else content
    given = _given(reader, file, text.encode().decode("unicode_escape").encode("latin-1"))
    if given.startswith("refused: "):
        assert expected in given
    else:
        assert given == expected.replace("\\n", "\\n")


def test_lists_of_positives_and_negatives_train_and_evaluate_text_by_text() -> None:
    frame = pl.DataFrame({"query": ["q a", "q b"], "pos": [["a b", "c d"], ["e f"]], "neg": [["x y"], ["z", "c d"]]})  # fmt: skip
    frame.write_parquet("t.parquet")
    columns = DataSection(columns=own_data("t.parquet").renamed_columns)
    trained = open_own_rows(Path("t.parquet"), SHAPES["triplets"], columns)
    assert trained.frame.rows() == [
        ("q a", "a b", "x y"), ("q a", "c d", "x y"), ("q b", "e f", "z"), ("q b", "e f", "c d")
    ]  # fmt: skip
    queries = open_query_file("t.parquet")
    assert queries.part.frame.rows() == [("q a", "a b"), ("q a", "c d"), ("q b", "e f")]
    assert queries.candidates == ["a b", "c d", "e f", "x y", "z"]


def test_what_is_held_out_is_what_a_training_leaves_although_rows_lack_a_text_or_a_label() -> None:
    lines = ["premise,hypothesis,label"]
    for row in range(90):
        first = f"a sentence of number {row}" if row % 7 else ""
        lines.append(f"{first},another of {row},{'-' if row % 5 else 'neutral'}")
    Path("p.csv").write_text("\n".join(lines))
    trained = open_own_rows(Path("p.csv"), SHAPES["nli"], DataSection(held_out=0.3))
    evaluated = open_pair_file("p.csv?held-out=0.3").frame["sentence1"].to_list()
    every = open_pair_file("p.csv").frame["sentence1"]
    assert evaluated
    assert sorted([*trained.frame["premise"], *evaluated]) == sorted(every)


OTHER_CONTENT = {
    b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 9\n": "a git-lfs pointer",
    b"\n<!DOCTYPE html>\n<html>": "a web page",
    b"\x1f\x8b\x08\x00\x00\x00": "compressed by gzip",
    b"PK\x03\x04\x14\x00": "a zip archive or a spreadsheet",
    b"ARROW1\0\0": "an Arrow file",
    "a,b\nc,d\n".encode("utf-16"): "text in UTF-16",
}


@pytest.mark.parametrize("content", OTHER_CONTENT)
def test_a_file_that_is_in_the_place_of_another_is_called_so(content: bytes) -> None:
    for ending in ("csv", "tsv", "jsonl", "parquet"):
        assert f"is {OTHER_CONTENT[content]}" in _given("table", f"a.{ending}", content)
    for ending in ("csv", "tsv", "jsonl", "txt"):
        assert f"is {OTHER_CONTENT[content]}" in _given("sentences", f"a.{ending}", content)


@pytest.mark.parametrize("content", ['{"sentence1": "a", "score": 1}\n', '[\n  {"a": 1}\n]\n'])
def test_a_table_that_holds_json_is_called_so(content: str) -> None:
    for ending in ("csv", "tsv"):
        assert "holds JSON" in _given("table", f"a.{ending}", content.encode())


NUMBERS = "1.5 0,75 -0,5 +3,25 1,2345 0,123 12,34 7 1e3"
VALUES = [1.5, 0.75, -0.5, 3.25, 1.2345, 0.123, 12.34, 7, 1000]
NO_NUMBERS = ["1,234", "12,345", "1,234,567", "x", "1.2.3", "", None]


def test_numbers_have_a_point_or_a_comma_that_is_not_of_thousands() -> None:
    texts = [f" {text} " for text in NUMBERS.split()] + NO_NUMBERS
    numbers = pl.DataFrame({"a": texts}).select(number_of("a")).to_series().to_list()
    assert numbers == [*VALUES, *[None] * len(NO_NUMBERS)]
    frame = pl.DataFrame({"whole": [1, None], "half": [0.5, -2.0]})
    assert frame.select(number_of("whole"), number_of("half")).rows() == [(1.0, 0.5), (None, -2.0)]


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ([True, None, False], [1, None, 0]),
        (["True", "", " false "], [1, None, 0]),
        (["TRUE", "1", None], [None, 1, None]),  # that may be a label
        (["yes", "no"], [None, None]),
        ([None, None], [None, None]),
    ],
)
def test_a_column_of_true_and_false_alone_is_one_of_1_and_0(
    values: list[object], numbers: list[float | None]
) -> None:
    frame = pl.DataFrame({"a": values}, strict=False)
    assert frame.select(number_of("a")).to_series().to_list() == numbers


def doubts_of(scores: Iterable[float]) -> tuple[str, ...]:
    """What is doubted of a file p.csv with these scores."""
    rows = [f"the cat {n} sleeps,the dog {n} sleeps,{score}" for n, score in enumerate(scores)]
    Path("p.csv").write_text("\n".join(["sentence1,sentence2,rating", *rows]))
    return own_data("p.csv").doubts


def test_scores_off_the_scale_of_nearly_all_others_are_named() -> None:
    says = (
        "nearly all scores are from 0 to 5, 1 not: 99.0; if it means that there is none, leave it "
        "out with drop=rating:99.0"
    )
    assert doubts_of(99.0 if n == 3 else n % 6 for n in range(30)) == (says,)
    assert open_pair_file("p.csv").state.notes == (says,)
    assert not own_data("p.csv?drop=rating:99.0").doubts
    assert not doubts_of(n * 37 for n in range(40))  # no usual scale reaches so far
    assert not doubts_of(n * 2.5 for n in range(40))


def test_a_text_that_is_a_word_for_a_missing_one_is_read_and_named_with_its_row() -> None:
    Path("q.csv").write_text("anchor,positive\nwho is it,NA\nwhat is it,a cat\n")
    assert open_query_file("q.csv").candidates == ["NA", "a cat"]
    says = "the whole positive is 'NA' at q.csv:2; if it means"
    (note,) = open_query_file("q.csv").part.state.notes
    assert note.startswith(says)


def test_the_source_of_queries_is_the_column_that_is_said() -> None:
    rows = "who is it,Poe,x\nwho is it,Poe,y\nwhat is it,a cat,y\n"
    Path("q.csv").write_text(f"anchor,positive,genre\n{rows}")
    queries = open_query_file("q.csv?source=genre")
    assert queries.part.frame.rows() == [("who is it", "Poe", "x"), ("what is it", "a cat", "y")]
    assert "source" not in open_query_file("q.csv").part.frame.columns


@pytest.mark.parametrize("kind", ["definitions", "sentences", "triplets"])
def test_what_is_said_of_a_file_that_a_corpus_reads_is_refused(kind: DatasetKind) -> None:
    Path("own.tsv").write_text("a\tb\n")
    with pytest.raises(UsageError, match=f"what is said of it is not read of {kind}"):
        open_own_file("own.tsv?where=a:b", kind)


def test_a_stream_of_sentences_is_read_no_further_than_it_is_taken() -> None:
    Path("a.txt").write_text("one\ntwo\0\n")
    stream = sentences(Path("a.txt"))
    assert next(stream) == "one"
    with pytest.raises(EmbedlabError):
        next(stream)
    with pytest.raises(EmbedlabError, match="cannot read"):
        list(sentences(Path("none.txt")))


@pytest.mark.parametrize(
    ("value", "is_refused"), [("test", True), ("Validation", True), ("train", False), ("a", False)]
)
def test_a_file_of_test_rows_alone_is_not_trained_on_unless_that_is_said(
    value: str, is_refused: bool
) -> None:
    rows = [f"where is town {n},town {n} is in the north,{value}\n" for n in range(12)]
    Path("own.csv").write_text("anchor,positive,split\n" + "".join(rows))
    shape = RowShape(texts=("anchor", "positive"))
    said = DataSection(where={"split": value})
    assert open_own_rows(Path("own.csv"), shape, said).frame.height == 12
    if is_refused:
        with pytest.raises(UsageError, match=f"every row says '{value}' in 'split'"):
            open_own_rows(Path("own.csv"), shape, DataSection())
    else:
        assert open_own_rows(Path("own.csv"), shape, DataSection()).frame.height == 12
