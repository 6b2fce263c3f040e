"""Styles are parsed once a theme, however many classes of widgets there are."""

import pytest
from textual.css import stylesheet
from textual.css.stylesheet import RuleSet

from embedlab.tui.terminal.style_sheet import StyleSheet

WIDGETS = 100  # more than Textual remembers


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []

    def parse(scope: str, css: str, *rest: object, **more: object) -> list[RuleSet]:
        found.append(css)
        return list(real(scope, css, *rest, **more))  # type: ignore[arg-type]

    real = stylesheet.parse
    monkeypatch.setattr(stylesheet, "parse", parse)
    return found


def sheet(place: str) -> StyleSheet:
    """A sheet with a source of each widget; the tests of this folder parse each source of a PLACE
    once.
    """
    found = StyleSheet(variables={"shade": "#102030"})
    for number in range(WIDGETS):
        found.add_source(
            f"Part{number} {{ color: $shade; }}",
            read_from=(f"{place}/{number}", ""),
            is_default_css=True,
        )
    return found


def colour(found: StyleSheet) -> str:
    return found.rules_map["Part99"][0].styles.color.hex


def test_a_new_screen_parses_its_own_styles_alone(parsed: list[str]) -> None:
    found = sheet("screen")
    assert colour(found) == "#102030"
    assert len(parsed) == WIDGETS
    found.add_source("Other { color: $shade; }", read_from=("other", ""), is_default_css=True)
    found.set_variables({"shade": "#102030"})
    found.reparse()
    assert found.rules_map["Other"]
    assert len(found.rules) == len(parsed) == WIDGETS + 1


def test_another_theme_parses_all_of_them_again(parsed: list[str]) -> None:
    found = sheet("theme")
    assert colour(found) == "#102030"
    found.set_variables({"shade": "#405060"})
    found.reparse()
    assert colour(found) == "#405060"
    assert len(parsed) == 2 * WIDGETS
