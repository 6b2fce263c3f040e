"""The marks that the command line puts on every number of a model, in one line for several
models.
"""

from collections.abc import Sequence
from contextlib import suppress

from embedlab.core.errors import EmbedlabError
from embedlab.core.settings import Settings
from embedlab.data.marks import UNKNOWN_TEXT
from embedlab.tui.model_titles import short_name
from embedlab.tui.stored_models import WORD_OVERLAP

FLAWED = "training that failed to learn"
_NAME = 24  # cells


def marks_by_model(names: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """Return each mark with the models that have it: how the models NAMES were trained, and whether
    their vectors collapsed.

    That training text is unknown is a mark of the scores already.
    """
    from embedlab.models.catalog import resolve
    from embedlab.runs.status import trained_flaw
    from embedlab.scoring.provenance import training_marks
    from embedlab.scoring.training_text import lineage

    marked: dict[str, list[str]] = {}
    for name in names:
        if name == WORD_OVERLAP.name:
            continue
        with suppress(EmbedlabError, OSError):  # the model is gone; its scores are still there
            members = resolve(name, settings.runs).members
            marks = [
                mark
                for member in members
                for mark in training_marks(member)
                if mark != UNKNOWN_TEXT
            ]
            marks += [FLAWED for member in members for run in lineage(member) if trained_flaw(run)]
            for mark in dict.fromkeys(marks):
                marked.setdefault(mark, []).append(short_name(name, _NAME))
    return tuple(f"{_TITLES.get(mark, mark)}: {', '.join(names)}" for mark, names in marked.items())


_TITLES = {
    "partial": "trained on partial data",
    "generated": "trained on generated data",
    "shortened": "shortened training",
}
