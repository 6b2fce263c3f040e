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
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

import polars as pl
import table_pages
from pair_keys import pair_keys
from pydantic import TypeAdapter
from stored_runs import UNTRAINED, StoredTraining, stored_training

from embedlab.analysis.evidence import ModelColumns, member_columns
from embedlab.analysis.overlap import dice_of_rows
from embedlab.choices import Aggregate
from embedlab.comparison.comparison import Slicing
from embedlab.comparison.evidence import slices_of
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.printable import OVERLAP
from embedlab.core.recipe import from_table
from embedlab.core.session import ProgressCallback
from embedlab.core.settings import Settings, load_settings
from embedlab.data.marks import Overlap, data_marks
from embedlab.data.overlaps import KnownText
from embedlab.data.source import FIFTHS_OF, OTHER_SPLITS, Source
from embedlab.encoders.encoder import EncoderFacts
from embedlab.encoders.score_place import ScorePlace
from embedlab.models.catalog import Model
from embedlab.outcomes.frame import ALL_SPLITS, Outcomes, choose_items, join_splits
from embedlab.outcomes.stored import join_members
from embedlab.reports.notes import model_note, partial_notes
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.outcomes import SENTENCES, StoredOutcomes, items_frame
from embedlab.runs.signature import UNKNOWN, Signature
from embedlab.scoring.provenance import training_marks, training_notes
from embedlab.scoring.results import model_facts
from embedlab.scoring.selection import SelectedTask
from embedlab.scoring.task_comparison import (
    ComparisonInput,
    ModelProvenance,
    TaskComparison,
    shared_rows,
)
from embedlab.scoring.training_text import START_UNKNOWN, keyed_items
from embedlab.tasks.task import Selection, Texts, evaluation_without_scores
from embedlab.tasks.task import task as find_task
from embedlab.training.blocks import open_stages
from embedlab.training.stage_data import StageData

FACTS = "embedlab-table"  # the parquet metadata key
SUITE, FIFTHS = "suite", "fifths"  # the seven test splits; all splits of STS-B
NAMES = {SUITE: (), FIFTHS: (*(f"{FIFTHS_OF}:{split}" for split in OTHER_SPLITS), FIFTHS_OF)}
BYS = ("dataset", "source", "dice")  # how the text that a member has read is counted


@dataclass(frozen=True, kw_only=True)
class StoredMember:
    """What the notes of a table say of one member."""

    facts: Mapping[str, str]
    notes: tuple[str, ...]
    marks: tuple[str, ...]  # without those of the evaluated data, and of shared text
    description: Evaluation  # without scores
    overlaps: Mapping[str, Mapping[str, Overlap]]
    training: StoredTraining = UNTRAINED

    @property
    def signature(self) -> Signature:
        """What decides the numbers of the member."""
        signature = self.description.signature
        is_known = "pooling" in self.facts or self.description.model == "dice"
        return signature if is_known else replace(signature, pooling=UNKNOWN, max_tokens=UNKNOWN)

    def shared(self, by: str) -> dict[str, Overlap]:
        """Return the text that each slice shares with what the member was trained on."""
        # Fifths are those of all splits of STS-B; earlier files name them as the test split's.
        return {
            key.replace(f"{FIFTHS_OF}/fifth", f"{FIFTHS_OF}{ALL_SPLITS}/fifth"): found
            for key, found in self.overlaps.get(by, {}).items()
        }


@dataclass(frozen=True, kw_only=True)
class StoredTable:
    """The models of a file, and their members for each selection of pairs."""

    models: tuple[ModelColumns, ...]
    members: Mapping[str, Mapping[str, StoredMember]]  # by selection, then by member


@dataclass(kw_only=True)
class StoredPairs(ComparisonInput):
    """Scored pairs whose models are gone."""

    stored: Mapping[str, StoredMember]
    # only pairs none of whose sentences a model of the table has read in training
    is_unseen: bool = False

    @property
    def pairs(self) -> Outcomes:
        """The pairs as outcomes of all members."""
        return self.outcomes[0]

    def compare(self, slicing: Slicing, progress: ProgressCallback | None = None) -> TaskComparison:
        """Return the models compared; the text that they share is that of when they were stored."""
        found = super().compare(slicing, progress)
        shared: dict[str, dict[str, Overlap]] = {
            model.name: {
                key: overlap
                for member in model.members
                for key, overlap in self.stored[member].shared(slicing.by).items()
                if not self.is_unseen
            }
            for model in self.models
        }
        return replace(
            found,
            shared={name: shared_rows(found.evidence, own) for name, own in shared.items()},
            counts={
                name: {
                    one.slice_key: own[one.slice_key]
                    for one in found.evidence
                    if one.slice_key in own
                }
                for name, own in shared.items()
            },
        )


