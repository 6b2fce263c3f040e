from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import MissingError
from embedlab.data.dataset import DatasetKind
from embedlab.data.source import Source
from tests.data.conftest import Write

JSON_PAIR = '{"sentence1": "a", "sentence2": "b", "score": 1}'
FRAME = pl.DataFrame(
    {
        "sentence1": ["a, b", "c"],
        "sentence2": ["d", 'e "f"'],
        "score": [1.0, 4.5],
        "source": ["x", "y"],
    }
)
WRITERS: dict[str, Callable[[Path], object]] = {
    "pairs.csv": FRAME.write_csv,
    "pairs.tsv": lambda path: FRAME.write_csv(path, separator="\t", quote_style="never"),
    "pairs.jsonl": FRAME.write_ndjson,
    "pairs.parquet": FRAME.write_parquet,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_pairs(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    part = Source().open(str(path))
    assert part.frame.equals(FRAME.rename({"score": "gold"}))
    assert (part.state.origin, part.state.name, part.state.rows, part.state.partial) == (
        "file",
        str(path),
        2,
        False,
    )
    assert len(part.state.sha256[str(path)]) == 64


@pytest.mark.parametrize("kind", ["sts", "sentences"])
def test_a_folder_with_the_name_of_a_file_is_called_a_folder(
    kind: DatasetKind, tmp_path: Path
) -> None:
    with pytest.raises(MissingError, match="is a folder"):
        Source().open(str(tmp_path), kind=kind)


def test_sources_are_optional_and_a_pair_without_score_is_counted(write: Write) -> None:
    part = Source().open(str(write("p.tsv", "sentence1\tsentence2\tscore\na\tb\t\nc\td\t0.5\n")))
    assert part.frame.rows() == [("c", "d", 0.5, None)]
    assert part.state.skipped == {"blank score": 1}


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        (
            "p.tsv",
            "sentence1\tsentence2\tscore\na\tb\t1\nc\td\thigh\n",
            "line 3: score is not a number: 'high'",
        ),
        ("p.csv", "sentence1,sentence2,score\na,b,inf\n", "line 2: score is not a number: 'inf'"),
        ("p.csv", "sentence1,sentence2,score\na,b,1\n,b,1\n", "line 3: sentence1 is empty"),
        ("p.csv", 'sentence1,sentence2,score\n"a\nb",c,1\n,b,1\n', "line 4: sentence1 is empty"),
        (
            "p.csv",
            "sentence1,sentence2,score\na,b,1\na, b,c,1\n",
            "line 3: 4 fields: the header has 3",
        ),
        ("p.csv", 'sentence1,sentence2,score\na,b,1\n"a,b,1\n', "line 3: not readable as CSV"),
        ("p.tsv", "sentence1\tsentence2\tscore\na\tb\t1\t\n", "line 2: 4 fields: the header has 3"),
        ("p.tsv", "sentence1\tsentence2\tscore\n\na\tb\t1\n", "line 2: sentence1 is empty"),
        ("p.tsv", "sentence1\tsentence2\tscore\na\tb\t1\nc\n", "line 3: 1 field: the header has 3"),
        ("p.csv", "score,sentence1,sentence2\n1,a,b\n2,c\n", "line 3: 2 fields: the header has 3"),
        ("p.jsonl", JSON_PAIR + "\n[1]\n", "line 2: not a JSON object"),
        ("p.jsonl", JSON_PAIR + "\n\n" + JSON_PAIR[:-1] + "\n", "line 3: broken JSON at character"),
        (
            "p.jsonl",
            JSON_PAIR + "\n\n" + JSON_PAIR.replace(": 1", ': "high"') + "\n",
            "line 3: score is not a number: 'high'",
        ),
        (
            "p.jsonl",
            JSON_PAIR.replace('"a"', '["a"]') + "\n",
            "line 1: 'sentence1' is ['a'], not a text",
        ),
        (
            "p.jsonl",
            JSON_PAIR.replace('"b"', '{"text": "b"}') + "\n",
            "line 1: 'sentence2' is {'text': 'b'}, not a text",
        ),
        ("p.jsonl", JSON_PAIR.replace(": 1", ": [1]") + "\n", "score holds lists, tables or bytes"),
        (
            "p.jsonl",
            JSON_PAIR + "\n" + JSON_PAIR.replace(": 1", ": NaN") + "\n",
            "line 2: NaN is not JSON",
        ),
        ("p.csv", "sentence1,score\na,1\n", "has no column 'sentence2': found sentence1, score"),
        ("p.csv", "sentence1,sentence2,score\n", "holds no pairs"),
        ("p.csv", "sentence1,sentence2,score\na,b,\nc,d\n", "holds no pair with a score"),
        ("p.tsv", b"sentence1\tsentence2\tscore\n\xff\tb\t1\n", "line 2: byte 0xff is not UTF-8"),
        ("p.jsonl", '{"sentence1": "a",\n', "line 1: broken JSON"),
        ("p.parquet", "no parquet", "is not a readable parquet file"),
        ("p.tsv", "", "is empty"),
        ("p.tsv", b"\xef\xbb\xbf", "is empty"),
        ("p.csv", b"\xef\xbb\xbf\n", "is empty"),
        (
            "p.tsv",
            "sentence1\tsentence2\tscore\ra\tb\t1\r",
            "line 1: its lines end in a carriage return alone",
        ),
        ("p.tsv", "sentence1\tsentence2\tscore\na\0\tb\t1\n", "line 2: a NUL byte"),
        (
            "p.jsonl",
            JSON_PAIR.replace("a", "\\u0000") + "\n",
            "line 1: a NUL character under 'sentence1'",
        ),
        (
            "p.jsonl",
            JSON_PAIR.replace('"a"', '"\\ud800"') + "\n",
            "line 1: half of a surrogate pair under 'sentence1'",
        ),
        (
            "p.jsonl",
            JSON_PAIR.replace(": 1", ": " + "[" * 100_000) + "\n",
            "line 1: its JSON is nested too deep",
        ),
        ("p.jsonl", JSON_PAIR.replace(": 1", ": " + "9" * 5_000) + "\n", "line 1: "),
    ],
)
def test_a_fault_is_reported_with_file_and_line(
    write: Write, name: str, content: str | bytes, fault: str
) -> None:
    path = write(name, content)
    with pytest.raises(MissingError) as caught:
        Source().open(str(path))
    assert fault in caught.value.message
    assert str(path) in caught.value.message


