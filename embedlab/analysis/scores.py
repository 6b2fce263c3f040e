"""A model among the columns of predictions, and how far what is said of models reaches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class ModelColumns:
    """A model in a pair table: one column a member (seed)."""

    name: str
    members: tuple[str, ...]
    seeds: tuple[int, ...] = ()  # of the members, where they have any
    runs: tuple[
        frozenset[str], ...
    ] = ()  # the runs behind each member: of a combination those of its parts
    # whether it is a checkpoint that others can name, or a rule: there is nothing else to draw
    is_published: bool = False

    @property
    def behind(self) -> tuple[frozenset[str], ...]:
        """The runs behind each member, or the member itself where none are named."""
        return (
            self.runs
            if len(self.runs) == len(self.members)
            else tuple(frozenset({member}) for member in self.members)
        )

    @property
    def is_recipe(self) -> bool:
        """Whether the members are draws of a recipe: a run by its name, not one seed of it, nor a
        model without seeds.
        """
        return bool(self.seeds) and self.members != (self.name,)


Reach = Literal["models", "checkpoints"]
"""How far a difference reaches: these recipes and published checkpoints, or nothing but the
weights at hand."""


def weakest(models: Sequence[ModelColumns]) -> Reach:
    """Return how far a statement about MODELS reaches: a run of one seed, and a model of unknown
    origin, are one draw of a recipe.
    """
    return "checkpoints" if any(map(is_checkpoint, models)) else "models"


def is_checkpoint(model: ModelColumns) -> bool:
    """Return whether the numbers of a model are about its weights alone: it is a run of one seed,
    or of unknown origin.
    """
    return not model.is_published and not (len(model.members) > 1 and model.is_recipe)
