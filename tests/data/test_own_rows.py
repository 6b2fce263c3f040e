"""A user's own rows for training: equal in every format, and refused with the place of the
fault.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.data.own_rows import ColumnMap, RowShape, open_own_rows
from tests.data.conftest import Write

NLI = RowShape(
    texts=("premise", "hypothesis"), labels={"label": ("entailment", "neutral", "contradiction")}
)
SCORED = RowShape(texts=("sentence1", "sentence2"), numbers={"gold": 5.0})
FRAME = pl.DataFrame(
    {
        "premise": ["a, b", "c"],
        "hypothesis": ['d "e"', "f"],
        "label": ["neutral", "entailment"],
        "id": ["1", "2"],
    }
)
WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "rows.csv": lambda frame, path: frame.write_csv(path),
    "rows.tsv": lambda frame, path: frame.write_csv(path, separator="\t", quote_style="never"),
    "rows.jsonl": lambda frame, path: frame.write_ndjson(path),
    "rows.parquet": lambda frame, path: frame.write_parquet(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_rows(name: str, tmp_path: Path) -> None:
    WRITERS[name](FRAME, tmp_path / name)
    part = open_own_rows(tmp_path / name, NLI, ColumnMap())
    assert part.frame.equals(FRAME.drop("id"))
    assert (part.state.name, part.state.origin, part.state.rows) == (name, "file", 2)
    assert len(part.state.sha256[name]) == 64


@pytest.mark.parametrize("name", WRITERS)
def test_columns_and_labels_under_other_names_are_mapped_in_every_format(
    name: str, tmp_path: Path
) -> None:
    other = FRAME.select(text="premise", answer="hypothesis", gold_label=pl.Series([1, 0]))
    WRITERS[name](other, tmp_path / name)
    named = ColumnMap(
        columns={"premise": "text", "hypothesis": "answer"},
        labels={"0": "entailment", "1": "neutral"},
    )
    assert open_own_rows(tmp_path / name, NLI, named).frame.equals(FRAME.drop("id"))


def test_numbers_are_scores_and_whole_ones_labels_whatever_their_type(tmp_path: Path) -> None:
    pl.DataFrame({"sentence1": ["a"], "sentence2": ["b"], "score": [4]}).write_parquet(
        tmp_path / "p.parquet"
    )
    assert open_own_rows(tmp_path / "p.parquet", SCORED, ColumnMap()).frame.row(0) == (
        "a",
        "b",
        4.0,
    )
    pl.DataFrame({"sentence": ["a", "b"], "label": [0.0, 1.0]}).write_parquet(
        tmp_path / "c.parquet"
    )
    shape = RowShape(texts=("sentence",), labels={"label": ("0", "1")})
    assert open_own_rows(tmp_path / "c.parquet", shape, ColumnMap()).frame["label"].to_list() == [
        "0",
        "1",
    ]


@pytest.mark.parametrize("key", ["gold", "score"])
def test_a_column_is_mapped_by_our_name_or_the_published_one(key: str, tmp_path: Path) -> None:
    pl.DataFrame({"sentence1": ["a"], "sentence2": ["b"], "points": [4]}).write_csv(
        tmp_path / "p.csv"
    )
    part = open_own_rows(tmp_path / "p.csv", SCORED, ColumnMap(columns={key: "points"}))
    assert part.frame.row(0) == ("a", "b", 4.0)


def test_a_column_that_is_mapped_by_both_names_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"data\.columns names both 'points' and 'marks' as 'gold'"
    ):
        open_own_rows(
            tmp_path / "p.csv", SCORED, ColumnMap(columns={"gold": "points", "score": "marks"})
        )
    with pytest.raises(
        UsageError, match=r"data\.columns names 'label', which the objective does not read"
    ):
        open_own_rows(tmp_path / "p.csv", SCORED, ColumnMap(columns={"label": "points"}))


def test_a_text_file_has_a_sentence_a_line_and_blank_lines_are_counted(write: Write) -> None:
    path = write("s.txt", "one, two\n\nthree\n")
    part = open_own_rows(path, RowShape(texts=("sentence",)), ColumnMap())
    assert part.frame["sentence"].to_list() == ["one, two", "three"]
    assert part.state.skipped == {"blank line": 1}
    with pytest.raises(EmbedlabError, match="a text file has sentences alone"):
        open_own_rows(path, NLI, ColumnMap())


def test_a_score_may_be_any_number_where_the_objective_states_no_scale(write: Write) -> None:
    path = write("p.tsv", "sentence1\tsentence2\tscore\na\tb\t-80\n")
    shape = RowShape(texts=("sentence1", "sentence2"), numbers={"gold": None})
    assert open_own_rows(path, shape, ColumnMap()).frame["gold"].to_list() == [-80.0]


HEADER = "premise,hypothesis,label\n"


@pytest.mark.parametrize(
    ("shape", "name", "content", "fault"),
    [
        (
            NLI,
            "p.csv",
            "text,hypothesis,label\na,b,neutral\n",
            "has no column 'premise': found text, hypothesis, label",
        ),
        (
            NLI,
            "p.jsonl",
            '{"premise": "a", "label": "neutral"}\n',
            "has no column 'hypothesis': found premise, label",
        ),
        (NLI, "p.csv", "", "is empty"),
        (NLI, "p.csv", HEADER, "has no rows below its header"),
        (NLI, "p.csv", HEADER + "a,b,neutral\n,b,neutral\n", "line 3: premise is empty"),
        (NLI, "p.csv", HEADER + "a,b\n", "line 2: 2 fields: the header has 3"),
        (
            NLI,
            "p.csv",
            HEADER + "a,b,maybe\n",
            "line 2: label is none of entailment, neutral, contradiction: 'maybe'",
        ),
        (NLI, "p.csv", HEADER + "a,b,neutral\na,b,\n", "line 3: label is empty"),
        (
            NLI,
            "p.tsv",
            HEADER.replace(",", "\t") + "a\tb\tneutral\textra\n",
            "line 2: 4 fields: the header has 3",
        ),
        (
            NLI,
            "p.jsonl",
            '{"premise": ["a"], "hypothesis": "b", "label": "neutral"}\n',
            r"line 1: 'premise' is \['a'\], not a text",
        ),
        (
            SCORED,
            "p.csv",
            "sentence1,sentence2,score\na,b,1\na,b,high\n",
            "line 3: score is not a number: 'high'",
        ),
        (SCORED, "p.csv", "sentence1,sentence2,score\na,b,\n", "line 2: score is not a number"),
        (
            SCORED,
            "p.csv",
            "sentence1,sentence2,score\na,b,5\na,b,5.5\n",
            "line 3: score is not from -5 to 5: '5.5'",
        ),
        (SCORED, "p.xls", "a", r"rows cannot be read from '\.xls' files"),
        (RowShape(texts=("sentence",)), "p.txt", "\n\n", "is empty"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(
    shape: RowShape, name: str, content: str, fault: str, write: Write
) -> None:
    with pytest.raises(EmbedlabError, match=fault) as caught:
        open_own_rows(write(name, content), shape, ColumnMap())
    assert caught.value.hint


def test_a_bad_row_of_a_parquet_file_has_its_number(tmp_path: Path) -> None:
    FRAME.with_columns(label=pl.Series(["neutral", "none"])).write_parquet(tmp_path / "p.parquet")
    with pytest.raises(EmbedlabError, match=r"p\.parquet, row 2: label is none of"):
        open_own_rows(tmp_path / "p.parquet", NLI, ColumnMap())


def test_a_mapped_column_must_be_in_the_file_and_read_by_the_objective(write: Write) -> None:
    path = write("p.csv", HEADER + "a,b,neutral\n")
    with pytest.raises(
        EmbedlabError, match="no column 'text': found premise, hypothesis, label"
    ) as caught:
        open_own_rows(path, NLI, ColumnMap(columns={"premise": "text"}))
    assert "--set data.columns.premise=NAME" in caught.value.hint
    with pytest.raises(
        UsageError, match=r"data\.columns names 'sentence', which the objective does not read"
    ):
        open_own_rows(path, NLI, ColumnMap(columns={"sentence": "text"}))


@pytest.mark.parametrize(
    ("published", "own"),
    [
        (("sentence1", "sentence2", "gold_label"), ("premise", "hypothesis", "label")),  # SNLI
        (("sent0", "sent1", "hard_neg"), ("anchor", "positive", "negative")),  # SimCSE's triplets
        (("sentence1", "sentence2", "score"), ("sentence1", "sentence2", "gold")),  # pair files
    ],
)
def test_the_columns_of_published_files_are_found_by_the_names_they_have_there(
    published: Sequence[str], own: Sequence[str], write: Write
) -> None:
    path = write("rows.csv", ",".join(published) + "\na,b,3\n")
    assert open_own_rows(path, RowShape(texts=tuple(own)), ColumnMap()).frame.to_dicts() == [
        dict(zip(own, "ab3", strict=True))
    ]


def test_a_blank_among_whole_numbers_is_an_empty_label(tmp_path: Path) -> None:
    pl.DataFrame({"sentence": ["a", "b", "c"], "label": [0.0, None, 1.0]}).write_parquet(
        tmp_path / "c.parquet"
    )
    with pytest.raises(EmbedlabError, match=r"c\.parquet, row 2: label is empty"):
        open_own_rows(
            tmp_path / "c.parquet",
            RowShape(texts=("sentence",), labels={"label": ("0", "1")}),
            ColumnMap(),
        )
