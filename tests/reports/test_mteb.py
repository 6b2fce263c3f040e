"""STS results in mteb's format."""

import json
from dataclasses import replace
from math import nan
from pathlib import Path

import pytest
from mteb.models.model_meta import ModelMeta

from embedlab.core.errors import UsageError
from embedlab.models.catalog import resolve
from embedlab.reports.mteb import mteb_tasks, write_mteb
from embedlab.runs.evaluations import Evaluation
from tests.stored_scores import evaluation as made
from tests.stored_scores import score

STATE = {
    "name": "sts16",
    "split": "test",
    "rows": 1186,
    "origin": "folder",
    "revision": None,
    "sha256": {"STS/STS16-en-test/STS2016.input.headlines.txt": "ab"},
    "partial": False,
}


def evaluation(**state: object) -> Evaluation:
    numbers = {"spearman": 0.78987654, "pearson": 0.8}
    scores = [
        score("sts16", value - (setting == "mean"), metric, setting=setting, items=1186)
        for metric, value in numbers.items()
        for setting in ("all", "mean")
    ]
    data = ({**STATE, **state}, {**STATE, "name": "sick-r"})
    return made("sts", *scores, model="my/model", fingerprint="0123", data=data)


def test_a_result_has_the_keys_that_mteb_reads(tmp_path: Path) -> None:
    paths = write_mteb(tmp_path, evaluation())
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == [
        "my__model/0123/model_meta.json",
        "my__model/0123/STS16.json",
    ]
    result = json.loads(paths[1].read_text())
    (scores,) = result["scores"]["test"]
    assert (result["task_name"], result["dataset_revision"]) == (
        "STS16",
        "4d8694f8f0e0100860b497b999b3dbed754a0513",
    )
    assert scores["main_score"] == scores["cosine_spearman"] == 0.789877
    assert (scores["cosine_pearson"], scores["hf_subset"], scores["languages"]) == (
        0.8,
        "default",
        ["eng-Latn"],
    )
    assert json.loads(paths[0].read_text())["revision"] == "0123"


@pytest.mark.parametrize(
    ("model", "folder"),
    [
        ("../up/.mine/", "mine"),
        ("/models/bert base", "bert_base"),
        ("owner/name", "owner__name"),
        ('sbert?prompt="a: b/c"', "sbert_prompt=_a_b__c"),
        ("average(sbert,./x)", "average_sbert_x"),
        ("...", "model"),
    ],
)
def test_a_models_folder_can_be_seen_and_typed(model: str, folder: str, tmp_path: Path) -> None:
    paths = write_mteb(tmp_path, replace(evaluation(), model=model))
    assert [path.relative_to(tmp_path).parts[0] for path in paths] == [folder, folder]
    meta = json.loads(paths[0].read_text())
    assert meta["name"].startswith("embedlab/")
    assert ModelMeta(**meta).revision == "0123"


def test_results_can_be_brought_again_as_figures(tmp_path: Path) -> None:
    write_mteb(tmp_path / "out", evaluation())
    spec = resolve(f"mteb:{tmp_path / 'out'}", tmp_path).members[0]
    (stated,) = spec.shipped.figures(spec.location)
    assert (stated.main, stated.origin) == (0.789877, "STS16 test at revision 4d8694f8")


UNDEFINED = tuple(
    replace(score, value=nan if score.metric == "pearson" else score.value)
    for score in evaluation().scores
)


@pytest.mark.parametrize(
    ("evaluated", "said"),
    [
        (evaluation(partial=True), "sts16 is not a complete corpus"),
        (evaluation(origin="tiny"), "sts16 is not a complete corpus"),
        (evaluation(sha256={"SentEval/downstream/STS/a.txt": "cd"}), "was read from 'SentEval"),
        (replace(evaluation(), scores=UNDEFINED), "pearson of 'my/model' on sts16 is undefined"),
        (
            replace(evaluation(), data=({**STATE, "name": "sick-r"},)),
            "none of sick-r is a task of mteb",
        ),
    ],
)
def test_what_mteb_would_take_for_something_else_is_not_written(
    evaluated: Evaluation, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        write_mteb(tmp_path, evaluated)
    assert not list(tmp_path.rglob("*.json"))


def test_mteb_itself_reads_the_result(tmp_path: Path) -> None:
    from mteb import results

    result = results.TaskResult.from_disk(write_mteb(tmp_path, evaluation())[1])
    assert result.get_score() == pytest.approx(0.789877)
    assert {result.task_name} <= set(mteb_tasks().values())
