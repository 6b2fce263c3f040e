"""Tables of compared models from stored similarities of their pairs, without the models.

    python research/programs/stored_tables.py store research/scores/NAME.parquet MODEL…
        --data DIR --runs DIR [--fifths]
    python research/programs/stored_tables.py show research/scores/NAME.parquet MODEL…
        --data DIR [--by PROPERTY] [--aggregate wmean] [--unseen]
    python research/programs/stored_tables.py refresh research/PAGE.md… --data DIR

`store` writes one column of float32 similarities for each member (seed) of each model, the key of
each pair (a hash of its text, no text) and, as metadata, what titles and notes of tables say: how a
member was trained and used, what its training data lacked, how much text it shares. A file that
exists keeps its models, and those that are stored again keep the seeds whose runs are gone: a table
can grow. `show` prints what `embedlab compare MODEL…` prints, with `--unseen` on the pairs that
`compare --unseen` takes: the training text is read again by the stored recipes, from data that must
be the same as then. `refresh` writes each table of a page again that is between these two lines:

    <!-- table scores/NAME.parquet MODEL… [--by PROPERTY] [--dataset NAME] … -->
    <!-- end of table -->
"""

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, reduce
from operator import or_
from pathlib import Path
from typing import Any, get_args

import polars as pl
import table_pages
from embedlab.scoring.pair_scores import BYS
from embedlab.scoring.scored_pairs import ScoredPairs
from pair_frames import pair_table, with_scores
from pydantic import TypeAdapter
from stored_runs import UNTRAINED, StoredTraining, stored_training

from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.slices import ALL_SPLITS, joined_splits
from embedlab.choices import Aggregate
from embedlab.core.recipe import from_table
from embedlab.core.settings import Settings, load_settings
from embedlab.core.signs import OVERLAP
from embedlab.data.marks import data_marks
from embedlab.data.overlaps import KnownText
from embedlab.data.pair_parts import open_parts
from embedlab.data.shared_text import Overlap
from embedlab.data.source import Source
from embedlab.runs.evaluations import Evaluation
from embedlab.scoring.stated_text import START_UNKNOWN
from embedlab.scoring.task_comparison import Gathered, Slicing, TaskComparison
from embedlab.tasks.sts import STS_DATASETS
from embedlab.training.stage_data import StageData, open_stages

FACTS = "embedlab-table"  # the parquet metadata key
SUITE, FIFTHS = "suite", "fifths"  # the seven test splits; all splits of STS-B


@dataclass(frozen=True, kw_only=True)
class StoredMember:
    """What the notes of a table say of one member."""

    facts: Mapping[str, str]
    notes: tuple[str, ...]
    marks: tuple[str, ...]  # without those of the evaluated data, and of shared text
    description: Evaluation  # without scores
    overlaps: Mapping[str, Mapping[str, Overlap]]
    training: StoredTraining = UNTRAINED


@dataclass(frozen=True, kw_only=True)
class StoredTable:
    """The models of a file, and their members for each selection of pairs."""

    models: tuple[ModelColumns, ...]
    members: Mapping[str, Mapping[str, StoredMember]]  # by selection, then by member


@dataclass(frozen=True, kw_only=True)
class StoredPairs(ScoredPairs):
    """Scored pairs whose models are gone."""

    stored: Mapping[str, StoredMember]
    # only pairs none of whose sentences a model of the table has read in training
    is_unseen: bool = False

    def member_marks(self, member: str) -> tuple[str, ...]:
        """Return the marks of every number of one member."""
        shared = (OVERLAP,) if self.overlaps(member, "dataset") else ()
        return tuple(sorted({*data_marks(self.states), *self.stored[member].marks, *shared}))

    def member_notes(self, member: str) -> tuple[str, ...]:
        """Return the notes on a member's training data."""
        return tuple(
            START_UNKNOWN if note == START_UNKNOWN else note for note in self.stored[member].notes
        )

    @property
    def known_texts(self) -> dict[str, KnownText]:
        """Return no training text: what is shared with it is stored."""
        return {}

    def overlaps(self, member: str, by: str) -> dict[str, Overlap]:
        """Return the text that each slice and average shares with the member's training text."""
        # Fifths are those of all splits of STS-B; files of before name them as those of the test
        # split.
        stored = {} if self.is_unseen else self.stored[member].overlaps.get(by, {})
        return {
            key.replace("sts-benchmark/fifth", f"sts-benchmark{ALL_SPLITS}/fifth"): found
            for key, found in stored.items()
        }

    def description(self, member: str) -> Evaluation:
        """Return the evaluation of one member without scores."""
        return self.stored[member].description


