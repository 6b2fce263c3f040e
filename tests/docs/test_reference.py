"""The reference holds everything that the code offers, because it is made from the code."""

import re
from collections.abc import Callable
from dataclasses import fields

import pytest

from docs.reference import commands, keys, parts
from embedlab.core.plugins import Kind, shipped_names
from embedlab.core.settings import Settings
from tests.inventory import commands as offered_commands


def test_every_command_and_option_is_described() -> None:
    page, offered = commands.page(), dict(offered_commands())
    for name, words in offered.items():
        assert f"\n## embedlab {name}\n" in page
        for word in words:
            for option in word.split("/") if word.startswith("-") else []:
                assert f"`{option}`" in page, f"{name} {option}"
    assert page.count("\n## embedlab ") == len(offered)
    assert not re.search(r"^\| `-[^|]*\|[^|]*\|[^|]*\| +\|$", page, re.MULTILINE), (
        "an option without help"
    )


def test_every_setting_and_recipe_key_is_described() -> None:
    settings, recipes = keys.settings_page(), keys.recipes_page()
    assert all(
        f"| `{one.name}` | `EMBEDLAB_{one.name.upper()}` |" in settings for one in fields(Settings)
    )
    for cls in keys.recipe_sections().values():
        assert all(f"| `{one.name}` |" in recipes for one in fields(cls))
    assert "rows are sampled by the run's seed" in recipes  # a comment behind a key
    assert "Spearman of an STS dataset" in recipes  # comments above one


@pytest.mark.parametrize(
    ("kind", "page"),
    [
        ("objectives", parts.objectives_page),
        ("tasks", parts.tasks_page),
        ("datasets", parts.datasets_page),
        ("poolings", parts.models_page),
    ],
)
def test_everything_that_is_shipped_is_described(kind: Kind, page: Callable[[], str]) -> None:
    text = page()
    for name in shipped_names(kind):
        assert f"\n## {name}\n" in text or f"| `{name}` |" in text
