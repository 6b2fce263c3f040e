"""What the dashboard lets other processes do: score a typed pair, score a model; here with real
ones.
"""

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest
from textual.widgets import Input, Static

from embedlab.core.settings import Settings
from embedlab.tui.pair_table.scorer import TypedScore
from embedlab.tui.pairs.what_if import RankedModel, WhatIf
from embedlab.tui.pairs.what_if_screen import WhatIfScreen
from embedlab.tui.widgets.activity import ActivityLine
from embedlab.tui.widgets.frame_table import FrameTable
from tests.tui.driving import Open, notices, until


async def test_an_edited_pair_is_ranked_by_each_model_beside_the_pair_itself_or_it_says_why_not(
    opened: Open,
) -> None:
    reference = np.array([0.1, 0.4, 0.5, 0.9])
    models = (
        RankedModel(name="dice", reference=reference, before=0.5),
        RankedModel(name="near", reference=reference, before=0.4),
    )
    async with opened() as pilot:
        pilot.app.push_screen(
            WhatIfScreen(
                WhatIf(sentences=("a cat sleeps", "a dog runs"), dataset="pets", models=models)
            )
        )
        await pilot.pause()
        pilot.app.screen.query_one("#second", Input).value = "a dog sleeps"
        scores, overlap = (
            pilot.app.screen.query_one(name, Static) for name in ("#typed-scores", "#typed-overlap")
        )
        await until(
            pilot, lambda: "Dice 0.667" in str(overlap.content)
        )  # the scores of the pair itself may have been there
        await until(pilot, lambda: "…" not in str(scores.content), patience_s=90)
        _, dice, near, note = str(scores.content).splitlines()
        assert dice.split()[:4] == [
            "dice",
            "0.667",
            "75.0",
            "+12.5",
        ]  # three of four are below; the pair itself ties with one
        assert "the run 'near' has no finished seed" in near  # it has scores, but no model
        assert "4 pairs of pets" in note
        process = pilot.app.scorer_process._process
    assert process.returncode is not None


async def test_a_score_that_arrives_while_its_screen_is_being_closed_ends_nothing(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    closing = asyncio.Event()

    class LateScorer:
        """A scorer whose answer comes when the parts of the screen are gone."""

        async def request(self, pairs: object, models: object) -> int:
            return 0

        async def scores(self) -> AsyncIterator[TypedScore]:
            await closing.wait()
            yield TypedScore(number=0, model="near", similarities=(0.5,))

        async def close(self) -> None:
            pass

    pair = WhatIf(
        sentences=("a cat sleeps", "a dog runs"),
        dataset="pets",
        models=(RankedModel(name="near", reference=np.array([0.1])),),
    )
    async with opened() as pilot:
        monkeypatch.setattr(pilot.app, "scorer_process", LateScorer())
        screen = WhatIfScreen(pair)
        await pilot.app.push_screen(screen)
        await screen.remove_children()
        closing.set()
        await until(pilot, lambda: screen.is_scored)
        await pilot.app.pop_screen()


async def test_a_model_without_scores_is_scored_beside_the_dashboard_and_then_shown(
    opened: Open, own_world: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDLAB_CACHE", str(own_world.cache))
    words = own_world.runs.parent / "words.txt"
    words.write_text("the 1 0 0\na 0 1 0\nis 0 0 1\n", encoding="utf-8")
    model = f"word-vectors:{words}"
    async with opened(own_world) as pilot:
        app, line = pilot.app, pilot.app.screen.query_one(ActivityLine)
        app.score_model(model)
        await until(
            pilot, lambda: line.display and "scoring word-vectors:words: " in str(line.content)
        )
        await until(
            pilot, lambda: model in [shown.name for shown in app.data.models], patience_s=90
        )
        await until(
            pilot,
            lambda: model in [column.key for column in app.screen.query_one(FrameTable).columns],
        )
        assert not line.display
        assert any(f"{model} is scored" in notice for notice in notices(app))


async def test_a_scoring_process_that_fails_is_reported_as_on_the_command_line(
    opened: Open, own_world: Settings
) -> None:
    (own_world.runs / "far" / "seed-1" / "model").mkdir()  # a model folder with nothing in it
    async with opened(own_world) as pilot:
        pilot.app.score_model("average:far,dice")
        await until(
            pilot, lambda: any("hint: " in notice for notice in notices(pilot.app)), patience_s=90
        )
