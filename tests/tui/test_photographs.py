import re
from html import unescape
from pathlib import Path

import pytest

from tests.tui.photographs import photograph, train


@pytest.mark.slow
async def test_the_readmes_pictures_show_runs_that_were_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pictures").mkdir()
    texts = {}
    for path in await photograph(tmp_path / "pictures"):
        texts[path.stem] = unescape(
            re.sub(r"<[^>]+>", "", path.read_text(encoding="utf-8"))
        ).replace("\xa0", " ")
    assert "demo-supcl" in texts["pairs"]
    assert "reference demo-ce" in texts["compare"]
    assert "✓ 11 finished" in texts["runs"]
    assert "✓ 9 done" in texts["launch"]
