"""What a title says of the numbers of measures: which are x 100, because they are shares, and which
are in a unit of their own.
"""

from collections.abc import Iterable, Mapping

from embedlab.analysis.comparison import ComparedSlice
from embedlab.analysis.power import Detectable
from embedlab.choices import TableScale
from embedlab.tasks.task import scale_of

Scales = Mapping[str, TableScale]
"""What tables multiply the numbers of each measure by, in the order of the measures."""


def scales_of(slices: Iterable[ComparedSlice | Detectable]) -> Scales:
    """Return the scales of the measures of SLICES."""
    return {compared.metric: scale_of(compared.task, compared.metric) for compared in slices}


def shares_of(slices: Iterable[ComparedSlice]) -> list[ComparedSlice]:
    """Return the slices whose numbers are shares: those that plots show."""
    return [compared for compared in slices if scale_of(compared.task, compared.metric) == 100]


def unit_of(scales: Scales) -> str:
    """Return " x 100" where all numbers are shares; else nothing, as no unit holds for all."""
    return " x 100" if {*scales.values()} == {100} else ""


def measures_in(scales: Scales) -> str:
    """Return the names of the measures, with x 100 after those that are shares, or once after all
    where all are.
    """
    units = {
        _written(name): unit_of({name: scale}) if is_mixed(scales) else ""
        for name, scale in scales.items()
    }
    return " and ".join(name + unit for name, unit in units.items()) + unit_of(scales)


def is_mixed(scales: Scales) -> bool:
    """Return whether some numbers are shares and others are not."""
    return len({*scales.values()}) > 1


def _written(name: str) -> str:
    return name.capitalize() if name == "spearman" else name
