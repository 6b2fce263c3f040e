from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from embedlab.core.settings import Settings
from embedlab.data.overlaps import KnownText
from embedlab.encoders.texts import sentence_keys
from embedlab.runs.store import RunFolder
from embedlab.store.vectors import EmbeddingCache
from embedlab.tui.app import Dashboard
from embedlab.tui.dialogs import TextDialog
from embedlab.tui.pair_table.data import load_pairs, with_models
from embedlab.tui.pairs.facts import FactFinder
from embedlab.tui.pairs.pair_detail import PairDetail
from embedlab.tui.pairs.pair_facts import ModelNeighbours
from embedlab.tui.pairs.sections import SECTIONS
from embedlab.tui.pairs.shown_pair import ShownPair
from embedlab.tui.stored_models import stored_models
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.frame_table import FrameTable
from embedlab.workflows.neighbours import Neighbours
from tests.tui.driving import Open, on_top, type_text, until

DIM = 4


@pytest.fixture
def searched_world(own_world: Settings) -> tuple[Settings, dict[str, np.ndarray]]:
    """The world with vectors of "published", and with the training text of "near": the first pair,
    and a sentence of the second.
    """
    table = load_pairs(own_world).table
    texts = list(dict.fromkeys([*table["sentence1"], *table["sentence2"]]))
    vectors = np.random.default_rng(0).normal(size=(len(texts), DIM)).astype(np.float32)
    cache = EmbeddingCache(own_world.cache / "embeddings", "published5", dim=DIM, limit_bytes=2**30)
    cache.store(sentence_keys(texts), vectors, np.zeros(len(texts), np.bool_))
    for seed in (1, 2, 3):
        run = RunFolder.of(own_world.runs, "near", seed)
        (run.path / "model").mkdir()
    known = [table["sentence1"][0], table["sentence2"][0], table["sentence1"][1], "something else"]
    KnownText.of([pl.DataFrame({"sentence1": known[::2], "sentence2": known[1::2]})]).write(
        RunFolder.of(own_world.runs, "near", 1).training_text_file
    )
    return own_world, dict(zip(texts, vectors, strict=True))


def detail_of(app: object) -> str:
    assert isinstance(app, Dashboard)
    return "\n".join(
        str(part.render())
        for part in app.screen.query_one(PairDetail).query("QuickText")
        if part.display
    )


def drawn(pair: ShownPair, name: str, width: int = 60) -> str:
    content = next(section for section in SECTIONS if section.name == name).draw(pair, width)
    return str(content) if content is not None else ""


def test_the_facts_of_a_pair_are_those_of_the_command_line(
    searched_world: tuple[Settings, dict[str, np.ndarray]],
) -> None:
    settings, vectors = searched_world
    stored, _ = stored_models(settings)
    data = with_models(load_pairs(settings), stored)
    finder = FactFinder(data, stored, settings)
    row = data.table.row(0, named=True)
    shown = ShownPair(
        row=row, models=[model.name for model in data.models], gold_range=(0, 5), table=data.table
    )
    *_, facts = finder.find(0)
    pair = replace(shown, facts=facts)

    assert "† near was trained on the pair" in drawn(pair, "training")
    assert "training text unknown: far, published" in drawn(pair, "training")
    *_, second = finder.find(1)
    assert "‡ near was trained on " in drawn(replace(shown, facts=second), "training")

    trained = finder.trained()
    assert trained is not None
    assert trained[0] == "†near"
    assert trained[1] == "‡near"
    assert trained.null_count() > 800

    unit = {text: vector / np.linalg.norm(vector) for text, vector in vectors.items()}
    similarity = {
        text: float(unit[row["sentence1"]] @ vector)
        for text, vector in unit.items()
        if text != row["sentence1"]
    }
    closest = sorted(similarity, key=lambda text: -similarity[text])
    nearest = drawn(pair, "nearest-1", 200)
    shown_texts = [
        line[7:]
        for line in nearest[nearest.index("published") : nearest.index("dice")].splitlines()[1:]
    ]
    assert shown_texts == closest[:3]
    assert f"the other sentence is number {closest.index(row['sentence2']) + 1:,}" in nearest
    assert "far  its vectors are not cached" in nearest
    assert "near  its vectors are not cached" in nearest
    assert all(len(line) <= 40 for line in drawn(pair, "nearest-2", 40).splitlines())
    unknown = ModelNeighbours(
        of_sentences=(
            Neighbours(found=(), searched=0),
            facts.neighbours["published"].of_sentences[1],
        )
    )
    half = replace(pair, facts=replace(facts, neighbours={"published": unknown}))
    assert "published  its vector of this sentence is not cached" in drawn(half, "nearest-1", 200)
    assert (
        "is not cached"
        not in drawn(half, "nearest-2", 200).partition("published")[2].splitlines()[0]
    )
    assert list(finder.find(0))[-1].neighbours.keys() == {"far", "near", "published", "dice"}


async def test_a_note_is_written_shown_filtered_exported_and_deleted(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(size=(112, 24)) as pilot:
        table, everything = (
            pilot.app.screen.query_one(FrameTable),
            len(pilot.app.screen.query_one(FrameTable).rows),
        )
        await until(pilot, lambda: "nearest to sentence 2" in detail_of(pilot.app))
        assert pilot.app.screen.query_one(PairDetail).has_class("-two")
        await pilot.press("j", "number_sign")
        await on_top(pilot, TextDialog)
        await type_text(pilot, "odd pair")
        await pilot.press("enter")
        await until(pilot, lambda: "note  odd pair" in detail_of(pilot.app))
        assert [column.key for column in table.columns].count("note") == 1
        bar = pilot.app.screen.query_one(FilterBar)
        bar.value = "note:*odd*"
        await until(pilot, lambda: len(table.rows) == 1)
        await pilot.press("e")
        dialog = await on_top(pilot, TextDialog)
        dialog.query_one("Input").value = "noted.csv"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until(pilot, lambda: Path("noted.csv").exists())
        assert pl.read_csv("noted.csv")["note"].to_list() == ["odd pair"]
        bar.value = "tag:negation"
        await until(pilot, lambda: 1 < len(table.rows) < everything)
        await until(pilot, lambda: "negation" in detail_of(pilot.app))
        bar.value = "note:*"
        await until(pilot, lambda: len(table.rows) == 1)
        await pilot.press("number_sign")
        dialog = await on_top(pilot, TextDialog)
        dialog.query_one("Input").value = ""  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until(pilot, lambda: "note" not in table.frame.columns)


def test_a_very_long_sentence_is_folded_until_its_pane_has_the_whole_screen(
    world: Settings,
) -> None:
    row = load_pairs(world).table.row(0, named=True) | {
        "sentence1": "word " * 400 + "end",
        "sentence2": "short end",
    }
    pair = ShownPair(row=row, models=(), gold_range=(0.0, 5.0))
    folded, whole = drawn(pair, "sentences"), drawn(replace(pair, is_whole=True), "sentences")
    assert (
        f"{len(row['sentence1']) - 4 * 60:,} more characters: focus this pane, z shows all"
        in folded
    )
    assert "end" not in folded.splitlines()[1]
    assert row["sentence1"] in whole
    assert "more characters" not in whole
    assert "short end" in folded
