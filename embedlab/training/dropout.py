"""Dropout rates of an encoder, wherever it keeps them, changed for one pass."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def dropout_rate(model: nn.Module, rate: float | None) -> Iterator[None]:
    """Let every dropout of MODEL, attention's too, run at RATE until the block ends; None leaves each at its own."""
    if rate is None:
        yield
        return
    before = [(module, name, getattr(module, name)) for module, name in dropout_places(model)]
    for module, name, _ in before:
        setattr(module, name, rate)
    try:
        yield
    finally:
        for module, name, own in before:
            setattr(module, name, own)


def dropout_places(model: nn.Module) -> Iterator[tuple[nn.Module, str]]:
    """The modules of MODEL and their attributes that hold a dropout rate.

    Most are `p` of dropout modules; attention may keep its own as a plain number under a name such as `attention_dropout`.
    """
    for module in model.modules():
        if isinstance(module, nn.modules.dropout._DropoutNd):
            yield module, "p"
        else:
            yield from ((module, name) for name, value in vars(module).items() if "dropout" in name and type(value) in (int, float))
