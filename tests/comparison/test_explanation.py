"""What is known of the difference between two models, beside each part computed alone."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from embedlab.analysis.evidence import member_columns
from embedlab.comparison import explanation as tested
from embedlab.comparison.evidence import item_topics, outcome_evidence, slices_of
from embedlab.comparison.explanation import FEWEST, Explanation
from embedlab.comparison.sides import sides_of, typical
from embedlab.comparison.uneven import item_kinds
from embedlab.core.session import StartProgress, unseen
from embedlab.outcomes.frame import ROWS, Block, Outcomes, joined_outcomes
from embedlab.outcomes.selection import ItemSelection
from tests.comparison.planted import MODELS, made_pairs


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    """Pairs and two models, each of which is alone right on dozens of them."""
    return made_pairs(500, 1, noise=2.0)


@pytest.fixture
def _without_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out where the difference sits, which takes longest and has tests of its own."""
    monkeypatch.setattr(tested, "where_they_differ", lambda *_: [])
    monkeypatch.setattr(tested, "search_combinations", lambda *_: None)


def explained(
    outcomes: Outcomes,
    selection: ItemSelection | None = None,
    examples: int = 5,
    progress: StartProgress = unseen,
) -> Explanation:
    members = member_columns(MODELS)
    whole = outcome_evidence(outcomes, members, slices_of(outcomes, members, selection=selection))
    return tested.explained(
        outcomes,
        MODELS,
        whole,
        selection,
        rng=np.random.default_rng(0),
        examples=examples,
        progress=progress,
    )


def selected(holds: np.ndarray) -> ItemSelection:
    return ItemSelection(expression="made", holds=holds, is_by_results=False, lacking=())


def lead(outcomes: Outcomes, rows: np.ndarray) -> float:
    gold = outcomes.rows["gold"].to_numpy()[rows]
    first, second = (
        spearmanr(gold, outcomes.predictions[name].to_numpy()[rows]).statistic
        for name in ("first", "second")
    )
    return float(second - first)


def facts_of(found: Explanation, side: int) -> dict[tuple[str, str], tuple[int, float, float]]:
    return {
        (one.by, one.title): (one.items, one.share, one.elsewhere)
        for one in found.sides[side].common
    }


def counted(holds: np.ndarray, own: np.ndarray, among: np.ndarray) -> tuple[int, float, float]:
    """How often something holds on a side and on the other items, by counting."""
    return int((holds & own).sum()), float(holds[own].mean()), float(holds[among & ~own].mean())


@pytest.mark.usefixtures("_without_kinds")
@pytest.mark.parametrize("is_selected", [False, True])
def test_each_part_of_an_explanation_is_of_the_items_that_are_looked_at(
    is_selected: bool, outcomes: Outcomes
) -> None:
    long = np.array([text.count(" ") > 6 for text in outcomes.sentences["sentence1"]])
    among = long if is_selected else np.ones(500, dtype=bool)
    found = explained(outcomes, selected(among) if is_selected else None, examples=3)
    assert (found.first, found.second, found.items) == ("first", "second", among.sum())
    assert found.outcomes is outcomes
    assert found.whole.differences["second"].delta == pytest.approx(
        lead(outcomes, np.flatnonzero(among))
    )
    sides = sides_of(outcomes, ["first"], ["second"])
    assert all(
        np.array_equal(*both) for both in zip(found.errors.errors, sides.errors, strict=True)
    )
    is_question = np.array([text.endswith("?") for text in outcomes.sentences["sentence1"]])
    for place, (model, only) in enumerate({"first": sides.only_a, "second": sides.only_b}.items()):
        own = only & among
        side = found.sides[place]
        assert (side.model, side.items) == (model, own.sum())
        assert side.typical == tuple(typical(sides, own, item_topics(outcomes), 3))
        assert len(side.typical) == 3
        facts = facts_of(found, place)
        assert facts["question", "questions: one"] == pytest.approx(
            counted(is_question, own, among)
        )
        for number, name in enumerate(("first", "second")):
            assert facts["error", f"{name} too high"] == pytest.approx(
                counted(sides.errors[number] > 0, own, among)
            )
    assert found.steadiness == ()


