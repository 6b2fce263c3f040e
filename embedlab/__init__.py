"""embedlab: a lab bench for sentence embeddings.

    import embedlab

    embedlab.load("dice").score(["A cat sleeps."], ["A cat is asleep."])
    embedlab.compare(["dice", "snli-supcl"], sample=True).frame

`load`, `encode`, `score_pairs`, `evaluate`, `compare`, `power`, `pairs`, `train` and `why` are loaded when they are first used.
"""

from typing import TYPE_CHECKING, Any

from embedlab.core.version import __version__ as __version__

if TYPE_CHECKING:
    from embedlab.workflows.notebook import compare, encode, evaluate, load, pairs, power, score_pairs, train, why

__all__ = ["compare", "encode", "evaluate", "load", "pairs", "power", "score_pairs", "train", "why"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from embedlab.workflows import notebook

    return getattr(notebook, name)
