"""What the words of a pair do, in its details: each left out on its own, against ranks computed one
by one with scipy.
"""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import percentileofscore

from embedlab.tui.app import Dashboard
from embedlab.tui.key_table import shown_key
from embedlab.tui.pair_table.scorer import ScorerProcess, TypedScore
from embedlab.tui.pairs.pair_detail import PairDetail
from embedlab.tui.pairs.screen import PairsScreen
from embedlab.tui.pairs.what_if import RankedModel, WhatIf
from embedlab.tui.pairs.what_if_screen import WhatIfScreen
from embedlab.tui.pairs.word_effects import PairWords, next_view
from embedlab.tui.pairs.word_lines import word_lines
from tests.tui.driving import NARROW, Open, on_top, until

REFERENCE = np.linspace(0, 1, 201)
PAIR = WhatIf(
    sentences=("A cat sleeps.", "no dog"),
    dataset="pets",
    models=tuple(RankedModel(name=name, reference=REFERENCE) for name in ("near", "far", "other")),
)
NEAR = [0.6, 0.6, 0.2, 0.5, 0.8, 0.1]  # whole; without A, cat, sleeps; without no, dog
FAR = [0.5, 0.5, 0.5, 0.5, 0.1, 0.5]


def filled(view: str = "difference") -> PairWords:
    return (
        PairWords.of(PAIR, ["near", "far"], view)
        .with_similarities("near", NEAR)
        .with_similarities("far", FAR)
    )  # type: ignore[arg-type]


def rank(similarity: float) -> float:
    return float(percentileofscore(REFERENCE, similarity, kind="mean"))


def test_variants_leave_out_one_word_of_one_sentence() -> None:
    assert PairWords.of(PAIR, ["near"], "A").variants == [
        ("A cat sleeps.", "no dog"),
        ("cat sleeps.", "no dog"),
        ("A sleeps.", "no dog"),
        ("A cat .", "no dog"),
        ("A cat sleeps.", "dog"),
        ("A cat sleeps.", "no"),
    ]


def test_an_effect_is_the_rank_that_is_lost_without_the_word_and_a_difference_is_b_minus_a() -> (
    None
):
    lost = {
        "near": [rank(NEAR[0]) - rank(one) for one in NEAR[1:]],
        "far": [rank(FAR[0]) - rank(one) for one in FAR[1:]],
    }
    difference = np.subtract(lost["far"], lost["near"])
    for view, expected in (("A", lost["near"]), ("B", lost["far"]), ("difference", difference)):
        effects = filled(view).effects
        assert effects is not None
        assert [len(one) for one in effects] == [3, 2]
        assert np.concatenate(effects) == pytest.approx(expected)
    assert filled().whole == pytest.approx(rank(0.5) - rank(0.6))
    assert filled("B").whole == pytest.approx(rank(0.5))


def test_a_difference_waits_for_both_models_and_one_of_them_can_be_seen_before() -> None:
    half = PairWords.of(PAIR, ["near", "far"], "difference").with_similarities("far", FAR)
    assert half.effects is None
    assert half.whole is None
    assert "leaving out each word" in str(word_lines(half, 60))
    assert str(word_lines(half, 60)).endswith("A cat sleeps.\nno dog")


def test_a_model_without_ranks_says_why() -> None:
    bare = WhatIf(sentences=PAIR.sentences, dataset="pets", models=(RankedModel(name="bare"),))
    words = PairWords.of(bare, ["bare"], "A").with_similarities("bare", NEAR)
    assert "bare has no scores of any pairs" in str(word_lines(words, 60))
    unscored = PairWords.of(PAIR, ["near"], "A").with_similarities(
        "near", [0.5, float("nan"), 0, 0, 0, 0]
    )
    assert "near gives no score of some variants" in str(word_lines(unscored, 60))


def test_words_have_their_number_below_them_with_its_sign_and_quiet_ones_have_none() -> None:
    title, first, below, second, under, legend = str(word_lines(filled(), 60)).splitlines()
    assert title == f"B far - A near: -10.0 · {shown_key('words')}: A"
    assert [first.split(), below.split()] == [["A", "cat", "sleeps."], ["-40", "-10"]]
    assert [below.index("-40"), below.index("-10")] == [first.index("cat"), first.index("sleeps.")]
    assert [second.split(), under.split()] == [["no", "dog"], ["+60", "-50"]]
    assert "+ brings together more under B" in legend


def test_lines_fit_their_width_and_lose_no_word() -> None:
    text = str(word_lines(filled(), 10))
    lines = text.splitlines()[1:-1]
    assert max(map(len, lines)) <= 11  # and the blank behind a word
    assert [line.split() for line in lines] == [
        ["A", "cat"],
        ["-40"],
        ["sleeps."],
        ["-10"],
        ["no", "dog"],
        ["+60", "-50"],
    ]


def test_a_strong_effect_is_underlined_in_the_colour_of_its_sign_and_a_quiet_word_is_plain() -> (
    None
):
    content = word_lines(filled(), 60)
    styles = {content.plain[span.start : span.end]: str(span.style) for span in content.spans}
    assert styles["cat"] == "$text-error bold underline"
    assert styles["no"] == "$text-success bold underline"
    assert "A" not in styles


