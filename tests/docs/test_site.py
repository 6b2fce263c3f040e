"""The site: built strictly, without a network, and complete in itself."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.blocks import ROOT
from docs.hooks import GENERATED, PLACED

REFUSE_SOCKETS = """
import socket

def refuse(*_):
    raise OSError("this machine has no network")

socket.socket.connect = refuse
socket.getaddrinfo = refuse
"""


def test_every_page_has_a_place_in_the_navigation() -> None:
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    listed = set(re.findall(r": (\S+\.md)$", settings.partition("\nnav:\n")[2], re.MULTILINE))
    own = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    made = {name for name in GENERATED if name.endswith(".md")} | {place for name, place in PLACED.items() if (ROOT / name).exists()}
    assert listed == own | made, "add it to `nav` in mkdocs.yml"


def test_every_package_is_in_the_picture() -> None:
    from docs.reference.imports import layers

    assert {path.parent.name for path in (ROOT / "embedlab").glob("*/__init__.py")} <= set(layers())


@pytest.mark.slow
def test_the_site_builds_without_a_network_and_needs_none(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="it builds the site: pip install -e '.[docs]'")
    (tmp_path / "sitecustomize.py").write_text(REFUSE_SOCKETS)
    site = tmp_path / "site"
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site)]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(build, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    loads = re.compile(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(?:https?:)?//[^"]+"|url\("?(?:https?:)?//')
    for path in [*site.rglob("*.html"), *site.rglob("*.svg"), *site.rglob("*.css")]:
        assert not loads.search(path.read_text("utf-8")), path
    found = json.loads((site / "search" / "search_index.json").read_text("utf-8"))["docs"]
    assert "reference/commands.html#embedlab-power" in {one["location"] for one in found}
    assert (site / "search" / "search_index.js").read_text("utf-8").startswith("var __index = ")