def test_a_whole_surrogate_pair_is_a_character(write: Write) -> None:
    part = Source().open(str(write("p.jsonl", JSON_PAIR.replace('"a"', r'"\ud83d\ude00"') + "\n")))
    assert part.frame["sentence1"].to_list() == ["😀"]


def test_bytes_in_a_parquet_file_are_not_sentences(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    FRAME.with_columns(sentence1=pl.Series([b"\xff", b"a"])).write_parquet(path)
    with pytest.raises(MissingError, match="sentence1 holds lists, tables or bytes"):
        Source().open(str(path))


def test_a_missing_or_strange_file_is_refused(write: Write) -> None:
    with pytest.raises(MissingError, match=r"no file 'mine\.tsv'"):
        Source().open("mine.tsv")
    with pytest.raises(MissingError, match=r"rows cannot be read from '\.xls' files"):
        Source().open(str(write("p.xls", "a")))


def test_columns_of_other_names_are_found_and_keep_their_order(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    rows = [f"question {n} is asked,answer {n} was given,{n % 6}" for n in range(30)]
    path.write_text("\n".join(["question,answer,rating", *rows]) + "\n", encoding="utf-8")
    found = Source().open(str(path)).frame
    assert found.select("sentence1", "sentence2", "gold").row(1) == (
        "question 1 is asked",
        "answer 1 was given",
        1.0,
    )
