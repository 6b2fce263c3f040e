"""The scale of a file's scores: the range that they have, and the usual one that this suggests."""

from dataclasses import dataclass

import polars as pl

from embedlab.core.errors import UsageError
from embedlab.data.table_file import ROUNDING

_USUAL = (1.0, 5.0, 10.0, 100.0)  # highest scores of scales that people use
# up to here, the largest of whole scores is the end of their scale: people use all of it
_WHOLE = 10.0
_WITHIN = 0.95  # of the scores, whose usual scale is that of the file


@dataclass(frozen=True, kw_only=True)
class ScoreScale:
    """The range of a file's scores."""

    low: float
    high: float
    is_whole: bool = False  # whether all scores are whole numbers

    @classmethod
    def of(cls, scores: pl.Series) -> "ScoreScale":
        """Return the range of SCORES, which are not empty."""
        values = scores.cast(pl.Float64)
        is_whole = bool(((values - values.round()).abs() <= ROUNDING).all())
        return cls(low=float(values.min()), high=float(values.max()), is_whole=is_whole)  # type: ignore[arg-type]

    def __str__(self) -> str:
        """The range in words."""
        return f"from {self.low:.4g} to {self.high:.4g}"

    @property
    def largest(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    def refuse_other(
        self, title: str, scale: tuple[float, float], low_name: str | None = ""
    ) -> None:
        """Refuse a SCALE of the scores of TITLE if a score is outside it, or none is in its upper
        half. LOW_NAME is the file's name with the statement that low scores are right; None where
        the user states it.
        """
        low, high = scale
        slack = ROUNDING * max(map(abs, scale))
        is_outside = self.low < low - slack or self.high > high + slack
        is_low = self.high <= (low + high) / 2 and self.contradicts(scale)
        if is_outside or (is_low and low_name is not None):
            fitting_low, fitting_high = self.fitting
            hint = f"state their scale: scale={fitting_low:g}-{fitting_high:g}"
            if low_name and not is_outside:
                hint += f"; where all of them are low on this scale: {low_name}"
            raise UsageError(
                f"{title}: the scores are {self}, but scale is {low:g}-{high:g}", hint=hint
            )

    def contradicts(self, scale: tuple[float, float]) -> bool:
        """Whether SCALE is not that of the scores, because its upper half, or that of its opposite,
        holds none of them; 0 alone fits each scale.
        """
        return 0 < self.largest <= max(map(abs, scale)) / 2

    @property
    def fitting(self) -> tuple[float, float]:
        """The suggested scale, or where the scores contradict it, one that ends at them."""
        if self.contradicts(self.suggested):
            return min(0.0, self.low), max(0.0, self.high)
        return self.suggested

    @property
    def suggested(self) -> tuple[float, float]:
        """The lowest and the highest score of the usual scale that these scores suggest."""
        slack = ROUNDING * self.largest
        usual = (highest for highest in _USUAL if self.largest <= highest + slack)
        high = next(usual, self.largest)
        if self.is_whole and 0 < self.largest <= _WHOLE + slack:
            high = float(round(self.largest))
        if self.low < -slack:
            return -high, high
        starts_at_one = self.low >= 1 - slack and 1 < high <= _WHOLE
        return float(starts_at_one), high


def unusual_scores(scores: pl.Series) -> tuple[ScoreScale | None, pl.Series]:
    """Return the usual scale that nearly all SCORES, numbers, are on, and which of them are not;
    None where all are, many are not, or no usual scale reaches so far.
    """
    low = scores.quantile((1 - _WITHIN) / 2) or 0.0
    high = scores.quantile(_WITHIN) or 0.0
    scale_low, scale_high = ScoreScale(low=low, high=high).suggested
    is_below = scores < min(scale_low, low)
    is_outside = (is_below | (scores > scale_high)).fill_null(False)
    are_few = 0 < is_outside.sum() <= (1 - _WITHIN) * len(scores)
    if high > _USUAL[-1] or not are_few:
        return None, is_outside
    return ScoreScale(low=scale_low, high=scale_high), is_outside
