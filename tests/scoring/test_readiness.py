"""What a training is refused for before its first step, where data of its evaluation is missing."""

from pathlib import Path

import pytest

from embedlab.core.errors import MissingError, NotDownloadedError
from embedlab.core.recipe import load_recipe
from embedlab.data.source import Source
from embedlab.scoring.readiness import check_recipe_evaluation

OFFLINE = Source(offline=True)


@pytest.mark.parametrize(
    "name", ["own-scored-pairs", "own-pairs", "own-sentences", "own-labelled-pairs", "own-triplets"]
)
def test_a_recipe_for_own_rows_trains_without_public_data_by_what_the_hints_say(name: str) -> None:
    with pytest.raises(MissingError, match="sts-benchmark") as no_dev:
        check_recipe_evaluation(load_recipe(name), OFFLINE)
    assert no_dev.value.hint.startswith("train without a dev score: --set evaluate.dev=none; or ")
    with pytest.raises(MissingError) as no_task:
        check_recipe_evaluation(load_recipe(name, ["evaluate.dev=none"]), OFFLINE)
    assert no_task.value.hint.startswith(
        "train without an evaluation: --set 'evaluate.tasks=[]'; or "
    )
    assert (
        check_recipe_evaluation(
            load_recipe(name, ["evaluate.dev=none", "evaluate.tasks=[]"]), OFFLINE
        )
        == ()
    )


def test_a_recipe_that_keeps_the_best_model_has_to_keep_the_last_without_a_dev_score() -> None:
    with pytest.raises(MissingError) as error:
        check_recipe_evaluation(load_recipe("simcse"), OFFLINE)
    assert "--set evaluate.dev=none --set evaluate.keep=last; or " in error.value.hint


def test_a_dev_file_of_the_user_is_to_be_corrected_and_what_would_be_downloaded_needs_no_hint(
    tmp_path: Path,
) -> None:
    with pytest.raises(MissingError) as error:
        check_recipe_evaluation(
            load_recipe("own-pairs", [f"evaluate.dev={tmp_path / 'dev.csv'}"]), OFFLINE
        )
    assert "evaluate.dev=none" not in error.value.hint
    with pytest.raises(NotDownloadedError):
        check_recipe_evaluation(load_recipe("own-pairs"), Source(downloads=False))
