"""How often nominal 95% intervals cover the truth, and how often a difference of equal models is
found.

    python research/programs/coverage.py PART --data DIR [--runs 5000] [--first-seed 0] [--jobs 2]
    [--resume FILE] [--graphs NAME…]
        [--scores FOLDER] [--members NAME…] [--encoder MODEL]

PART is pairs (one model each on five real sentence graphs), seeds, hubs, topics, slices, averages,
tables, equivalence, halves (real scores, split in two by components of the sentence graph, and by
topics that the vectors of an encoder have) or seeds-null (real scores of equal seeds, every split).
The last two read score files: parquet files with pair_key and similarity, or files of
research/scores with a column a member. Each cell says its Monte Carlo error.
"""

import argparse
import multiprocessing
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import real_halves
from batches import Batches
from record import write_table
from simulated_comparisons import (
    VALUES_AT_ONCE,
    Cell,
    Sums,
    average_of,
    columns_of,
    evidence_of,
    first_seeds,
    shares_of,
    simulate,
    weighed_runs,
    welch,
)
from simulated_scores import DATASETS, Floats, Graph, World

from embedlab.analysis.seed_tests import holm

FIRST_NULL = "sbert-null"  # the recipe whose seeds were compared first
GRAPHS = ("sts12", "sts13", "sts14", "sick-r", "sts-benchmark")
PACKAGES = ("embedlab", "numpy", "scipy")


def pair_cells() -> Iterator[Cell]:
    """One model each: shares of sentences in the errors and in the gold scores, true differences of
    0 and 2 points.
    """
    for name in GRAPHS:
        for share in (0.0, 0.3, 0.6):
            for difference in (0.0, 0.02):
                gold_share = 0.3 if share else 0.0  # sentences that err alike are liked alike
                world = World(share=share, gold_share=gold_share, differences=(0.0, difference))
                yield Cell(
                    label=(name, f"{share:g}", f"{gold_share:g}", f"{100 * difference:g}"),
                    names=(name,),
                    world=world,
                )


def hub_cells() -> Iterator[Cell]:
    """Errors of sentences that grow with the number of their pairs."""
    for name in GRAPHS:
        world = World(share=0.6, has_hubs=True)
        yield Cell(label=(name, "0.6 by degree", "0", "0"), names=(name,), world=world)


def topic_cells() -> Iterator[Cell]:
    """What else errors can share, tails, and unequal models."""
    worlds = {
        "sentences .6": World(share=0.6),
        "components .3": World(component_share=0.3),
        "sources .02": World(source_share=0.02),
        "sentences .6, heavy tails": World(share=0.6, is_heavy=True),
        "sentences .6, unequal": World(share=0.6, differences=(0.0, 0.3)),
        "words .42, sentences .18": World(share=0.6, word_share=0.7),
    }
    for name in (*GRAPHS[:3], "sts16", *GRAPHS[3:]):
        for label, world in worlds.items():
            yield Cell(label=(name, label), names=(name,), world=world)


def seed_cells() -> Iterator[Cell]:
    """Several seeds of each model, which spread alike or not; rows of fewer seeds take the first of
    those drawn.
    """
    alike, apart = ((1, 1), (2, 2), (3, 3), (5, 5), (3, 2), (3, 1)), ((2, 2), (3, 3), (3, 2))
    for name in GRAPHS:
        for sds in ((0.0, 0.0), (0.02, 0.02), (0.05, 0.05), (0.0, 0.05), (0.05, 0.0)):
            world = World(share=0.3, seeds=(10, 10), seed_sd=sds)
            label = " and ".join(f"{100 * sd:g}" for sd in dict.fromkeys(sds))
            yield Cell(
                label=(name, label, "{seeds}"),
                names=(name,),
                world=world,
                fewer_seeds=alike if sds[0] == sds[1] else apart,
            )


def slice_cells() -> Iterator[Cell]:
    """Small slices of neighbouring pairs."""
    for name in GRAPHS:
        for rows in (10, 20, 30, 49):
            for share in (0.0, 0.6):
                for difference in (0.0, 0.3):
                    world = World(share=share, differences=(0.0, difference))
                    yield Cell(
                        label=(name, f"{rows}", f"{share:g}", f"{100 * difference:g}"),
                        names=(name,),
                        world=world,
                        rows=rows,
                    )