def test_views_go_round_and_one_model_has_one() -> None:
    views: list[object] = [None]
    for _ in range(4):
        views.append(next_view(views[-1], 2))  # type: ignore[arg-type]
    assert views == [None, "difference", "A", "B", None]
    assert [next_view(None, 1), next_view("A", 1), next_view("B", 1)] == ["A", None, "A"]


def words_of(app: object) -> PairWords | None:
    assert isinstance(app, Dashboard)
    pair = app.screen.query_one(PairDetail).pair
    return pair.words if pair is not None else None


def shown(app: object) -> str:
    assert isinstance(app, Dashboard)
    return str(app.screen.query_one("#pair-sentences").render())


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[tuple[str, str]]]:
    """What the scorer is sent: it answers with a similarity that falls with the characters that a
    pair lacks.
    """
    sent: list[Sequence[tuple[str, str]]] = []

    async def answers(self: ScorerProcess, pairs: Sequence[tuple[str, str]], models: Sequence[str]):  # noqa: ANN202
        sent.append(pairs)
        longest = sum(map(len, pairs[0]))
        for number, name in enumerate(models, start=1):
            similarities = [
                0.6 - 0.02 * number * (longest - len(one) - len(two)) for one, two in pairs
            ]
            yield TypedScore(number=len(sent), model=name, similarities=similarities)

    monkeypatch.setattr(ScorerProcess, "answers", answers)
    return sent


async def test_a_key_goes_from_the_difference_to_a_to_b_and_back_and_scores_once(
    opened: Open, requests: list[Sequence[tuple[str, str]]]
) -> None:
    async with opened(size=NARROW) as pilot:
        await until(pilot, lambda: bool(shown(pilot.app)))
        before = shown(pilot.app)
        await pilot.press(shown_key("words"))
        await until(
            pilot, lambda: (words := words_of(pilot.app)) is not None and words.effects is not None
        )
        words = words_of(pilot.app)
        assert words is not None
        names = [model.name for model in words.models]
        assert names[0] == pilot.app.reference(names)
        assert f"B {names[1]} - A {names[0]}" in shown(pilot.app)
        for view in ("A", "B"):
            await pilot.press(shown_key("words"))
            assert words_of(pilot.app).view == view
        assert f"B {names[1]}: rank" in shown(pilot.app)
        assert len(requests) == 1
        await pilot.press(shown_key("words"))
        assert words_of(pilot.app) is None
        assert shown(pilot.app) == before


async def test_the_effects_follow_the_cursor_and_return_after_what_if(
    opened: Open, requests: list[Sequence[tuple[str, str]]]
) -> None:
    async with opened() as pilot:
        await pilot.press(shown_key("words"), "j")
        row = pilot.app.selected.view.data.table.row(
            int(pilot.app.selected.view.rows()[1]), named=True
        )
        await until(
            pilot, lambda: requests and requests[-1][0] == (row["sentence1"], row["sentence2"])
        )
        await until(
            pilot, lambda: (words := words_of(pilot.app)) is not None and words.effects is not None
        )
        count = len(requests)
        await pilot.press(shown_key("what_if"))
        await on_top(pilot, WhatIfScreen)
        await pilot.press("escape")
        await on_top(pilot, PairsScreen)
        assert words_of(pilot.app).effects is not None
        assert len(requests) == count
        await pilot.press("j")
        await until(
            pilot, lambda: len(requests) > count and words_of(pilot.app).effects is not None
        )


async def test_what_is_not_answered_yet_is_requested_again_after_what_if(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []

    async def answers(self: ScorerProcess, pairs: Sequence[tuple[str, str]], models: Sequence[str]):  # noqa: ANN202
        sent.append(len(pairs))
        if len(sent) == 1:
            await asyncio.Event().wait()  # until it is cancelled
        for name in models:
            yield TypedScore(number=1, model=name, similarities=[0.5] * len(pairs))

    monkeypatch.setattr(ScorerProcess, "answers", answers)
    async with opened() as pilot:
        await pilot.press(shown_key("words"))
        await until(pilot, lambda: sent)
        await pilot.press(shown_key("what_if"))
        await on_top(pilot, WhatIfScreen)
        await pilot.press("escape")
        await until(pilot, lambda: (words := words_of(pilot.app)) is not None and words.is_complete)
        assert len(sent) == 2


async def test_the_process_answers_what_was_requested_of_it(opened: Open) -> None:
    async with opened() as pilot:
        pairs = [("a cat sleeps", "a dog sleeps"), ("a cat", "a cat")]
        found = [
            score async for score in pilot.app.scorer_process.answers(pairs, ["dice", "no-such"])
        ]
    assert [score.model for score in found] == ["dice", "no-such"]
    assert found[0].similarities == pytest.approx([2 / 3, 1])
    assert found[1].similarity is None
    assert "no-such" in found[1].error
