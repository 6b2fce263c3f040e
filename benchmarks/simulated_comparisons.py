"""Comparisons of simulated models on the real sentence graphs: what an interval says beside what is true."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from independent_bootstrap import interval, resampled_spearman
from simulated_scores import Floats, Graph, World


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One row of a table: a world on a graph."""

    label: tuple[str, ...]
    names: tuple[str, ...]
    world: World
    rows: int | None = None  # pairs drawn from the graph, as a chain of neighbours; all where absent
    fewer_seeds: tuple[tuple[int, int], ...] = ()  # further rows of the table: the same draws with only the first seeds of each model

    def labels(self) -> Iterator[tuple[str, ...]]:
        """The first columns of each of its rows."""
        for seeds in (*self.fewer_seeds, self.world.seeds):
            yield tuple(part.format(seeds=f"{seeds[0]} and {seeds[1]}") for part in self.label)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One simulated comparison: for each method whether its interval covers the truth and whether it excludes zero."""

    covers: dict[str, bool]
    rejects: dict[str, bool]
    lengths: dict[str, float]


def evidence_of(graph: Graph, gold: Floats, members: Floats) -> list:  # of Evidence
    """The evidence of each dataset, and of their average where there are several."""
    from embedlab.analysis.evidence import Evidence
    from embedlab.analysis.influence import spearman_influences
    from embedlab.analysis.leaving_out import OfMeasure, spearman_without

    parts = []
    for name, own, rows in graph.datasets:
        points = _spearman(gold[own], members[:, own])
        parts.append(
            Evidence(
                key=name,
                title=name,
                pairs=len(own),
                points=points,
                rows=_with(
                    rows,
                    contributions=spearman_influences(gold[own], members[:, own]) / len(own),
                    leaving=OfMeasure(points=points, make=partial(spearman_without, gold[own], list(members[:, own]))),
                ),
                scale="correlation",
            )
        )
    return [*parts, average_of("average", parts, graph)] if len(parts) > 1 else parts


def average_of(name: str, parts: Sequence, graph: Graph) -> Any:  # Evidence
    """The average of some datasets of GRAPH, whose topics are found once."""
    from embedlab.analysis.evidence import average_evidence

    average = average_evidence(name, parts)
    assert average.rows is not None
    known = graph.averages.setdefault(tuple(part.key for part in parts), average.rows)
    return replace(average, rows=_with(known, contributions=average.rows.contributions, leaving=average.rows.leaving))


def _with(rows: Any, **fields: Any) -> Any:  # SliceRows
    """The same rows with other contributions; their topics are found once a graph."""
    found = replace(rows, **fields)
    for name in ("shared", "families"):
        found.__dict__[name] = getattr(rows, name)  # where the cached property would put it
    return found


def _spearman(gold: Floats, members: Floats) -> Floats:
    """Spearman of values that all differ; (members,)."""
    values = np.vstack([gold[None], members])
    ranks = np.empty_like(values)
    np.put_along_axis(ranks, np.argsort(values, axis=1), np.arange(float(len(gold)))[None], axis=1)
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    return centred[1:] @ centred[0] / (centred[0] @ centred[0])


def columns_of(seeds: Sequence[int]) -> list:  # of ModelColumns
    """A model for each number of seeds."""
    from embedlab.analysis.scores import ModelColumns

    names = "abcdefgh"[: len(seeds)]
    return [
        ModelColumns(name=name, members=tuple(f"{name}@{seed}" for seed in range(count)), seeds=tuple(range(count)))
        for name, count in zip(names, seeds, strict=True)
    ]


def compare_once(cell: Cell, graph: Graph, seed: int, *, resamples: int = 0) -> list[Outcome]:
    """One simulated comparison of two models for each row of CELL."""
    rng = np.random.default_rng(seed)
    if cell.rows is not None:
        start = int(rng.integers(0, len(graph.first)))
        graph = graph.part(np.sort(np.arange(start, start + cell.rows) % len(graph.first)))
    gold, models = cell.world.draw(graph, rng)
    truth = cell.world.differences[1] - cell.world.differences[0]
    one = evidence_of(graph, gold, np.concatenate(models))[-1]
    outcomes = []
    for seeds in (*cell.fewer_seeds, cell.world.seeds):
        intervals = intervals_of(first_seeds(one, cell.world.seeds, seeds), seeds)
        if resamples:
            draws = resampled_spearman(gold, np.concatenate(models), resamples, rng)
            intervals["bootstrap"] = interval(draws[: len(models[0])].mean(axis=0) - draws[len(models[0]) :].mean(axis=0))
        outcomes.append(
            Outcome(
                covers={name: low <= truth <= high for name, (low, high) in intervals.items()},
                rejects={name: not low <= 0 <= high for name, (low, high) in intervals.items()},
                lengths={name: high - low for name, (low, high) in intervals.items()},
            )
        )
    return outcomes


def first_seeds(one: Any, drawn: Sequence[int], wanted: Sequence[int]) -> Any:  # Evidence of both
    """The evidence of the first WANTED seeds of each model, of those DRAWN."""
    if tuple(drawn) == tuple(wanted):
        return one
    starts = np.cumsum([0, *drawn[:-1]])
    places = np.concatenate([start + np.arange(count) for start, count in zip(starts, wanted, strict=True)])
    return one.of_members(places)


def intervals_of(one: Any, seeds: Sequence[int]) -> dict[str, tuple[float, float]]:
    """The intervals of the difference of two models by each method."""
    from embedlab.analysis.weighing import Weighed

    weighed = Weighed(one, columns_of(seeds))
    delta, uncertainty = weighed.means["a"] - weighed.means["b"], weighed.of_pair["a", "b"]
    if np.isnan(uncertainty.rows):
        return {}  # of too few topics
    intervals = {
        "flips": uncertainty.interval(delta),
        "shared sentences": replace(uncertainty, topics=None, skew=(1.0, 1.0)).interval(delta),
        "independent": _around(delta, 1.96 * np.sqrt(uncertainty.independent)),
    }
    if min(seeds) > 1:
        intervals["t over seeds"] = welch(*(one.points[weighed.places[name]] for name in "ab"))
    return intervals


def _around(middle: float, half: float) -> tuple[float, float]:
    return middle - half, middle + half


def welch(first: Floats, second: Floats) -> tuple[float, float]:
    """The interval of the difference by Welch's t over seeds alone."""
    from scipy.stats import ttest_ind

    found = ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    return float(found.low), float(found.high)


def simulate(cell: Cell, data: Path, runs: int, resamples: int) -> list[dict[str, Floats]]:
    """For each row of CELL and each method the share of covering intervals, of rejections, the mean length and the number of runs; (4,)."""
    graph, found = Graph.read(data, cell.names), [{} for _ in cell.labels()]
    for seed in range(runs):
        outcomes = compare_once(cell, graph, seed, resamples=resamples if seed < runs // 10 else 0)
        for sums, outcome in zip(found, outcomes, strict=True):
            for name in outcome.covers:
                sums.setdefault(name, []).append((outcome.covers[name], outcome.rejects[name], outcome.lengths[name]))
    return [{name: np.concatenate([np.mean(rows, axis=0), [len(rows)]]) for name, rows in sums.items()} for sums in found]