def stored_member(scored: ScoredPairs, member: str) -> StoredMember:
    """Return what tables say of one member of SCORED."""
    of_data = {*data_marks(scored.states), OVERLAP}
    return StoredMember(
        facts=dict(scored.facts[member]),
        notes=scored.member_notes(member),
        marks=tuple(mark for mark in scored.member_marks(member) if mark not in of_data),
        description=scored.description(member),
        overlaps={by: scored.overlaps(member, by) for by in BYS},
        training=stored_training(scored.places[member].spec),
    )


def store(path: Path, models: Sequence[str], settings: Settings, *, fifths: bool) -> None:
    """Write the similarities of MODELS into PATH; what is not scored yet is scored first."""
    selections = {SUITE: None, **({FIFTHS: ["sts-benchmark"]} if fifths else {})}
    scored = {name: score_all(models, settings, datasets) for name, datasets in selections.items()}
    facts = StoredTable(
        models=scored[SUITE].models,
        members={
            name: {member: stored_member(found, member) for member in found.places}
            for name, found in scored.items()
        },
    )
    columns = ["pair_key", *(member for member in scored[SUITE].places if member != "dice")]
    table = (
        pl.concat([found.table.select(columns) for found in scored.values()])
        .unique("pair_key")
        .sort("pair_key")
    )
    table = table.select("pair_key", pl.exclude("pair_key").cast(pl.Float32))
    if path.exists():
        facts, table = (
            grown(stored_table(path), facts),
            with_columns_of(pl.read_parquet(path), table, path),
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    table.write_parquet(
        path,
        compression="zstd",
        compression_level=19,
        metadata={FACTS: json.dumps(asdict(facts), default=sorted)},
    )
    stored_table.cache_clear()


def grown(old: StoredTable, new: StoredTable) -> StoredTable:
    """Return the models of OLD and NEW; a model of both has the members of both, by their seeds."""
    models = {model.name: model for model in old.models}
    for model in new.models:
        models[model.name] = joined(models[model.name], model) if model.name in models else model
    if old.members.keys() != new.members.keys():
        raise SystemExit(
            f"the file has {', '.join(old.members)}, not {', '.join(new.members)}: with or "
            f"without --fifths?"
        )
    return StoredTable(
        models=tuple(models.values()),
        members={name: {**own, **new.members[name]} for name, own in old.members.items()},
    )


def joined(old: ModelColumns, new: ModelColumns) -> ModelColumns:
    """Return a model with the members of OLD and NEW; one that is in both is NEW's."""
    if not (old.seeds and new.seeds):
        return new
    parts = {
        seed: (member, runs)
        for model in (old, new)
        for seed, member, runs in zip(model.seeds, model.members, model.behind, strict=True)
    }
    seeds = tuple(sorted(parts))
    return ModelColumns(
        name=new.name,
        seeds=seeds,
        members=tuple(parts[seed][0] for seed in seeds),
        runs=tuple(parts[seed][1] for seed in seeds),
    )


def with_columns_of(old: pl.DataFrame, new: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Return the similarities of OLD and NEW; of a member in both, those of NEW."""
    old = old.sort("pair_key").drop(
        [name for name in new.columns if name != "pair_key"], strict=False
    )
    if not old["pair_key"].equals(new["pair_key"]):
        raise SystemExit(f"{path}: it has other pairs than the data here")
    return pl.concat([old, new.drop("pair_key")], how="horizontal")


def score_all(
    models: Sequence[str], settings: Settings, datasets: Sequence[str] | None
) -> ScoredPairs:
    """Return the pairs of the seven test splits, or of all splits of DATASETS, scored by MODELS."""
    from embedlab.workflows.scoring import score_selected

    from embedlab.workflows.notebook_session import NotebookSession

    scored, is_whole = score_selected(
        models,
        NotebookSession(settings=settings),
        datasets=datasets,
        all_splits=datasets is not None,
    )
    assert is_whole, "a dataset is missing"
    return replace(scored, table=joined_splits(scored.table))


@lru_cache(maxsize=4)
def stored_table(path: Path) -> StoredTable:
    """Return what tables say of the models in the file at PATH."""
    return TypeAdapter(StoredTable).validate_json(pl.read_parquet_metadata(path)[FACTS])


@lru_cache(maxsize=4)
def bare_pairs(settings: Settings, *, fifths: bool) -> ScoredPairs:
    """Return the pairs of the seven test splits, or of all splits of STS-B, without models."""
    source = replace(Source.from_settings(settings), allow_partial=True)
    parts, missing = open_parts(
        source, ["sts-benchmark"] if fifths else STS_DATASETS, all_splits=fifths
    )
    assert not missing, missing
    states = tuple(part.state for part in parts)
    return ScoredPairs(
        table=pair_table(parts), models=(), places={}, facts={}, states=states, training_text={}
    )


def stored_pairs(
    path: Path, models: Sequence[str], settings: Settings, by: str, dataset: str = ""
) -> StoredPairs:
    """Return the pairs that a table BY slices reads, with the similarities of MODELS from the file
    at PATH.
    """
    facts, bare = stored_table(path), bare_pairs(settings, fifths=by == "dice")
    known = {model.name: model for model in facts.models}
    if lacking := [name for name in models if name not in known]:
        raise SystemExit(f"{path}: no model {lacking[0]!r}; it has {', '.join(known)}")
    chosen = tuple(
        replace(known[name], is_published=known[name].is_published or name == "dice")
        for name in models
    )
    members = [member for model in chosen for member in model.members]
    scores = pl.read_parquet(
        path, columns=["pair_key", *(member for member in members if member != "dice")]
    )
    columns = {
        member: scores.select("pair_key", similarity=member)
        for member in members
        if member != "dice"
    }
    stored = facts.members[FIFTHS if by == "dice" else SUITE]
    pairs = joined_splits(bare.table)
    return StoredPairs(
        table=with_scores(
            pairs.filter(pl.col("dataset") == dataset) if dataset else pairs, columns
        ),
        models=chosen,
        places={},
        facts={member: stored[member].facts for member in members},
        states=tuple(state for state in bare.states if dataset in {"", state.name}),
        training_text={},
        stored=stored,
    )


def training_text(scored: StoredPairs, settings: Settings) -> KnownText:
    """Return the text that the models of SCORED were trained on, read again by their stored recipes
    from the data here.

    Definitions whose word is not one token of the encoder count too: which of them it left out is
    known with the encoder alone. Seeds whose recipe was not stored yet have read what the others of
    their run have.
    """
    runs = {run for model in scored.models for behind in model.behind for run in behind}
    known = {
        run: member.training.recipe
        for run, member in scored.stored.items()
        if member.training.recipe is not None
    }
    recipes = {
        json.dumps(recipe, sort_keys=True): run
        for run, recipe in known.items()
        if _name(run) in {*map(_name, runs)}
    }
    if lacking := {_name(run) for run in runs} - {_name(run) for run in recipes.values()}:
        raise SystemExit(
            f"how {', '.join(sorted(lacking))} was trained is not stored: no pair is known "
            f"to be unseen"
        )
    source = replace(Source.from_settings(settings), allow_partial=True)
    texts = []
    for text, run in recipes.items():
        stages = open_stages(
            from_table(json.loads(text), name="stored", where=run, is_stored=True), source, seed=1
        )
        before, now = (
            [(part["name"], part["sha256"]) for part in parts]
            for parts in (_data_of(scored, run), _states(stages))
        )
        assert before == now, f"the training data of {run} has changed since"
        texts.append(KnownText.of(data.rows.frame[data.read] for data in stages))
    return reduce(or_, texts)


def _name(run: str) -> str:
    """Return the name of a run without its seed."""
    return run.partition("@")[0]


def _data_of(scored: StoredPairs, run: str) -> Sequence[Mapping[str, Any]]:
    return scored.stored[run].training.data


def _states(stages: Iterable[StageData]) -> list[Mapping[str, Any]]:
    return [asdict(state) for data in stages for state in data.states]


def unseen_pairs(scored: StoredPairs, settings: Settings) -> tuple[StoredPairs, str]:
    """Return those pairs of SCORED of whose sentences no model was trained on any, and how many
    they are.
    """
    is_read = training_text(scored, settings).has_any(scored.table, ["sentence1", "sentence2"])
    rest = replace(scored, table=scored.table.filter(pl.Series(~is_read)), is_unseen=True)
    return (
        rest,
        f"{len(rest.table)} of {len(scored.table)} pairs: no model of the table was trained "
        f"on a sentence of theirs",
    )


def compared_pairs(
    scored: StoredPairs, *, by: str, aggregate: Aggregate = "all", notes: Sequence[str] = ()
) -> TaskComparison:
    """Return the models of SCORED compared by the procedure of today."""
    from embedlab.reports.notes import data_notes

    return Gathered.of_pairs(scored, [*notes, *data_notes(scored)]).compared(
        Slicing(by=by, aggregate=aggregate)
    )


def shown(arguments: argparse.Namespace, settings: Settings) -> str:
    """Return the table that the ARGUMENTS of `show` describe, in Markdown."""
    from embedlab.reports.comparison_table import comparison_table

    scored = stored_pairs(
        arguments.file, arguments.models, settings, arguments.by, arguments.dataset
    )
    notes = []
    if arguments.unseen:
        scored, note = unseen_pairs(scored, settings)
        notes.append(note)
    compared = compared_pairs(scored, by=arguments.by, aggregate=arguments.aggregate, notes=notes)
    return replace(
        comparison_table(compared), is_signed=arguments.signature, has_all_notes=arguments.notes
    ).to_markdown()


def refreshed(page: str, folder: Path, settings: Settings) -> str:
    """Return a PAGE whose files are relative to FOLDER with each of its tables made again."""
    return table_pages.refreshed(
        page, "table", folder, parser_of_tables(), lambda arguments: shown(arguments, settings)
    )


def parser_of_tables() -> argparse.ArgumentParser:
    """Return the parser of what describes one table."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("file", type=Path)
    parser.add_argument("models", nargs="+")
    parser.add_argument(
        "--by", default="dataset", help="a property of pairs, or an expression over properties"
    )
    parser.add_argument("--dataset", default="", help="one dataset alone")
    parser.add_argument("--aggregate", choices=get_args(Aggregate), default="all")
    parser.add_argument(
        "--unseen",
        action="store_true",
        help="only pairs of whose sentences no model was trained on any",
    )
    parser.add_argument("--signature", action="store_true")
    parser.add_argument("--notes", action="store_true")
    return parser


def main() -> None:
    """Store, show or refresh."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--data", type=Path, required=True)
    storing = commands.add_parser("store", parents=[shared])
    storing.add_argument("file", type=Path)
    storing.add_argument("models", nargs="+")
    storing.add_argument("--runs", type=Path)
    storing.add_argument(
        "--fifths", action="store_true", help="also all splits of STS-B, for --by dice"
    )
    commands.add_parser("show", parents=[shared, parser_of_tables()])
    refreshing = commands.add_parser("refresh", parents=[shared])
    refreshing.add_argument("pages", type=Path, nargs="+")
    arguments = parser.parse_args()
    runs = {"runs": arguments.runs} if getattr(arguments, "runs", None) else {}
    settings = load_settings({"data": arguments.data, "allow_partial": True, "threads": 1, **runs})[
        0
    ]
    match arguments.command:
        case "store":
            store(arguments.file, arguments.models, settings, fifths=arguments.fifths)
        case "show":
            print(shown(arguments, settings), end="")
        case "refresh":
            for page in arguments.pages:
                page.write_text(refreshed(page.read_text("utf-8"), page.parent, settings), "utf-8")


if __name__ == "__main__":
    main()
