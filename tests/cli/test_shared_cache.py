"""Whole evaluations that share a cache: two at once, after one that was killed while it wrote."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow


def start(model: str, folder: Path, cache: str) -> "subprocess.Popen[str]":
    words = [
        "evaluate",
        f"{model}?pooling=mean",
        "--suite",
        "sts",
        "--data",
        "tiny",
        "--json",
        "--quiet",
        "--runs",
        str(folder / "runs"),
    ]
    environment = {**os.environ, "EMBEDLAB_CACHE": str(folder / cache)}
    return subprocess.Popen(
        [sys.executable, "-m", "embedlab", *words],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def rows(process: "subprocess.Popen[str]") -> list[Any]:
    answer = process.communicate(timeout=600)[0]
    assert process.returncode == 0
    found: list[Any] = json.loads(answer)["rows"]
    return found


def test_two_evaluations_at_once_give_the_numbers_of_one_alone_after_a_third_was_killed(
    tiny_encoder: Path, tmp_path: Path
) -> None:
    killed = start(str(tiny_encoder), tmp_path, "shared")
    while not list(tmp_path.glob("shared/embeddings/*/*")):
        assert killed.poll() is None
        time.sleep(0.001)
    killed.kill()
    killed.communicate()
    both = [start(str(tiny_encoder), tmp_path, "shared") for _ in range(2)]
    first, second = map(rows, both)
    assert first == second == rows(start(str(tiny_encoder), tmp_path, "alone"))
