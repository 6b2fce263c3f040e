"""A command group that is typed alone shows its help, with the Typer of these tests and with the
newest one.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from embedlab.cli.app import program
from tests.cli.conftest import Embedlab

GROUPS = (
    (),
    *(
        (name,)
        for name, found in vars(typer.main.get_command(program()))["commands"].items()
        if hasattr(found, "commands")
    ),
)


@pytest.mark.parametrize("words", GROUPS, ids=" ".join)
def test_a_group_alone_shows_its_help_and_ends_as_a_usage_error(
    embedlab: Embedlab, words: tuple[str, ...]
) -> None:
    answer, shown = embedlab(*words), embedlab(*words, "--help")
    assert answer.code == 2
    assert answer.out == ""  # it answers nothing
    assert answer.err.split() == shown.out.split()
    assert "Usage: embedlab" in answer.err


def test_all_groups_are_tried() -> None:
    assert {"runs", "grid", "data", "cache", "models"} <= {
        word for words in GROUPS for word in words
    }


@pytest.mark.slow
@pytest.mark.network
def test_the_newest_typer_shows_it_too(tmp_path: Path) -> None:
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--target",
            str(tmp_path),
            "typer",
        ],
        check=True,
    )
    for words in GROUPS:
        done = subprocess.run(
            [sys.executable, "-m", "embedlab", *words],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"Usage: {' '.join(('embedlab', *words))} ")
