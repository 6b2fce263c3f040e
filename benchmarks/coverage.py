"""How often nominal 95% intervals cover the truth, and how often a difference of equal models is found.

    python benchmarks/coverage.py PART --data DIR [--runs 5000] [--jobs 2] [--scores FOLDER]

PART is pairs (one model each on five real sentence graphs), seeds, hubs, slices, averages, tables, halves (real scores, the sentence
graph's components split in two) or seeds-null (real scores of equal seeds, every split). The last two read score files: parquet files
with pair_key and similarity, or the seeds in one file of results/scores (equal-seeds-minilm3.parquet). Each cell
says its Monte Carlo error.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))

from record import write_table
from simulated_comparisons import Cell, average_of, columns_of, evidence_of, first_seeds, simulate, welch
from simulated_scores import DATASETS, Floats, Graph, World

GRAPHS = ("sts12", "sts13", "sts14", "sick-r", "sts-benchmark")
PACKAGES = ("embedlab", "numpy", "scipy")


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
    """Several seeds of each model; rows of fewer seeds take the first of those drawn."""
    for name in GRAPHS:
        for sd in (0.0, 0.02, 0.05):
            world = World(share=0.3, seeds=(10, 10), seed_sd=(sd, sd))
            fewer = ((2, 2), (3, 3), (5, 5), (3, 1))
            yield Cell(label=(name, f"{100 * sd:g}", "{seeds}"), names=(name,), world=world, fewer_seeds=fewer)


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
    "seeds": (seed_cells, ("pairs of", "sd over seeds", "seeds"), "Coverage with several seeds"),
    "slices": (slice_cells, ("pairs of", "rows", "share of sentences in errors"), "Coverage on small slices"),
    "averages": (average_cells, PAIR_COLUMNS, "Coverage of the average of seven datasets"),
}


def show_cells(part: str, arguments: argparse.Namespace) -> None:
    """Simulate every cell of PART and write its table."""
    make, columns, title = CELLS[part]
    work = partial(simulate, data=arguments.data, runs=arguments.runs, resamples=arguments.resamples)
    with ProcessPoolExecutor(arguments.jobs) as pool:
        cells = list(make())
        found = [row for cell, rows in zip(cells, pool.map(work, cells), strict=True) for row in zip(cell.labels(), rows, strict=True)]
    methods = list(dict.fromkeys(name for _, shares in found for name in shares))
    heads = [f"{name}: covers" for name in methods] + ["dyadic: rejects"]
    rows = [
        [
            *label,
            *(_percent(shares[name][0], shares[name][2]) if name in shares else "–" for name in methods),
            _percent(shares["dyadic"][1], shares["dyadic"][2]),
        ]
        for label, shares in found
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


@dataclass(frozen=True, kw_only=True)
class TableJob:
    """Tables of equal models; those of fewer seeds take the first of the seeds that are drawn."""

    share: float
    seed_sd: float = 0.0
    seeds: tuple[int, ...] = (1,)  # a row for each; the last are as many as are drawn
    models: int = 4

    def tables(self, seed: int, graph: Graph) -> Iterator[tuple[bool, bool, bool]]:
        """For each number of seeds, a table of seven datasets and two averages: any star, any letter not shared, a low p of the average."""
        from embedlab.analysis.comparison import compare_evidence

        drawn = (self.seeds[-1],) * self.models
        world = World(
            share=self.share, gold_share=0.3, differences=(0.0,) * self.models, seeds=drawn, seed_sd=(self.seed_sd,) * self.models
        )
        gold, scores = world.draw(graph, np.random.default_rng(seed))
        all_parts = evidence_of(graph, gold, np.concatenate(scores))[:-1]
        for count in self.seeds:
            counts = (count,) * self.models
            parts = [first_seeds(part, drawn, counts) for part in all_parts]
            evidence = [*parts, average_of("sts12-16", parts[:5], graph), average_of("average of seven", parts, graph)]
            found = compare_evidence(evidence, columns_of(counts), "a")
            starred = any(difference.significant for one in found for difference in one.differences.values())
            parted = any(
                not set(first.letters) & set(second.letters) for one in found for first, second in combinations(one.scores.values(), 2)
            )
            yield starred, parted, found[-1].differences["b"].p < 0.05


def _tables(job: TableJob, data: Path, runs: int) -> Floats:
    """Shares of tables; (rows, 3)."""
    graph = Graph.read(data, DATASETS)
    return np.mean([list(job.tables(seed, graph)) for seed in range(runs)], axis=0)


def show_tables(arguments: argparse.Namespace) -> None:
    """False positives of tables of nine rows and four equal models."""
    jobs = [TableJob(share=0.3, seed_sd=0.02, seeds=(3, 5)), *(TableJob(share=share) for share in (0.0, 0.3, 0.6))]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        found = list(pool.map(partial(_tables, data=arguments.data, runs=arguments.runs), jobs))
    rows = [
        [f"{job.share:g}", f"{seeds}", f"{100 * job.seed_sd:g}", *(_percent(value, arguments.runs) for value in values)]
        for job, shares in zip(jobs, found, strict=True)
        for seeds, values in zip(job.seeds, shares, strict=True)
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
    """The seven datasets with the scores of the files in the folder that was given, or of the seeds in a file of stored similarities."""
    from embedlab.analysis.scores import ScoreFile, pair_table, with_scores
    from embedlab.data.pair_parts import open_parts
    from embedlab.data.source import Source

    table = pair_table(open_parts(Source(folder=arguments.data, offline=True), DATASETS)[0])
    if arguments.scores.is_file():
        stored = pl.read_parquet(arguments.scores)
        files = {name: stored.select("pair_key", similarity=name) for name in stored.columns if "@" in name}
    else:
        files = {path.stem: ScoreFile.read(path).scores for path in sorted(arguments.scores.glob("*.parquet"))}
    return with_scores(table, {name: scores for name, scores in files.items() if name != "dice"}), [*files, "dice"]


def show_halves(arguments: argparse.Namespace) -> None:
    """Real scores: differences of models on one half of the components and on the other, which are independent samples."""
    from embedlab.analysis.dependence import SharedSentences
    from embedlab.analysis.evidence import sentence_numbers

    table, names = real_table(arguments)
    table, rows = table.with_columns(sentence_numbers(table)), []
    for (dataset,), pairs in table.group_by("dataset", maintain_order=True):
        numbers = pairs.select("sentence1_number", "sentence2_number").to_numpy()
        components = SharedSentences.of(numbers[:, 0], numbers[:, 1]).components
        sizes = np.bincount(components)
        shares = [
            halves_agree(pairs.filter(selected), names, components[selected], arguments.runs)
            for selected in (sizes[components] > 0, components != sizes.argmax())
        ]
        for place, (first, second) in enumerate(combinations(names, 2)):
            cells = [_percent(share[place], arguments.runs) for both in shares for share in both]
            rows.append([dataset, f"{sizes.max()} of {pairs.height}", f"{second} − {first}", *cells])
    notes = [
        f"{arguments.runs} random halves of the components of connected pairs a row; the two differences should lie within the root of "
        "both squared half-widths in at least 95%; the halves of one row are of one sample, so that rows vary more than ± says",
        "the largest component is in one half only, and an effect that its pairs share cannot be estimated: `compare` names it in a note",
    ]
    without = "without the largest component"
    columns = [
        "dataset",
        "largest component",
        "difference",
        "dyadic: agree",
        "independent: agree",
        f"{without}: dyadic",
        f"{without}: independent",
    ]
    write_table("coverage-halves", "Two halves of real scores", columns, rows, packages=PACKAGES, notes=notes)


def halves_agree(pairs: pl.DataFrame, names: Sequence[str], components: NDArray[np.intp], runs: int) -> tuple[Floats, Floats]:
    """For each two models, how often two random halves of the COMPONENTS agree, by both methods; (comparisons,) each."""
    rng, agreed = np.random.default_rng(0), np.zeros((2, len(names) * (len(names) - 1) // 2))
    _, components = np.unique(components, return_inverse=True)
    for _ in range(runs):
        side = rng.integers(0, 2, components.max() + 1)[components]
        (first, *first_widths), (second, *second_widths) = (_half(pairs.filter(side == number), names) for number in (0, 1))
        agreed += [np.abs(first - second) < np.hypot(*widths) for widths in zip(first_widths, second_widths, strict=True)]
    return agreed[0] / runs, agreed[1] / runs


def _half(pairs: pl.DataFrame, names: Sequence[str]) -> tuple[Floats, Floats, Floats]:
    """The differences of each two models on some pairs, and their half-widths by both methods; (comparisons,) each."""
    from embedlab.analysis.evidence import evidence_of_pairs
    from embedlab.analysis.uncertainty import Uncertainty

    half = evidence_of_pairs("sts", "half", pairs, names, "all")
    points, rows = half.points, half.rows
    assert rows is not None
    unit = np.eye(len(names))
    weights = np.array([second - first for first, second in combinations(unit, 2)])
    found = rows.shared.sums(rows.contributions).combined(weights).variances()
    own = [
        Uncertainty(rows=value, rows_freedom=freedom, independent=independent).half_width()
        for value, freedom, independent in zip(found.value, found.freedom, found.independent, strict=True)
    ]
    return weights @ points, np.array(own), 1.96 * np.sqrt(found.independent)


def show_seeds_null(arguments: argparse.Namespace) -> None:
    """Real scores of seeds of one recipe: every split in two groups should show a difference in 5% only."""
    from embedlab.analysis.comparison import compare_evidence
    from embedlab.analysis.scores import ModelColumns
    from embedlab.comparison.evidence import outcome_evidence
    from embedlab.data.sts import STS_AVERAGES
    from embedlab.outcomes.pairs import pair_outcomes

    table, names = real_table(arguments)
    names = [name for name in names if name != "dice"]
    evidence, rows = outcome_evidence(pair_outcomes(table, names, task="sts", averages=STS_AVERAGES), names), []
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
            by_seeds = welch(*(np.array(found[-1].scores[name].members) for name in "ab"))
            counts += (
                np.mean(np.array(p) < 0.05),
                p[-1] < 0.05,
                any(one.differences["b"].significant for one in found),
                by_seeds[0] > 0 or by_seeds[1] < 0,
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
    places = [names.index(member) for model in models for member in model.members]
    return [one.of_members(places) for one in evidence]


def main() -> None:
    """Make one part's table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*CELLS, "tables", "halves", "seeds-null"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--scores", type=Path, help="folder of score files, for halves and seeds-null, or a file of results/scores with seeds"
    )
    parser.add_argument("--runs", type=int, default=5_000)
    parser.add_argument("--resamples", type=int, default=0, help="also the independent bootstrap, in a tenth of the runs")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    shows = {"tables": show_tables, "halves": show_halves, "seeds-null": show_seeds_null}
    shows[arguments.part](arguments) if arguments.part in shows else show_cells(arguments.part, arguments)


if __name__ == "__main__":
    main()
