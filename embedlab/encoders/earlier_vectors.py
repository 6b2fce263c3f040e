"""Vectors that were cached under the earlier fingerprint of a model, found under today's without being computed or copied."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from embedlab.encoders.cache import SEGMENT_FILES


def adopt_vectors(folder: Path, fingerprint: str, earlier: Callable[[], str | None]) -> None:
    """Link the cached vectors in FOLDER that are stored under the EARLIER fingerprint of a model under FINGERPRINT too.

    Nothing is done where there are some already, or where the disk has no links: vectors are computed again then. EARLIER reads every
    file of a model, and is called only where there are none.
    """
    place = folder / fingerprint
    if place.exists() or (found := earlier()) is None or not (before := folder / found).is_dir():
        return
    with suppress(OSError):
        place.mkdir()
        # Keys last: a segment with keys is whole.
        for file in sorted(before.iterdir(), key=lambda file: file.name.endswith(f".{SEGMENT_FILES[-1]}.npy")):
            if file.is_file():
                os.link(file, place / file.name)
