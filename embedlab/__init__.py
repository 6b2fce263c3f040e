"""embedlab: a lab bench for sentence embeddings.

    import embedlab

    embedlab.load("dice").score(["A cat sleeps."], ["A cat is asleep."])
    embedlab.compare(["dice", "minilm"], data="starter").frame

Each function is loaded when it is first used.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from embedlab.core.version import __version__ as __version__

if TYPE_CHECKING:
    from embedlab.api import encode, list_runs, load, score_pairs

# Threads of torch that wait for each other sleep instead of spinning: beside one other busy process
# a spinning step is eight times slower. OpenMP reads it when torch is loaded, here and in every
# process that this one starts.
if "GOMP_SPINCOUNT" not in os.environ:
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")

__all__ = [
    "compare",
    "encode",
    "evaluate",
    "explain",
    "export",
    "grid",
    "grid_status",
    "grid_table",
    "items",
    "list_runs",
    "load",
    "nearest",
    "overlaps",
    "pairs",
    "power",
    "reproduce",
    "run",
    "score",
    "score_pairs",
    "train",
    "verify",
    "why",
]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("embedlab.api"), name)
