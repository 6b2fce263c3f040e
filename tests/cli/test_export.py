"""The card of an exported model: its scores have the intervals of a comparison, from what is
stored, without encoding.
"""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from embedlab.core.settings import load_settings
from embedlab.encoders.score_place import ScorePlace
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.models.catalog import resolve
from embedlab.runs.evaluations import Evaluation
from embedlab.scoring.stored_intervals import stored_intervals
from tests.cli.conftest import Answer, Embedlab


def intervals(compared: Answer) -> dict[tuple[str, str], tuple[float, float]]:
    """The intervals of a comparison by dataset and measure."""
    return {
        (row["slice"], row["metric"]): (row["low"], row["high"])
        for row in compared.rows
        if row["low"] is not None
    }


def rows_of(card: str) -> dict[tuple[str, str, str], str]:
    """The interval of each score of a card by dataset, measure and setting."""
    cells = [
        re.split(r" *\| *", line.strip("| ")) for line in card.splitlines() if line.startswith("| ")
    ]
    scores = {(row[0], row[1], row[2]): row[3] for row in cells[2:] if len(row) == 5}
    return {key: score.partition(" ")[2] or "–" for key, score in scores.items()}


def test_a_card_has_the_intervals_of_a_comparison(
    embedlab: Embedlab, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = ("--data", "tiny", "--task", "trec", "--setting", "prototyping", "--threads", "1")
    assert embedlab("evaluate", str(tiny_encoder), *tasks, "-q").code == 0
    ((low, high),) = intervals(embedlab("compare", str(tiny_encoder), *tasks, "--json")).values()

    monkeypatch.setattr(
        TransformerEncoder, "encode", lambda *_: pytest.fail("a sentence was encoded")
    )
    Path("out").mkdir()  # an empty folder is as good as none
    assert embedlab("export", str(tiny_encoder), "out", "--data", "tiny").code == 0
    card = Path("out/README.md").read_text("utf-8")
    assert rows_of(card) == {
        ("trec", "accuracy", "prototyping"): f"[{low:.2f}, {high:.2f}]",
        ("trec", "accuracy", "prototyping, dev"): "–",  # it chose the setting
    }
    assert "intervals are about this checkpoint" in card


def test_stored_scores_of_pairs_have_intervals_where_they_are_those_of_the_pairs_at_hand(
    embedlab: Embedlab,
) -> None:
    assert embedlab("evaluate", "dice", "--data", "tiny", "-q").code == 0
    expected = intervals(embedlab("compare", "dice", "--data", "tiny", "--json"))
    settings = load_settings({"data": "tiny"})[0]
    place = ScorePlace.of(resolve("dice", settings.runs).members[0], settings)
    evaluation = Evaluation.load(place.evaluations / "sts.json")

    # Items are stored with their gold scores: the files of the data are not read.
    found = stored_intervals(evaluation, place, replace(settings, data=None))
    assert len(expected) == 9
    assert found is not None
    for score, (low, high) in found.items():
        assert (100 * low, 100 * high) == pytest.approx(expected.pop((score.slice, score.metric)))
    assert not expected

    others = tuple(
        replace(one, value=one.value + 0.001) if one.slice == "sts13" else one
        for one in evaluation.scores
    )
    changed = stored_intervals(replace(evaluation, scores=others), place, settings)
    assert changed is not None
    assert {score.slice for score in found} - {score.slice for score in changed} == {"sts13"}
    assert len(found) - len(changed) == 1

    shutil.rmtree(place.evaluations / "sts")
    assert stored_intervals(evaluation, place, settings) is None
