"""How the runs behind stored similarities and answers were trained, which the tables of papers need
when the runs are gone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from embedlab.core.recipe import recipe_to_table
from embedlab.models.catalog import ModelSpec
from embedlab.runs.events import VectorSpread, events_after
from embedlab.runs.store import RunFolder
from embedlab.scoring.training_text import runs_in


@dataclass(frozen=True, kw_only=True)
class StoredTraining:
    """How a member was trained; nothing for a model that is not a run."""

    recipe: Mapping[str, Any] | None = None  # resolved; none for a combination
    data: tuple[
        Mapping[str, Any], ...
    ] = ()  # the states of what it read, of a combination those of its parts
    # The mean cosine of its texts before its contrastive stages, where it was measured, and after
    # them; none without such.
    cosines: tuple[float | None, float] | None = None


UNTRAINED = StoredTraining()


def stored_training(spec: ModelSpec) -> StoredTraining:
    """Return how the run at SPEC was trained, without the folders of this machine."""
    data = tuple(state for run in runs_of(spec) for state in run.environment().data)
    if spec.kind != "run":
        return StoredTraining(data=data)
    recipe = recipe_to_table(next(runs_of(spec)).recipe())
    start = recipe["encoder"]["model"]
    encoder = {
        **recipe["encoder"],
        "model": Path(start).name if Path(start).is_absolute() else start,
    }
    return StoredTraining(
        recipe={**recipe, "encoder": encoder}, data=data, cosines=cosines_of(next(runs_of(spec)))
    )


def cosines_of(run: RunFolder) -> tuple[float | None, float] | None:
    """Return the mean cosine of texts before the contrastive stages of RUN, where it was measured,
    and at its last measurement.
    """
    spreads = [
        event for event in events_after(run.events_file)[0] if isinstance(event, VectorSpread)
    ]
    before = next((spread.before for spread in spreads if isfinite(spread.before)), None)
    return (before, spreads[-1].mean_cosine) if spreads else None


def runs_of(spec: ModelSpec) -> Iterator[RunFolder]:
    """Yield the runs that a model is made of."""
    yield from runs_in(spec)
    for part in spec.parts:
        yield from runs_of(part)
