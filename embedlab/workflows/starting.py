"""The encoder that a training starts from: where it is, without loading it."""

import hashlib
from pathlib import Path

from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings


def starting_encoder(typed: str | None, settings: Settings) -> str | None:
    """Return the location of the encoder to start from, None for that of the recipe; folders with
    their absolute path.

    The generated corpora have a small encoder of their own; `build_tiny_encoder` writes it where it
    is missing.
    """
    if typed is not None:
        from embedlab.models.catalog import starting_location

        return starting_location(typed, settings.runs)
    return str(tiny_encoder_folder(settings)) if settings.data == TINY_FOLDER else None


def tiny_encoder_folder(settings: Settings) -> Path:
    """Return the folder of the encoder of `--data tiny`, whether it exists or not."""
    from embedlab.data import tiny

    # Corpora of other words have another encoder: this one would spell new words in letters.
    words = hashlib.sha256("\n".join(tiny.vocabulary()).encode()).hexdigest()[:8]
    return (settings.cache / "tiny-encoder" / words).absolute()
