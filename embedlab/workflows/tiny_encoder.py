"""The small random encoder of `--data tiny`, written once."""

from embedlab.core.settings import Settings
from embedlab.workflows.starting import tiny_encoder_folder


def build_tiny_encoder(start: str | None, settings: Settings) -> None:
    """Write the encoder of `--data tiny` where START is its folder and nothing is there yet."""
    folder = tiny_encoder_folder(settings)
    if start == str(folder) and not folder.is_dir():
        from embedlab.encoders.random_encoder import build_random_encoder

        build_random_encoder(folder, seed=0)
