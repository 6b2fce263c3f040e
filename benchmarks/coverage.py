"""How often nominal 95% intervals cover the truth, and how often models that are equal are told apart.

    python benchmarks/coverage.py PART --data DIR [--runs 5000] [--jobs 2] [--scores FOLDER]

PART is pairs (one model each on five real sentence graphs), seeds, hubs, slices, averages, tables, halves (real scores, the sentence
graph's components split in two) or seeds-null (real scores of equal seeds, every split). The last two read score files: parquet files
with pair_key and similarity. Each cell says its Monte Carlo error.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))

from independent_bootstrap import interval, resampled_spearman
from record import write_table
from simulated_scores import DATASETS, Floats, Graph, World

GRAPHS = ("sts12", "sts13", "sts14", "sick-r", "sts-benchmark")
PACKAGES = ("embedlab", "numpy", "scipy")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One row of a table: a world on a graph."""

    label: tuple[str, ...]
    names: tuple[str, ...]
    world: World
    rows: int | None = None  # pairs drawn from the graph, as a chain of neighbours; all where absent


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One simulated comparison: for each method whether its interval covers the truth and whether it excludes zero."""

    covers: dict[str, bool]
    rejects: dict[str, bool]


def evidence_of(graph: Graph, gold: Floats, members: Floats) -> list:  # of Evidence
    """The evidence of each dataset, and of their average where there are several."""
    from embedlab.analysis.evidence import Evidence
    from embedlab.analysis.influence import spearman_influences

    parts = []
    for name, own, texts, shared in graph.datasets:
        parts.append(
            Evidence(
                key=name,
                title=name,
                pairs=len(own),
                points=_spearman(gold[own], members[:, own]),
                rows=_rows(spearman_influences(gold[own], members[:, own]) / len(own), texts, shared),
            )
        )
    return [*parts, average_of("average", parts, graph)] if len(parts) > 1 else parts


def average_of(name: str, parts: Sequence, graph: Graph) -> Any:  # Evidence
    """The average of some datasets of GRAPH, whose shared sentences are found once."""
    from embedlab.analysis.evidence import average_evidence

    average = average_evidence(name, parts)
    assert average.rows is not None
    keys = tuple(part.key for part in parts)
    if keys not in graph.averages:
        graph.averages[keys] = average.rows.shared
    average.rows.__dict__["shared"] = graph.averages[keys]  # where the cached property would put it
    return average


def _rows(contributions: Floats, texts: NDArray[np.uint64], shared: Any) -> Any:
    """Rows whose shared sentences are found once a graph."""
    from embedlab.analysis.evidence import SliceRows

    rows = SliceRows(contributions=contributions, texts=texts, groups=np.zeros(len(texts), np.intp))
    rows.__dict__["shared"] = shared  # where the cached property would put it
    return rows


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


def compare_once(cell: Cell, graph: Graph, seed: int, *, resamples: int = 0) -> Outcome:
    """One simulated comparison of two models."""
    from embedlab.analysis.weighing import Weighed

    rng = np.random.default_rng(seed)
    if cell.rows is not None:
        start = int(rng.integers(0, len(graph.first)))
        graph = graph.part(np.sort(np.arange(start, start + cell.rows) % len(graph.first)))
    gold, models = cell.world.draw(graph, rng)
    truth = cell.world.differences[1] - cell.world.differences[0]
    one = evidence_of(graph, gold, np.concatenate(models))[-1]
    weighed = Weighed(one, columns_of(cell.world.seeds))
    delta, uncertainty = weighed.means["a"] - weighed.means["b"], weighed.of_pair["a", "b"]
    intervals = {"dyadic": uncertainty.interval(delta), "independent": _around(delta, 1.96 * np.sqrt(uncertainty.independent))}
    if min(cell.world.seeds) > 1:
        intervals["t over seeds"] = _welch(*(one.points[weighed.places[name]] for name in "ab"))
    if resamples:
        draws = resampled_spearman(gold, np.concatenate(models), resamples, rng)
        first = draws[: len(models[0])].mean(axis=0) - draws[len(models[0]) :].mean(axis=0)
        intervals["bootstrap"] = interval(first)
    return Outcome(
        covers={name: low <= truth <= high for name, (low, high) in intervals.items()},
        rejects={name: not low <= 0 <= high for name, (low, high) in intervals.items()},
    )


def _around(middle: float, half: float) -> tuple[float, float]:
    return middle - half, middle + half


def _welch(first: Floats, second: Floats) -> tuple[float, float]:
    """The interval of the difference by Welch's t over seeds alone."""
    from scipy.stats import ttest_ind

    found = ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    return float(found.low), float(found.high)


