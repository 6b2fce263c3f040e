"""The items of other tasks in the dashboard: shown, filtered and compared as pairs are."""

import subprocess
import sys

import numpy as np
import pytest
from textual.widgets import Static

from embedlab.analysis.overlap import dice_of_rows
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.runs.outcomes import StoredOutcomes, items_frame
from embedlab.tasks.task import task as find_task
from embedlab.tui.compare.screen import CompareScreen
from embedlab.tui.pair_table.items import item_models, load_items
from embedlab.tui.pairs.columns import item_columns
from embedlab.tui.pairs.pair_detail import PairDetail
from embedlab.tui.pairs.screen import PairsScreen
from embedlab.tui.task_chooser import ChooseTask
from embedlab.tui.widgets.frame_table import FrameTable
from embedlab.tui.widgets.selection_line import SelectionLine
from tests.tui.driving import Open, on_top, type_text, until

RIGHT = {
    "near@1": 0.9,
    "near@2": 0.8,
    "far@1": 0.6,
}  # share of the items that a member answers as people do


def answered(settings: Settings, dataset: str, member: str, share: float) -> StoredOutcomes:
    """Answers of a member to the items of a classified dataset of `--data tiny`, a SHARE of them
    right.
    """
    [own] = find_task("transfer").items(Source.from_settings(settings), [dataset])
    rng = np.random.default_rng(len(member) + int(100 * share))
    labels = np.array(own.labels)
    others = np.array([next(one for one in own.classes if one != label) for label in labels])
    predicted = np.where(rng.random(len(labels)) < share, labels, others)
    return StoredOutcomes(
        task="transfer",
        dataset=dataset,
        split=own.split,
        model=member,
        fingerprint=member,
        data=(),
        marks=("generated",),
        classes=own.classes,
        items=items_frame(own.rows, labels.tolist(), predicted.tolist(), own.texts),
    )


def test_ranks_of_a_search_are_shown_as_ranks_beside_the_overlap_of_words(
    own_world: Settings,
) -> None:
    [own] = find_task("retrieval").items(Source.from_settings(own_world), ["retrieval-questions"])
    query = [str(number) for number in own.part.frame["sentence1"].rank("dense").to_list()]
    ranks = ["1", "12", *["inf"] * (len(query) - 2)]
    rows = items_frame(own.rows, query, ranks, own.texts)
    facts = {
        "split": own.split,
        "model": "dice",
        "fingerprint": "dice",
        "data": (),
        "marks": ("generated",),
        "classes": (),
    }
    found = StoredOutcomes(task="retrieval", dataset=own.dataset, items=rows, **facts)
    found.save(own_world.cache / "models" / "dice" / "evaluations")
    [model] = models = item_models(own_world)["retrieval"]
    data = load_items("retrieval", models, own_world)
    assert data.is_ranked
    assert data.table[f"answer:{model.name}"].to_list()[:3] == ["rank 1", "rank 12", "not found"]
    assert data.table[model.name].to_list()[:2] == [1, 12]
    overlap = dice_of_rows(data.table["sentence1"], data.table["sentence2"])
    assert (
        data.table["dice"].to_list() == overlap.to_list()
    )  # the model `dice` is a column of its own
    columns = {column.key: column for column in item_columns(data)}
    assert columns[model.name].digits == 0
    assert "gold" not in columns


@pytest.fixture
def item_world(own_world: Settings) -> Settings:
    """The world of tests with answers of two runs to the items of a transfer task."""
    for member, share in RIGHT.items():
        name, seed = member.split("@")
        answered(own_world, "cr", member, share).save(
            own_world.runs / name / f"seed-{seed}" / "evaluations"
        )
    return own_world


def test_items_are_rows_with_sentence_gold_and_each_models_answer(item_world: Settings) -> None:
    models = item_models(item_world)["transfer"]
    assert [(model.name, *model.files) for model in models] == [
        ("far", "far@1"),
        ("near", "near@1", "near@2"),
    ]
    data = load_items("transfer", models, item_world)
    [gold] = find_task("transfer").items(Source.from_settings(item_world), ["cr"])
    assert data.table["sentence1"].to_list() == gold.part.frame["sentence"].to_list()
    assert data.table["gold_text"].to_list() == list(gold.labels)
    stored = {
        member: answered(item_world, "cr", member, share).items["predicted"].to_list()
        for member, share in RIGHT.items()
    }
    for row, label in enumerate(gold.labels):
        right = [stored[f"near@{seed}"][row] == label for seed in (1, 2)]
        assert data.table["near"][row] == np.mean(right)
        is_right = stored["far@1"][row] == label
        assert data.table["answer:far"][row] == f"{'✓' if is_right else '✗'} {stored['far@1'][row]}"
        assert data.table["error(far)"][row] == (0 if is_right else 100)
    assert data.marks == ["generated"]


