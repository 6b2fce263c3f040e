"""Which seed of a run is apart from its others, by a test over their last dev scores."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean

from embedlab.analysis.seed_tests import holm, odd_one
from embedlab.runs.status import Status
from embedlab.runs.store import RunFolder

ODD = "≠"  # the sign of a seed that is apart, and of a run that has one
SURE = 0.05  # the largest p that is marked


def odd_seeds(runs: Iterable[tuple[RunFolder, Status]]) -> Mapping[str, str]:
    """Return of each finished run that is apart from the other seeds of its name what is odd, by
    run id.

    Grubbs' test for each name with at least three finished seeds, corrected by Holm over these
    names.
    """
    seeds: dict[str, list[tuple[RunFolder, float]]] = defaultdict(list)
    for run, status in runs:
        if status.state == "finished" and status.dev is not None:
            seeds[run.name].append((run, status.dev.score))
    tried = [
        (seed, *odd_one([score for _, score in seed])) for seed in seeds.values() if len(seed) > 2
    ]
    odd = {}
    for (group, index, _), p in zip(tried, holm([p for *_, p in tried]), strict=True):
        if p < SURE:
            (run, score), others = (
                group[index],
                fmean(other for number, (_, other) in enumerate(group) if number != index),
            )
            side = "above" if score > others else "below"
            over = f", corrected over {len(tried)} runs" if len(tried) > 1 else ""
            odd[run.id] = (
                f"{ODD} seed {run.seed} is apart: dev {score:z.2f}, {side} the others' "
                f"{others:z.2f} (Grubbs' test, p {p:.2g}{over})"
            )
    return odd
