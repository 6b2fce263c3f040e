"""Results are read back from printed JSON and from stored evaluations; what is none is refused by
name.
"""

import json
from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest

from embedlab.core.errors import MissingError
from embedlab.runs.results import ScoreKey, read_results
from embedlab.runs.signature import Signature
from tests.stored_scores import evaluation, score

LINE = str(
    Signature(task=("sts",), by=("dataset",), metric=("spearman",), aggregation=("all", "mean"))
)


def test_rows_of_one_number_of_one_model_are_read_and_average_is_by_dataset(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    row = {"task": "sts", "metric": "spearman", "setting": "all", "split": ""}
    rows = [
        {**row, "by": by, "slice": slice_, "model": model, "score": value}
        for by, slice_ in (("dataset", "sts12"), ("average", "average of five"))
        for model, value in (("a", 50.5), ("b", None))
    ]
    path.write_text(json.dumps({"rows": rows, "signatures": {"a": LINE, "b": LINE}}))
    first, second = read_results(path)
    assert {(key.by, key.slice, key.metric, key.setting) for key in first.scores} == {
        ("dataset", "sts12", "spearman", "all"),
        ("dataset", "average of five", "spearman", "all"),
    }
    assert list(first.scores.values()) == [50.5, 50.5]
    assert [isnan(value) for value in second.scores.values()] == [True, True]


def test_keys_are_of_one_number_as_far_as_both_say() -> None:
    key = ScoreKey(by="dataset", slice="mrpc", metric="f1", setting="exact", split="test")
    assert key.is_of(ScoreKey(by="dataset", slice="mrpc", metric="f1", setting=""))
    assert key == replace(key, task="glue")
    for other in (
        {"setting": "literature"},
        {"split": "dev"},
        {"metric": "accuracy"},
        {"slice": "mr"},
        {"by": "source"},
    ):
        assert not key.is_of(replace(key, **other))


def test_a_stored_evaluation_is_read_in_the_unit_of_tables(tmp_path: Path) -> None:
    stored = evaluation("sts", score("sts12", 0.505), model="sbert@3")
    (one,) = read_results(stored.save(tmp_path))
    assert one.model == "sbert@3"
    assert list(one.scores.values()) == [50.5]
    assert one.signature.seeds == ("3",)  # of the name
    alignment = replace(score("sts12", 0.505, metric="alignment"), scale=1)
    (own,) = read_results(evaluation("geometry", alignment).save(tmp_path))
    assert list(own.scores.values()) == [0.505]


def test_test_items_are_counted_where_a_dataset_has_dev_scores_too() -> None:
    test = score("mr", 0.5, split="test")
    dev = replace(test, split="dev", items=5)
    for scores in ((test, dev), (dev, test)):
        source = replace(test, by="source", slice="reviews", items=4)  # of the same items
        assert evaluation("transfer", *scores, source).signature.n == ("100",)


def test_a_file_of_the_users_own_is_named_without_its_folder_unless_two_have_its_name(
    tmp_path: Path,
) -> None:
    def slices(*files: str) -> list[str]:
        data = tuple(
            {"name": file, "split": "all", "origin": "file", "sha256": {file: str(number)}}
            for number, file in enumerate(files)
        )
        scores = [score(f"{file}/news", 0.5) for file in files]
        (one,) = read_results(evaluation("sts", *scores, data=data).save(tmp_path))
        return [key.slice for key in one.scores]

    assert slices("here/mine.tsv", "there/yours.tsv") == ["mine.tsv/news", "yours.tsv/news"]
    assert slices("here/mine.tsv", "there/mine.tsv") == [
        "here/mine.tsv/news",
        "there/mine.tsv/news",
    ]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "holds no result of embedlab"),
        ('{"tables": [3]}', "holds no result of embedlab"),
        ('{"rows": [3]}', "holds no result of embedlab"),
        ('{"rows": [], "signatures": []}', "holds no result of embedlab"),
        ('{"rows": []}', "has no signature"),
        ('{"fingerprint": "x", "scores": []}', "is damaged"),
        ('{"rows": [], "signatures": {"a": 3}}', "holds no result of embedlab"),
        (
            '{"rows": [], "signatures": {"a": "task:sts|later:x"}}',
            "'a': not a signature: 'later:x'",
        ),
        (
            '{"rows": [], "signatures": {"a": "task:sts"}}',
            "without 'aggregation'",
        ),
        *(
            (
                f'{{"rows": [{{"row": "a", "what": "ours", "x": {value}}}], '
                f'"signatures": {{"a": "{LINE}"}}}}',
                "row 0: the score of 'a' is",
            )
            for value in ("true", '"5"', "1e400", "9" * 400)
        ),
    ],
)
def test_whatever_holds_no_result_is_refused_by_name(text: str, wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(text)
    with pytest.raises(MissingError) as caught:
        read_results(path)
    assert wrong in caught.value.message
    assert "result.json" in caught.value.message
    assert caught.value.hint