def simulate(cell: Cell, data: Path, runs: int, resamples: int) -> tuple[Cell, dict[str, Floats]]:
    """The share of covering intervals and of rejections of each method: (2,)."""
    graph, sums = Graph.read(data, cell.names), {}
    for seed in range(runs):
        found = compare_once(cell, graph, seed, resamples=resamples if seed < runs // 10 else 0)
        for name in found.covers:
            sums.setdefault(name, []).append((found.covers[name], found.rejects[name]))
    return cell, {name: np.concatenate([np.mean(rows, axis=0), [len(rows)]]) for name, rows in sums.items()}


def pair_cells() -> Iterator[Cell]:
    """One model each: shares of sentences in the errors and in the gold scores, true differences of 0 and 2 points."""
    for name in GRAPHS:
        for share in (0.0, 0.3, 0.6):
            for difference in (0.0, 0.02):
                gold_share = 0.3 if share else 0.0  # sentences that err alike are liked alike
                world = World(share=share, gold_share=gold_share, differences=(0.0, difference))
                yield Cell(label=(name, f"{share:g}", f"{gold_share:g}", f"{100 * difference:g}"), names=(name,), world=world)


def hub_cells() -> Iterator[Cell]:
    """Errors of sentences that grow with the number of their pairs."""
    for name in GRAPHS:
        world = World(share=0.6, has_hubs=True)
        yield Cell(label=(name, "0.6 by degree", "0", "0"), names=(name,), world=world)


def seed_cells() -> Iterator[Cell]:
    """Several seeds of each model."""
    for name in GRAPHS:
        for seeds in ((2, 2), (3, 3), (5, 5), (10, 10), (3, 1)):
            for sd in (0.0, 0.02, 0.05):
                world = World(share=0.3, seeds=seeds, seed_sd=(sd, sd))
                yield Cell(label=(name, f"{seeds[0]} and {seeds[1]}", f"{100 * sd:g}"), names=(name,), world=world)


def slice_cells() -> Iterator[Cell]:
    """Small slices of neighbouring pairs."""
    for name in GRAPHS:
        for rows in (10, 20, 30, 49):
            for share in (0.0, 0.6):
                yield Cell(label=(name, f"{rows}", f"{share:g}"), names=(name,), world=World(share=share), rows=rows)


def average_cells() -> Iterator[Cell]:
    """The average of seven datasets, sentences identified across them."""
    for share in (0.0, 0.3, 0.6):
        for difference in (0.0, 0.02):
            world = World(share=share, gold_share=0.3, differences=(0.0, difference))
            yield Cell(label=("average of seven", f"{share:g}", "0.3", f"{100 * difference:g}"), names=DATASETS, world=world)


PAIR_COLUMNS = ("pairs of", "share of sentences in errors", "in gold", "true difference")
CELLS: dict[str, tuple[Callable[[], Iterator[Cell]], tuple[str, ...], str]] = {
    "pairs": (pair_cells, PAIR_COLUMNS, "Coverage of a difference of two models"),
    "hubs": (hub_cells, PAIR_COLUMNS, "Coverage where sentences of many pairs err more"),
    "seeds": (seed_cells, ("pairs of", "seeds", "sd over seeds"), "Coverage with several seeds"),
    "slices": (slice_cells, ("pairs of", "rows", "share of sentences in errors"), "Coverage on small slices"),
    "averages": (average_cells, PAIR_COLUMNS, "Coverage of the average of seven datasets"),
}


def show_cells(part: str, arguments: argparse.Namespace) -> None:
    """Simulate every cell of PART and write its table."""
    make, columns, title = CELLS[part]
    work = partial(simulate, data=arguments.data, runs=arguments.runs, resamples=arguments.resamples)
    with ProcessPoolExecutor(arguments.jobs) as pool:
        found = list(pool.map(work, make()))
    methods = list(dict.fromkeys(name for _, shares in found for name in shares))
    heads = [f"{name}: covers" for name in methods] + ["dyadic: rejects"]
    rows = [
        [
            *cell.label,
            *(_percent(shares[name][0], shares[name][2]) if name in shares else "–" for name in methods),
            _percent(shares["dyadic"][1], shares["dyadic"][2]),
        ]
        for cell, shares in found
    ]
    notes = [
        f"{arguments.runs} simulated comparisons a row; ± is two Monte Carlo standard errors; nominal coverage 95%",
        "rejects: the interval excludes zero; at a true difference of 0 a false positive, otherwise the power",
        "independent: the same influence values, pairs taken as independent, normal quantile"
        + (f"; bootstrap: {arguments.resamples} resamples of independent pairs in a tenth of the runs" if arguments.resamples else ""),
    ]
    write_table(f"coverage-{part}", title, [*columns, *heads], rows, packages=PACKAGES, notes=notes)


def _percent(share: float, runs: float) -> str:
    return f"{100 * share:.1f} ± {200 * np.sqrt(max(share * (1 - share), 1e-9) / runs):.1f}"


def table_once(seed: int, graph: Graph, share: float, models: int, seeds: int, seed_sd: float) -> tuple[bool, bool, bool]:
    """One table of seven datasets and two averages with equal models: any star, any letter not shared, any single p below 0.05."""
    from embedlab.analysis.comparison import compare_evidence

    rng = np.random.default_rng(seed)
    world = World(share=share, gold_share=0.3, differences=(0.0,) * models, seeds=(seeds,) * models, seed_sd=(seed_sd,) * models)
    gold, scores = world.draw(graph, rng)
    parts = evidence_of(graph, gold, np.concatenate(scores))[:-1]
    evidence = [*parts, average_of("sts12-16", parts[:5], graph), average_of("average of seven", parts, graph)]
    found = compare_evidence(evidence, columns_of((seeds,) * models), "a")
    starred = any(difference.significant for one in found for difference in one.differences.values())
    parted = any(not set(first.letters) & set(second.letters) for one in found for first, second in combinations(one.scores.values(), 2))
    return starred, parted, found[-1].differences["b"].p < 0.05


def _tables(job: tuple[float, int, float], data: Path, runs: int) -> tuple[tuple[float, int, float], Floats]:
    share, seeds, seed_sd = job
    graph = Graph.read(data, DATASETS)
    return job, np.mean([table_once(seed, graph, share, 4, seeds, seed_sd) for seed in range(runs)], axis=0)


def show_tables(arguments: argparse.Namespace) -> None:
    """False positives of tables of nine rows and four equal models."""
    jobs = [(0.0, 1, 0.0), (0.3, 1, 0.0), (0.6, 1, 0.0), (0.3, 3, 0.02), (0.3, 5, 0.02)]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        found = list(pool.map(partial(_tables, data=arguments.data, runs=arguments.runs), jobs))
    rows = [
        [f"{share:g}", f"{seeds}", f"{100 * sd:g}", *(_percent(value, arguments.runs) for value in values)]
        for (share, seeds, sd), values in found
    ]
    columns = [
        "share of sentences in errors",
        "seeds",
        "sd over seeds",
        "any star",
        "any two models without a shared letter",
        "one p of the average < .05",
    ]
    notes = [f"{arguments.runs} simulated tables a row: seven datasets, two averages, four models that are equal"]
    write_table("coverage-tables", "False positives in a table of equal models", columns, rows, packages=PACKAGES, notes=notes)


def real_table(arguments: argparse.Namespace) -> tuple:  # the pair table with a column a score file, and the columns' names
    """The seven datasets with the scores of the files in the folder that was given."""
    from embedlab.analysis.scores import ScoreFile, pair_table, with_scores
    from embedlab.data.source import Source
    from embedlab.tasks.sts import open_parts

    table = pair_table(open_parts(Source(folder=arguments.data, offline=True), DATASETS)[0])
    files = {path.stem: ScoreFile.read(path).scores for path in sorted(arguments.scores.glob("*.parquet"))}
    return with_scores(table, {name: scores for name, scores in files.items() if name != "dice"}), [*files, "dice"]


def show_halves(arguments: argparse.Namespace) -> None:
    """Real scores: the difference of two models on one half of the components and on the other, which are independent samples."""
    from embedlab.analysis.dependence import SharedSentences
    from embedlab.analysis.evidence import sentence_numbers

    table, names = real_table(arguments)
    table, rows = table.with_columns(sentence_numbers(table)), []
    rng = np.random.default_rng(0)
    for (dataset,), pairs in table.group_by("dataset", maintain_order=True):
        numbers = pairs.select("sentence1_number", "sentence2_number").to_numpy()
        components = SharedSentences.of(numbers[:, 0], numbers[:, 1]).components
        for first, second in combinations(names, 2):
            covered = {"dyadic": 0, "independent": 0}
            for _ in range(arguments.runs):
                side = rng.integers(0, 2, components.max() + 1)[components]
                values = [_half(pairs.filter(side == number), (first, second)) for number in (0, 1)]
                apart = abs(values[0][0] - values[1][0])
                covered["dyadic"] += apart < np.hypot(values[0][1], values[1][1])
                covered["independent"] += apart < np.hypot(values[0][2], values[1][2])
            rows.append([dataset, f"{second} − {first}", *(_percent(count / arguments.runs, arguments.runs) for count in covered.values())])
    notes = [
        f"{arguments.runs} random halves of the components of connected pairs a row; the two differences should lie within the root of "
        "both squared half-widths in at least 95%; the halves of one row are of one sample, so that rows vary more than ± says",
    ]
    columns = ["dataset", "difference", "dyadic: agree", "independent: agree"]
    write_table("coverage-halves", "Two halves of real scores", columns, rows, packages=PACKAGES, notes=notes)


def _half(pairs: pl.DataFrame, columns: tuple[str, str]) -> tuple[float, float, float]:
    """The difference of two models on some pairs, and its half-width by both methods."""
    from embedlab.analysis.evidence import pair_rows
    from embedlab.analysis.uncertainty import Uncertainty

    points, rows = pair_rows(pairs, columns, "all")
    assert rows is not None
    found = rows.shared.sums(rows.contributions).combined(np.array([[-1.0, 1.0]])).variances()
    own = Uncertainty(rows=float(found.value[0]), rows_freedom=float(found.freedom[0]), independent=float(found.independent[0]))
    return float(points[1] - points[0]), own.half_width(), 1.96 * float(np.sqrt(found.independent[0]))


def show_seeds_null(arguments: argparse.Namespace) -> None:
    """Real scores of seeds of one recipe: every split in two groups should show a difference in 5% only."""
    from embedlab.analysis.comparison import compare_evidence
    from embedlab.analysis.evidence import pair_evidence
    from embedlab.analysis.scores import ModelColumns

    table, names = real_table(arguments)
    names = [name for name in names if name != "dice"]
    whole = [ModelColumns(name="all", members=tuple(names), seeds=tuple(range(len(names))))]
    evidence, rows = pair_evidence(table, whole), []
    rng = np.random.default_rng(0)
    for size in (2, 3, 5):
        splits = [
            (first, second) for first in combinations(names, size) for second in combinations([n for n in names if n not in first], size)
        ]
        chosen = [splits[place] for place in rng.permutation(len(splits))[: arguments.runs]]
        counts = np.zeros(4)
        for first, second in chosen:
            models = [
                ModelColumns(name="a", members=first, seeds=tuple(range(size))),
                ModelColumns(name="b", members=second, seeds=tuple(range(size, 2 * size))),
            ]
            found = compare_evidence(reordered(evidence, names, models), models, "a")
            p = [one.differences["b"].p for one in found]
            welch = _welch(*(np.array(found[-1].scores[name].members) for name in "ab"))
            counts += (
                np.mean(np.array(p) < 0.05),
                p[-1] < 0.05,
                any(one.differences["b"].significant for one in found),
                welch[0] > 0 or welch[1] < 0,
            )
        rows.append(
            [f"{size} against {size}", f"{len(chosen)} of {len(splits)}", *(_percent(count / len(chosen), len(chosen)) for count in counts)]
        )
    columns = [
        "seeds",
        "splits",
        "p < .05, mean of rows",
        "p < .05, average of seven",
        "some star in the table",
        "Welch over seeds, average of seven",
    ]
    notes = [f"{len(names)} seeds of one recipe; splits overlap, so that ± understates"]
    write_table("coverage-seeds-null", "Equal seeds compared with each other", columns, rows, packages=PACKAGES, notes=notes)


def reordered(evidence: Sequence, names: Sequence[str], models: Sequence) -> list:  # of Evidence
    """The evidence of the members of MODELS alone, in their order."""
    from dataclasses import replace

    places = [names.index(member) for model in models for member in model.members]
    return [
        replace(one, points=one.points[places], rows=replace(one.rows, contributions=one.rows.contributions[places])) for one in evidence
    ]


def main() -> None:
    """Make one part's table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*CELLS, "tables", "halves", "seeds-null"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--scores", type=Path, help="folder of score files, for halves and seeds-null")
    parser.add_argument("--runs", type=int, default=5_000)
    parser.add_argument("--resamples", type=int, default=0, help="also the independent bootstrap, in a tenth of the runs")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    shows = {"tables": show_tables, "halves": show_halves, "seeds-null": show_seeds_null}
    shows[arguments.part](arguments) if arguments.part in shows else show_cells(arguments.part, arguments)


if __name__ == "__main__":
    main()
