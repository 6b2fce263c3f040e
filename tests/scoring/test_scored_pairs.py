"""Pairs scored by models: numbers, stored similarities, marks and signatures."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from embedlab import __version__
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.data.pair_parts import open_parts
from embedlab.data.source import Source
from embedlab.models.catalog import resolve
from embedlab.runs.evaluations import Evaluation
from embedlab.scoring.scored_pairs import ScoredPairs, evaluate_pairs, score_models

# FACTS: Dice itself as the model, Spearman x100, all / mean / wmean.
GOLDEN = {
    "sts12": (49.14, 53.88, 54.65),
    "sts13": (50.33, 45.46, 52.50),
    "sts14": (56.22, 60.74, 61.94),
    "sts15": (69.75, 65.14, 67.26),
    "sts16": (60.03, 59.46, 60.62),
}


def scored(
    names: list[str],
    settings: Settings,
    datasets: list[str],
    *,
    all_splits: bool = False,
    runs: Path = Path("runs"),
) -> ScoredPairs:
    parts, missing = open_parts(Source.from_settings(settings), datasets, all_splits=all_splits)
    assert not missing
    return score_models([resolve(name, runs) for name in names], parts, settings)


def values(
    evaluation: Evaluation, by: str, metric: str = "spearman"
) -> dict[tuple[str, str], float]:
    return {
        (score.slice, score.setting): 100 * score.value
        for score in evaluation.scores
        if score.by == by and score.metric == metric
    }


def test_dice_scores_the_golden_numbers_in_all_three_aggregations(
    shared_data: Path, tmp_path: Path
) -> None:
    settings = Settings(data=shared_data, cache=tmp_path / "cache")
    found = values(
        evaluate_pairs(scored(["dice"], settings, [*GOLDEN, "sts-benchmark", "sick-r"]))["dice"],
        "dataset",
    )
    for dataset, numbers in GOLDEN.items():
        assert [
            found[dataset, aggregate] for aggregate in ("all", "mean", "wmean")
        ] == pytest.approx(numbers, abs=0.01)
    assert found["sts-benchmark", "all"] == pytest.approx(56.48, abs=0.01)
    assert found["sick-r", "all"] == pytest.approx(57.49, abs=0.01)


def test_numbers_of_sts_benchmark_are_those_of_its_test_pairs(
    shared_data: Path, tmp_path: Path
) -> None:
    settings = Settings(data=shared_data, cache=tmp_path / "cache")
    every = scored(["dice"], settings, ["sts-benchmark"], all_splits=True)
    evaluation = evaluate_pairs(every.test_pairs)["dice"]
    assert evaluation == evaluate_pairs(scored(["dice"], settings, ["sts-benchmark"]))["dice"]
    fifths = [
        score.items
        for score in evaluation.scores
        if score.by == "dice" and score.metric == "spearman"
    ]
    assert fifths == [276, 276, 276, 276, 275]
    assert values(evaluation, "dataset")["sts-benchmark", "all"] == pytest.approx(56.48, abs=0.01)
    assert [part["split"] for part in evaluation.data] == ["test"]


def test_blanked_gold_lines_move_numbers_and_counts_as_an_independent_script_says(
    shared_data: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "data" / "STS" / "STS16-en-test"
    shutil.copytree(shared_data / "STS" / "STS16-en-test", folder)
    gold_file = folder / "STS2016.gs.headlines.txt"
    gold_file.chmod(0o644)
    lines = gold_file.read_text().splitlines()
    scored_lines = [index for index, line in enumerate(lines) if line.strip()]
    for index in scored_lines[::7]:
        lines[index] = ""
    gold_file.write_text("\n".join(lines) + "\n")
    settings = Settings(data=tmp_path / "data", cache=tmp_path / "cache", allow_partial=True)
    evaluation = evaluate_pairs(scored(["dice"], settings, ["sts16"]))["dice"]
    golds, dices, weighted = [], [], []
    for source in ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"):
        gold, dice = slow_source(folder, source)
        golds += gold
        dices += dice
        weighted.append((len(gold), stats.spearmanr(gold, dice).statistic))
    assert "partial" in evaluation.marks
    found = values(evaluation, "dataset")
    assert found["sts16", "all"] == pytest.approx(
        100 * stats.spearmanr(golds, dices).statistic, abs=1e-6
    )
    assert found["sts16", "wmean"] == pytest.approx(
        100 * np.average([r for _, r in weighted], weights=[n for n, _ in weighted]), abs=1e-6
    )
    assert values(evaluation, "dataset", "pearson")["sts16", "all"] == pytest.approx(
        100 * stats.pearsonr(golds, dices).statistic, abs=1e-5
    )
    assert (
        next(score.items for score in evaluation.scores if score.slice == "sts16")
        == len(golds)
        == 1186 - len(scored_lines[::7])
    )
    assert values(evaluation, "source")["sts16/headlines", "all"] == pytest.approx(
        100 * weighted[1][1], abs=1e-6
    )


def slow_source(folder: Path, source: str) -> tuple[list[float], list[float]]:
    """Gold and Dice of the scored pairs of one file, read line by line."""
    import re

    gold, dice = [], []
    inputs = (folder / f"STS2016.input.{source}.txt").read_text().splitlines()
    for pair, score in zip(
        inputs, (folder / f"STS2016.gs.{source}.txt").read_text().splitlines(), strict=True
    ):
        if score.strip():
            first, second = (
                set(re.findall(r"\w+", sentence.lower())) for sentence in pair.split("\t")[:2]
            )
            gold.append(float(score))
            dice.append(2 * len(first & second) / (len(first) + len(second)))
    return gold, dice


def test_a_second_evaluation_computes_nothing_and_other_settings_are_stored_apart(
    tiny_encoder: Path, tmp_path: Path
) -> None:
    settings = Settings(data=TINY_FOLDER, cache=tmp_path / "cache")
    name = str(tiny_encoder)
    first = scored([name], settings, ["sts12"])
    seen: list[str] = []
    parts, _ = open_parts(Source.from_settings(settings), ["sts12"])
    again = score_models(
        [resolve(name, Path("runs"))],
        parts,
        settings,
        progress=lambda member: seen.append(member) or (lambda *_: None),
    )
    assert not seen
    assert again.table.equals(first.table)
    other = scored([f"{name}?pooling=cls"], settings, ["sts12"])
    assert other.places[f"{name}?pooling=cls"].scores_file != first.places[name].scores_file
    assert not np.allclose(other.table[f"{name}?pooling=cls"], first.table[name])


def test_a_damaged_score_file_is_made_again_with_a_note(tmp_path: Path) -> None:
    settings = Settings(data=TINY_FOLDER, cache=tmp_path / "cache")
    first = scored(["dice"], settings, ["sts13"])
    first.places["dice"].scores_file.write_bytes(b"PAR1 not parquet")
    notes: list[str] = []
    parts, _ = open_parts(Source.from_settings(settings), ["sts13"])
    again = score_models([resolve("dice", Path("runs"))], parts, settings, note=notes.append)
    assert again.table.equals(first.table)
    assert "unusable" in notes[0]


def test_sample_scores_are_marked_and_carry_what_made_them(tmp_path: Path) -> None:
    settings = Settings(data=TINY_FOLDER, cache=tmp_path / "cache")
    evaluation = evaluate_pairs(scored(["dice"], settings, ["sts12", "sick-r"]))["dice"]
    assert evaluation.marks == ("generated",)
    assert {part["name"] for part in evaluation.data} == {"sts12", "sick-r"}
    assert evaluation.precision == "float32"
    assert Evaluation.load(evaluation.save(tmp_path)) == evaluation


def test_the_average_of_seven_is_the_plain_mean_of_the_datasets(tmp_path: Path) -> None:
    settings = Settings(data=TINY_FOLDER, cache=tmp_path / "cache")
    datasets = ["sts12", "sts13", "sts14", "sts15", "sts16", "sts-benchmark", "sick-r"]
    evaluation = evaluate_pairs(scored(["dice"], settings, datasets))["dice"]
    each = values(evaluation, "dataset")
    mean = np.mean([each[name, "all"] for name in datasets])
    assert values(evaluation, "average")["average of seven", "all"] == pytest.approx(mean)


def test_a_users_own_file_is_scored_whatever_its_path_holds(tmp_path: Path) -> None:
    own = tmp_path / "monday 10:30" / "sts-benchmark:dev.tsv"
    own.parent.mkdir()
    own.write_text("sentence1\tsentence2\tscore\na b\ta b\t5\na c\ta d\t2\na b\tc d\t0\n")
    evaluation = evaluate_pairs(scored(["dice"], Settings(cache=tmp_path / "cache"), [str(own)]))[
        "dice"
    ]
    assert values(evaluation, "dataset")[str(own), "all"] == pytest.approx(100)
    assert values(evaluation, "source")[str(own), "all"] == pytest.approx(100)


def test_pairs_without_a_score_stay_empty(tmp_path: Path) -> None:
    table = scored(["dice"], Settings(data=TINY_FOLDER, cache=tmp_path / "cache"), ["sts12"]).table
    assert table["dice"].null_count() == 0
    assert table.filter(pl.col("dice").is_between(0, 1)).height == table.height


def test_the_signature_names_the_version_that_computed_stored_similarities(tmp_path: Path) -> None:
    file = tmp_path / "mine.tsv"
    file.write_text("sentence1\tsentence2\tscore\na b\ta b\t5\na\tb\t1\n")
    settings = Settings(cache=tmp_path / "cache")
    first = scored(["dice"], settings, [str(file)])
    assert first.description("dice").signature.version == (__version__,)
    place = first.places["dice"]
    stored = place.read()
    replace(stored, facts={**stored.facts, "embedlab": "0.0.9"}).write(place.scores_file)
    assert scored(["dice"], settings, [str(file)]).description("dice").signature.version == (
        "0.0.9",
        __version__,
    )
    file.write_text(file.read_text() + "a c\tb c\t2\n")
    scored(["dice"], settings, [str(file)])
    assert place.read().facts["embedlab"] == f"0.0.9 + {__version__}"
