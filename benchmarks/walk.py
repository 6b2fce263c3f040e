"""How many functions and files of the package a command goes through, once its scores are stored.

    python benchmarks/walk.py compare dice wordllama --task starter --data starter

The command runs twice with a cache of its own: the first time stores, the second one is counted.
"""

import argparse
import contextlib
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import FrameType


def called(words: Sequence[str]) -> set[tuple[str, str]]:
    """Run a command in this process and return the functions of the package that were called, each
    with its file; comprehensions and lambdas are none.
    """
    spec = importlib.util.find_spec("embedlab")
    assert spec is not None
    assert spec.origin is not None
    root = f"{Path(spec.origin).parent}/"
    seen: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root):
            seen.add((code.co_filename[len(root) :], code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        from embedlab.cli.app import main as program

        with contextlib.redirect_stdout(io.StringIO()):
            code = program(words)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    if code:
        sys.exit(f"embedlab {' '.join(words)} ended with {code}")
    return {(file, name) for file, name in seen if not name.rsplit(".", 1)[-1].startswith("<")}


def main() -> None:
    """Store, count and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("words", nargs=argparse.REMAINDER, help="a command of embedlab")
    words = parser.parse_args().words
    with tempfile.TemporaryDirectory() as cache:
        os.environ["EMBEDLAB_CACHE"] = cache
        typed = [sys.executable, "-m", "embedlab", *words, "--quiet"]
        subprocess.run(typed, stdout=subprocess.DEVNULL, check=True)
        functions = called([*words, "--quiet"])
    packages = Counter(file.split("/")[0] for file, _ in functions)
    print(
        f"{' '.join(words)}: {len(functions)} functions in {len({f for f, _ in functions})} files"
    )
    print(", ".join(f"{package} {number}" for package, number in packages.most_common()))


if __name__ == "__main__":
    main()
