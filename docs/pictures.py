"""Takes the pictures of the dashboard: python docs/pictures.py [FOLDER].

They show the starter set and the runs of the demo. FOLDER holds the runs; those that are finished
there are not trained again. Without it they are trained anew, in some minutes.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from docs.blocks import ROOT
from tests.tui.photographs import photograph, train


def main(words: list[str]) -> None:
    """Take the pictures over the folder in WORDS."""
    options = argparse.ArgumentParser(description="Take the pictures of the dashboard.")
    options.add_argument("folder", nargs="?", type=Path)
    folder = options.parse_args(words).folder
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["XDG_STATE_HOME"] = temporary  # the dashboard remembers nothing of last time
        folder = folder or Path(temporary)
        train(folder)
        with chdir(folder):
            asyncio.run(photograph(ROOT / "pictures"))


if __name__ == "__main__":
    main(sys.argv[1:])
