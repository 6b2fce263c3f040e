"""One colour a model on every screen."""

from hashlib import blake2b

COLOURS = 24  # of models, $model-0 to $model-23 of every theme
APART = 5  # steps between two hues that differ at a glance, also among the greens
_slots: dict[
    str, int
] = {}  # of the models that were shown so far, the one that was drawn last at the end


def forget_colours() -> None:
    """Give no model a colour: a dashboard starts."""
    _slots.clear()


def model_colour(name: str) -> str:
    """The style of a model's marks: the same on every screen and at every start; a seed that is a
    model has one of its own.

    A model whose colour another one has already, or one that looks nearly the same, takes the next
    colour that is apart from all others, as far as there is room; where no colour is free, that of
    the model that was drawn longest ago. So models of one screen never share one.
    """
    slot = _slots.pop(name, None)
    if slot is None:
        preferred = (
            blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).digest()[0] % COLOURS
        )
        slots = [slot % COLOURS for slot in range(preferred, preferred + COLOURS)]
        distances = {
            slot: min((_distance(slot, taken) for taken in _slots.values()), default=COLOURS)
            for slot in slots
        }
        slot = next(
            (slot for apart in range(APART, 0, -1) for slot in slots if distances[slot] >= apart),
            None,
        )
        slot = _slots.pop(next(iter(_slots))) if slot is None else slot
    _slots[name] = slot
    return f"$model-{slot}"


def _distance(first: int, second: int) -> int:
    """The steps between two colours of the circle of hues."""
    steps = abs(first - second)
    return min(steps, COLOURS - steps)
