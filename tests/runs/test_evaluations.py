"""An evaluation's file holds every score with how it was made."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from embedlab.core.errors import MissingError
from embedlab.runs.evaluations import Evaluation, StoredScore


def evaluation(value: float) -> Evaluation:
    return Evaluation(
        task="sts",
        model="sbert@1",
        fingerprint="ab12",
        precision="float32",
        pooling="mean",
        max_tokens=128,
        truncated=0,
        data=({"name": "sts12", "rows": 3108},),
        marks=("partial",),
        scores=(
            StoredScore(
                by="dataset",
                slice="sts12",
                metric="spearman",
                setting="all",
                value=value,
                items=3108,
            ),
        ),
    )


def test_what_is_saved_is_what_is_read(tmp_path: Path) -> None:
    saved = evaluation(0.4914)
    assert Evaluation.load(saved.save(tmp_path)) == saved


def test_files_that_do_not_say_which_numbers_are_shares_or_of_pairs_are_read_as_they_were(
    tmp_path: Path,
) -> None:
    def read(task: str, metric: str, *settings: str) -> Evaluation:
        scores = tuple(
            StoredScore(by="dataset", slice="sts12", metric=metric, setting=own, value=0.5, items=9)
            for own in settings
        )
        path = replace(evaluation(0.5), task=task, scores=scores).save(tmp_path)
        values = json.loads(path.read_text())
        del values["is_of_pairs"], values["checksum"]
        for own in values["scores"]:
            del own["scale"]
        path.write_text(json.dumps(values))
        return Evaluation.load(path, where=lambda score: score["setting"] == settings[0])

    pairs, geometry, multitask = (
        read("sts", "spearman", "all", "mean", "wmean"),
        read("geometry", "effective rank", ""),
        read("multitask", "pearson", "all"),
    )
    assert [one.is_of_pairs for one in (pairs, geometry, multitask)] == [True, False, False]
    assert [one.scores[0].scale for one in (pairs, geometry, multitask)] == [100, 1, 100]
    assert (pairs.signature.aggregation, pairs.signature.setting) == (("all",), ())
    assert (multitask.signature.aggregation, multitask.signature.setting) == ((), ("all",))


def test_an_undefined_score_is_null_in_the_file_and_nan_when_read(tmp_path: Path) -> None:
    path = evaluation(math.nan).save(tmp_path)
    assert json.loads(path.read_text())["scores"][0]["value"] is None
    assert math.isnan(Evaluation.load(path).scores[0].value)


@pytest.mark.parametrize("text", ["", "{", '{"schema": 1}', '{"schema": 99}', "[]"])
def test_a_damaged_or_newer_file_is_refused_by_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "sts.json"
    path.write_text(text)
    with pytest.raises(MissingError, match=r"sts\.json"):
        Evaluation.load(path)


@pytest.mark.parametrize(
    ("key", "value", "wrong"),
    [
        ("scores", {}, "'scores' is {}"),
        ("scores", [3], "'scores.0' is 3: not a table"),
        ("scores", [{"by": "dataset"}], "'scores.0.slice' is missing"),
        ("truncated", "no", "'truncated' is 'no'"),
        ("overlaps", {"sts12": 3}, "'overlaps.sts12' is 3"),
        ("overlaps", {"sts12": {"pairs": 3}}, "'overlaps.sts12.sentences' is missing"),
        ("data", [[]], "'data.0' is []"),
        ("marks", "partial", "'marks' is 'partial'"),
        ("notes", [3], "'notes.0' is 3"),
    ],
)
def test_a_wrong_shape_is_refused_by_file_and_key(
    key: str, value: object, wrong: str, tmp_path: Path
) -> None:
    path = evaluation(0.5).save(tmp_path)
    values = json.loads(path.read_text())
    values.pop("checksum", None)
    path.write_text(json.dumps({**values, key: value}))
    with pytest.raises(MissingError) as caught:
        Evaluation.load(path)
    assert caught.value.message.startswith(f"{path}: damaged: {wrong}")


def test_a_score_that_is_not_a_number_is_refused_by_its_place(tmp_path: Path) -> None:
    path = evaluation(0.5).save(tmp_path)
    values = json.loads(path.read_text())
    values.pop("checksum", None)
    values["scores"][0]["value"] = "0.5"
    path.write_text(json.dumps(values))
    with pytest.raises(MissingError, match=r"'scores\.0\.value' is '0\.5'"):
        Evaluation.load(path)