def average_cells() -> Iterator[Cell]:
    """The average of seven datasets, sentences identified across them."""
    for share in (0.0, 0.3, 0.6):
        for difference in (0.0, 0.02):
            world = World(share=share, gold_share=0.3, differences=(0.0, difference))
            yield Cell(
                label=("average of seven", f"{share:g}", "0.3", f"{100 * difference:g}"),
                names=DATASETS,
                world=world,
            )


PAIR_COLUMNS = ("pairs of", "share of sentences in errors", "in gold", "true difference")
CELLS: dict[str, tuple[Callable[[], Iterator[Cell]], tuple[str, ...], str]] = {
    "pairs": (pair_cells, PAIR_COLUMNS, "Coverage of a difference of two models"),
    "topics": (
        topic_cells,
        ("pairs of", "errors share"),
        "Coverage where errors hang together by topic",
    ),
    "hubs": (hub_cells, PAIR_COLUMNS, "Coverage where sentences of many pairs err more"),
    "seeds": (seed_cells, ("pairs of", "sd over seeds", "seeds"), "Coverage with several seeds"),
    "slices": (
        slice_cells,
        ("pairs of", "rows", "share of sentences in errors", "true difference"),
        "Coverage on small slices",
    ),
    "averages": (average_cells, PAIR_COLUMNS, "Coverage of the average of seven datasets"),
}


def show_cells(part: str, arguments: argparse.Namespace) -> None:
    """Simulate every cell of PART and write its table."""
    make, columns, title = CELLS[part]
    cells = {
        " | ".join(cell.label): cell
        for cell in make()
        if not arguments.graphs or {*cell.names} <= {*arguments.graphs}
    }
    batches = Batches(file=arguments.resume)
    work = partial(
        _simulated,
        data=arguments.data,
        resamples=arguments.resamples,
        first_seed=arguments.first_seed,
    )
    batches.fill(
        [*cells.items()],
        work,
        lambda _: arguments.runs,
        at_once=arguments.at_once,
        processes=arguments.jobs,
    )
    found = [
        row
        for key, cell in cells.items()
        for row in zip(cell.labels(), shares_of(batches.found(key)), strict=True)
        if batches.runs(key)
    ]
    methods = list(dict.fromkeys(name for _, shares in found for name in shares))
    rejecting = [name for name in ("flips", "normal", "flips of one sum") if name in methods]
    heads = [
        *(f"{name}: covers" for name in methods),
        *(f"{name}: rejects" for name in rejecting),
        *(f"length, flips / {name}" for name in rejecting[1:]),
    ]
    rows = [
        [
            *label,
            *(
                _percent(shares[name][0], shares[name][3]) if name in shares else "–"
                for name in methods
            ),
            *(_percent(shares[name][1], shares[name][3]) for name in rejecting),
            *(f"{shares['flips'][2] / shares[name][2]:.3f}" for name in rejecting[1:]),
        ]
        for label, shares in found
    ]
    notes = [
        f"{batches.counts([*cells])} simulated comparisons a row; ± is two Monte Carlo "
        f"standard errors; nominal coverage 95%",
        "rejects: the interval excludes zero; at a true difference of 0 a false positive, "
        "otherwise the power",
        "flips: what embedlab does; normal: the variance of the same topics with the quantile of "
        "a normal distribution (of seeds Student's)",
        *(
            ["flips of one sum: the same, as if contributions summed to zero over all rows alone"]
            if "flips of one sum" in methods
            else []
        ),
        "independent: the same influence values, pairs taken as independent, normal quantile"
        + (
            f"; bootstrap: {arguments.resamples} resamples of independent pairs in a tenth "
            f"of the runs"
            if arguments.resamples
            else ""
        ),
    ]
    write_table(f"coverage-{part}", title, [*columns, *heads], rows, packages=PACKAGES, notes=notes)


