"""The STS sets that papers average over, and where their official files are."""

from collections.abc import Mapping

STS_YEARS = ("sts12", "sts13", "sts14", "sts15", "sts16")
STS_AVERAGES: Mapping[str, tuple[str, ...]] = {
    "sts12-16": STS_YEARS,
    "average of seven": (*STS_YEARS, "sts-benchmark", "sick-r"),
}
OFFICIAL_FOLDER = "STS"  # in a data folder; SentEval's copies are in another
