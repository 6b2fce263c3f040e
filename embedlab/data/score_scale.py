"""The scale of a user's own scores, by the scores themselves: ranks do not depend on it,
losses do.
"""

from dataclasses import dataclass

import polars as pl

_USUAL = (1.0, 5.0, 10.0, 100.0)  # highest scores of scales that people use
# up to here, the largest of whole scores is the end of their scale: people use all of it
_WHOLE = 10.0


@dataclass(frozen=True, kw_only=True)
class ScoreScale:
    """The range of the scores that are there."""

    low: float
    high: float
    is_whole: bool = False  # whether all scores are whole numbers

    @classmethod
    def of(cls, scores: pl.Series) -> "ScoreScale":
        """Return the range of SCORES, of which there are some."""
        values = scores.cast(pl.Float64)
        is_whole = bool((values == values.round()).all())
        return cls(low=float(values.min()), high=float(values.max()), is_whole=is_whole)  # type: ignore[arg-type]

    def __str__(self) -> str:
        """The range in words."""
        return f"from {self.low:.4g} to {self.high:.4g}"

    @property
    def largest(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    @property
    def usual(self) -> float:
        """The highest score of the usual scale that these scores fit; the largest itself above all
        of them.
        """
        return next((highest for highest in _USUAL if self.largest <= highest), self.largest)

    def contradicts(self, highest: float) -> bool:
        """Whether a scale up to HIGHEST is another one than that of the scores: none of them is in
        its upper half.
        """
        return self.largest <= highest / 2

    @property
    def suggested(self) -> tuple[float, float]:
        """The lowest and the highest score of the scale that these scores suggest."""
        high = self.largest if self.is_whole and 0 < self.largest <= _WHOLE else self.usual
        return (-high if self.low < 0 else 1.0 if self.low >= 1 < high else 0.0), high
