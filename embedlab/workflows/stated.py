"""Typed names of which only figures are known, apart from models that score pairs."""

from collections.abc import Sequence

from embedlab.models.aliases import model_of
from embedlab.models.catalog import resolve
from embedlab.models.encoder_kind import prefix_of
from embedlab.reports.scores import StatedModel
from embedlab.workflows.session import Session


def without_stated(names: Sequence[str], session: Session) -> tuple[list[str], list[StatedModel]]:
    """Return the NAMES of models that score pairs, and the others with their figures."""
    stated = [
        stated_model
        for name in dict.fromkeys(names)
        if (stated_model := _stated(name, session)) is not None
    ]
    return [name for name in names if name not in {model.name for model in stated}], stated


def _stated(name: str, session: Session) -> StatedModel | None:
    if prefix_of(model_of(name) or name) is None:
        return None
    spec = resolve(name, session.settings.runs).members[0]
    figures = spec.shipped.figures(spec.location)
    return StatedModel(name=name, figures=figures) if figures else None
