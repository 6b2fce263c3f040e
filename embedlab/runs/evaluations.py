"""What an evaluation leaves behind: every score with how it was made, in one JSON file a task."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from embedlab import __version__
from embedlab.data.shared_text import Overlap
from embedlab.errors import MissingError
from embedlab.paths import write_atomic

SCHEMA = 1


@dataclass(frozen=True, kw_only=True)
class Score:
    """One number and what it is a number of."""

    by: str  # "dataset", "source", "dice" or "average"
    slice: str  # "sts12", "sts12/MSRpar", "sts-benchmark/fifth 1" …
    metric: str  # "spearman", "pearson", "accuracy" …
    setting: str  # the aggregation of correlations, the classifier setting of accuracies
    value: float  # −1–1 or 0–1, nan where it has no meaning (a constant column)
    items: int  # pairs or test items behind it
    # Of a classifier's accuracy: "test", "cv" (test folds of a cross-validation) or "dev" (what chose the L2); of an average over both
    # of the first "cv and test".
    split: str | None = None


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One model on one task, with everything that decides its numbers."""

    task: str
    model: str
    fingerprint: str
    precision: str
    pooling: str | None
    max_tokens: int | None
    truncated: int
    data: tuple[Mapping[str, Any], ...]  # the state of every part that was read: split, rows, hashes, partial, sample
    marks: tuple[str, ...]  # "partial", "sample", "overlap"
    scores: tuple[Score, ...]
    notes: tuple[str, ...] = ()
    overlaps: Mapping[str, Overlap] = field(default_factory=dict)  # slice → what it shares with the training data, where it does
    embedlab: str = field(default=__version__)
    schema: int = SCHEMA

    def save(self, folder: Path, name: str | None = None) -> Path:
        """Write `<folder>/<task>.json`, or under another NAME, and return its path."""
        path = folder / f"{name or self.task}.json"
        write_atomic(path, json.dumps(_without_nan(asdict(self)), indent=1, ensure_ascii=False, default=str) + "\n")
        return path

    @classmethod
    def load(cls, path: Path, *, keep: Callable[[Mapping[str, Any]], bool] = lambda _: True) -> Self:
        """Read what `save` wrote, of the scores those that KEEP chooses by their fields; a damaged or newer file is refused by name."""
        from pydantic_core import from_json  # in half the time of json's

        try:
            values: dict[str, Any] = from_json(path.read_bytes())
            if values["schema"] > SCHEMA:
                raise MissingError(f"{path}: written by a newer embedlab", hint="update embedlab, or evaluate again")
            scores = tuple(Score(**{**told, "value": _number(told["value"])}) for told in values.pop("scores") if keep(told))
            overlaps = {key: Overlap(**counts) for key, counts in values.pop("overlaps", {}).items()}
            rest: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
            return cls(**rest, scores=scores, overlaps=overlaps)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise MissingError(f"{path}: not a readable evaluation: {error}", hint="evaluate again to replace it") from error


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _without_nan(value: Any) -> Any:
    """JSON has no nan: an undefined score is null."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and value != value else value
