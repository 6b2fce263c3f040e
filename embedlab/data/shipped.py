"""The corpora that embedlab ships: a TOML file each in embedlab/data/corpora, and those of a suite
of tasks in a folder of its name.
"""

from collections.abc import Mapping

from embedlab.core.paths import CORPORA_FOLDER
from embedlab.data.corpus_file import read_corpus
from embedlab.data.dataset import Dataset


def shipped(name: str) -> Dataset:
    """Return the shipped corpus called NAME, or the one of a suite, SUITE/NAME."""
    return read_corpus(CORPORA_FOLDER / f"{name}.toml", name)


def shipped_tasks(suite: str) -> Mapping[str, Dataset]:
    """Return the corpora of a SUITE by their names in it: none where no folder is called so."""
    return {
        path.stem: shipped(f"{suite}/{path.stem}")
        for path in sorted((CORPORA_FOLDER / suite).glob("*.toml"))
    }
