"""An evaluation's file holds every score with how it was made."""

import json
import math
from pathlib import Path

import pytest

from embedlab.core.errors import MissingError
from embedlab.runs.evaluations import Evaluation
from tests.stored_scores import evaluation, score

DATA = ({"name": "sts12", "rows": 3108},)


def test_what_is_saved_is_what_is_read_and_an_undefined_score_is_null_in_the_file(
    tmp_path: Path,
) -> None:
    saved = evaluation("sts", score("sts12", 0.4914), data=DATA)
    assert Evaluation.load(saved.save(tmp_path)) == saved
    path = evaluation("sts", score("sts12", math.nan)).save(tmp_path)
    assert json.loads(path.read_text())["scores"][0]["value"] is None
    assert math.isnan(Evaluation.load(path).scores[0].value)


@pytest.mark.parametrize("text", ["{", '{"schema": 1}', '{"schema": 99}'])
def test_a_damaged_or_newer_file_is_refused_by_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "sts.json"
    path.write_text(text)
    with pytest.raises(MissingError, match=r"sts\.json"):
        Evaluation.load(path)
