"""Two models face to face on each pair: whose rank is nearer to that of the gold score."""

from dataclasses import dataclass

import polars as pl

from embedlab.analysis.rank_errors import rank_errors

# points of percentile rank: a model with at most this rank error, of either sign, is right on a
# pair
RIGHT = 10.0
WRONG = 30.0  # with at least this rank error it is wrong; between the two it is neither


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """The reference model, A, and another one, B."""

    reference: str
    other: str

    @property
    def swapped(self) -> "Pairing":
        """The same two models with the other as the reference."""
        return Pairing(reference=self.other, other=self.reference)

    def letter(self, model: str) -> str:
        """A or B; empty for a third model."""
        return {self.reference: "A", self.other: "B"}.get(model, "")


def with_pairing(table: pl.DataFrame, pairing: Pairing) -> pl.DataFrame:
    """Return a pair table with rank errors with columns for the two models of PAIRING.

    A, B: their scores; error(A), error(B): their rank errors, among the pairs that both have
    scored. delta_rank: percentile rank by B minus that by A, −100…100 points; it is also the
    difference of their signed rank errors. delta_error: size of B's rank error minus that of A's:
    negative where B is nearer to the gold score's rank. right: "A" where A is right and B wrong,
    "B" where B is right and A wrong, "both" and "neither" where they are equally so; else null.
    gap: the size of delta_rank.
    """
    names = (pairing.reference, pairing.other)
    first, second = (pl.col(f"error({name})") for name in ("A", "B"))
    delta = second - first
    return (
        table.with_columns(
            pl.col(name).alias(letter) for name, letter in zip(names, ("A", "B"), strict=True)
        )
        .with_columns(_errors(table, *names))
        .with_columns(
            delta.alias("delta_rank"),
            (second.abs() - first.abs()).alias("delta_error"),
            _right(first, second).alias("right"),
            delta.abs().alias("gap"),
        )
    )


def _errors(table: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    """Return the rank errors of two models as error(A) and error(B): among the pairs that both have
    scored.
    """
    errors = table.select(f"error({first})", f"error({second})")
    if (table[first].is_null() != table[second].is_null()).any():
        is_both = pl.col(first).is_not_null() & pl.col(second).is_not_null()
        both = table.select(
            "dataset",
            "gold",
            *(pl.when(is_both).then(name).alias(name) for name in (first, second)),
        )
        errors = rank_errors(both, [first, second]).drop("gap")
    return errors.rename(dict(zip(errors.columns, ("error(A)", "error(B)"), strict=True)))


def _right(first: pl.Expr, second: pl.Expr) -> pl.Expr:
    is_right = [error.abs() <= RIGHT for error in (first, second)]
    is_wrong = [error.abs() >= WRONG for error in (first, second)]
    verdicts = {
        "A": is_right[0] & is_wrong[1],
        "B": is_right[1] & is_wrong[0],
        "both": is_right[0] & is_right[1],
        "neither": is_wrong[0] & is_wrong[1],
    }
    return pl.coalesce(pl.when(holds).then(pl.lit(name)) for name, holds in verdicts.items())
