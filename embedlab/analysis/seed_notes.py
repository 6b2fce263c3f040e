"""How far a comparison reaches, and what few seeds do to it, in the notes of tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from embedlab.core.note import Note
from embedlab.core.printable import CHECKPOINTS, MODELS, ONE_TOPIC

if TYPE_CHECKING:
    from embedlab.analysis.evidence import ModelColumns, Reach

ASSUMED = "equal spread assumed"
REACHES: Mapping[Reach, str] = {
    "models": MODELS.sign,
    "checkpoints": CHECKPOINTS.sign,
}  # the sign of a verdict; in tables of differences the column's title says it
HANGS = ONE_TOPIC.sign  # the sign of a number that hangs on one topic
REACH_SIGN = str(CHECKPOINTS)
REACH_NOTE = Note(
    "about these checkpoints only, because a model is one run or of unknown origin",
    short_texts=["about these checkpoints only"],
    kind="sign",
)


CHECKPOINT_NOTE = Note(
    "this checkpoint: one run or of unknown origin, so that its numbers are about these weights and "
    "not about its recipe",
    kind="sign",
)


def seed_notes(models: Sequence[ModelColumns]) -> Iterator[str]:
    """Yield remarks on the effect of few seeds on the intervals; a seed that was named is one seed
    as well.
    """
    seeds = {model.name: len(model.members) for model in models}
    one_seed, two_seeds = (
        [name for name, count in seeds.items() if count == seed_count] for seed_count in (1, 2)
    )
    if one_seed:
        is_borrowed = max(seeds.values()) > 1 and any(
            model.is_recipe and len(model.members) == 1 for model in models
        )
        borrowing = (
            f"; a difference from a model of several seeds takes that one's spread, {ASSUMED}"
            if is_borrowed
            else ""
        )
        message = (
            f"one seed: the interval is about this checkpoint, not the recipe{borrowing}: "
            f"{', '.join(one_seed)}"
        )
        short = "one seed: about this checkpoint"
        yield Note(message, models=one_seed, short_texts=[short], kind="one seed")
    if two_seeds:
        pooling = (
            f"; between two such recipes it is pooled, {ASSUMED}" if len(two_seeds) > 1 else ""
        )
        message = (
            f"two seeds: they say little about the spread over seeds, which makes intervals "
            f"wide{pooling}: {', '.join(two_seeds)}"
        )
        yield Note(message, models=two_seeds, short_texts=["two seeds, so that intervals are wide"])