def test_kinds_and_combinations_are_searched_with_what_was_given(
    outcomes: Outcomes, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = selected(np.arange(500) < 200)
    calls: dict[str, tuple[object, ...]] = {}
    for name in ("where_they_differ", "search_combinations"):
        monkeypatch.setattr(
            tested, name, lambda *words, name=name: [calls.update({name: words}), [name]][1]
        )
    found = explained(outcomes, few)
    assert found.uneven == ("where_they_differ",)
    assert found.search == ["search_combinations"]
    assert calls["where_they_differ"][:2] == (outcomes, MODELS)
    kinds = {(kind.by, kind.value): kind.rows.tolist() for kind in calls["where_they_differ"][2]}  # type: ignore[attr-defined]
    assert kinds == {
        (kind.by, kind.value): kind.rows.tolist() for kind in item_kinds(outcomes, few)
    }
    assert calls["search_combinations"][0] is outcomes
    assert np.array_equal(calls["search_combinations"][1], item_topics(outcomes))  # type: ignore[call-overload]
    assert calls["search_combinations"][2:4] == (MODELS, few)


@pytest.mark.usefixtures("_without_kinds")
@pytest.mark.parametrize("count", [FEWEST - 1, FEWEST])
def test_few_items_have_nothing_in_common(count: int, outcomes: Outcomes) -> None:
    only = np.flatnonzero(sides_of(outcomes, ["first"], ["second"]).only_a)
    holds = np.ones(500, dtype=bool)
    holds[only[count:]] = False
    found = explained(outcomes, selected(holds)).sides[0]
    assert found.items == count
    assert bool(found.common) == (count >= FEWEST) == (count >= 10)
    assert len(found.typical) == 5


@pytest.mark.usefixtures("_without_kinds")
def test_words_are_those_of_the_items_of_a_side_where_there_are_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = made_pairs(
        300,
        2,
        noise=0.3,
        damage=lambda table: (pl.lit(" ") + pl.col("sentence1") + " ").str.contains(" w7 "),
    )
    found = explained(own)
    assert found.sides[0].words[0].title == "word 'w7'"
    assert found.sides[1].words == ()
    monkeypatch.setattr(tested, "FEWEST", 300)
    assert explained(own).sides[0].words == ()


@pytest.mark.usefixtures("_without_kinds")
def test_the_whole_difference_is_the_mean_over_the_datasets_that_have_one(
    outcomes: Outcomes,
) -> None:
    other = made_pairs(100, 2)
    other = replace(other, blocks=(replace(other.blocks[0], dataset="other"),))
    constant = replace(made_pairs(30, 3), blocks=(replace(other.blocks[0], dataset="constant"),))
    constant = replace(constant, rows=constant.rows.with_columns(gold=pl.lit(2.0)))
    deltas = [lead(outcomes, np.arange(500)), lead(other, np.arange(100))]
    found = explained(joined_outcomes([outcomes, constant, other])).whole
    assert found.differences["second"].delta == pytest.approx(np.mean(deltas))
    alone = explained(joined_outcomes([constant, outcomes])).whole
    assert alone.differences["second"].delta == pytest.approx(deltas[0])
    assert alone.key == "made"


@pytest.mark.usefixtures("_without_kinds")
def test_of_classified_items_no_error_is_too_high() -> None:
    rng, rows = np.random.default_rng(4), 120
    gold = rng.integers(0, 2, rows)
    sentences = pl.DataFrame(
        {
            "sentence1": [f"s{n}" for n in range(rows)],
            "sentence2": pl.Series([None] * rows, dtype=pl.String),
        }
    )
    facts = {
        "block": [0] * rows,
        "item": range(rows),
        "gold": gold,
        "first_text": range(rows),
        "second_text": range(rows),
    }
    predictions = {
        name: np.where(rng.random(rows) < 0.3, 1 - gold, gold) for name in ("first", "second")
    }
    classified = Outcomes(
        rows=pl.DataFrame({**facts, "source": [None] * rows}, schema=ROWS),
        predictions=pl.DataFrame(predictions, schema=dict.fromkeys(predictions, pl.Float64)),
        blocks=(
            Block(
                task="transfer",
                suite="transfer",
                dataset="mr",
                measures=("accuracy",),
                classes=("no", "yes"),
            ),
        ),
        sentences=sentences,
    )
    found = explained(classified)
    right = [predictions[name] == gold for name in ("first", "second")]
    assert [side.items for side in found.sides] == [
        (right[0] & ~right[1]).sum(),
        (right[1] & ~right[0]).sum(),
    ]
    assert min(side.items for side in found.sides) >= FEWEST
    assert {by for side in (0, 1) for by, _ in facts_of(found, side)} == {"label"}


@pytest.mark.usefixtures("_without_kinds")
def test_a_dataset_on_which_one_of_the_models_has_no_number_is_not_in_the_whole(
    outcomes: Outcomes,
) -> None:
    flat = made_pairs(40, 2)
    flat = replace(
        flat,
        blocks=(replace(flat.blocks[0], dataset="flat"),),
        predictions=flat.predictions.with_columns(second=pl.lit(0.5)),
    )
    found = explained(joined_outcomes([outcomes, flat])).whole
    assert found.key == "made"
    assert found.differences["second"].delta == pytest.approx(lead(outcomes, np.arange(500)))
