"""What a command refuses, typed or called from Python, before any work is done."""

from pathlib import Path

import pytest

import embedlab
from embedlab.core.errors import UsageError

ABSENT = "a/model/that/is/absent"
TWO = [ABSENT, "dice"]


@pytest.mark.parametrize(
    ("name", "models", "options", "message"),
    [
        ("compare", ["dice", "dice"], {}, "model 'dice' is named twice"),
        ("compare", TWO, {"equivalent": 100}, "the margin of equivalence is 100 points"),
        ("compare", ["dice"], {"equivalent": 1}, "a margin of equivalence needs two models"),
        ("compare", TWO, {"by": "sorce"}, "no property named 'sorce'"),
        ("compare", TWO, {"setting": "quick"}, "no setting named 'quick'"),
        ("evaluate", TWO, {"metric": "kendall"}, "no metric named 'kendall'"),
        ("evaluate", TWO, {"aggregate": "median"}, "no aggregate named 'median'"),
        ("compare", TWO, {"suite": "geometry", "published": True}, "published is for the task sts"),
        ("compare", TWO, {"suite": "geometri"}, "no task named 'geometri'"),
        ("evaluate", TWO, {"by": "dice", "aggregate": "mean"}, "aggregate 'mean' is for datasets"),
        ("evaluate", TWO, {"suite": "geometry", "metric": "pearson"}, "is for the task sts alone"),
        ("evaluate", TWO, {"suite": "geometry", "submission": "out"}, "of the task glue alone"),
        ("evaluate", TWO, {"setting": "exact"}, "option setting 'exact' is for classifiers"),
        ("evaluate", TWO, {"mteb": Path(__file__)}, "option mteb is .*, a file"),
        ("pairs", TWO, {"where": "nothing>1"}, "unknown field 'nothing'"),
        ("pairs", TWO, {"sort": "sentence1"}, "no column to sort by named 'sentence1'"),
        ("pairs", TWO, {"limit": 0}, "option limit is 0"),
        ("power", TWO, {"detect": 0.0}, "the difference to detect is 0 points"),
        ("power", TWO, {"seeds": 1}, "option seeds is 1"),
        ("why", TWO, {"rows": 0}, "option rows is 0"),
        ("compare", [], {}, "no model is named"),
        ("compare", TWO, {"taks": ["sts12"]}, "no keyword named 'taks'"),
    ],
)
def test_what_cannot_be_is_refused_before_a_model_is_looked_up(
    name: str, models: list[str], options: dict[str, object], message: str, tmp_path: Path
) -> None:
    function = getattr(embedlab, name)
    places = {"data": "tiny", "cache": tmp_path / "cache", "runs": tmp_path / "runs"}
    words = models if name in {"power", "why"} else [models]
    with pytest.raises(UsageError, match=message) as found:
        function(*words, **options, **places)
    assert found.value.hint
    assert [note for note in found.value.__notes__ if not note.startswith("hint: ")] == []


def test_a_dataset_in_the_place_of_a_file_gets_its_option() -> None:
    with pytest.raises(UsageError, match="no model named") as found:
        embedlab.compare(["dice", "sts12"])
    assert found.value.hint == "'sts12' is a dataset: write --task sts12"