def store(path: Path, names: Sequence[str], settings: Settings, *, fifths: bool) -> None:
    """Write the similarities of the models called NAMES into PATH; what is not scored yet is scored
    first.
    """
    from embedlab.api import NotebookSession
    from embedlab.evaluation import resolve_models

    models = resolve_models(names, NotebookSession(settings=settings))
    selections = (SUITE, FIFTHS) if fifths else (SUITE,)
    scored = {name: score_all(names, settings, NAMES[name]) for name in selections}
    facts = StoredTable(
        models=tuple(scored[SUITE].models),
        members={name: stored_members(found, models, settings) for name, found in scored.items()},
    )
    table = pl.concat([similarities(found) for found in scored.values()])
    table = table.unique("pair_key").sort("pair_key")
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


def similarities(scored: ComparisonInput) -> pl.DataFrame:
    """Return the key of each pair of SCORED, and its similarity to each member."""
    (outcomes,) = scored.outcomes
    keys = pair_keys(outcomes.sentences).alias("pair_key")
    return pl.DataFrame([keys, *outcomes.predictions]).select(
        "pair_key", pl.exclude("pair_key", "dice").cast(pl.Float32)
    )


def stored_members(
    scored: ComparisonInput, models: Sequence[Model], settings: Settings
) -> dict[str, StoredMember]:
    """Return what tables say of each member of SCORED."""
    (outcomes,) = scored.outcomes
    slices = {by: slices_of(outcomes, member_columns(scored.models), by=by) for by in BYS}
    members = {}
    for model in models:
        text = scored.texts.get(model.name)
        overlaps: dict[str, dict[str, Overlap]] = {}
        for by, parts in slices.items() if text is not None else ():
            counted = {part.key: text.overlap(keyed_items(outcomes, part)) for part in parts}
            overlaps[by] = {key: found for key, found in counted.items() if found}
        for spec in model.members:
            place = ScorePlace.of(spec, settings)
            facts = scored.facts[spec.name]
            tokens = facts.get("max_tokens")
            used = EncoderFacts(
                pooling=facts.get("pooling"),
                precision=place.precision,
                max_tokens=int(tokens) if tokens else None,
            )
            described = evaluation_without_scores(
                DEFAULT_TASK,
                spec.name,
                place.fingerprint,
                used,
                [asdict(state) for state in scored.states],
            )
            members[spec.name] = StoredMember(
                facts=facts,
                notes=training_notes(spec),
                marks=training_marks(spec),
                description=replace(described, **model_facts(spec)),
                overlaps=overlaps,
                training=stored_training(spec),
            )
    return members


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
        for seed, member, runs in zip(model.seeds, model.members, model.runs_behind, strict=True)
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


def score_all(names: Sequence[str], settings: Settings, datasets: Sequence[str]) -> ComparisonInput:
    """Return the pairs of the seven test splits, or of DATASETS alone, scored by the models called
    NAMES.
    """
    from embedlab.api import NotebookSession
    from embedlab.evaluation import gather

    selected = SelectedTask(task=DEFAULT_TASK, names=tuple(datasets))
    session = NotebookSession(settings=settings)
    scored = gather(names, [selected], session, slicing=Slicing(), setting="literature")
    assert scored.is_whole, "a dataset is missing"
    return replace(scored, outcomes=[join_splits(scored.outcomes[0])])


@lru_cache(maxsize=4)
def stored_table(path: Path) -> StoredTable:
    """Return what tables say of the models in the file at PATH."""
    return TypeAdapter(StoredTable).validate_json(pl.read_parquet_metadata(path)[FACTS])


@lru_cache(maxsize=4)
def texts_of_pairs(settings: Settings, *, fifths: bool) -> Texts:
    """Return the pairs of the seven test splits, or of all splits of STS-B."""
    source = replace(Source.from_settings(settings), allow_partial=True)
    selection = Selection(names=NAMES[FIFTHS if fifths else SUITE])
    texts = find_task(DEFAULT_TASK).texts(source, selection)
    assert not texts.missing, texts.missing
    return texts