def test_answers_to_other_items_and_of_other_data_are_left_out_and_named(
    item_world: Settings,
) -> None:
    other = answered(item_world, "cr", "far@1", 0.5)
    changed = StoredOutcomes(**{**vars(other), "items": other.items.head(10)})
    changed.save(item_world.runs / "far" / "seed-1" / "evaluations")
    data = load_items("transfer", item_models(item_world)["transfer"], item_world)
    assert data.table["far"].count() == 0
    assert [error.message for error in data.troubles] == ["far@1 answered other items of cr"]
    texts = other.items.with_columns(other.items["first_text"] + 1)
    for member in RIGHT:
        name, seed = member.split("@")
        stale = StoredOutcomes(**{**vars(answered(item_world, "cr", member, 0.5)), "items": texts})
        stale.save(item_world.runs / name / f"seed-{seed}" / "evaluations")
    data = load_items("transfer", item_models(item_world)["transfer"], item_world)
    assert data.table.is_empty()
    assert any(
        "the data of cr are not those that were answered" in error.message
        for error in data.troubles
    )


def test_items_are_read_compared_and_explained_without_torch(item_world: Settings) -> None:
    program = f"""
import sys
from pathlib import Path
from embedlab.analysis.overlap import dice_of_rows
from embedlab.core.settings import Settings
from embedlab.tui.pair_table.items import item_models, load_items
from embedlab.tui.pair_table.numbers import count_selection, score_selection
from embedlab.tui.pair_table.view import PairView
from embedlab.tui.why.model import find_reasons
from embedlab.core.paths import TINY_FOLDER
settings = Settings(data=TINY_FOLDER, cache=Path({str(item_world.cache)!r}), runs=Path({str(item_world.runs)!r}))
view = PairView(data=load_items("transfer", item_models(settings)["transfer"], settings))
assert score_selection(view, count_selection(view), "far", is_tested=True).score is not None
assert find_reasons(view, "far", "near", settings).panes["where"].rows
print([name for name in ("torch", "transformers", "datasets", "accelerate") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr


async def test_items_are_browsed_filtered_and_compared_as_pairs_are(
    opened: Open, item_world: Settings
) -> None:
    async with opened(item_world) as pilot:
        app = pilot.app
        await pilot.press("I")
        await on_top(pilot, ChooseTask)
        await pilot.press("j", "enter")
        pairs = await on_top(pilot, PairsScreen)
        await until(pilot, lambda: app.data.task == "transfer")
        table = pairs.query_one(FrameTable)
        await until(
            pilot,
            lambda: (
                [column.key for column in table.columns[:4]]
                == ["sentence1", "gold_text", "answer:far", "answer:near"]
            ),
        )
        await until(
            pilot,
            lambda: (
                "✓" in str(pairs.query_one(PairDetail).query_one("#pair-scores", Static).content)
            ),
        )
        await pilot.press("slash")
        await type_text(pilot, "far<0.5 near>0.5")
        await pilot.press("enter")
        expected = app.data.table.filter(
            (app.data.table["far"] < 0.5) & (app.data.table["near"] > 0.5)
        ).height
        await until(pilot, lambda: len(table.rows) == expected > 0)
        await pilot.press("backslash", "2")
        compare = await on_top(pilot, CompareScreen)
        await until(
            pilot, lambda: compare.model.result is not None and not compare.model.is_preview
        )
        [one] = [one for one in compare.model.result.comparison.slices if one.key == "cr"]
        shares = [
            (answered(item_world, "cr", f"near@{seed}", RIGHT[f"near@{seed}"]).items)
            for seed in (1, 2)
        ]
        assert one.scores["near"].value == pytest.approx(
            np.mean([(own["gold"] == own["predicted"]).mean() for own in shares])
        )
        assert not np.isnan(one.differences["near"].low)
        await until(
            pilot, lambda: "items of transfer" in str(app.screen.query_one(SelectionLine).content)
        )
        await pilot.press("enter")
        await on_top(pilot, PairsScreen)
        await until(pilot, lambda: len(table.rows) == app.data.table.height)
    async with opened(item_world) as pilot:  # remembered, and left again
        assert pilot.app.data.task == "transfer"
        await pilot.press("I")
        await on_top(pilot, ChooseTask)
        await pilot.press("k", "enter")
        await until(pilot, lambda: pilot.app.data.task == "" and "sts12" in pilot.app.data.datasets)
