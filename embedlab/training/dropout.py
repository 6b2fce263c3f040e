"""Changes the dropout rates of an encoder for one pass, wherever they are stored."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from torch import nn

DropoutPlace = tuple[nn.Module, str]  # a module and the attribute of it that holds a dropout rate


@contextmanager
def dropout_rate(places: Sequence[DropoutPlace], rate: float | None) -> Iterator[None]:
    """Run the dropouts at PLACES, including attention's, at RATE within the block; None leaves each
    unchanged.
    """
    if rate is None:
        yield
        return
    before = [(module, name, getattr(module, name)) for module, name in places]
    for module, name, _ in before:
        setattr(module, name, rate)
    try:
        yield
    finally:
        for module, name, rate_before in before:
            setattr(module, name, rate_before)


def dropout_places(model: nn.Module) -> list[DropoutPlace]:
    """Return all places in MODEL that hold a dropout rate; finding them takes longer than setting
    them, so call it once.

    Most are `p` of dropout modules; attention may store its own as a plain number under a name such
    as `attention_dropout`.
    """
    return [(module, name) for module in model.modules() for name in _rates(module)]


def _rates(module: nn.Module) -> list[str]:
    if isinstance(module, nn.modules.dropout._DropoutNd):
        return ["p"]
    return [
        name
        for name, value in vars(module).items()
        if "dropout" in name and type(value) in (int, float)
    ]
