"""The pairs of sts: what is missing is named, and the dev score is of the dev split."""

from pathlib import Path

import pytest
from scipy import stats

from embedlab.core.errors import MissingError
from embedlab.core.paths import STARTER_FOLDER, TINY_FOLDER
from embedlab.data.source import Source, open_parts
from embedlab.encoders.loading import DiceScorer
from embedlab.objectives.objective import TrainedEncoder
from embedlab.tasks.task import task


def test_one_missing_dataset_leaves_the_others_and_is_named() -> None:
    source = Source(folder=STARTER_FOLDER, offline=True)
    parts, missing = open_parts(source, ["sts12", "sts-benchmark"])
    assert [(part.state.name, part.state.split) for part in parts] == [("sts-benchmark", "test")]
    assert "sts12" in missing[0].message
    with pytest.raises(MissingError, match="sts12"):
        open_parts(source, ["sts12"])


def test_the_dev_score_is_spearman_on_the_dev_split() -> None:
    source = Source(folder=TINY_FOLDER)
    frame = source.open("sts-benchmark", "dev").frame
    dice = DiceScorer()
    expected = stats.spearmanr(
        frame["gold"], dice.score(frame["sentence1"].to_list(), frame["sentence2"].to_list())
    ).statistic
    trained = TrainedEncoder(encoder=dice, objectives=())  # type: ignore[arg-type]
    assert task("sts").dev_score(source, "sts-benchmark")(trained) == pytest.approx(100 * expected)


def test_a_dataset_is_scored_on_its_test_split_or_on_the_only_one_it_has(tmp_path: Path) -> None:
    own, queries = tmp_path / "own.tsv", tmp_path / "faq.csv"
    own.write_text("sentence1\tsentence2\tscore\na\tb\t1\n", encoding="utf-8")
    queries.write_text("anchor,positive\nwhat barks,a dog\n", encoding="utf-8")
    # dev scores choose settings; the others are of other tasks
    names = ["sts12", "c-sts", str(own), "sts-course", "mrpc", "snli", str(queries)]
    assert [task("sts").has_dataset(name) for name in names] == [True] * 3 + [False] * 4
