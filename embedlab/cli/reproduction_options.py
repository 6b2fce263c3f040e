"""What a user selects of a reproduction: which models are behind a table, and whether they are trained."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ReproductionOptions:
    """Which models are behind a table, and whether they are trained for it."""

    overrides: tuple[str, ...]  # KEY=VALUE for every recipe
    encoder: str | None
    seeds: int | None
    workers: int | None
    trains: bool  # otherwise only runs that are there are used
