"""Axes of plots in a terminal: the round values that have a mark, and the line that names them."""

from collections.abc import Callable, Sequence
from itertools import count
from math import ceil, log10

_STEPS = (5, 2, 1)
_DIGITS = 12  # of a number at most
_CELLS = 9  # of a line for each mark, about
_APART = 2  # cells between two numbers


def round_ticks(low: float, high: float, most: int) -> list[float]:
    """At most MOST multiples of 1, 2 or 5 times a power of ten between LOW and HIGH, but two at
    least; LOW is below HIGH.
    """
    ticks: list[float] = []
    for power in count(ceil(log10(high - low)), -1):
        for step in _STEPS:
            finer = _multiples(low, high, step, power)
            if len(finer) > most and len(ticks) >= 2:
                return ticks
            if len(finer) > most:
                return [finer[0], finer[-1]]
            ticks = finer
    raise AssertionError("a finer step has more multiples")


def _multiples(low: float, high: float, step: int, power: int) -> list[float]:
    size = step * 10.0**power
    slack = 1e-9  # of a step: the ends of an axis are sums of floating-point numbers
    numbers = range(ceil(low / size - slack), int((high / size + slack) // 1) + 1)
    return [
        number * step * 10.0**power if power >= 0 else number * step / 10.0**-power
        for number in numbers
    ]


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """The logarithms (base 10) of round values between 10**LOW and 10**HIGH: powers of ten where
    there are two.
    """
    powers = [float(power) for power in range(ceil(low), int(high // 1) + 1)]
    if len(powers) >= 2:
        return powers[:: ceil(len(powers) / most)]
    return [log10(value) for value in round_ticks(10**low, 10**high, most) if value > 0]


def tick_text(value: float) -> str:
    """A round VALUE in as many digits as it has."""
    return f"{value:z,.{_DIGITS}g}"


def tick_line(
    low: float,
    high: float,
    columns: int,
    *,
    most: int | None = None,
    text: Callable[[float], str] = tick_text,
) -> str:
    """A line of COLUMNS cells with the round values of an axis below their places; MOST: fewer than
    have room.
    """
    ticks = round_ticks(low, high, most or max(2, columns // _CELLS))
    return placed(
        [(round((tick - low) / (high - low) * (columns - 1)), text(tick)) for tick in ticks],
        columns,
    )


def placed(texts: Sequence[tuple[int, str]], columns: int) -> str:
    """Each text centred at its column in a line of COLUMNS cells; one that would touch the text
    before it is left out.
    """
    line = ""
    for column, text in texts:
        left = max(0, min(column - len(text) // 2, columns - len(text)))
        if not line or left >= len(line) + _APART:
            line = f"{line:<{left}}{text}"
    return f"{line:<{columns}}"
