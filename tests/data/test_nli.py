import json
from pathlib import Path

import pytest

from embedlab.core.errors import MissingError
from tests.data.conftest import Write, read_as, write_as


def line(
    label: str, premise: str = "a dog runs", hypothesis: str = "an animal moves", **more: object
) -> str:
    return json.dumps({"gold_label": label, "sentence1": premise, "sentence2": hypothesis, **more})


def test_the_official_fields_are_read_whatever_else_a_line_holds(write: Write) -> None:
    path = write(
        "a.jsonl",
        line("neutral", annotator_labels=["neutral", "-"], pairID="1")
        + "\n"
        + line("entailment", "é \u2028 x")
        + "\n",
    )
    rows = read_as("snli", [path])
    assert rows.frame.columns == ["premise", "hypothesis", "label"]
    assert rows.frame.rows() == [
        ("a dog runs", "an animal moves", "neutral"),
        ("é \u2028 x", "an animal moves", "entailment"),
    ]
    assert rows.skipped == {}


def test_a_byte_order_mark_before_the_first_line_is_accepted(write: Write) -> None:
    rows = read_as(
        "snli", [write("a.jsonl", f"\ufeff{line('neutral')}\r\n{line('entailment')}\r\n")]
    )
    assert rows.frame["label"].to_list() == ["neutral", "entailment"]


def test_pairs_without_an_agreed_label_are_skipped_and_counted(write: Write) -> None:
    rows = read_as("snli", [write("a.jsonl", "\n".join([line("-"), line("neutral"), line("-")]))])
    assert (len(rows.frame), rows.skipped) == (1, {"label '-'": 2})


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (
            line("neutral") + '\n{"gold_label": "neutral", "sentence1": "a",\n',
            "line 2: broken JSON",
        ),
        ('{"gold_label": "neu', "line 1: broken JSON at character 16: Unterminated string"),
        (line("neutral") + "\n[1, 2]\n", "line 2: not a JSON object"),
        (
            line("neutral") + '\n{"gold_label": "neutral", "sentence1": "a"}\n',
            "line 2: no text under 'sentence2'",
        ),
        (line("neutral") + "\n" + line("maybe"), "line 2: label 'maybe' is none of entailment"),
        ("\n\n" + line("neutral") + "\n" + line("maybe"), "line 4: label 'maybe'"),
        (
            line("neutral") + "\n\n" + '{"gold_label": null, "sentence1": "a", "sentence2": "b"}',
            "line 3: no text under 'gold_label'",
        ),
        (
            line("neutral").encode() + b'\n{"gold_label": "neutral", "sentence1": "\xff"}\n',
            "line 2: byte 0xff is not UTF-8",
        ),
        (
            line("neutral") + '\n{"gold_label": ' + "[" * 100_000,
            "line 2: its JSON is nested too deep",
        ),
        (
            line("neutral") + '\n{"gold_label": ' + "9" * 5_000 + "}",
            "line 2: a number with too many digits",
        ),
        (
            line("neutral") + "\n" + line("neutral", "\ud83d"),
            "line 2: half of a surrogate pair under 'sentence1'",
        ),
        (
            line("neutral") + "\n" + line("neutral", "a\0b"),
            "line 2: a NUL character under 'sentence1'",
        ),
        (b"\xef\xbb\xbf", "is empty"),
        ("", "is empty"),
        ("\n\n", "is empty"),
    ],
)
def test_a_fault_is_reported_with_file_and_line(
    write: Write, content: str | bytes, fault: str
) -> None:
    path = write("bad.jsonl", content)
    with pytest.raises(MissingError) as caught:
        read_as("snli", [path])
    assert fault in caught.value.message
    assert str(path) in caught.value.message
    assert caught.value.hint


def test_what_is_written_is_read_back(write: Write) -> None:
    frame = read_as(
        "snli",
        [write("a.jsonl", line("neutral", 'quote " and\ttab') + "\n" + line("contradiction"))],
    ).frame
    (text,) = write_as("snli", frame)
    assert read_as("snli", [write("b.jsonl", text)]).frame.equals(frame)


def test_counterfactual_pairs_keep_their_quotes(write: Write) -> None:
    path = write("a.tsv", 'sentence1\tsentence2\tgold_label\n"a" b\tc "d\tneutral\n')
    assert read_as("snli-counterfactual", [path]).frame.rows() == [('"a" b', 'c "d', "neutral")]


def test_a_strange_counterfactual_label_is_reported_with_its_line(write: Write) -> None:
    path = write("a.tsv", "sentence1\tsentence2\tgold_label\na\tb\tneutral\na\tb\tmaybe\n")
    with pytest.raises(MissingError, match=r"a\.tsv, line 3: label 'maybe' is none of"):
        read_as("snli-counterfactual", [path])


def test_a_short_counterfactual_line_is_reported_with_its_number(write: Write) -> None:
    path = write("a.tsv", "sentence1\tsentence2\tgold_label\na\tb\tneutral\na\tb\n")
    with pytest.raises(MissingError, match=r"a\.tsv, line 3: 2 tab-separated fields"):
        read_as("snli-counterfactual", [path])


def test_the_whole_of_multinli_dev_is_read(shared_data: Path) -> None:
    path = shared_data / "MultiNLI/multinli_1.0_dev_matched.jsonl"
    assert read_as("snli", [path]).frame["label"].value_counts(sort=True).rows() == [
        ("entailment", 3479),
        ("contradiction", 3213),
        ("neutral", 3123),
    ]
