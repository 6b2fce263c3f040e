"""The small random encoder of the sample world, written once."""

from embedlab.core.settings import Settings
from embedlab.workflows.starting import sample_encoder_folder


def build_sample_encoder(start: str | None, settings: Settings) -> None:
    """Write the sample world's encoder where START is its folder and nothing is there yet."""
    if (
        start is None
        or not settings.sample
        or start != str(folder := sample_encoder_folder(settings))
        or folder.is_dir()
    ):
        return
    from embedlab.encoders.random_encoder import build_random_encoder

    build_random_encoder(folder, seed=0)
