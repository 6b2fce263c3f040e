"""The name of a file with what is said of it: read, written and refused."""

from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.data.file_name import file_path, is_row_file, parse_file_name, with_said

WHOLE = "d/pairs.csv?s1=text&s2=answer&label=mark&source=from&labels=0:entailment,1:neutral&scale=0-5&held-out=0.1&low-scores"


def test_a_name_is_read_and_written_again() -> None:
    file = parse_file_name(WHOLE)
    assert file.path == Path("d/pairs.csv")
    assert file.roles == {"s1": "text", "s2": "answer", "label": "mark"}
    assert (file.source, file.labels, file.scale) == (
        "from",
        {"0": "entailment", "1": "neutral"},
        (0.0, 5.0),
    )
    assert (file.held_out, file.low_scores, file.is_plain) == (0.1, True, False)
    assert file.with_options().text == WHOLE
    assert file.at(Path("/x/y.csv")).text == WHOLE.replace("d/pairs.csv", "/x/y.csv")
    assert parse_file_name("pairs.csv").is_plain


def test_labels_are_read_without_the_blanks_around_them() -> None:
    file = parse_file_name('pairs.csv?labels="0: entailment , yes : neutral,a:b : contradiction"')
    assert file.labels == {"0": "entailment", "yes": "neutral", "a:b": "contradiction"}


@pytest.mark.parametrize(
    ("option", "scale"),
    [
        ("scale=0-5", (0.0, 5.0)),
        ("scale=-1-1", (-1.0, 1.0)),
        ("scale=-2--1", (-2.0, -1.0)),
        ("scale=0.5-1.5", (0.5, 1.5)),
    ],
)
def test_a_scale_has_two_ends_of_any_sign(option: str, scale: tuple[float, float]) -> None:
    file = parse_file_name(f"pairs.csv?{option}")
    assert file.scale == scale
    assert not file.is_plain
    assert file.with_options().text == f"pairs.csv?{option}"
    assert parse_file_name("pairs.csv").with_options(scale=scale).text == f"pairs.csv?{option}"


@pytest.mark.parametrize("held_out", ["0.01", "0.5"])
def test_a_share_of_rows_up_to_a_half_can_be_held_out(held_out: str) -> None:
    file = parse_file_name(f"pairs.csv?held-out={held_out}")
    assert file.held_out == float(held_out)
    assert file.is_plain  # it says nothing of columns
    assert file.with_options().text == f"pairs.csv?held-out={held_out}"


@pytest.mark.parametrize("options", ["s1=a", "source=a", "labels=0:neutral", "scale=0-1"])
def test_a_file_of_which_anything_is_said_is_not_plain(options: str) -> None:
    assert not parse_file_name(f"pairs.csv?{options}").is_plain


@pytest.mark.parametrize(
    ("typed", "dataset"),
    [
        ("pairs.csv", "pairs.csv"),
        ("./pairs.csv", "pairs.csv"),
        ("./d//pairs.csv?s1=a", "d/pairs.csv?s1=a"),
        ("p.csv?s1=a", "p.csv?s1=a"),
    ],
)
def test_a_dataset_is_called_by_the_plain_form_of_its_path(typed: str, dataset: str) -> None:
    assert parse_file_name(typed).dataset == dataset


def test_tables_have_named_columns_whatever_the_case_of_their_ending() -> None:
    assert [
        parse_file_name(name).is_table for name in ("a.csv", "a.CSV", "a.parquet", "a.txt", "a")
    ] == [True, True, True, False, False]


def test_a_file_without_options_has_none() -> None:
    file = parse_file_name("pairs.csv")
    assert (file.roles, file.source, file.labels, file.scale, file.low_scores, file.held_out) == (
        {},
        None,
        {},
        None,
        False,
        None,
    )
    assert file.with_options().text == "pairs.csv"
    assert parse_file_name("pairs.csv?low-scores").low_scores


def test_a_column_with_signs_of_the_grammar_is_quoted() -> None:
    file = parse_file_name('pairs.csv?score="a & b?"')
    assert file.roles == {"score": "a & b?"}
    assert file.with_options().text == 'pairs.csv?score="a & b?"'


def test_a_file_with_a_question_mark_in_its_name_is_that_file(tmp_path: Path) -> None:
    odd = tmp_path / "what?score=x.csv"
    odd.write_text("a\n")
    assert parse_file_name(str(odd)).path == odd
    assert file_path(str(tmp_path / "pairs.csv?score=x")) == tmp_path / "pairs.csv"


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ("rating=x", "no option 'rating=x'"),
        ("score=", "no option 'score='"),
        ("score=a&score=b", "score is given twice"),
        ("scale=5", "scale is '5', not the lowest and the highest score"),
        ("scale=5-0", "not the lowest and the highest score"),
        ("labels=0", "labels is '0'"),
        ("held-out=0.9", "held-out is '0.9'"),
        ("held-out=x", "held-out is 'x'"),
        ("held-out=0", "held-out is '0'"),
        ("held-out=0.51", "held-out is '0.51'"),
        ("held-out=-0.1", "held-out is '-0.1'"),
        ("scale=1-1", "scale is '1-1', not the lowest and the highest score"),
        ("scale=1.2.3-4", "scale is '1.2.3-4', not the lowest and the highest score"),
        ("scale=a-b", "scale is 'a-b', not the lowest and the highest score"),
        ("labels=:neutral", "labels is ':neutral'"),
        ("labels=0:", "labels is '0:'"),
    ],
)
def test_another_option_is_refused(options: str, fault: str) -> None:
    with pytest.raises(UsageError, match=fault) as error:
        parse_file_name(f"pairs.csv?{options}")
    assert error.value.hint


@pytest.mark.parametrize(
    ("name", "is_file"),
    [
        ("pairs.csv", True),
        ("d/pairs.TSV", True),
        ("lines.txt", True),
        ("rows.jsonl?score=x", True),
        ("scores:mine.csv", False),
        ("word-vectors:glove.txt", False),
        ("hub:owner/pairs.csv", False),
        ("recipe.toml", False),
        ("own-pairs", False),
    ],
)
def test_files_of_rows_are_known_by_their_ending_and_models_by_their_prefix(
    name: str, is_file: bool
) -> None:
    assert is_row_file(name) is is_file


def test_what_is_set_in_a_recipe_is_said_of_the_file_where_its_name_says_nothing() -> None:
    said = with_said(
        parse_file_name("p.csv?score=points"),
        [
            "data.columns.gold=rating",
            "data.columns.anchor=q",
            "data.labels.0=neutral",
            "data.where.split=train,dev",
            "data.drop.label=-1",
            "optim.lr=1",
            "data.columns={}",
        ],
    )
    assert said.roles == {"score": "points", "anchor": "q"}
    assert said.labels == {"0": "neutral"}
    assert (said.where, said.drop) == ({"split": "train,dev"}, {"label": "-1"})
    assert with_said(plain := parse_file_name("p.csv"), ["optim.lr=1"]) is plain


def test_rows_that_are_read_and_left_out_are_said_by_a_column_and_its_values() -> None:
    name = "p.csv?where=split:train,dev&drop=label:-1"
    said = parse_file_name(name)
    assert (said.where, said.drop) == ({"split": "train,dev"}, {"label": "-1"})
    assert (said.is_plain, said.at(Path("q.csv")).text) == (False, name.replace("p.csv", "q.csv"))
    for wrong in ("where=split", "where=:train", "drop=label:"):
        with pytest.raises(UsageError, match=f"{wrong.partition('=')[0]} is ") as error:
            parse_file_name(f"p.csv?{wrong}")
        assert error.value.hint.startswith("for example ?")
