"""The training text of each model, as far as it is known; read once."""

from embedlab.core.errors import EmbedlabError
from embedlab.core.settings import Settings
from embedlab.data.overlaps import KnownText
from embedlab.tui.stored_models import WORD_OVERLAP


class TrainingTexts:
    """Reads the training text of a model when it is first wanted, in the thread that wants it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._known: dict[str, KnownText | None] = {}

    def of(self, name: str) -> KnownText | None:
        """The training text of the model NAME; None where it is unknown, or where it has none."""
        if name not in self._known:
            self._known[name] = self._read(name) if name != WORD_OVERLAP.name else None
        return self._known[name]

    def _read(self, name: str) -> KnownText | None:
        """The training text of a model, whose seeds were trained on the same."""
        from embedlab.models.catalog import resolve
        from embedlab.scoring.training_text import training_text

        try:
            members = resolve(name, self._settings.runs).members
            return next(
                (
                    text
                    for member in members
                    if (text := training_text(member, self._settings).text) is not None
                ),
                None,
            )
        except (EmbedlabError, OSError):  # the model is gone; its scores are still there
            return None
