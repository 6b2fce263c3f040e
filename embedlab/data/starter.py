"""The starter set: real pairs, premises and definitions inside the package, with their licences in
its folder.

`--data starter` is a data folder like any other, which holds parts of three corpora under their own
names: every number of them is partial. Its pairs are also one dataset, `starter`: those of the
three splits of STS Benchmark together. benchmarks/starter_set.py makes the files.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from embedlab.core.errors import Hint, MissingError, NamedOption
from embedlab.core.paths import STARTER_FOLDER

MANIFEST = "MANIFEST.tsv"  # path, lines and sha256 of each file
SOURCES = ("images", "track5.en-en")  # of STS Benchmark: those whose text may be passed on
CORPORA = ("sts-benchmark", "snli", "definitions")  # of which it holds a part
OFFER = Hint(
    NamedOption("--data", "starter"),
    " for the small parts of STS-B, SNLI and WordNet inside embedlab",
)  # where data are missing


def is_starter(folder: Path | None) -> bool:
    """Return whether FOLDER is that of the starter set."""
    return folder == STARTER_FOLDER


def refuse_damage(sha256: Mapping[str, str]) -> None:
    """Refuse files of the starter set, given by path and hash, that are not as they were made."""
    if damaged := next(
        (file for file, digest in sha256.items() if _hashes().get(file) != digest), None
    ):
        raise MissingError(
            f"{str(STARTER_FOLDER / damaged)!r} of the starter set is damaged",
            hint="install embedlab again",
        )


@cache
def _hashes() -> Mapping[str, str]:
    _, *lines = (STARTER_FOLDER / MANIFEST).read_text(encoding="utf-8").splitlines()
    return {path: digest for path, _, digest in (line.split("\t") for line in lines)}
