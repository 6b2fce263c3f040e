"""The site that the tests read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.blocks import ROOT

REFUSE_SOCKETS = """
import socket

def refuse(*_):
    raise OSError("this machine has no network")

socket.socket.connect = refuse
socket.getaddrinfo = refuse
"""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly by a process that refuses connections."""
    pytest.importorskip("material", reason="it builds the site: pip install -e '.[docs]'")
    place = tmp_path_factory.mktemp("site")
    (place / "sitecustomize.py").write_text(REFUSE_SOCKETS)
    # with --quiet nothing would be counted that --strict fails for
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(place / "site")]
    environment = {**os.environ, "PYTHONPATH": str(place)}
    done = subprocess.run(
        build, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return (place / "site").resolve()
