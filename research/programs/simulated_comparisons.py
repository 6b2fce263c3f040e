"""Comparisons of simulated models on the real sentence graphs: what an interval says beside what is
true.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from independent_bootstrap import interval, resampled_spearman
from simulated_scores import Floats, Graph, World

VALUES_AT_ONCE = 300_000  # scores of members that are compared together


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One row of a table: a world on a graph."""

    label: tuple[str, ...]
    names: tuple[str, ...]
    world: World
    # pairs drawn from the graph, as a chain of neighbours; all where absent
    rows: int | None = None
    fewer_seeds: tuple[
        tuple[int, int], ...
    ] = ()  # further rows of the table: the same draws with only the first seeds of each model

    def labels(self) -> Iterator[tuple[str, ...]]:
        """The first columns of each of its rows."""
        for seeds in (*self.fewer_seeds, self.world.seeds):
            yield tuple(part.format(seeds=f"{seeds[0]} and {seeds[1]}") for part in self.label)

    def outcome(self, intervals: Mapping[str, tuple[float, float]]) -> "Outcome":
        """What the INTERVALS of a comparison, by method, say beside what is true."""
        truth = self.world.differences[1] - self.world.differences[0]
        return Outcome(
            covers={name: low <= truth <= high for name, (low, high) in intervals.items()},
            rejects={name: not low <= 0 <= high for name, (low, high) in intervals.items()},
            lengths={name: high - low for name, (low, high) in intervals.items()},
        )


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One simulated comparison: for each method whether its interval covers the truth and whether
    it excludes zero.
    """

    covers: dict[str, bool]
    rejects: dict[str, bool]
    lengths: dict[str, float]


def evidence_of(graph: Graph, gold: Floats, members: Floats) -> list:  # of Evidence
    """The evidence of each dataset, and of their average where there are several."""
    return evidence_of_runs(graph, [(gold, members)])


def evidence_of_runs(graph: Graph, drawn: Sequence[tuple[Floats, Floats]]) -> list:  # of Evidence
    """The same of several draws of gold scores, (pairs,), and members, (members, pairs), one draw
    after another.
    """
    from embedlab.analysis.evidence import Evidence
    from embedlab.analysis.influence import spearman_influences
    from embedlab.analysis.leaving_out import leave_out_of_measure, spearman_without

    parts = []
    for name, own, rows in graph.datasets:
        of = [(gold[own], members[:, own]) for gold, members in drawn]
        points = [_spearman(*one) for one in of]
        leaving = [
            leave_out_of_measure(
                point, range(len(members)), partial(spearman_without, gold, list(members))
            )
            for point, (gold, members) in zip(points, of, strict=True)
        ]
        found, contributions = (
            np.concatenate(points),
            np.concatenate([spearman_influences(*one) for one in of]) / len(own),
        )
        rows = _with(rows, contributions=contributions, leave_out=partial(_leave_out, leaving))
        parts.append(
            Evidence(
                key=name, title=name, items=len(own), points=found, rows=rows, scale="correlation"
            )
        )
    return [*parts, average_of("average", parts, graph)] if len(parts) > 1 else parts


def _leave_out(parts: Sequence[Any], rows: Any) -> tuple[Floats, Floats]:
    """The scores of the members of all PARTS without ROWS, and their changes; (members,) each."""
    scores, changes = np.concatenate([np.stack(part(rows)) for part in parts], axis=1)
    return scores, changes


def average_of(name: str, parts: Sequence, graph: Graph) -> Any:  # Evidence
    """The average of some datasets of GRAPH, whose topics are found once."""
    from embedlab.analysis.evidence import average_evidence

    average = average_evidence(name, parts)
    assert average.rows is not None
    known = graph.averages.setdefault(tuple(part.key for part in parts), average.rows)
    return replace(
        average,
        rows=_with(
            known, contributions=average.rows.contributions, leave_out=average.rows.leave_out
        ),
    )


def _with(rows: Any, **fields: Any) -> Any:  # SliceRows
    """The same rows with other contributions; their topics are found once a graph."""
    found = replace(rows, **fields)
    for name in ("shared", "row_topics", "row_factors"):
        found.__dict__[name] = getattr(rows, name)  # where the cached property would put it
    return found


def _spearman(gold: Floats, members: Floats) -> Floats:
    """Spearman of values that all differ; (members,)."""
    values = np.vstack([gold[None], members])
    ranks = np.empty_like(values)
    np.put_along_axis(ranks, np.argsort(values, axis=1), np.arange(float(len(gold)))[None], axis=1)
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    return centred[1:] @ centred[0] / (centred[0] @ centred[0])


def columns_of(seeds: Sequence[int], before: str = "", of: str = "") -> list:  # of ModelColumns
    """A model for each number of seeds; what is BEFORE its name and of which its members are."""
    from embedlab.analysis.evidence import ModelColumns

    return [
        ModelColumns(
            name=before + name,
            members=tuple(f"{of}{name}@{seed}" for seed in range(count)),
            seeds=tuple(range(count)),
        )
        for name, count in zip("abcdefgh"[: len(seeds)], seeds, strict=True)
    ]


def compare_once(cell: Cell, graph: Graph, seed: int, *, resamples: int = 0) -> list[Outcome]:
    """One simulated comparison of two models for each row of CELL."""
    rng = np.random.default_rng(seed)
    if cell.rows is not None:
        start = int(rng.integers(0, len(graph.first)))
        graph = graph.part(np.sort(np.arange(start, start + cell.rows) % len(graph.first)))
    drawn = cell.world.draw(graph, rng)
    (intervals,) = intervals_of_runs(graph, [drawn], cell)
    if resamples:
        gold, models = drawn
        draws = resampled_spearman(gold, np.concatenate(models), resamples, rng)
        intervals[-1]["bootstrap"] = interval(
            draws[: len(models[0])].mean(axis=0) - draws[len(models[0]) :].mean(axis=0)
        )
    return [cell.outcome(each) for each in intervals]


def compare_many(cell: Cell, graph: Graph, seeds: Sequence[int]) -> list[list[Outcome]]:
    """Several simulated comparisons on the whole GRAPH, the same as one by one: their intervals are
    found together, which is quicker.
    """
    drawn = [cell.world.draw(graph, np.random.default_rng(seed)) for seed in seeds]
    return [
        [cell.outcome(each) for each in intervals]
        for intervals in intervals_of_runs(graph, drawn, cell)
    ]


Intervals = dict[str, tuple[float, float]]  # by method


def intervals_of_runs(
    graph: Graph, drawn: Sequence[tuple[Floats, list[Floats]]], cell: Cell
) -> list[list[Intervals]]:
    """The intervals of the difference of two models, for each draw and each row of CELL."""
    rows = (*cell.fewer_seeds, cell.world.seeds)
    weighed, keys = weighed_runs(graph, drawn, cell.world.seeds, rows)
    found = [
        _intervals(weighed, pair, counts)
        for pair, counts in zip(keys, rows * len(drawn), strict=True)
    ]
    if len(graph.names) > 1:
        plain = of_one_sum(weighed, keys)
        for intervals, pair in zip(found, keys, strict=True):
            intervals["flips of one sum"] = plain.pair_uncertainties[pair].interval(
                plain.means[pair[0]] - plain.means[pair[1]]
            )
    return [found[start : start + len(rows)] for start in range(0, len(found), len(rows))]


def weighed_runs(
    graph: Graph,
    drawn: Sequence[tuple[Floats, list[Floats]]],
    seeds: Sequence[int],
    rows: Sequence[Sequence[int]],
) -> tuple[Any, list[tuple[str, str]]]:  # Weighed, and the names of each two models
    """All draws of two models of SEEDS weighed together; of each draw the models of the first seeds
    that each of ROWS has.
    """
    from embedlab.analysis.weighing import Weighed

    one = evidence_of_runs(graph, [(gold, np.concatenate(models)) for gold, models in drawn])[-1]
    # Members are numbered in the order of the models: those with all seeds come first.
    models = [
        own for run in range(len(drawn)) for own in columns_of(seeds, f"{run} all ", f"{run} ")
    ]
    keys = []
    for run in range(len(drawn)):
        for place, counts in enumerate(rows):
            pair = columns_of(counts, f"{run} {place} ", f"{run} ")
            models += pair
            keys.append((pair[0].name, pair[1].name))
    return Weighed(one, models, keys), keys


def of_one_sum(weighed: Any, pairs: Sequence[tuple[str, str]]) -> Any:  # Weighed of both
    """The same models weighed as if contributions summed to zero over all rows alone, and not
    within each dataset.
    """
    one = weighed.evidence
    rows = replace(one.rows)
    for name in ("shared", "row_topics"):
        rows.__dict__[name] = getattr(one.rows, name)
    rows.__dict__["row_factors"] = np.ones(
        len(rows.texts)
    )  # where the cached property would put them
    return type(weighed)(replace(one, rows=rows), [*weighed.models.values()], pairs)


def normal_reach(uncertainty: Any) -> float:  # Uncertainty
    """How far an interval by the variance of the topics alone would reach."""
    from scipy.special import stdtrit

    rows = 1.96**2 * (uncertainty.variance_of_rows + uncertainty.other_variance)
    seeds = stdtrit(uncertainty.seeds_freedom, 0.975) ** 2 * uncertainty.seeds
    return float(np.sqrt(rows + seeds))


def _intervals(weighed: Any, pair: tuple[str, str], seeds: Sequence[int]) -> Intervals:  # Weighed
    delta, uncertainty = (
        weighed.means[pair[0]] - weighed.means[pair[1]],
        weighed.pair_uncertainties[pair],
    )
    if np.isnan(uncertainty.variance_of_rows):
        return {}  # of too few topics
    intervals = {
        "flips": uncertainty.interval(delta),
        "normal": _around(delta, normal_reach(uncertainty)),
        "independent": _around(delta, 1.96 * np.sqrt(uncertainty.independent)),
    }
    if min(seeds) > 1:
        intervals["t over seeds"] = welch(
            *(weighed.evidence.points[weighed.places[name]] for name in pair)
        )
    return intervals


def first_seeds(one: Any, drawn: Sequence[int], wanted: Sequence[int]) -> Any:  # Evidence of both
    """The evidence of the first WANTED seeds of each model, of those DRAWN."""
    if tuple(drawn) == tuple(wanted):
        return one
    starts = np.cumsum([0, *drawn[:-1]])
    places = np.concatenate(
        [start + np.arange(count) for start, count in zip(starts, wanted, strict=True)]
    )
    return one.select_members(places)


def _around(middle: float, half: float) -> tuple[float, float]:
    return middle - half, middle + half


def welch(first: Floats, second: Floats) -> tuple[float, float]:
    """The interval of the difference by Welch's t over seeds alone."""
    from scipy.special import stdtrit

    shares = [float(values.var(ddof=1)) / len(values) for values in (first, second)]
    weights = sum(
        share**2 / (len(values) - 1) for share, values in zip(shares, (first, second), strict=True)
    )
    half = (
        float(stdtrit(sum(shares) ** 2 / weights, 0.975)) * np.sqrt(sum(shares))
        if weights > 0
        else 0.0
    )
    return _around(float(first.mean() - second.mean()), half)


