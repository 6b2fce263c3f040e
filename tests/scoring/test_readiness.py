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
    without = load_recipe(name, ["evaluate.dev=none", "evaluate.tasks=[]"])
    assert check_recipe_evaluation(without, OFFLINE) == ()


@pytest.mark.parametrize(
    ("name", "settings", "message", "hint"),
    [
        (
            "own-pairs",
            [],
            "sts-benchmark",
            "train without a dev score: --set evaluate.dev=none; or ",
        ),
        (
            "own-pairs",
            ["evaluate.dev=none"],
            "sts",
            "train without an evaluation: --set 'evaluate.tasks=[]'; or ",
        ),
        # What keeps the best model has to keep the last one without a dev score.
        ("simcse", [], "sts-benchmark", "--set evaluate.dev=none --set evaluate.keep=last; or "),
    ],
)
def test_missing_data_of_an_evaluation_is_refused_with_how_to_train_without_it(
    name: str, settings: list[str], message: str, hint: str
) -> None:
    with pytest.raises(MissingError, match=message) as error:
        check_recipe_evaluation(load_recipe(name, settings), OFFLINE)
    assert hint in error.value.hint


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
