"""The demo: each model of it is where the demo needs it."""

from dataclasses import replace
from pathlib import Path

import pytest

from embedlab.api import NotebookSession
from embedlab.commands import demo
from embedlab.commands.demo import demo_report, demo_settings
from embedlab.core.errors import MissingError
from embedlab.core.settings import Settings
from embedlab.models import published


def test_without_its_model_the_extra_and_the_generated_demo_are_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(published, "find_spec", lambda _name: None)
    with pytest.raises(MissingError, match="the demo needs the model 'minilm'") as raised:
        demo_report(NotebookSession(settings=demo_settings(Settings())))
    assert "pip install 'embedlab[demo]'" in raised.value.hint


def test_it_trains_two_recipes_and_says_what_it_found(
    settings: Settings, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a tiny encoder in place of MiniLM, a few steps, and without static vectors."""
    monkeypatch.setattr(demo, "OVERRIDES", (*demo.OVERRIDES, "data.rows=60"))
    monkeypatch.setattr(published.PackageFiles, "place", tiny_encoder)
    monkeypatch.setattr(demo, "list_models", list)
    session = NotebookSession(settings=demo_settings(replace(settings, data=None, threads=1)))
    report = demo_report(session)

    assert report.frame["model"].to_list() == ["minilm", "demo-ce", "demo-supcl", "dice"]
    assert set(report.frame["items"]) == {1_750}
    assert any("minilm" in sentence for sentence in report.tables[0].answer)
    assert "[partial]" in report.tables[0].title
    assert "starter is partial: 1750 of 8628 rows (starter set)" in report.notes
    assert any("pip install 'embedlab[demo]'" in text for text in session.said)

    again = demo_report(session)
    assert "demo-ce@1 is finished already: skipped" in session.said
    assert again.frame.equals(report.frame)