graph_of = lru_cache(maxsize=8)(Graph.read)  # of the cells of one process


Sums = list[dict[str, list[float]]]
"""Of each row of a cell, by method: the covering intervals, the rejections, the sum of lengths
and the number of runs."""


def simulate(cell: Cell, first: int, runs: int, *, data: Path, resamples: int = 0) -> Sums:
    """Simulate RUNS comparisons for each row of CELL, from the seed FIRST on."""
    graph, found = graph_of(data, cell.names), [{} for _ in cell.labels()]
    for outcomes in _outcomes(cell, graph, range(first, first + runs), resamples):
        for sums, outcome in zip(found, outcomes, strict=True):
            for name in outcome.covers:
                values = (outcome.covers[name], outcome.rejects[name], outcome.lengths[name], 1)
                sums[name] = [
                    before + float(value)
                    for before, value in zip(sums.get(name, [0.0] * 4), values, strict=True)
                ]
    return found


def shares_of(batches: Sequence[Sums]) -> list[dict[str, Floats]]:
    """For each row and each method the shares of covering intervals and of rejections, the mean
    length and the number of runs; (4,).
    """
    rows = []
    for parts in zip(*batches, strict=True):
        sums = {
            name: np.sum([part[name] for part in parts if name in part], axis=0)
            for part in parts
            for name in part
        }
        rows.append(
            {name: np.append(values[:3] / values[3], values[3]) for name, values in sums.items()}
        )
    return rows


def _outcomes(cell: Cell, graph: Graph, seeds: range, resamples: int) -> Iterator[list[Outcome]]:
    if cell.rows is not None or resamples:
        tenth = seeds[: len(seeds) // 10]
        yield from (
            compare_once(cell, graph, seed, resamples=resamples if seed in tenth else 0)
            for seed in seeds
        )
        return
    together = max(1, VALUES_AT_ONCE // (sum(cell.world.seeds) * len(graph.first)))
    for start in range(0, len(seeds), together):
        yield from compare_many(cell, graph, seeds[start : start + together])