def _simulated(
    cell: Cell, first: int, runs: int, *, data: Path, resamples: int, first_seed: int
) -> Sums:
    return simulate(cell, first_seed + first, runs, data=data, resamples=resamples)


def _percent(share: float, runs: float) -> str:
    return f"{100 * share:.1f} ± {200 * np.sqrt(max(share * (1 - share), 1e-9) / runs):.1f}"


@dataclass(frozen=True, kw_only=True)
class EquivalenceJob:
    """Two models that truly differ by exactly the margin, or not at all, on each of the graphs."""

    margin: float
    difference: float
    seeds: tuple[int, int]
    seed_sd: float

    def shown(self, runs: int, graph: Graph) -> list[bool]:
        """Whether each of RUNS comparisons says that both are equal within the margin."""
        world = World(
            share=0.3,
            gold_share=0.3,
            differences=(0.0, self.difference),
            seeds=self.seeds,
            seed_sd=(self.seed_sd, self.seed_sd),
        )
        together, found = max(1, VALUES_AT_ONCE // (sum(self.seeds) * len(graph.first))), []
        for start in range(0, runs, together):
            drawn = [
                world.draw(graph, np.random.default_rng(seed))
                for seed in range(start, min(start + together, runs))
            ]
            weighed, pairs = weighed_runs(graph, drawn, self.seeds, [self.seeds])
            for pair in pairs:
                apart = weighed.means[pair[0]] - weighed.means[pair[1]]
                found.append(
                    weighed.pair_uncertainties[pair].equivalence(apart, self.margin) < 0.05
                )
        return found


def _shown_equal(job: tuple[str, EquivalenceJob], data: Path, runs: int) -> float:
    return float(np.mean(job[1].shown(runs, Graph.read(data, job[:1]))))


def show_equivalence(arguments: argparse.Namespace) -> None:
    """How often two one-sided tests call models equal that differ by exactly the margin, and those
    that do not differ.
    """
    seeds = {(1, 1): 0.0, (3, 3): 0.01}
    worlds = [
        (name, margin, count)
        for name in ("sts13", "sts-benchmark", "sick-r")
        for count in seeds
        for margin in (0.03, 0.1)
    ]
    jobs = [
        (
            name,
            EquivalenceJob(margin=margin, difference=difference, seeds=count, seed_sd=seeds[count]),
        )
        for name, margin, count in worlds
        for difference in (margin, 0.0)
    ]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        found = iter(
            pool.map(partial(_shown_equal, data=arguments.data, runs=arguments.runs), jobs)
        )
    rows = [
        [
            name,
            f"{count[0]} and {count[1]}",
            f"{100 * margin:g}",
            *(_percent(next(found), arguments.runs) for _ in range(2)),
        ]
        for name, margin, count in worlds
    ]
    columns = [
        "pairs of",
        "seeds",
        "margin",
        "called equal at a true difference of the margin",
        "at none",
    ]
    notes = [
        f"{arguments.runs} simulated comparisons a number; the first is at most 5% of a "
        f"right test; seeds vary by 1 point"
    ]
    write_table(
        "equivalence",
        "Models that are called equal within a margin",
        columns,
        rows,
        packages=PACKAGES,
        notes=notes,
    )


@dataclass(frozen=True, kw_only=True)
class TableJob:
    """Tables of equal models; those of fewer seeds take the first of the seeds that are drawn."""

    share: float
    seed_sd: float = 0.0
    seeds: tuple[int, ...] = (1,)  # a row for each; the last are as many as are drawn
    models: int = 4

    def tables(self, seed: int, graph: Graph) -> Iterator[tuple[bool, bool, bool]]:
        """For each number of seeds, a table of seven datasets and two averages: any star, any
        letter not shared, a low p of the average.
        """
        from embedlab.analysis.comparison import compare_evidence

        drawn = (self.seeds[-1],) * self.models
        world = World(
            share=self.share,
            gold_share=0.3,
            differences=(0.0,) * self.models,
            seeds=drawn,
            seed_sd=(self.seed_sd,) * self.models,
        )
        gold, scores = world.draw(graph, np.random.default_rng(seed))
        all_parts = evidence_of(graph, gold, np.concatenate(scores))[:-1]
        for count in self.seeds:
            counts = (count,) * self.models
            parts = [first_seeds(part, drawn, counts) for part in all_parts]
            evidence = [
                *parts,
                average_of("sts12-16", parts[:5], graph),
                average_of("average of seven", parts, graph),
            ]
            found = compare_evidence(evidence, columns_of(counts))
            starred = any(
                difference.significant for one in found for difference in one.differences.values()
            )
            parted = any(
                not set(first.letters) & set(second.letters)
                for one in found
                for first, second in combinations(one.scores.values(), 2)
            )
            yield starred, parted, found[-1].differences["b"].p < 0.05


def _tables(job: TableJob, first: int, runs: int, *, data: Path) -> list[list[float]]:
    """Numbers of tables; (rows, 3)."""
    graph = _graph_of_all(data)
    return np.sum(
        [list(job.tables(seed, graph)) for seed in range(first, first + runs)], axis=0
    ).tolist()


@lru_cache(maxsize=1)
def _graph_of_all(data: Path) -> Graph:
    return Graph.read(data, DATASETS)


def show_tables(arguments: argparse.Namespace) -> None:
    """False positives of tables of nine rows and four equal models."""
    jobs = {
        f"{job.share:g} | {job.seeds}": job
        for job in (
            *(TableJob(share=share) for share in (0.0, 0.3, 0.6)),
            TableJob(share=0.3, seed_sd=0.02, seeds=(3, 5)),
        )
    }
    batches = Batches(file=arguments.resume)
    work = partial(_tables, data=arguments.data)
    batches.fill(
        [*jobs.items()],
        work,
        lambda _: arguments.runs,
        at_once=arguments.at_once,
        processes=arguments.jobs,
    )
    rows = []
    for key, job in jobs.items():
        runs = batches.runs(key)
        for seeds, values in zip(job.seeds, np.sum(batches.found(key), axis=0) / runs, strict=True):
            rows.append(
                [
                    f"{job.share:g}",
                    f"{seeds}",
                    f"{100 * job.seed_sd:g}",
                    *(_percent(value, runs) for value in values),
                ]
            )
    columns = [
        "share of sentences in errors",
        "seeds",
        "sd over seeds",
        "any star",
        "any two models without a shared letter",
        "one p of the average < .05",
    ]
    notes = [
        f"{batches.counts([*jobs])} simulated tables a row: seven datasets, two averages, "
        f"four models that are equal"
    ]
    write_table(
        "coverage-tables",
        "False positives in a table of equal models",
        columns,
        rows,
        packages=PACKAGES,
        notes=notes,
    )


def real_table(
    arguments: argparse.Namespace,
) -> tuple:  # the pair table with a column a member, and the columns' names
    """The seven datasets with the scores of the files that were given, or those of some members
    alone.
    """
    from pair_frames import pair_table, with_scores

    from embedlab.data.source import Source, open_parts

    table = pair_table(open_parts(Source(folder=arguments.data, offline=True), DATASETS)[0])
    files = {}
    for path in (
        [arguments.scores]
        if arguments.scores.is_file()
        else sorted(arguments.scores.glob("*.parquet"))
    ):
        stored = pl.read_parquet(path)
        for column in stored.columns if "pair_key" in stored.columns else ():
            name = path.stem if column == "similarity" else column.removeprefix("./")
            if column not in {"pair_key", "dice"} and (
                not arguments.members or name in arguments.members
            ):
                files[name] = stored.select("pair_key", similarity=column).drop_nulls()
    names = [*files, "dice"]
    return with_scores(table, files).drop_nulls(["gold", *names]), names


def show_halves(arguments: argparse.Namespace) -> None:
    """Real scores: differences of models on one half of the components, or topics, and on the
    other, which are independent samples.
    """
    from pair_frames import sentence_numbers

    table, names = real_table(arguments)
    table = table.with_columns(sentence_numbers(table))
    sets = real_halves.real_sets(table, names, tuple(arguments.families))
    vectors = real_halves.vectors_of(arguments.encoder, table) if arguments.encoder else None
    jobs = [(one, one.components()) for one in sets]
    if vectors is not None:
        own = {
            one.key: vectors
            if one.pairs.height == table.height
            else vectors[(table["dataset"] == one.key).to_numpy()]
            for one in sets
        }
        jobs += [(one, real_halves.topics(one.pairs, own[one.key])) for one in sets]
    # The threads of an encoder do not survive a fork.
    with ProcessPoolExecutor(
        arguments.jobs, mp_context=multiprocessing.get_context("spawn")
    ) as pool:
        found = list(pool.map(real_halves.agreement_of, jobs, [arguments.runs] * len(jobs)))
    rows = []
    for place, one in enumerate(sets):
        by_components, by_topics = (
            found[place],
            found[len(sets) + place] if vectors is not None else None,
        )
        groups = [
            f"{len(np.unique(jobs[part][1]))}"
            for part in (place, len(sets) + place)
            if part < len(jobs)
        ]
        cells = [
            by_components.cell(0),
            by_components.cell(1),
            *([by_topics.cell(0), by_topics.cell(1)] if by_topics else ["–", "–"]),
        ]
        rows.append(
            [one.key, " and ".join(groups), *cells, f"{np.median(by_components.widths):.2f}"]
        )
    notes = [
        f"{len(names)} models, each two of which are compared "
        f"({len(names) * (len(names) - 1) // 2} differences): {', '.join(names)}",
        f"{arguments.runs} random halves a row: mean / worst difference of the cases, in "
        f"percent, in which both halves agree, that is in "
        "which their differences lie within the root of both squared distances to the ends "
        "that face each other; 95% would be right",
        "normal: the variance of the topics with the quantile of a normal distribution; flips: "
        "what embedlab does",
        "halves by components check the variance that is claimed. Halves by topics (k-means "
        "of the vectors of "
        f"{Path(arguments.encoder).name if arguments.encoder else 'no encoder'} within each "
        f"source, {real_halves.PAIRS_OF_A_TOPIC} pairs a "
        "topic on average) check what families of sentences miss; halves are of one sample, "
        "so that rows vary more than by chance",
    ]
    columns = [
        "dataset",
        "components and topics",
        "by components: normal",
        "by components: flips",
        "by topics: normal",
        "by topics: flips",
        "length of intervals, flips / normal (median)",
    ]
    if tuple(arguments.families) != real_halves.USUAL:
        notes.append(
            "families: from a cosine of {:g} on, up to {:g} rows and {:g} of them".format(
                *arguments.families
            )
        )
    write_table(
        f"coverage-halves-{arguments.page}" if arguments.page else "coverage-halves",
        "Two halves of real scores",
        columns,
        rows,
        packages=PACKAGES,
        notes=notes,
    )


SPLITS_AT_ONCE = 100


def show_seeds_null(arguments: argparse.Namespace) -> None:
    """Real scores of seeds of one recipe: every split in two groups should show a difference in 5%
    only.
    """
    from pair_frames import pair_outcomes

    from embedlab.comparison.evidence import outcome_evidence
    from embedlab.data.published import STS_AVERAGES

    table, names = real_table(arguments)
    names = [name for name in names if "@" in name and "(" not in name]  # runs alone
    evidence, rows = (
        outcome_evidence(pair_outcomes(table, names, task="sts", averages=STS_AVERAGES), names),
        [],
    )
    rng = np.random.default_rng(0)
    recipes = {
        recipe: [n for n, name in enumerate(names) if _recipe(name) == recipe]
        for recipe in map(_recipe, names)
    }
    for recipe, own in recipes.items():
        for size in (size for size in (2, 3, 5) if 2 * size <= len(own)):
            all_splits = [
                (first, second)
                for first in combinations(own, size)
                for second in combinations([n for n in own if n not in first], size)
                if first < second  # the other way round it is the same table
            ]
            chosen = [
                all_splits[place] for place in rng.permutation(len(all_splits))[: arguments.runs]
            ]
            parts = [
                chosen[start : start + SPLITS_AT_ONCE]
                for start in range(0, len(chosen), SPLITS_AT_ONCE)
            ]
            p = np.concatenate([p_of_splits(evidence, names, part) for part in parts])
            by_seeds = [
                welch(*(evidence[-1].points[list(group)] for group in split)) for split in chosen
            ]
            shares = (
                (p < 0.05).mean(),
                (p[:, -1] < 0.05).mean(),
                np.mean([min(holm(row)) < 0.05 for row in p.tolist()]),
                np.mean([low > 0 or high < 0 for low, high in by_seeds]),
            )
            label = (
                f"{recipe}, {size} against {size}" if len(recipes) > 1 else f"{size} against {size}"
            )
            rows.append(
                [
                    label,
                    f"{len(chosen)} of {len(all_splits)}",
                    *(_percent(one, len(chosen)) for one in shares),
                ]
            )
    columns = [
        "seeds",
        "splits",
        "p < .05, mean of rows",
        "p < .05, average of seven",
        "some star in the table",
        "Welch over seeds, average of seven",
    ]
    counts = ", ".join(f"{len(own)} seeds of {recipe}" for recipe, own in recipes.items())
    notes = [f"{counts}; splits overlap, so that ± understates"]
    name = (
        "coverage-seeds-null"
        if FIRST_NULL in recipes
        else f"coverage-seeds-null-{arguments.scores.stem}"
    )
    write_table(
        name, "Equal seeds compared with each other", columns, rows, packages=PACKAGES, notes=notes
    )


def _recipe(member: str) -> str:
    return member.partition("@")[0]


def p_of_splits(
    evidence: Sequence, names: Sequence[str], splits: Sequence
) -> Floats:  # of Evidence, of two groups of numbers of NAMES
    """The p of each row of a table that compares two groups of seeds, for many SPLITS at once;
    (splits, rows).
    """
    from embedlab.analysis.evidence import ModelColumns
    from embedlab.analysis.weighing import Weighed

    groups = dict.fromkeys(group for split in splits for group in split)
    models = [
        ModelColumns(name=f"{group}", members=tuple(names[n] for n in group), seeds=group)
        for group in groups
    ]
    everything = ModelColumns(
        name="all", members=tuple(names), is_published=True
    )  # members in their order
    pairs = [(f"{first}", f"{second}") for first, second in splits]
    weighed = [Weighed(one, [everything, *models], pairs) for one in evidence]
    return np.array([[one.p[pair] for one in weighed] for pair in pairs])


def main() -> None:
    """Make one part's table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=[*CELLS, "tables", "equivalence", "halves", "seeds-null"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--scores",
        type=Path,
        help="folder of score files, for halves and seeds-null, or a file of research/scores "
        "with seeds",
    )
    parser.add_argument(
        "--members", nargs="*", help="columns of score files, for halves; all without it"
    )
    parser.add_argument("--encoder", help="the model whose vectors make topics, for halves")
    parser.add_argument(
        "--families",
        type=float,
        nargs=3,
        default=real_halves.USUAL,
        help="least cosine, most rows, largest share, for halves",
    )
    parser.add_argument("--page", help="the end of the page's name, for halves")
    parser.add_argument("--runs", type=int, default=5_000)
    parser.add_argument(
        "--first-seed",
        type=int,
        default=0,
        help="of the simulated comparisons; others are other draws",
    )
    parser.add_argument(
        "--resume",
        type=Path,
        help="a file of the runs so far, of cells and tables: they go on, and others are added",
    )
    parser.add_argument(
        "--at-once", type=int, default=500, help="runs of a cell before the next cell's"
    )
    parser.add_argument(
        "--graphs", nargs="*", help="datasets whose cells are simulated; all without it"
    )
    parser.add_argument(
        "--resamples",
        type=int,
        default=0,
        help="also the independent bootstrap, in a tenth of the runs",
    )
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    shows = {
        "tables": show_tables,
        "equivalence": show_equivalence,
        "halves": show_halves,
        "seeds-null": show_seeds_null,
    }
    shows[arguments.part](arguments) if arguments.part in shows else show_cells(
        arguments.part, arguments
    )


if __name__ == "__main__":
    main()
