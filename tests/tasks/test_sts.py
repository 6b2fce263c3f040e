"""The pairs of sts: what is missing is named, and the dev score is of the dev split."""

from pathlib import Path

import pytest
from scipy import stats

from embedlab.core.errors import MissingError
from embedlab.core.paths import TINY_FOLDER
from embedlab.data import source as source_module
from embedlab.data.dataset import Dataset
from embedlab.data.source import Source, open_parts
from embedlab.tasks.task import task


def test_one_missing_dataset_leaves_the_others_and_is_named(
    shared_data: Path, tmp_path: Path
) -> None:
    (tmp_path / "data" / "STS").mkdir(parents=True)
    (tmp_path / "data" / "STS" / "STS13-en-test").symlink_to(shared_data / "STS" / "STS13-en-test")
    source = Source(folder=tmp_path / "data", offline=True)
    parts, missing = open_parts(source, ["sts12", "sts13"])
    assert [part.state.name for part in parts] == ["sts13"]
    assert "sts12" in missing[0].message
    with pytest.raises(MissingError, match="sts12"):
        open_parts(source, ["sts12"])


def test_a_dataset_is_known_without_reading_the_files_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, whole = list[str](), source_module.read_corpus

    def noted(path: Path) -> Dataset:
        read.append(path.stem)
        return whole(path)

    monkeypatch.setattr(source_module, "read_corpus", noted)
    assert task("sts").has_dataset("sts12")
    assert not task("sts").has_dataset("mr")
    assert read == ["sts12", "mr"]


def test_the_dev_score_is_spearman_on_the_dev_split(tmp_path: Path) -> None:
    from embedlab.encoders.loading import DiceScorer
    from embedlab.objectives.objective import Trained

    source = Source(folder=TINY_FOLDER)
    frame = source.open("sts-benchmark", "dev").frame
    dice = DiceScorer()
    expected = stats.spearmanr(
        frame["gold"], dice.score(frame["sentence1"].to_list(), frame["sentence2"].to_list())
    ).statistic
    trained = Trained(encoder=dice, objectives=())  # type: ignore[arg-type]
    assert task("sts").dev_score(source, "sts-benchmark")(trained) == pytest.approx(100 * expected)


def test_a_dataset_is_scored_on_its_test_split_or_on_the_only_one_it_has(tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("sentence1\tsentence2\tscore\na\tb\t1\n", encoding="utf-8")
    for name in ("sts12", "sick-r", "c-sts", str(own)):
        assert task("sts").has_dataset(name), name
    queries = tmp_path / "faq.csv"
    queries.write_text("anchor,positive\nwhat barks,a dog\n", encoding="utf-8")
    for name in (
        "sts-course",
        "mrpc",
        "snli",
        str(queries),
    ):  # dev scores choose settings; the others are of other tasks
        assert not task("sts").has_dataset(name), name
