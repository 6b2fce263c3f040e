"""Why two models differ, made again from stored similarities, is what the models say; and a page's
claims are about the same numbers.
"""

from pathlib import Path

import pytest
from stored_claims import settled_page
from stored_tables import store, stored_pairs, texts_of_pairs
from stored_why import contrasts_by_kind, refreshed

from embedlab.api import NotebookSession
from embedlab.commands.why import WhyOptions, why
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from research.tests.test_stored_tables import brought_scores
from tests.conftest import thin_out

RESULTS = Path(__file__).parents[1]
CLAIMS = """
[tables.kinds]
file = "mine.parquet"
models = ["dice", "{model}"]
by = "why"
dataset = "sick-r"

[claims]
mine = {{ table = "kinds", first = "{model}", direction = "above", second = "dice", columns = ["{kind}"] }}
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A world whose STS datasets have one in five of their pairs."""
    thin_out(monkeypatch, 5)
    texts_of_pairs.cache_clear()  # other tests may have read more pairs
    return Settings(data=TINY_FOLDER, runs=tmp_path / "runs", cache=tmp_path / "cache", threads=1)


def test_a_page_says_why_two_models_differ_without_them(settings: Settings, tmp_path: Path) -> None:
    brought = brought_scores(settings, tmp_path)
    model, file = f"scores:{brought}", tmp_path / "mine.parquet"
    found = why(
        WhyOptions(first="dice", second=model, tasks=["sick-r"], examples=0),
        NotebookSession(settings=settings),
    )
    store(file, [model, "dice"], settings, fifths=False)
    brought.unlink()

    page = (
        f"Before.\n<!-- why mine.parquet dice {model} --dataset sick-r -->\nold\n<!-- end of "
        f"why -->\nAfter.\n"
    )
    made = refreshed(page, tmp_path, settings)
    for own in found.tables:
        rows = [line for line in own.to_markdown().splitlines() if line.startswith("|")]
        assert "\n".join(rows) in made
    assert refreshed(made, tmp_path, settings) == made

    kinds = found.explanation.kind_differences
    keys = {f"{one.by}={one.value}": one.contrast for one in kinds}
    assert {
        *contrasts_by_kind(stored_pairs(file, ["dice", model], settings, "dataset", "sick-r"))
    } == {*keys}
    kind = next(iter(keys))
    (tmp_path / "mine.toml").write_text(CLAIMS.format(model=model, kind=kind), encoding="utf-8")
    (settled,) = settled_page(tmp_path / "mine.toml", settings).settled.values()
    assert settled.difference == pytest.approx(100 * keys[kind].delta)
    assert settled.p == pytest.approx(keys[kind].p_holm)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [path for path in sorted(RESULTS.glob("*.md")) if "<!-- why " in path.read_text("utf-8")],
    ids=lambda path: path.stem,
)
def test_what_pages_say_of_two_models_is_that_of_today(
    page: Path, shared_data: Path, tmp_path: Path
) -> None:
    settings = Settings(data=shared_data, cache=tmp_path / "cache", allow_partial=True)
    assert refreshed(page.read_text("utf-8"), page.parent, settings) == page.read_text("utf-8")
