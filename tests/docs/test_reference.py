"""The reference holds everything that the code offers, because it is made from the code."""

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from docs import hooks
from docs.reference import commands, keys, parts, stored
from docs.reference.papers import tables_of
from embedlab.core.plugins import Kind, shipped_names
from embedlab.core.settings import Settings
from embedlab.models.folder_identity import NEVER_READ
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


def test_every_dataset_has_counts_and_terms() -> None:
    page = parts.datasets_page()
    assert set(parts.licences()) <= set(parts.shipped_datasets())
    assert "train 549,367, dev 9,842, test 9,824 | CC BY-SA 4.0" in page


def test_files_events_and_rows_are_described() -> None:
    runs, schemas = stored.runs_page(), stored.schemas_page()
    assert all(
        f"| `{name}` |" in runs for name in ("recipe.toml", "events.jsonl", "step", "finished")
    )
    assert all(
        f"| `{name}` |" in schemas for name in ("difference_low", "p_corrected", "similarity")
    )
    assert '"fingerprint"' in schemas


def test_the_python_page_has_each_call() -> None:
    import embedlab

    page = stored.python_page()
    assert all(f"\n## embedlab.{name}\n" in page for name in embedlab.__all__)


def test_the_files_that_are_never_read_are_listed_with_what_they_are() -> None:
    page = parts.models_page()
    assert all(
        f"| {what} |" in page and all(f"`{name}`" in page for name in names)
        for what, names in NEVER_READ.items()
    )


def test_a_paper_has_its_printed_numbers_with_what_makes_them() -> None:
    page = tables_of("liao")
    assert "| 0.3 | 65.21 | 69.48 | 69.73 | 76.14 | 71.63 | 70.44 | `snli-supcl` with" in page
    assert "the best model has λ value 0.3" in page


@pytest.mark.parametrize(
    ("target", "uri", "place"),
    [
        ("../benchmarks/results/kills.md", "statistics.md", "benchmarks/results/kills.md"),
        ("../../research/reproduce-liao.md", "papers/index.md", "../research/reproduce-liao.md"),
        ("docs/start.md", "index.md", "start.md"),
        ("ARCHITECTURE.md", "index.md", "architecture.md"),
        ("full-size-minilm3.md", "research/reproduce-tsukagoshi.md", "full-size-minilm3.md"),
        ("../statistics.md", "guides/compare.md", "../statistics.md"),
        ("https://example.org/a.md", "index.md", "https://example.org/a.md"),
    ],
)
def test_links_of_the_repository_are_links_of_the_site(target: str, uri: str, place: str) -> None:
    assert hooks.placed(target, uri) == place


def test_what_pages_of_results_link_to_is_part_of_the_site() -> None:
    """The strict build of the site refuses a link to any other file of the repository."""
    there = {path.resolve() for path in hooks.sources()}
    pages = [
        path for path in there if path.suffix == ".md" and {"results", "research"} & set(path.parts)
    ]
    linked = {
        (path.parent / target).resolve()
        for path in pages
        for target in re.findall(r"\]\(([^)#:]+)", re.sub(r"`[^`]*`", "", path.read_text("utf-8")))
    }
    docs = Path(hooks.__file__).resolve().parent
    assert any(path.suffix == ".parquet" for path in linked)
    assert not {path for path in linked if path not in there and docs not in path.parents}
