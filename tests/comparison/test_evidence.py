"""The evidence of outcomes beside scipy and scikit-learn on the same items, for every kind of task
in one frame.
"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from embedlab.analysis.evidence import Evidence
from embedlab.analysis.near_duplicates import Links, NearDuplicates
from embedlab.choices import Aggregate
from embedlab.comparison.evidence import CHOSEN, outcome_evidence, slices_of
from embedlab.core.errors import UsageError
from embedlab.core.note import kind_of
from embedlab.outcomes.frame import ROWS, Block, Outcomes, joined_outcomes
from embedlab.outcomes.selection import select_items
from embedlab.scoring.training_text import keyed_items

metrics = pytest.importorskip("sklearn.metrics")

MEMBERS = ("good", "bad")
MODELS = {name: (name,) for name in MEMBERS}


def made_pairs(dataset: str, count: int, seed: int) -> Outcomes:
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 11, count) / 2
    # The sentences of row n share (7 n mod 10) of their words.
    first = [
        f"{'not ' * (n % 3 == 0)}{' '.join(f'w{n}x{k}' for k in range(10))}" for n in range(count)
    ]
    second = [
        " ".join(f"w{n}x{k}" if k < 7 * n % 10 else f"v{n}x{k}" for k in range(10))
        for n in range(count)
    ]
    texts = pl.DataFrame({"sentence1": first, "sentence2": second})
    rows = {
        "block": [0] * count,
        "item": range(count),
        "gold": gold,
        "first_text": np.arange(count) + 10_000 * seed,
        "second_text": np.arange(count) + 10_000 * seed + 5_000,
        "source": [["x", "y", "z"][n % 3] for n in range(count)],
    }
    return Outcomes(
        rows=pl.DataFrame(rows, schema=ROWS),
        predictions=pl.DataFrame(
            {"good": gold + rng.normal(size=count), "bad": gold + rng.normal(scale=4, size=count)}
        ),
        blocks=(
            Block(
                task="sts", suite="sts", dataset=dataset, measures=("spearman",), is_aggregated=True
            ),
        ),
        sentences=texts,
        averages={"sts": {"mean of two": ("first", "second")}},
    )


def made_items(count: int, seed: int) -> Outcomes:
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 2, count)
    rows = {
        "block": [0] * count,
        "item": range(count),
        "gold": gold,
        "first_text": np.arange(count),
        "second_text": np.arange(count),
        "source": [None] * count,
    }
    texts = pl.DataFrame(
        {"sentence1": [f"s{n}" for n in range(count)], "sentence2": [None] * count},
        schema_overrides={"sentence2": pl.String},
    )
    return Outcomes(
        rows=pl.DataFrame(rows, schema=ROWS),
        predictions=pl.DataFrame(
            {
                "good": np.where(rng.random(count) < 0.1, 1 - gold, gold).astype(float),
                "bad": rng.integers(0, 2, count).astype(float),
            }
        ),
        blocks=(
            Block(
                task="transfer",
                suite="transfer",
                dataset="mrpc",
                measures=("accuracy", "f1"),
                classes=("0", "1"),
            ),
        ),
        sentences=texts,
    )


@pytest.fixture
def outcomes() -> Outcomes:
    return joined_outcomes(
        [
            joined_outcomes([made_pairs("first", 90, 1), made_pairs("second", 60, 2)]),
            made_items(80, 3),
        ]
    )


def evidence(
    outcomes: Outcomes, by: str = "dataset", common: bool = False, where: str = ""
) -> dict[str, Evidence]:
    selection = select_items(outcomes, where, MODELS) if where else None
    parts = slices_of(outcomes, MEMBERS, by=by, selection=selection, common=common)
    found = outcome_evidence(
        outcomes, MEMBERS, parts, is_chosen=selection is not None and selection.is_by_results
    )
    return {one.key: one for one in found}


def gold_and(outcomes: Outcomes, member: str, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return outcomes.rows["gold"].to_numpy()[rows], outcomes.predictions[member].to_numpy()[rows]


def test_each_measure_of_each_dataset_is_that_of_another_library(outcomes: Outcomes) -> None:
    found = evidence(outcomes)
    assert list(found) == ["first", "second", "mean of two", "mrpc", "mrpc f1"]
    rows = {"first": np.arange(90), "second": np.arange(90, 150), "mrpc": np.arange(150, 230)}
    for place, member in enumerate(MEMBERS):
        first, second = (
            spearmanr(*gold_and(outcomes, member, rows[name])).statistic
            for name in ("first", "second")
        )
        assert found["first"].points[place] == pytest.approx(first)
        assert found["mean of two"].points[place] == pytest.approx((first + second) / 2)
        gold, predicted = gold_and(outcomes, member, rows["mrpc"])
        assert found["mrpc"].points[place] == pytest.approx(metrics.accuracy_score(gold, predicted))
        assert found["mrpc f1"].points[place] == pytest.approx(metrics.f1_score(gold, predicted))


def test_slices_by_a_property_are_ranked_anew_within_each(outcomes: Outcomes) -> None:
    found = evidence(outcomes, "negation")
    assert list(found)[:2] == ["first/negation=none", "first/negation=one"]
    negated = np.flatnonzero(np.arange(90) % 3 == 0)
    assert found["first/negation=one"].items == len(negated)
    for place, member in enumerate(MEMBERS):
        expected = spearmanr(*gold_and(outcomes, member, negated)).statistic
        assert found["first/negation=one"].points[place] == pytest.approx(expected)


@pytest.mark.parametrize("aggregate", ["mean", "wmean"])
def test_sources_are_put_together_where_items_name_them(aggregate: str, outcomes: Outcomes) -> None:
    found = {one.key: one for one in outcome_evidence(outcomes, MEMBERS, aggregate=aggregate)}  # type: ignore[arg-type]
    each = [
        spearmanr(*gold_and(outcomes, "bad", np.arange(start, 90, 3))).statistic
        for start in range(3)
    ]
    assert found["first"].points[1] == pytest.approx(
        np.mean(each)
    )  # of equal sizes: both means are one
    assert found["mrpc"].points[1] == pytest.approx(
        metrics.accuracy_score(*gold_and(outcomes, "bad", np.arange(150, 230)))
    )


def test_a_member_that_lacks_an_item_has_no_score_and_costs_the_others_none(
    outcomes: Outcomes,
) -> None:
    holes = replace(
        outcomes,
        predictions=outcomes.predictions.with_columns(
            bad=pl.when(pl.int_range(pl.len()) != 5).then("bad")
        ),
    )
    whole = evidence(outcomes)
    found = evidence(holes)
    assert np.isnan(found["first"].points[1])
    assert found["first"].points[0] == whole["first"].points[0]
    assert found["first"].notes == ("no number of bad: 89 of 90 items scored",)
    common = evidence(holes, common=True)
    rows = np.delete(np.arange(90), 5)
    assert common["first"].title == "first, 89 of 90"
    for place, member in enumerate(MEMBERS):
        assert common["first"].points[place] == pytest.approx(
            spearmanr(*gold_and(outcomes, member, rows)).statistic
        )


def test_a_selection_is_scored_on_its_items_alone_and_cuts_no_fifths_anew(
    outcomes: Outcomes,
) -> None:
    found = evidence(outcomes, where="gold>2 dataset:first")["first"]
    rows = np.flatnonzero(outcomes.rows["gold"].to_numpy()[:90] > 2)
    assert found.items == len(rows)
    assert found.points[1] == pytest.approx(spearmanr(*gold_and(outcomes, "bad", rows)).statistic)
    assert found.rows is not None
    selection = select_items(outcomes, "gold>2", MODELS)
    chosen = {
        part.key: part.rows for part in slices_of(outcomes, MEMBERS, by="dice", selection=selection)
    }
    whole = {part.key: part.rows for part in slices_of(outcomes, MEMBERS, by="dice")}
    assert len(chosen) == len(whole) == 10
    for key, own in chosen.items():
        assert own.tolist() == whole[key][selection.holds[whole[key]]].tolist()


def test_a_selection_by_results_has_scores_and_no_items_to_test(outcomes: Outcomes) -> None:
    found = list(evidence(outcomes, where="good>3").values())
    assert found
    for one in found:
        assert one.rows is None
        assert one.notes[-1] == CHOSEN


def test_what_makes_a_correlation_undefined_is_said(outcomes: Outcomes) -> None:
    flat = replace(outcomes, predictions=outcomes.predictions.with_columns(bad=pl.lit(0.5)))
    found = evidence(flat)
    assert "no number of bad: all its pairs have the same similarity" in found["first"].notes
    assert np.isnan(found["first"].points[1])
    one_gold = evidence(replace(outcomes, rows=outcomes.rows.with_columns(gold=pl.lit(1.0))))
    assert one_gold["second"].notes == ("no number: all gold scores are 1",)


def test_a_property_that_no_item_has_is_refused(outcomes: Outcomes) -> None:
    with pytest.raises(UsageError, match="has the property 'label'"):
        evidence(
            replace(
                outcomes, blocks=tuple(replace(block, classes=()) for block in outcomes.blocks)
            ),
            "label",
        )


def test_a_pair_of_equal_words_is_still_a_pair(outcomes: Outcomes) -> None:
    pairs, _, items = slices_of(outcomes, MEMBERS)
    assert keyed_items(outcomes, pairs).width == 2
    assert keyed_items(outcomes, items).width == 1


def test_nearly_equal_sentences_of_a_block_are_of_one_topic() -> None:
    outcomes = made_pairs("first", 90, seed=1)
    texts = outcomes.rows["first_text"].to_numpy()
    first, second = np.array([0, 4, 6], np.int32), np.array([1, 5, 80], np.int32)
    near = NearDuplicates(
        ids=texts,
        links=Links(first=first, second=second, cosine=np.array([0.9, 0.8, 0.7], np.float32)),
    )
    known = replace(
        outcomes, blocks=tuple(replace(block, near=lambda: near) for block in outcomes.blocks)
    )
    apart, joined = (outcome_evidence(one, MEMBERS)[0].rows for one in (outcomes, known))
    assert apart is not None
    assert joined is not None
    assert apart.topics.count - joined.topics.count == 3
    assert joined.row_topics[6] == joined.row_topics[80]


def test_an_average_is_given_where_all_of_its_datasets_are_and_over_none_there_is_no_average(
    outcomes: Outcomes,
) -> None:
    averages = {
        "sts": {
            "of two": ("second", "first"),
            "of one": ("second",),
            "of none": (),
            "of more": ("first", "third"),
        }
    }
    found = evidence(replace(outcomes, averages=averages))
    assert [key for key in found if key.startswith("of")] == ["of two", "of one"]
    assert found["of two"].points == pytest.approx(
        (found["first"].points + found["second"].points) / 2
    )
    assert found["of one"].points == pytest.approx(found["second"].points)


def test_the_sources_of_a_part_of_a_dataset_are_never_put_together(outcomes: Outcomes) -> None:
    parts = slices_of(outcomes, MEMBERS, by="negation")
    found = {one.key: one for one in outcome_evidence(outcomes, MEMBERS, parts, aggregate="mean")}
    negated = np.flatnonzero(np.arange(90) % 3 == 0)
    none = np.flatnonzero(np.arange(90) % 3 > 0)  # of two sources
    for key, rows in (("first/negation=one", negated), ("first/negation=none", none)):
        assert found[key].points[1] == pytest.approx(
            spearmanr(*gold_and(outcomes, "bad", rows)).statistic
        )
    settings = {
        one.key: one.setting
        for one in outcome_evidence(
            outcomes, MEMBERS, [*slices_of(outcomes, MEMBERS), *parts], aggregate="mean"
        )
    }
    assert {key: settings[key] for key in ("first", "second", "mrpc")} == {
        "first": "mean",
        "second": "mean",
        "mrpc": None,
    }
    assert {settings[part.key] for part in parts} == {"all", None}
    assert settings["first/negation=one"] == "all"


def test_items_that_people_did_not_score_are_left_out_with_a_note(outcomes: Outcomes) -> None:
    gold = pl.when(~pl.int_range(pl.len()).is_in([0, 7, 150])).then("gold")
    holes = replace(outcomes, rows=outcomes.rows.with_columns(gold=gold))
    found = evidence(holes)
    assert found["first"].notes == ("2 of 90 items left out, not scored by people",)
    assert found["mrpc"].notes == ("1 of 80 items left out, not scored by people",)
    assert found["second"].notes == ()
    assert [found[key].items for key in ("first", "second", "mrpc")] == [88, 60, 79]
    assert found["first"].points[1] == pytest.approx(
        spearmanr(*gold_and(outcomes, "bad", np.delete(np.arange(90), [0, 7]))).statistic
    )


@pytest.mark.parametrize("aggregate", ["mean", "wmean"])
def test_a_dataset_without_any_gold_score_says_that_alone(
    aggregate: Aggregate, outcomes: Outcomes
) -> None:
    none = replace(
        outcomes, rows=outcomes.rows.with_columns(gold=pl.when(pl.col("block") != 0).then("gold"))
    )
    found = {one.key: one for one in outcome_evidence(none, MEMBERS, aggregate=aggregate)}
    assert not any(note.startswith(f"no {aggregate}: ") for note in found["first"].notes)
    assert "90 of 90 items left out, not scored by people" in found["first"].notes
    nameless = replace(
        outcomes, rows=outcomes.rows.with_columns(source=pl.lit(None, dtype=pl.String))
    )
    notes = {one.key: one.notes for one in outcome_evidence(nameless, MEMBERS, aggregate=aggregate)}
    assert f"no {aggregate}: its items name no source" in notes["first"]
    assert notes["mrpc"] == ()


def test_a_source_of_equal_scores_is_named(outcomes: Outcomes) -> None:
    in_y = pl.col("source") == "y"
    flat = replace(
        outcomes,
        rows=outcomes.rows.with_columns(
            gold=pl.when(in_y & (pl.col("block") == 0)).then(2.0).otherwise("gold")
        ),
    )
    found = {one.key: one for one in outcome_evidence(flat, MEMBERS, aggregate="mean")}
    assert found["first"].notes == ("no number: all gold scores are 2 in source 'y'",)
    assert np.isnan(found["first"].points).all()
    assert found["second"].notes == ()
    row = pl.int_range(pl.len())
    equal = pl.when((row < 90) & (row % 3 == 1)).then(0.5).otherwise("bad")
    notes = outcome_evidence(
        replace(outcomes, predictions=outcomes.predictions.with_columns(bad=equal)),
        MEMBERS,
        aggregate="mean",
    )[0].notes
    assert notes == ("no number of bad: all its pairs have the same similarity in source 'y'",)


def test_similarities_that_differ_by_rounding_are_doubted(outcomes: Outcomes) -> None:
    nearly = 1 - pl.int_range(pl.len()) % 7 * 2e-7
    predictions = outcomes.predictions.with_columns(bad=nearly)
    (note,) = outcome_evidence(replace(outcomes, predictions=predictions), MEMBERS)[0].notes
    assert note == "the similarities of bad hardly differ: rounding orders them"
    assert kind_of(note) == "doubted"


def test_equal_predicted_classes_are_a_result_like_any_other(outcomes: Outcomes) -> None:
    flat = replace(outcomes, predictions=outcomes.predictions.with_columns(bad=pl.lit(1.0)))
    found = evidence(flat)
    assert found["mrpc"].notes == ()
    assert found["mrpc"].points[1] == pytest.approx(outcomes.rows["gold"].to_numpy()[150:].mean())


def test_each_slice_is_reported_when_it_is_done(outcomes: Outcomes) -> None:
    seen: list[tuple[int, int]] = []
    parts = slices_of(outcomes, MEMBERS, by="negation")
    outcome_evidence(
        outcomes, MEMBERS, parts, progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(number + 1, len(parts)) for number in range(len(parts))]


def test_averages_over_datasets_are_over_whole_ones_alone(outcomes: Outcomes) -> None:
    assert "mean of two" not in evidence(outcomes, "negation")
    assert "mean of two" not in evidence(outcomes, "source")


def test_the_two_sides_of_a_selection_are_slices(outcomes: Outcomes) -> None:
    parts = slices_of(outcomes, MEMBERS, by=select_items(outcomes, "gold>2", MODELS))
    assert [part.key for part in parts] == [
        "first/fits",
        "first/rest",
        "second/fits",
        "second/rest",
    ]
    gold = outcomes.rows["gold"].to_numpy()
    assert parts[0].rows.tolist() == [row for row in range(90) if gold[row] > 2]
    assert parts[1].rows.tolist() == [row for row in range(90) if gold[row] <= 2]


def test_slices_that_a_selection_leaves_empty_are_none_and_notes_on_whole_slices_are_dropped(
    outcomes: Outcomes,
) -> None:
    parts = slices_of(
        outcomes, MEMBERS, by="dice", selection=select_items(outcomes, "dice>0.85", MODELS)
    )
    assert parts
    assert all(len(part.rows) for part in parts)
    labelled = slices_of(
        outcomes, MEMBERS, by="source", selection=select_items(outcomes, "label:1", MODELS)
    )
    assert [(part.key, part.notes) for part in labelled] == [("mrpc", ())]
    assert slices_of(outcomes, MEMBERS, by="source")[-1].notes == ("it names no source",)


@pytest.mark.parametrize("name", ["", "mean of both"])
def test_an_average_over_different_measures_is_called_as_its_suite_says(
    name: str, outcomes: Outcomes
) -> None:
    first, second, items = outcomes.blocks
    blocks = (first, replace(second, measures=("pearson",)), items)
    mixed = (
        {"sts": name, "transfer": "of another suite"} if name else {"transfer": "of another suite"}
    )
    assert evidence(replace(outcomes, blocks=blocks, mixed_metrics=mixed))[
        "mean of two"
    ].metric == (name or "mean")
    assert evidence(replace(outcomes, mixed_metrics=mixed))["mean of two"].metric == "spearman"
