"""What users had is there, but for what is signed; what went answers with what to use instead."""

from importlib.util import find_spec
from typing import Any

import pytest

from docs.upgrading import FILE as UPGRADING
from docs.upgrading import page
from embedlab.cli import app
from embedlab.cli.app import main
from tests.inventory import Removal, inventory, lines, recorded, removals

TYPED = [one for one in removals() if any(line.startswith("commands /") for line in one.lines)]


@pytest.fixture(scope="module")
def now() -> dict[str, Any]:
    """The inventory; without the keys of JSON where wordllama, which has them, has no wheel."""
    return inventory() if find_spec("wordllama") else inventory("json")


@pytest.mark.parametrize("part", recorded())
def test_nothing_is_lost_but_what_is_signed(part: str, now: dict[str, Any]) -> None:
    if part not in now:
        pytest.skip("wordllama is not here")
    lost = lines({part: recorded()[part]}) - lines({part: now[part]})
    assert {line for line in lost if not any(one.covers(line) for one in removals())} == set()


def test_nothing_is_offered_that_is_not_recorded(now: dict[str, Any]) -> None:
    new = lines(now) - lines(recorded())
    assert new == set(), "python -m tests.inventory adds"


@pytest.mark.parametrize("one", removals(), ids=lambda one: one.name)
def test_what_is_signed_was_there_and_is_gone_unless_pending(
    one: Removal, now: dict[str, Any]
) -> None:
    before = {line for line in lines(recorded()) if one.covers(line)}
    assert bool(before) == bool(one.lines)
    if one.lines:
        there = before & lines(now)
        assert bool(there) == one.pending, "remove pending, then python -m docs.upgrading"


def test_the_answers_of_the_command_line_are_those_of_the_signed_list() -> None:
    assert {one.name: one.instead for one in TYPED} == app.INSTEAD


@pytest.mark.parametrize("one", [one for one in TYPED if not one.pending], ids=lambda one: one.name)
def test_what_was_removed_answers_with_what_to_use(
    one: Removal, capsys: pytest.CaptureFixture[str]
) -> None:
    command = one.lines[0].split(" / ")[1].replace("*", "compare")
    assert main([*command.split(), *one.name.removeprefix(command).split()]) == 2
    assert one.instead in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gone", ["gone", "here"]),
        ("data gone", ["data", "gone"]),
        ("--gone", ["compare", "dice", "--gone"]),
        ("--gone", ["compare", "dice", "--gone=1"]),
        ("compare --metric old", ["compare", "dice", "--metric", "old"]),
        ("compare --rows old", ["compare", "dice", "--rows=old"]),
    ],
)
def test_a_removed_word_answers_with_what_to_use(
    name: str,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(app, "INSTEAD", {name: "use that one"})
    assert main(words) == 2
    assert capsys.readouterr().err.endswith("hint: use that one\n")
    assert main(["evaluate", "gone", "--old"]) == 2  # a model of this name, another option
    assert "use that one" not in capsys.readouterr().err


def test_the_page_of_upgrading_is_current() -> None:
    assert UPGRADING.read_text(encoding="utf-8") == page(), "python -m docs.upgrading"
