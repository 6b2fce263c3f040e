from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import MissingError
from embedlab.data.dataset import ParsedRows
from embedlab.data.reader import ReadSplit
from embedlab.data.readers.gold_beside import READER, GoldBesideOptions
from embedlab.data.source import Source
from tests.data.conftest import Write, read_as, write_as

SEVEN = {
    "sts12": 3108,
    "sts13": 1500,
    "sts14": 3750,
    "sts15": 3000,
    "sts16": 1186,
    "sts-benchmark": 1379,
    "sick-r": 4927,
}


def read_year(
    paths: Sequence[Path], *, sources: Sequence[str], fields: tuple[int, ...] = (2,)
) -> ParsedRows:
    """The pairs of two files a source, as the sets of the years have them."""
    split = ReadSplit(
        kind="sts",
        name="test",
        title="test",
        titles=("test",),
        classes=tuple(sources),
        has_file_per_class=True,
    )
    return READER.read(paths, options=GoldBesideOptions(fields=fields), split=split)


def year_files(
    write: Write, pairs: str | bytes, gold: str | bytes, source: str = "headlines"
) -> list[Path]:
    return [write(f"STS.input.{source}.txt", pairs), write(f"STS.gs.{source}.txt", gold)]


def test_a_blank_gold_score_drops_the_pair_and_is_counted(write: Write) -> None:
    rows = read_year(year_files(write, "a\tb\nc\td\ne\tf\n", "1.5\n\n5\n"), sources=["headlines"])
    assert rows.frame.rows() == [("a", "b", 1.5, "headlines"), ("e", "f", 5.0, "headlines")]
    assert rows.skipped == {"blank gold score": 1}


def test_sources_follow_each_other_and_origins_are_ignored(write: Write) -> None:
    files = [
        *year_files(write, "a\tb\torigin\torigin\n", "0\n", "x"),
        *year_files(write, 'c "q\td\to\to\r\n', "5\r\n", "y"),
    ]
    assert read_year(files, sources=["x", "y"], fields=(4,)).frame.rows() == [
        ("a", "b", 0.0, "x"),
        ('c "q', "d", 5.0, "y"),
    ]


def test_input_and_gold_of_different_lengths_are_refused_with_both_counts(write: Write) -> None:
    with pytest.raises(
        MissingError,
        match=r"STS\.input\.headlines\.txt has 2 pairs but .*STS\.gs\.headlines\.txt has 1 scores",
    ):
        read_year(year_files(write, "a\tb\nc\td\n", "1\n"), sources=["headlines"])


@pytest.mark.parametrize(
    ("pairs", "gold", "fault"),
    [
        (
            "a\tb\nc\td\n",
            "1\n5.2\n",
            r"STS\.gs\.headlines\.txt, line 2: gold score '5.2' is not a number from 0 to 5",
        ),
        ("a\tb\nc\td\n", "-0.1\n1\n", r"STS\.gs\.headlines\.txt, line 1: gold score '-0.1'"),
        ("a\tb\nc\td\n", "1\nhigh\n", r"line 2: gold score 'high'"),
        ("a\tb\nc\td\n", "1\nnan\n", r"line 2: gold score 'nan'"),
        (
            "a\tb\nc d\n",
            "1\n2\n",
            r"STS\.input\.headlines\.txt, line 2: 1 tab-separated field: expected two sentences",
        ),
        ("a\tb\nc\td\te\n", "1\n2\n", r"line 2: 3 tab-separated fields: expected two sentences"),
        (
            b"a\tb\nc\t\xe9\n",
            "1\n2\n",
            r"STS\.input\.headlines\.txt, line 2: byte 0xe9 is not UTF-8",
        ),
        ("", "", "is empty"),
    ],
)
def test_a_fault_is_reported_with_file_and_line(
    write: Write, pairs: str | bytes, gold: str, fault: str
) -> None:
    with pytest.raises(MissingError, match=fault):
        read_year(year_files(write, pairs, gold), sources=["headlines"])


def test_benchmark_lines_have_seven_or_nine_fields_and_literal_quotes(write: Write) -> None:
    path = write(
        "sts-dev.csv",
        'news\tMSRpar\t2012\t1\t2.5\t"a b\tc\nnews\theadlines\t2013\t2\t5.000\td\te\tlicence '
        "(http://a)\tlicence (http://b)\n",
    )
    assert read_as("sts-benchmark", [path]).frame.rows() == [
        ('"a b', "c", 2.5, "MSRpar"),
        ("d", "e", 5.0, "headlines"),
    ]


def test_a_tab_within_a_benchmark_sentence_is_refused(write: Write) -> None:
    with pytest.raises(
        MissingError,
        match=r"sts-dev\.csv, line 1: 8 tab-separated fields: expected a pair in 7 or 9 fields",
    ):
        read_as("sts-benchmark", [write("sts-dev.csv", "news\tMSRpar\t2012\t1\t2.5\ta\tb\tc\n")])
    with pytest.raises(
        MissingError, match=r"sts-dev\.csv, line 1: its last two of 9 fields are not licences"
    ):
        read_as("sts-benchmark", [write("sts-dev.csv", "news\tMSRpar\t2012\t1\t2.5\ta\tb\tc\td\n")])


def test_sick_scores_go_from_one_to_five(write: Write) -> None:
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    assert read_as(
        "sick-r", [write("ok.txt", f"{header}1\ta\tb\t4.5\tNEUTRAL\r\n")]
    ).frame.rows() == [("a", "b", 4.5, "SICK")]
    with pytest.raises(
        MissingError, match=r"line 2: relatedness score '0\.5' is not a number from 1 to 5"
    ):
        read_as("sick-r", [write("bad.txt", f"{header}1\ta\tb\t0.5\tNEUTRAL\n")])


def test_what_is_written_is_read_back(write: Write) -> None:
    frame = pl.DataFrame(
        {
            "sentence1": ['a "q', "c"],
            "sentence2": ["b\t1", "d"],
            "gold": [1.2, 3.0],
            "source": ["x", "y"],
        }
    )
    plain = frame.with_columns(pl.col("sentence2").str.replace("\t", " "))
    assert read_as(
        "sts-benchmark", [write("b.csv", *write_as("sts-benchmark", frame))]
    ).frame.equals(plain)
    pairs, gold = write_as("sts13", frame)
    unknown = plain.with_columns(pl.lit(None, pl.String).alias("source"))
    assert read_as("sts13", year_files(write, pairs, gold, "ALL"), layout=2).frame.equals(unknown)


def test_every_sts_set_is_whole_in_the_real_corpora(shared_data: Path) -> None:
    source = Source(folder=shared_data, offline=True)
    at_hand = [*SEVEN, "sts-course"]  # of the others, in test_newer_pairs, no real copy is
    assert {name: source.open(name).state.rows for name in at_hand} == SEVEN | {"sts-course": 863}


def test_sentevals_copy_is_read_where_the_official_text_is_absent(
    shared_data: Path, tmp_path: Path
) -> None:
    (tmp_path / "SentEval").symlink_to(shared_data / "SentEval")
    source = Source(folder=tmp_path, offline=True)
    official = Source(folder=shared_data, offline=True)
    for name in SEVEN:
        part = source.open(name)
        assert all(file.startswith("SentEval/") for file in part.state.sha256)
        if name != "sick-r":
            assert part.frame["source"].equals(official.open(name).frame["source"])
