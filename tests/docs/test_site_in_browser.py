"""The site as a browser shows it, opened from files: python -m pytest -m slow
tests/docs/test_site_in_browser.py.
"""

import importlib.util
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.docs.browser import Tab

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("aiohttp") is None,
        reason="aiohttp speaks to the browser: pip install -e '.[serve]'",
    ),
]
WINDOWS = ((1280, 900), (390, 844))  # a desk, a phone
UNSHOWN = """
Promise.all([...document.images].map(image => {
    image.loading = "eager"
    return image.decode().then(() => "", () => image.src)
})).then(found => found.filter(Boolean))
"""
FITS = "document.scrollingElement.scrollWidth <= window.innerWidth"


@asynccontextmanager
async def browser(profile: Path) -> AsyncIterator["Tab"]:
    """Yield a page of a browser, or skip where there is none."""
    from tests.docs.browser import opened_tab, program

    if program() is None:
        pytest.skip("Chromium is not installed")
    async with opened_tab(profile) as tab:
        yield tab


@pytest.fixture(scope="module")
def pages(site: Path) -> list[Path]:
    return [path for path in sorted(site.rglob("*.html")) if path.name != "404.html"]


async def test_every_page_is_shown_without_an_error_or_anything_from_elsewhere(
    pages: list[Path], tmp_path: Path
) -> None:
    faults = []
    async with browser(tmp_path) as tab:
        for path in pages:
            await tab.open(path.as_uri())
            faults += [f"{path}: not shown: {image}" for image in await tab.value(UNSHOWN)]
            for width, height in WINDOWS:
                await tab.resize(width, height)
                if not await tab.until(FITS, seconds=3):  # a change of the window takes a moment
                    faults.append(f"{path}: wider than a window of {width} pixels")
            faults += [f"{path}: {found}" for found in (*tab.seen.errors, *tab.seen.foreign)]
    assert len(pages) > 50
    assert not faults, "\n".join(faults)
