"""`embedlab compare --by` and `--where` for items of any task, on `--data tiny`."""

import json
from pathlib import Path

import pytest
from scipy.stats import spearmanr

from embedlab.core.paths import TINY_FOLDER
from embedlab.data.source import Source
from tests.cli.conftest import Embedlab

SAMPLE = ("--data", "tiny", "--json")


def rows(answer: str) -> dict[tuple[str, str], dict[str, object]]:
    return {(row["slice"], row["model"]): row for row in json.loads(answer)["rows"]}


def test_pairs_and_classified_sentences_are_grouped_by_one_property_in_one_table(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    words = (
        str(tiny_encoder),
        f"{tiny_encoder}?pooling=cls",
        "--task",
        "sts12",
        "--task",
        "cr",
        "--setting",
        "prototyping",
    )
    answer = embedlab("compare", *words, "--by", "words", *SAMPLE)
    assert answer.code == 0, answer.err
    found = rows(answer.out)
    slices = {name for name, _ in found}
    assert {name.partition("/")[0] for name in slices} == {"sts12", "cr"}
    whole = embedlab("compare", *words, *SAMPLE)
    for dataset in ("sts12", "cr"):
        parts = [
            found[name, str(tiny_encoder)]["items"]
            for name in slices
            if name.startswith(f"{dataset}/")
        ]
        assert len(parts) > 1
        assert sum(parts) == rows(whole.out)[dataset, str(tiny_encoder)]["items"]  # type: ignore[arg-type]
    assert {row["by"] for row in found.values()} == {"words"}


def test_what_is_picked_is_scored_alone_as_scipy_scores_it(embedlab: Embedlab) -> None:
    answer = embedlab("compare", "dice", "--task", "sts12", "--where", "dice>0.6", *SAMPLE)
    frame = Source(folder=TINY_FOLDER).open("sts12").frame
    words = [
        [{*text.lower().split()} for text in frame[side]] for side in ("sentence1", "sentence2")
    ]
    dice = [2 * len(a & b) / (len(a) + len(b)) for a, b in zip(*words, strict=True)]
    picked = [(own, gold) for own, gold in zip(dice, frame["gold"], strict=True) if own > 0.6]
    found = rows(answer.out)["sts12", "dice"]
    assert found["items"] == len(picked)
    assert found["score"] == pytest.approx(100 * spearmanr(*zip(*picked, strict=True)).statistic)


def test_rows_of_what_is_picked_and_of_the_rest_say_which_they_are(embedlab: Embedlab) -> None:
    out = embedlab(
        "compare", "dice", "--task", "sts12", "--where", "dice>0.6", "--data", "tiny"
    ).out
    table = out.partition("\n\n")[2]
    assert [line.partition("  ")[0] for line in table.splitlines()[2:4]] == [
        " sts12",
        " sts12 rest",
    ]


def test_a_selection_by_results_has_no_interval_and_says_why(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    answer = embedlab(
        "compare", "dice", str(tiny_encoder), "--task", "sts12", "--where", '"dice">0.6', *SAMPLE
    )
    assert (
        rows(answer.out)["sts12", "dice"]["low"] is not None
    )  # word overlap is a fact of the pair
    words = ("--task", "sts12", "--where", f'"{tiny_encoder}">0.5', "--letters", *SAMPLE)
    chosen = embedlab("compare", str(tiny_encoder), "dice", *words)
    assert chosen.code == 0, chosen.err
    assert all(
        (row["low"], row["p"], row["letters"]) == (None, None, None)
        for row in rows(chosen.out).values()
    )
    assert any("chosen by results" in note for note in json.loads(chosen.out)["notes"])


def test_a_dataset_of_which_no_item_fits_is_named(embedlab: Embedlab) -> None:
    answer = embedlab(
        "compare",
        "dice",
        "--task",
        "sts12",
        "--task",
        "sts13",
        "--where",
        "dataset:sts12 dice>0.5",
        *SAMPLE,
    )
    assert "left out, no item matches: sts13" in answer.err


def test_a_dataset_without_the_property_is_named_and_left_out(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    words = (
        "compare",
        str(tiny_encoder),
        "--task",
        "sts12",
        "--task",
        "cr",
        "--setting",
        "prototyping",
        "--by",
        "label",
        *SAMPLE,
    )
    answer = embedlab(*words)
    assert {name.partition("/")[0] for name, _ in rows(answer.out)} == {"cr"}
    assert "left out, without 'label': sts12" in answer.err


@pytest.mark.parametrize(
    ("by", "where"), [("negation", ""), ("dataset", "words>6"), ("dice", "-dataset:cr")]
)
def test_evaluate_gives_the_scores_that_compare_gives_of_the_same_items(
    embedlab: Embedlab, tiny_encoder: Path, by: str, where: str
) -> None:
    words = (
        str(tiny_encoder),
        "--task",
        "sts12",
        "--task",
        "cr",
        "--setting",
        "prototyping",
        "--by",
        by,
        "--where",
        where,
        *SAMPLE,
    )
    evaluated, compared = embedlab("evaluate", *words), embedlab("compare", *words)
    assert evaluated.code == 0, evaluated.err
    keys = ("task", "by", "slice", "metric", "model", "score", "low", "high", "items")
    assert [[row[key] for key in keys] for row in evaluated.rows] == [
        [row[key] for key in keys] for row in compared.rows
    ]
    assert evaluated.json["signatures"].keys() == {str(tiny_encoder)}


def test_what_is_of_whole_datasets_is_refused_where_items_are_picked(
    embedlab: Embedlab, tmp_path: Path
) -> None:
    for option in (("--metric", "pearson"), ("--mteb", str(tmp_path / "mteb")), ("--again",)):
        answer = embedlab(
            "evaluate", "dice", "--data", "tiny", "--task", "sts12", "--where", "gold>2", *option
        )
        assert answer.code == 2
        assert "is for whole datasets, not for items that are picked" in answer.err
    answer = embedlab(
        "evaluate", "dice", "--data", "tiny", "--task", "geometry", "--by", "negation"
    )
    assert "geometry has no items to group by 'negation'" in answer.err
