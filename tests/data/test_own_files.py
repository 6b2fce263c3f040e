"""A user's own file as scored pairs, as rows of a training, as queries: equal in every format, and
refused with the place of the fault.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.data.dataset import DatasetKind
from embedlab.data.own_columns import own_data
from embedlab.data.own_files import (
    EQUAL,
    TWICE,
    ColumnMap,
    RowShape,
    holds_queries,
    open_own_rows,
    open_pair_file,
    open_query_file,
)
from embedlab.data.source import Source
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
        (NLI, "p.csv", HEADER + ",b,neutral\n,b,neutral\n", "premise is empty in every row"),
        (NLI, "p.csv", HEADER + "a,b\n", "line 2: 2 fields: the header has 3"),
        (
            NLI,
            "p.csv",
            HEADER + "a,b,maybe\n",
            "line 2: label is none of entailment, neutral, contradiction: 'maybe'",
        ),
        (NLI, "p.csv", HEADER + "a,b,-\na,b,\n", "label is empty in every row"),
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
        (SCORED, "p.csv", "sentence1,sentence2,score\na,b,\n", "score is empty in every row"),
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


def test_a_blank_among_whole_numbers_is_no_label(tmp_path: Path) -> None:
    pl.DataFrame({"sentence": ["a", "b", "c"], "label": [0.0, None, 1.0]}).write_parquet(
        tmp_path / "c.parquet"
    )
    part = open_own_rows(
        tmp_path / "c.parquet",
        RowShape(texts=("sentence",), labels={"label": ("0", "1")}),
        ColumnMap(),
    )
    assert part.frame.rows() == [("a", "0"), ("c", "1")]
    assert part.state.skipped == {"blank label at c.parquet:2": 1}


def test_a_training_reads_the_rows_that_are_chosen_and_refuses_several_splits(write: Write) -> None:
    path = write("p.csv", "premise,hypothesis,label,split\na,b,2,train\nc,d,1,train\ne,f,-1,dev\n")
    meanings = {"1": "neutral", "2": "contradiction"}
    with pytest.raises(UsageError, match="'split' says which split a row is in") as error:
        open_own_rows(path, NLI, ColumnMap(labels=meanings))
    assert "--set data.where.split=train" in str(error.value.hint)
    for chosen in ({"where": {"split": "train"}}, {"drop": {"split": "dev"}}):
        part = open_own_rows(path, NLI, ColumnMap(labels=meanings, **chosen))
        assert part.frame["premise"].to_list() == ["a", "c"]
    everything = ColumnMap(labels=meanings, where={"split": "train,dev"}, drop={"label": "-1"})
    assert open_own_rows(path, NLI, everything).frame["premise"].to_list() == ["a", "c"]


@pytest.mark.parametrize("name", ["t.jsonl", "t.parquet"])
def test_lists_of_positives_and_negatives_train_and_evaluate_text_by_text(
    name: str, tmp_path: Path
) -> None:
    frame = pl.DataFrame(
        {
            "query": ["which animal", "which tree"],
            "pos": [["a dog", "a cat"], ["an oak"]],
            "neg": [["a car"], ["a bus", "a cat"]],
        }
    )
    path = tmp_path / name
    if name == "t.jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_parquet(path)
    shape = RowShape(texts=("anchor", "positive", "negative"))
    found = own_data(str(path))
    part = open_own_rows(path, shape, ColumnMap(columns=found.ours))
    assert part.frame.rows() == [
        ("which animal", "a dog", "a car"),
        ("which animal", "a cat", "a car"),
        ("which tree", "an oak", "a bus"),
        ("which tree", "an oak", "a cat"),
    ]
    assert found.rows == 4
    queries = open_query_file(str(path))
    assert queries.part.frame.rows() == [row[:2] for row in part.frame.rows()[:3]]
    assert queries.candidates == ("a dog", "a cat", "an oak", "a car", "a bus")
    assert queries.part.state.skipped == {}


def test_what_is_held_out_is_what_a_training_leaves_although_rows_lack_a_text_or_a_label(
    write: Write,
) -> None:
    texts = [f"a sentence of number {row}" if row % 7 else "" for row in range(90)]
    lines = [
        f"{text},another of {row},{'-' if row % 5 else 'neutral'}" for row, text in enumerate(texts)
    ]
    path = write("p.csv", "\n".join(["premise,hypothesis,label", *lines]) + "\n")
    trained = open_own_rows(path, NLI, ColumnMap(), held_out=0.3).frame["premise"].to_list()
    evaluated = open_pair_file(f"{path}?held-out=0.3").frame["sentence1"].to_list()
    everything = open_pair_file(path).frame["sentence1"].to_list()
    assert sorted([*trained, *evaluated]) == sorted(everything)
    assert evaluated


JSON_PAIR = '{"sentence1": "a", "sentence2": "b", "score": 1}'
SCORED_FRAME = pl.DataFrame(
    {
        "sentence1": ["a, b", "c"],
        "sentence2": ["d", 'e "f"'],
        "score": [1.0, 4.5],
        "source": ["x", "y"],
    }
)
SCORED_WRITERS: dict[str, Callable[[Path], object]] = {
    "pairs.csv": SCORED_FRAME.write_csv,
    "pairs.tsv": lambda path: SCORED_FRAME.write_csv(path, separator="\t", quote_style="never"),
    "pairs.jsonl": SCORED_FRAME.write_ndjson,
    "pairs.parquet": SCORED_FRAME.write_parquet,
}


@pytest.mark.parametrize("name", SCORED_WRITERS)
def test_every_format_gives_the_same_pairs(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    SCORED_WRITERS[name](path)
    part = Source().open(str(path))
    assert part.frame.equals(SCORED_FRAME.rename({"score": "gold"}))
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
    assert part.state.skipped == {"blank score at p.tsv:2": 1}


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        (
            "p.tsv",
            "sentence1\tsentence2\tscore\na\tb\t1\nc\td\thigh\n",
            "line 3: score is not a number: 'high'",
        ),
        ("p.csv", "sentence1,sentence2,score\na,b,inf\n", "line 2: score is not a number: 'inf'"),
        (
            "p.csv",
            "sentence1,sentence2,score\na,b,1\na, b,c,1\n",
            "line 3: 4 fields: the header has 3",
        ),
        ("p.csv", 'sentence1,sentence2,score\na,b,1\n"a,b,1\n', "line 3: not readable as CSV"),
        ("p.tsv", "sentence1\tsentence2\tscore\na\tb\t1\t\n", "line 2: 4 fields: the header has 3"),
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
        ("p.csv", "sentence1,sentence2,score\n", "has no rows below its header"),
        ("p.csv", "sentence1,sentence2,score\na,b,\nc,d\n", "score is empty in every row"),
        ("p.tsv", b"sentence1\tsentence2\tscore\n\xff\tb\t1\n", "line 2: byte 0xff is not UTF-8"),
        ("p.jsonl", '{"sentence1": "a",\n', "line 1: broken JSON"),
        ("p.parquet", "no parquet", "is not a readable parquet file"),
        ("p.tsv", "", "is empty"),
        ("p.tsv", b"\xef\xbb\xbf", "is empty"),
        ("p.csv", b"\xef\xbb\xbf\n", "is empty"),
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
    SCORED_FRAME.with_columns(sentence1=pl.Series([b"\xff", b"a"])).write_parquet(path)
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


def test_pairs_count_once_and_equal_texts_are_skipped(write: Write) -> None:
    path = write(
        "faq.csv",
        "question,answer\nq one,a one\nq one,a two\nq one,a one\nq two,q two\nq two,a one\n",
    )
    found = open_query_file(str(path))
    assert found.part.frame.rows() == [("q one", "a one"), ("q one", "a two"), ("q two", "a one")]
    assert found.part.state.skipped == {EQUAL: 1, TWICE: 1}
    assert found.candidates == ("a one", "a two", "q two")
    assert found.part.state.name == str(path)


def test_negatives_of_triplets_are_candidates(write: Write) -> None:
    path = write("t.csv", "anchor,positive,negative\nq one,a one,n one\nq two,a two,a one\n")
    assert open_query_file(str(path)).candidates == ("a one", "a two", "n one")


@pytest.mark.parametrize(
    ("name", "content", "holds"),
    [
        ("p.csv", "question,answer\na b,c d\ne f,g h\n", True),
        ("p.csv", "sentence1,sentence2,score\na b,c d,1\n", False),
        ("p.csv", "a,b,points\na b,c d,1\n", False),  # ambiguous: whoever opens it says so
    ],
)
def test_which_files_hold_queries(name: str, content: str, holds: bool, write: Write) -> None:
    assert holds_queries(str(write(name, content))) is holds


def test_other_names_hold_none() -> None:
    assert not holds_queries("sts12")
    assert not holds_queries("gone.csv")
    assert not holds_queries("hub:owner/name")


def test_a_row_with_an_empty_text_is_left_out_with_its_line(write: Write) -> None:
    path = write("faq.csv", "question,answer\na b,c d\ne f,\n")
    assert open_query_file(str(path)).part.state.skipped == {"empty answer at faq.csv:3": 1}
    with pytest.raises(EmbedlabError, match="holds no pair of different texts"):
        open_query_file(str(write("same.csv", "question,answer\na b,a b\n")))
