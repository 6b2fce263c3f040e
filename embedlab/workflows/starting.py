"""The encoder that a training starts from: where it is, without loading it."""

import hashlib
from pathlib import Path

from embedlab.core.settings import Settings


def starting_encoder(typed: str | None, settings: Settings) -> str | None:
    """Return the location of the encoder to start from, None for that of the recipe; folders with
    their absolute path.

    The sample world has a small encoder of its own; `build_sample_encoder` writes it where it is
    missing.
    """
    if typed is not None:
        from embedlab.models.catalog import starting_location

        return starting_location(typed, settings.runs_folder)
    return str(sample_encoder_folder(settings)) if settings.sample else None


def sample_encoder_folder(settings: Settings) -> Path:
    """Return the folder of the sample world's encoder, whether it exists or not."""
    from embedlab.data import sample

    # A world of other words has another encoder: one that an earlier version built would spell the
    # new words in letters.
    words = hashlib.sha256("\n".join(sample.vocabulary()).encode()).hexdigest()[:8]
    return (settings.cache / "sample-encoders" / words).absolute()
