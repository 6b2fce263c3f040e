"""The names under which people type datasets, such as `stsb`, `STS2012` and `sickr`, those of
several datasets, and those of averages over some.
"""

import re
from collections.abc import Mapping, Sequence

from embedlab.core import plugins
from embedlab.data.published import shipped_aliases

STS_YEARS = ("sts12", "sts13", "sts14", "sts15", "sts16")
STS_AVERAGES: Mapping[str, tuple[str, ...]] = {
    "sts12-16": STS_YEARS,
    "average of seven": (*STS_YEARS, "sts-benchmark", "sick-r"),
}
OFFICIAL_FOLDER = "STS"  # in a data folder; SentEval's copies are in another


SETS = {  # datasets that have a name together
    "multitask": ("sentiment", "paraphrases", "sts-course"),
    "sts": ("sts12", "sts13", "sts14", "sts15", "sts16", "sts-benchmark", "sick-r"),
}
_YEAR = re.compile(r"(?<=sts)20(?=\d\d)")
_SIGNS = re.compile(r"[-_. ]+")


def canonical_name(name: str) -> str:
    """Return the dataset or task that a typed NAME means; a path, and what is no other writing of a
    name, as it is.

    Case and signs between the parts do not matter, and years may be whole: `STS2012` is sts12. A
    split may follow, as `stsb:dev`.
    """
    base, colon, split = name.partition(":")
    shipped = [*plugins.shipped_names("datasets"), *plugins.shipped_names("tasks")]
    if base in shipped or "/" in base:
        return name
    typed = _squeezed(base)
    canonical = next(
        (known for known in shipped if _squeezed(known) == typed), None
    ) or shipped_aliases().get(typed)
    is_own = canonical is not None and any(
        plugins.find(kind, base) is not None for kind in ("datasets", "tasks")
    )  # a plug-in's name
    return name if canonical is None or is_own else f"{canonical}{colon}{split}"


def canonical_names(names: Sequence[str]) -> list[str]:
    """Return the datasets or tasks that typed NAMES mean, each once."""
    return list(dict.fromkeys(map(canonical_name, names)))


def datasets_of(name: str) -> tuple[str, ...]:
    """Return the datasets that NAME is of: those of a set, or the one of this name."""
    return SETS.get(name, (name,))


def _squeezed(name: str) -> str:
    return _YEAR.sub("", _SIGNS.sub("", name.lower()))