def scored_again(
    texts: Texts, scores: pl.DataFrame, members: Sequence[str], dataset: str
) -> Outcomes:
    """Return the pairs of TEXTS, or of one DATASET, as outcomes of MEMBERS, whose similarities are
    SCORES by the keys of pairs.
    """
    stored: dict[str, list[StoredOutcomes]] = {member: [] for member in members}
    for name, part in zip(texts.datasets, texts.parts, strict=True):
        if dataset not in {"", name}:
            continue
        frame = part.frame.select(*SENTENCES, "gold", "source")
        known = frame.select(pair_keys(frame).alias("pair_key")).join(
            scores, on="pair_key", how="left", maintain_order="left"
        )
        known = known.with_columns(dice_of_rows(*frame.select(SENTENCES)).alias("dice"))
        for member in members:
            stored[member].append(
                StoredOutcomes(
                    task=DEFAULT_TASK,
                    base_task=DEFAULT_TASK,
                    dataset=name,
                    split="test",
                    model=member,
                    fingerprint=member,
                    data=(),
                    marks=(),
                    classes=(),
                    measures=("spearman",),
                    items=items_frame(range(len(frame)), frame["gold"], known[member], frame),
                )
            )
    selected = SelectedTask(task=DEFAULT_TASK, names=(dataset,) if dataset else ())
    averages = selected.averages(texts.datasets)
    joined = join_members(stored, members, averages={DEFAULT_TASK: averages})
    assert joined is not None, f"no dataset {dataset!r}"
    return join_splits(joined)


def stored_pairs(
    path: Path, models: Sequence[str], settings: Settings, by: str, dataset: str = ""
) -> StoredPairs:
    """Return the pairs that a table BY slices reads, with the similarities of MODELS from the file
    at PATH.
    """
    facts, texts = stored_table(path), texts_of_pairs(settings, fifths=by == "dice")
    known = {model.name: model for model in facts.models}
    if lacking := [name for name in models if name not in known]:
        raise SystemExit(f"{path}: no model {lacking[0]!r}; it has {', '.join(known)}")
    chosen = [
        replace(known[name], is_published=known[name].is_published or name == "dice")
        for name in models
    ]
    members = list(member_columns(chosen))
    columns = ["pair_key", *(member for member in members if member != "dice")]
    stored = facts.members[FIFTHS if by == "dice" else SUITE]
    states = [state for state in texts.states if dataset in {"", state.name}]
    return StoredPairs(
        models=chosen,
        order=[DEFAULT_TASK],
        outcomes=[scored_again(texts, pl.read_parquet(path, columns=columns), members, dataset)],
        facts={member: stored[member].facts for member in members},
        notes=[
            *partial_notes(states),
            *texts.notes,
            *(
                model_note(model.name, START_UNKNOWN if note == START_UNKNOWN else note)
                for model in chosen
                for note in dict.fromkeys(
                    note for member in model.members for note in stored[member].notes
                )
            ),
        ],
        models_by_name={
            name: ModelProvenance(
                signatures=[stored[member].signature for member in behind],
                marks={
                    *data_marks(states),
                    *(mark for member in behind for mark in stored[member].marks),
                    *(OVERLAP for member in behind if stored[member].shared("dataset")),
                },
            )
            for name, behind in (
                *((model.name, model.members) for model in chosen),
                *((member, (member,)) for member in members),
            )
        },
        states=states,
        stored={member: stored[member] for member in members},
    )


def training_text(scored: StoredPairs, settings: Settings) -> KnownText:
    """Return the text that the models of SCORED were trained on, read again by their stored recipes
    from the data here.

    Definitions whose word is not one token of the encoder count too: which of them it left out is
    known with the encoder alone. Seeds whose recipe was not stored yet have read what the others of
    their run have.
    """
    runs = {run for model in scored.models for behind in model.runs_behind for run in behind}
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
    joined = KnownText.union(texts)
    assert joined is not None, "no model was trained"
    return joined


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
    pairs = scored.pairs
    is_read = training_text(scored, settings).has_any(pairs.sentences, SENTENCES)
    unseen = choose_items(pairs, pl.Series(~is_read))
    return (
        replace(
            scored,
            outcomes=[unseen],
            is_unseen=True,
            models_by_name={
                name: replace(model, marks=model.marks - {OVERLAP})
                for name, model in scored.models_by_name.items()
            },
        ),
        f"{unseen.rows.height} of {pairs.rows.height} pairs: no model of the table was trained "
        f"on a sentence of theirs",
    )


def shown(arguments: argparse.Namespace, settings: Settings) -> str:
    """Return the table that the ARGUMENTS of `show` describe, in Markdown."""
    from embedlab.reports.scores import comparison_table

    scored = stored_pairs(
        arguments.file, arguments.models, settings, arguments.by, arguments.dataset
    )
    if arguments.unseen:
        scored, note = unseen_pairs(scored, settings)
        scored.notes.insert(0, note)
    compared = scored.compare(Slicing(by=arguments.by, aggregate=arguments.aggregate))
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
