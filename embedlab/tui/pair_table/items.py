"""The items of any task as rows of the table that all screens show: their sentences, what is right,
and what each model answered.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from embedlab.analysis.measures import MEASURES
from embedlab.analysis.overlap import dice_of_rows
from embedlab.analysis.pair_notes import pair_keys
from embedlab.analysis.scores import ModelColumns
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.outcomes.frame import Outcomes
from embedlab.runs.outcomes import CONTRADICTED, SENTENCES, StoredOutcomes, stored_outcomes
from embedlab.runs.store import find_runs
from embedlab.tui.pair_table.data import ANSWER, GOLD_TEXT, PairData
from embedlab.tui.stored_models import OVERLAP_OF_ITEMS, WORD_OVERLAP, StoredModel

RIGHT_SIGN, WRONG_SIGN = "✓", "✗"


def item_models(settings: Settings) -> Mapping[str, list[StoredModel]]:
    """Return the models with stored answers by the name of each evaluation whose items are stored,
    in the order of their names.
    """
    from embedlab.scoring.selection import stored_selection
    from embedlab.tasks.task import task as find_task

    @cache
    def has_items(name: str) -> bool:
        selected = stored_selection(name)
        return selected is not None and find_task(selected.task).has_items

    models: dict[str, dict[str, StoredModel]] = {}
    for model, member, seed, folder in (*_of_runs(settings), *_of_cache(settings)):
        for path in sorted(folder.glob("*/*.parquet")):
            if not has_items(name := path.parent.name):
                continue
            known = models.setdefault(name, {}).get(model)
            if known is not None and member in known.files:
                continue
            files = {
                **(known.files if known is not None else {}),
                member: folder / "any",
            }
            seeds = (
                *(known.seeds if known is not None else ()),
                *(() if seed is None else (seed,)),
            )
            models[name][model] = StoredModel(name=model, files=files, seeds=seeds)
    return {
        name: [stored[model] for model in sorted(stored)] for name, stored in sorted(models.items())
    }


def _of_runs(settings: Settings) -> Iterator[tuple[str, str, int | None, Path]]:
    try:
        runs = find_runs(settings.runs)
    except EmbedlabError:  # reported where the models with scores are listed
        return
    for run in runs:
        yield run.name, run.id, run.seed, run.path / "evaluations"


def _of_cache(settings: Settings) -> Iterator[tuple[str, str, int | None, Path]]:
    """Yield the folders of other models, the newest of a name last; a folder's first readable
    answers name its model.
    """
    folders = sorted(
        (settings.cache / "models").glob("*/evaluations"),
        key=lambda path: path.stat().st_mtime,
        reverse=True,
    )
    for folder in folders:
        for path in sorted(folder.glob("*/*.parquet")):
            try:
                name = StoredOutcomes.load(path).model
            except MissingError:
                continue
            name = OVERLAP_OF_ITEMS if name == WORD_OVERLAP.name else name
            yield name, name, None, folder
            break


def load_items(name: str, models: Sequence[StoredModel], settings: Settings) -> PairData:
    """Return the items of the evaluation NAME with the answers of MODELS; what cannot be read is
    among the troubles.
    """
    from embedlab.scoring.answers import MemberOutcomes
    from embedlab.scoring.selection import stored_selection
    from embedlab.scoring.task_comparison import item_outcomes

    selected = stored_selection(name)
    troubles: list[EmbedlabError] = []
    stored = {
        member: {
            outcome.name: outcome
            for outcome in stored_outcomes(scores.parent, name, troubles.append)
            if ("generated" in outcome.marks) == (settings.data == TINY_FOLDER)
        }
        for model in models
        for member, scores in model.files.items()
    }
    outcomes = None
    if selected is not None:
        same, others = _same_items(stored)
        troubles += [
            MissingError(text, hint=f"embedlab evaluate MODEL --task {name}") for text in others
        ]
        answers = {
            member: MemberOutcomes(outcomes=by_key, scores=(), overlaps={}, marks=(), notes=())
            for member, by_key in same.items()
        }
        outcomes = item_outcomes(selected, answers, list(answers), settings.cache)
    if outcomes is None:
        missing = (
            f"no answers to the items of {name} are stored\nembedlab evaluate MODEL --task {name}",
        )
        return PairData(
            table=_empty(),
            gold_ranges={"": (0.0, 1.0)},
            missing=missing,
            troubles=(*troubles,),
            task=name,
        )
    columns = [
        ModelColumns(name=model.name, members=tuple(model.files), seeds=model.seeds)
        for model in models
    ]
    table = item_table(outcomes, columns)
    spans = table.group_by("dataset", maintain_order=True).agg(
        low=pl.col("gold").min(), high=pl.col("gold").max()
    )
    return PairData(
        table=table,
        gold_ranges={
            dataset: (low or 0.0, high if high is not None else 1.0)
            for dataset, low, high in spans.iter_rows()
        },
        models=tuple(columns),
        data_marks=tuple(
            mark
            for mark in ("generated", "partial")
            if any(
                mark in outcomes.marks for by_key in same.values() for outcomes in by_key.values()
            )
        ),
        troubles=(*troubles,),
        task=name,
        items=outcomes,
    )


Stored = Mapping[str, Mapping[str, StoredOutcomes]]  # by member, then by dataset


def _same_items(stored: Stored) -> tuple[Stored, list[str]]:
    """Return of each dataset the answers to those items that most members answered, and what the
    others answered.
    """
    versions: dict[
        str, list[tuple[StoredOutcomes, list[str]]]
    ] = {}  # by dataset: answers to the same items, and whose
    for member, answered in stored.items():
        for key, outcomes in answered.items():
            known = versions.setdefault(key, [])
            for first, members in known:
                if first.classes == outcomes.classes and first.items.select("item", "gold").equals(
                    outcomes.items.select("item", "gold")
                ):
                    members.append(member)
                    break
            else:
                known.append((outcomes, [member]))
    chosen = {
        key: max(known, key=lambda version: len(version[1]))[1] for key, known in versions.items()
    }
    same = {
        member: {key: outcomes for key, outcomes in by_key.items() if member in chosen[key]}
        for member, by_key in stored.items()
    }
    return same, [
        f"{member} answered other items of {key}"
        for member, by_key in stored.items()
        for key in by_key
        if member not in chosen[key]
    ]


def item_table(outcomes: Outcomes, models: Sequence[ModelColumns]) -> pl.DataFrame:
    """Return a row an item with the columns of a pair table, and the right answer and each model's
    as texts.

    Of a classified item a model's number is the share of its members that are right, and its error
    0 or 100; a sentence that an item lacks is empty.
    """
    from embedlab.comparison.sides import sides_of

    sentences = outcomes.sentences.with_columns(pl.col(SENTENCES).fill_null(""))
    if CONTRADICTED in sentences.columns:
        other = (
            pl.when(pl.col(CONTRADICTED).is_not_null())
            .then(pl.format(" ¦ {}", CONTRADICTED))
            .otherwise(pl.lit(""))
        )
        sentences = sentences.with_columns(sentence2=pl.col("sentence2") + other)
    table = pl.DataFrame(
        [
            outcomes.column("dataset"),
            outcomes.rows["source"],
            outcomes.rows["item"].cast(pl.Int64).alias("pair"),
            *(sentences[name] for name in SENTENCES),
            pl.DataFrame(
                [outcomes.column("gold").alias("score"), outcomes.rows["gold"], outcomes.labels]
            )
            .select(
                pl.when(pl.col("label").is_null()).then("score").otherwise("gold").alias("gold")
            )
            .to_series(),  # neither of a query nor of a contrast, where it is a number of the item
            dice_of_rows(sentences["sentence1"], sentences["sentence2"]).alias("dice"),
        ]
    )
    table = table.with_columns(
        pair_keys(table),
        _gold_text(outcomes),
        *(outcomes.predictions[column] for column in outcomes.predictions.columns),
    )
    errors: list[pl.Series] = []
    for model in models:
        error = sides_of(outcomes, model.members, model.members).errors[0]
        errors.append(pl.Series(f"error({model.name})", error).fill_nan(None))
        table = table.with_columns(*_answers(outcomes, model), errors[-1])
    between = (
        pl.DataFrame(errors)
        .select(pl.max_horizontal(pl.all()) - pl.min_horizontal(pl.all()))
        .to_series()
        if errors
        else None
    )
    return table.with_columns(
        (between if between is not None else pl.lit(None, pl.Float64)).alias("gap")
    )


def _gold_text(outcomes: Outcomes) -> pl.Series:
    numbers = outcomes.column("gold").round(2).cast(pl.String)
    return outcomes.labels.fill_null(numbers).alias(GOLD_TEXT)


def _answers(outcomes: Outcomes, model: ModelColumns) -> tuple[pl.Series, pl.Series]:
    """Return the number of a model on each item, and its answer as text: the class that most
    members give.
    """
    predicted = outcomes.predictions.select(model.members).fill_nan(None)
    numbers = predicted.select(
        pl.sum_horizontal(pl.all(), ignore_nulls=False) / len(model.members)
    ).to_series()
    texts = numbers.round(3).cast(pl.String)
    for index, block in enumerate(outcomes.blocks):
        rows = outcomes.rows_of(index)
        frame = predicted[rows]
        if MEASURES[block.measures[0]].is_of_ranks:
            texts = texts.scatter(rows, _ranks_as_texts(numbers[rows]))
        if not block.classes or frame.null_count().sum_horizontal().item():
            continue
        classes = frame.to_numpy().astype(np.intp)
        gold = outcomes.rows["gold"].to_numpy()[rows].astype(np.intp)
        counts = np.stack([(classes == number).sum(axis=1) for number in range(len(block.classes))])
        most = counts.argmax(axis=0)
        numbers = numbers.scatter(rows, (classes == gold[:, None]).mean(axis=1))
        signs = np.where(most == gold, RIGHT_SIGN, WRONG_SIGN)
        texts = texts.scatter(
            rows,
            [f"{sign} {block.classes[number]}" for sign, number in zip(signs, most, strict=True)],
        )
    return numbers.alias(model.name), texts.alias(f"{ANSWER}{model.name}")


def _ranks_as_texts(ranks: pl.Series) -> pl.Series:
    """Return each of the RANKS as text; the mean of several seeds may be a fraction."""
    text = (
        pl.when(pl.col("rank").is_infinite())
        .then(pl.lit("not found"))
        .otherwise(pl.format("rank {}", pl.col("number")))
    )
    number = ranks.round(1).cast(pl.String).str.strip_suffix(".0").alias("number")
    return pl.DataFrame([ranks.alias("rank"), number]).select(text).to_series()


def _empty() -> pl.DataFrame:
    texts = dict.fromkeys(("dataset", "source", *SENTENCES), pl.String)
    return pl.DataFrame(
        schema={
            **texts,
            "pair": pl.Int64,
            "gold": pl.Float64,
            "dice": pl.Float64,
            "pair_key": pl.UInt64,
            "gap": pl.Float64,
        }
    )
