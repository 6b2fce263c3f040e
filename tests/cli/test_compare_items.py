"""`embedlab compare --by` and `--where` for items of any task, on `--data tiny`."""

import json
import re
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


def test_items_of_unknown_training_text_are_not_said_to_be_outside_it(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    words = ("compare", "dice", str(tiny_encoder), "--task", "sts12", *SAMPLE)
    grouped = rows(embedlab(*words, "--by", "trained").out)
    assert {key for key, _ in grouped} == {"sts12/trained=not known to be in training text"}
    unseen = embedlab(*words, "--unseen")
    count = rows(unseen.out)["sts12", "dice"]["items"]
    assert f"nothing is left out: all {count:,} items fit '-trained:*'" in unseen.err


def test_what_was_not_tested_is_null_and_not_refuted(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    words = ("compare", "dice", str(tiny_encoder), "--task", "sts12", *SAMPLE)
    chosen = rows(embedlab(*words, "--by", f'"{tiny_encoder}">0.5').out)
    untested = [row for (_, model), row in chosen.items() if model != "dice"]
    assert untested
    for row in untested:
        assert [
            row[name]
            for name in (
                "test",
                "p",
                "p_corrected",
                "significant",
                "reach",
                "p_equivalent",
                "equivalent",
            )
        ] == [None] * 7
    plain, with_margin = (
        rows(embedlab(*words, *margin).out)["sts12", str(tiny_encoder)]
        for margin in ((), ("--equivalent", "5"))
    )
    assert isinstance(plain["significant"], bool)
    assert (plain["equivalent"], plain["p_equivalent"]) == (None, None)
    assert isinstance(with_margin["equivalent"], bool)


def test_common_pairs_that_a_filter_picks_are_marked_and_signed(
    embedlab: Embedlab, tmp_path: Path
) -> None:
    frame = Source(folder=TINY_FOLDER).open("sts12").frame
    frame.head(len(frame) // 2).select("sentence1", "sentence2", score="gold").write_csv(
        tmp_path / "part.csv"
    )
    words = (
        "compare",
        "dice",
        f"scores:{tmp_path / 'part.csv'}",
        "--task",
        "sts12",
        "--where",
        "dice>0.5",
        *SAMPLE,
    )
    common = embedlab(*words, "--common")
    assert {"common pairs" in str(row["marks"]) for row in rows(common.out).values()} == {True}
    assert all("common/items@" in line for line in json.loads(common.out)["signatures"].values())
    assert not any("--common" in note for note in json.loads(common.out)["notes"])
    assert all(row["score"] is not None for row in rows(common.out).values())


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
    assert "left out, no item fits: sts13" in answer.err


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


def test_an_expression_groups_items_into_what_fits_and_the_rest(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    words = ("compare", str(tiny_encoder), "dice", "--task", "sts12", *SAMPLE)
    options = (("--by", "dice>0.5"), ("--where", "dice>0.5"), ("--where", "-dice>0.5"))
    both, fits, rest = (rows(embedlab(*words, *more).out) for more in options)
    for name in (str(tiny_encoder), "dice"):
        for key, alone in (("sts12/fits", fits), ("sts12/rest", rest)):
            numbers = ("score", "low", "high", "items", "difference", "p")
            assert [both[key, name][one] for one in numbers] == [
                alone["sts12", name][one] for one in numbers
            ]
    by_results = embedlab(*words, "--by", f'"{tiny_encoder}">0')
    assert all(row["low"] is None and row["p"] is None for row in by_results.rows)
    assert any("chosen by results" in note for note in by_results.json["notes"])


def test_a_dataset_without_what_the_expression_reads_is_neither_what_fits_nor_the_rest(
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
        *SAMPLE,
        "--by",
    )
    answer = embedlab(*words, "length<4")
    assert {name for name, _ in rows(answer.out)} == {"sts12/fits", "sts12/rest"}
    assert "left out, without 'length<4': cr" in answer.err
    assert "no property named 'negatio'" in embedlab(*words, "negatio").err


def test_the_dataset_of_all_rows_is_in_the_title_and_those_of_several_in_the_rows(
    embedlab: Embedlab,
) -> None:
    alone = embedlab("compare", "dice", "--task", "sts12", "--by", "source", "--data", "tiny").out
    assert alone.startswith("Spearman x 100 on sts12, all")
    assert " MSRpar " in alone
    assert "sts12 MSRpar" not in alone
    evaluated = embedlab(
        "evaluate", "dice", "--task", "sts12", "--by", "length>3", "--data", "tiny"
    ).out
    assert evaluated.startswith("Spearman x 100 on sts12, all")
    assert " yes " in evaluated
    both = embedlab(
        "compare", "dice", "--task", "sts12", "--task", "sts13", "--by", "source", "--data", "tiny"
    ).out
    assert both.startswith("Spearman x 100, all")
    assert re.search(r"^ sts12 +MSRpar ", both, re.MULTILINE)
    whole = embedlab("compare", "dice", "--task", "sts12", "--data", "tiny").out
    assert " on sts12" not in whole


def test_a_selection_by_its_name_is_shown_beside_the_rest_of_each_dataset(
    embedlab: Embedlab,
) -> None:
    assert (
        embedlab(
            "pairs", "dice", "--where", "dice>0.5", "--name", "alike", "--limit", "1", *SAMPLE
        ).code
        == 0
    )
    words = ("dice", "--task", "sts12", *SAMPLE)
    for command in ("compare", "evaluate"):
        typed, named = (
            embedlab(command, *words, *own)
            for own in (("--where", "dice>0.5", "--json"), ("--selection", "alike", "--json"))
        )
        scores = {name: row["score"] for name, row in rows(typed.out).items()}
        assert [name for name, _ in scores] == ["sts12", "sts12/rest"]
        assert {name: row["score"] for name, row in rows(named.out).items()} == scores
    both = embedlab("compare", "dice", "--task", "sts12", "--by", "dice>0.5", *SAMPLE, "--json")
    assert [*scores.values()] == [row["score"] for row in rows(both.out).values()]


def test_two_properties_typed_one_by_one_are_crossed(embedlab: Embedlab) -> None:
    words = ("compare", "dice", "--task", "sts12", *SAMPLE, "--json", "--by", "negation")
    one, two = embedlab(*words), embedlab(*words, "--by", "words:2")
    counts = {name: row["items"] for (name, _), row in rows(one.out).items()}
    crossed = {name: row["items"] for (name, _), row in rows(two.out).items()}
    for name, count in counts.items():
        assert {f"{name}/words-half-{half}" for half in (1, 2)} <= {*crossed}
        assert sum(items for own, items in crossed.items() if own.startswith(f"{name}/")) == count


def test_a_file_of_scores_that_cannot_be_read_is_the_only_error(embedlab: Embedlab) -> None:
    Path("mine.csv").write_text("pair,mine\n1,0.5\n")
    answer = embedlab("compare", "scores:mine.csv", "dice", *SAMPLE)
    assert answer.code == 3
    assert answer.err.startswith(
        "embedlab: error: mine.csv: no column 'sentence1'; it has pair, mine\nhint: "
    )
    assert answer.err.count("error") == 1


def test_what_models_read_that_only_their_statement_names_is_said_to_be_unknown(
    embedlab: Embedlab, tmp_path: Path
) -> None:
    pairs = tmp_path / "pairs.csv"
    rows_of = [f"a cat {number} sat,a dog {number % 7} ran,{number % 6}" for number in range(30)]
    pairs.write_text("\n".join(["sentence1,sentence2,score", *rows_of, ""]))
    words = ("compare", "dice", "wordllama", str(pairs))
    for chosen in (("--unseen",), ("--where", "-trained:*")):
        said = embedlab(*words, *chosen)
        assert said.code == 0, said.err
        assert "training text that is not at hand: wordllama: what it, or the encoder" in said.err
        assert "nothing is left out: all" not in said.err
