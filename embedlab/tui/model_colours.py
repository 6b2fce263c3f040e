"""One colour a model on every screen."""

from hashlib import blake2b

COLOURS = 24  # of models, $model-0 to $model-23 of every theme
_slots: dict[str, int] = {}  # of the models that were shown so far, the one that was drawn last at the end


def forget_colours() -> None:
    """Give no model a colour: a dashboard starts."""
    _slots.clear()


def model_colour(name: str) -> str:
    """The style of a model's marks: the same on every screen and at every start; a seed that is a model has one of its own.

    Only a model whose colour another one has already takes the next free colour; where none is free, that of the model that was drawn
    longest ago, so that models of one screen never share a colour.
    """
    slot = _slots.pop(name, None)
    if slot is None:
        preferred = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).digest()[0] % COLOURS
        taken = set(_slots.values())
        free = [slot % COLOURS for slot in range(preferred, preferred + COLOURS) if slot % COLOURS not in taken]
        slot = free[0] if free else _slots.pop(next(iter(_slots)))
    _slots[name] = slot
    return f"$model-{slot}"
