from dataclasses import replace

import pytest

from embedlab.analysis.comparison import ComparedSlice
from embedlab.core.settings import Settings
from embedlab.data.overlaps import KnownText
from embedlab.tui.compare.model import ComparisonRequest, compare_slices, slice_frame
from embedlab.tui.compare.slice_detail import ModelFacts, _content
from embedlab.tui.compare.training_marks import shared_text
from embedlab.tui.pair_table.data import load_pairs, with_models
from embedlab.tui.stored_models import stored_models
from embedlab.tui.training_texts import TrainingTexts


def test_scores_are_marked_where_a_model_was_trained_on_text_of_the_slice(
    world: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = [model for model in stored_models(world)[0] if model.name in {"near", "far"}]
    whole = with_models(load_pairs(world), stored)
    names = whole.datasets[:2]
    first, second = (whole.table.filter(dataset=name).head(12) for name in names)
    data = replace(whole, table=first.vstack(second))
    pair, sentence = first.row(3, named=True), second.row(5, named=True)
    rows = {
        "sentence1": [pair["sentence2"], sentence["sentence1"]],
        "sentence2": [pair["sentence1"], "something else"],
    }
    known = KnownText.of([first.select("sentence1", "sentence2").clear().vstack(type(first)(rows))])
    texts = TrainingTexts(world)
    monkeypatch.setattr(texts, "_read", lambda name: known if name == "near" else None)

    found = compare_slices(data, ComparisonRequest(by="dataset", aggregate="all", reference="far"))
    shared = shared_text(data, found.rows, found.comparison.models, texts)
    assert {name for own in shared.values() for name in own} == {"near"}
    assert shared[names[0]]["near"].shared_pairs == 1
    assert (shared[names[1]]["near"].shared_pairs, bool(shared[names[1]]["near"])) == (0, True)

    frame = slice_frame(found.comparison, with_intervals=False, shared=shared)
    marked = dict(zip(frame["key"], frame["text:near"], strict=True))
    assert "† " in marked[names[0]]
    assert "' " in marked[names[1]]  # fewer than 5% of the sentences
    plain = slice_frame(found.comparison, with_intervals=False)
    assert {len(text) for text in frame["text:far"]} == {
        len(text) + 1 for text in plain["text:far"]
    }  # the place of the mark is blank

    one = next(one for one in found.comparison.slices if one.key == names[0])
    facts = ModelFacts(
        reference="far", shared=shared[names[0]], seeds={"near": (1, 2, 3), "far": (1,)}
    )
    detail = str(_content(one, facts, 70))
    (by_seed,) = [
        line.split("by seed")[1].split() for line in detail.splitlines() if "by seed" in line
    ]
    assert sorted(by_seed[::2]) == ["1:", "2:", "3:"]
    assert [float(value) for value in by_seed[1::2]] == sorted(
        round(100 * value, 1) for value in one.scores["near"].members
    )
    assert "† 1 of 12 pairs are in its training data" in detail
    assert detail.count("training data") == 2
    monkeypatch.setattr(ComparedSlice, "design_effect", 2.0)
    for sentences, said in (
        (24, "design effect 2.00: 12 pairs of 24 sentences"),
        (0, "design effect 2.00"),
    ):  # 0: none is shared
        counted = str(_content(replace(one, sentences=sentences), facts, 70))
        assert next(line for line in counted.splitlines() if "design" in line) == said
