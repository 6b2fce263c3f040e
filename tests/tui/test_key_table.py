"""A letter means one thing on every screen, in every pane and in every dialog."""

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import key_to_character

import embedlab.tui as package
from embedlab.tui.app import Dashboard
from embedlab.tui.command import command
from embedlab.tui.commands import COMMANDS, bindings, meaning_of, refuse_two_meanings
from embedlab.tui.key_table import ANSWERS, KEYS
from embedlab.tui.screens import SCREENS

STYLE = {
    "help": "?",
    "leave": "q",
    "filter": "/",
    "sort": "s",
    "reverse": "S",
    "models": "c",
    "dataset_before": "[",
    "dataset": "]",
}
PLACES = {
    "everywhere": "everywhere",
    "table": "tables",
    "plot": "plots",
    "curves": "curves",
    "question": "questions",
    "what_if": "What if",
}
PLACES |= {name: found.entry.label for name, found in SCREENS.items()}
WALKING = {
    "down",
    "up",
    "right",
    "left",
    "far_right",
    "far_left",
    "far_up",
    "far_down",
    "page_down",
    "page_up",
    "top",
    "bottom",
}
STYLE |= {
    "copy": "y",
    "copy_view": "Y",
    "export": "e",
    "zoom": "z",
    "reload": "r",
    "freeze": "f",
    "stop": "x",
    "log": "v",
    "theme": "t",
}


def own_bindings() -> Iterator[tuple[type[DOMNode], Binding]]:
    """Every binding that a class of the dashboard states itself."""
    modules = [
        importlib.import_module(one.name)
        for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    classes = {
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, DOMNode)
    }
    for one in classes:
        if one.__module__.startswith(package.__name__):
            for found in Binding.make_bindings(vars(one).get("BINDINGS", ())):
                yield one, found


def is_letter(key: str) -> bool:
    """Whether a key types a letter or a sign, unlike enter or an arrow."""
    typed = key_to_character(key)
    return typed is not None and typed.isprintable() and not typed.isspace()


def test_every_letter_that_any_class_binds_has_the_meaning_of_the_key_table() -> None:
    found = list(own_bindings())
    letters = [(one, made) for one, made in found if is_letter(made.key)]
    assert len({one for one, _ in letters}) >= 12, (
        "screens, table, plots, curves, lists and dialogs"
    )
    for one, made in letters:
        if one is not Dashboard or not made.key.isdecimal():  # the digits are its screens
            assert made.key in KEYS[meaning_of(made)].keys, (
                f"{made.key} of {one.__name__} means {meaning_of(made)!r}"
            )


def test_a_key_has_one_meaning_but_for_the_answers_to_a_question() -> None:
    refuse_two_meanings(one for own in COMMANDS.values() for one in own)
    owners = [key for meaning, one in KEYS.items() if meaning not in ANSWERS for key in one.keys]
    assert len(owners) == len(set(owners))
    assert {
        one.meaning for scope, own in COMMANDS.items() if scope != "question" for one in own
    }.isdisjoint(ANSWERS)


def test_a_letter_with_a_second_meaning_is_refused() -> None:
    with pytest.raises(ValueError, match="the key 'e' means 'export' and 'evaluate'"):
        refuse_two_meanings([command("evaluate", "Score.", keys="ctrl+e e")])
    with pytest.raises(ValueError, match="'ctrl\\+w' means 'write' and 'wipe'"):
        refuse_two_meanings(
            [command("write", "Write.", keys="ctrl+w"), command("wipe", "Wipe.", keys="ctrl+w")]
        )
    with pytest.raises(ValueError, match="key table"):
        command("export", "Export.", keys="E")


def test_the_conventional_keys_have_their_conventional_meanings() -> None:
    assert {meaning: KEYS[meaning].shown[0] for meaning in STYLE} == STYLE


def key_rows() -> Iterator[str]:
    """The rows of the page's table: the keys of each meaning that a screen or a part has, its
    label, and where it has it.
    """
    for meaning, key in KEYS.items():
        scopes = [
            scope
            for scope, own in COMMANDS.items()
            if scope in PLACES and meaning in {one.meaning for one in own}
        ]
        if scopes and meaning not in WALKING:
            where = ", ".join(PLACES[scope] for scope in PLACES if scope in scopes)
            written = " ".join(f"`{shown}`" for shown in key.shown).replace("|", "\\|")
            yield f"| {written} | {key.label} | {where} |"


def test_the_page_lists_the_keys_of_the_table_in_its_order() -> None:
    page = (Path(package.__file__).parents[2] / "docs" / "dashboard.md").read_text("utf-8")
    rows = "\n".join(["| key | meaning | where |", "|---|---|---|", *key_rows()])
    assert rows in page, f"put this into docs/dashboard.md:\n{rows}"


def test_footer_and_help_write_the_same_signs() -> None:
    for scope in COMMANDS:
        for made, one in zip(bindings(scope), COMMANDS[scope], strict=True):
            assert isinstance(made, Binding)
            assert made.key_display == one.key.shown[0]
            assert made.key.split(",") == list(one.key.keys)
