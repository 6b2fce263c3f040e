"""The outcomes of a comparison as one frame: pairs with their similarities, and items with what
classifiers predicted of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import numpy as np
import polars as pl

from embedlab.core.errors import EmbedlabError
from embedlab.core.settings import Settings
from embedlab.data.overlaps import KnownText, sentence_columns, text_keys
from embedlab.data.own_files import is_pair_file
from embedlab.data.source import Source
from embedlab.outcomes.cuts import ItemSlice
from embedlab.outcomes.frame import CONTRADICTED, SENTENCES, Outcomes
from embedlab.outcomes.pairs import KEYS
from embedlab.runs.outcomes import StoredOutcomes
from embedlab.scoring.answers import Answers, answered_items, first_of_each, on_common_items
from embedlab.scoring.outcomes import averages_of, measures_of
from embedlab.scoring.selection import SelectedTask
from embedlab.scoring.trained_pairs import trained_column
from embedlab.tasks.task import task as find_task

Texts = Mapping[
    str, KnownText
]  # the training text of models by name, of those of which it is known


def item_outcomes(
    selected: SelectedTask,
    answers: Answers,
    members: Sequence[str],
    settings: Settings | None = None,
    texts: Texts = MappingProxyType({}),
) -> Outcomes | None:
    """Return the items of a task as outcomes of MEMBERS, None where no member has any; without
    SETTINGS their sentences are unknown.
    """
    answers = on_common_items(answers)
    suite, stored = selected.evaluation_name(), first_of_each(answers)
    outcomes = answered_items(
        selected.task, suite, answers, members, partial(measures_of, selected.task)
    )
    if outcomes is None:
        return None
    keys = outcomes.text_keys
    return replace(
        outcomes,
        texts=partial(_sentences, selected, stored, outcomes.rows, settings),
        trained=None if keys[KEYS[0]].null_count() else lambda: trained_column(keys, texts),
        averages={suite: averages_of(selected, [*stored])},
        mixed_metrics={suite: find_task(selected.task).mixed_metric},
    )


def keyed_items(outcomes: Outcomes, items: ItemSlice) -> pl.DataFrame:
    """Return the hashes of the sentences of a slice, to count those in a training text; of single
    sentences one column.
    """
    keys = outcomes.text_keys[items.rows].drop_nulls()
    return keys if outcomes.blocks[items.block].is_of_pairs else keys.select(KEYS[0])


def _sentences(
    selected: SelectedTask,
    stored: Mapping[str, StoredOutcomes],
    items: pl.DataFrame,
    settings: Settings | None,
) -> pl.DataFrame:
    """Return the sentences of each item: as the task reads its data, or from the splits that were
    read; null where neither has them.
    """
    task, schema = (
        find_task(selected.task),
        {"block": pl.UInt16(), "item": pl.UInt32(), **dict.fromkeys(SENTENCES, pl.String())},
    )
    source, datasets = (
        Source.from_settings(settings) if settings is not None else None,
        list(stored),
    )
    listed = (*task.item_datasets, *task.text_datasets)
    known = [
        name for name in datasets if name in listed or is_pair_file(name) or task.is_each_alone
    ]
    parts = [pl.DataFrame(schema=schema)]
    for gold in task.items(source, known) if source is not None and known else ():
        frame, block = gold.part.frame, datasets.index(gold.name)
        sides = (
            [frame["sentence"], [None] * frame.height]
            if "sentence" in frame.columns
            else [frame[name] for name in SENTENCES]
        )
        columns = {
            "block": [block] * frame.height,
            "item": gold.rows,
            **dict(zip(SENTENCES, sides, strict=True)),
        }
        third = [frame[CONTRADICTED].alias(CONTRADICTED)] if CONTRADICTED in frame.columns else []
        parts.append(pl.DataFrame(columns, schema=schema).with_columns(third))
    for block, name in enumerate(datasets):
        if (
            source is not None
            and name not in known
            and (read := _read_again(stored[name], source)) is not None
        ):
            parts.append(read.select(pl.lit(block).alias("block"), "item", *SENTENCES).cast(schema))  # type: ignore[arg-type]
    sentences = pl.concat(parts, how="diagonal")
    texts = [name for name in (*SENTENCES, CONTRADICTED) if name in sentences.columns]
    return (
        items.select("block", "item")
        .join(sentences, on=["block", "item"], how="left", maintain_order="left")
        .select(texts)
    )


def _read_again(stored: StoredOutcomes, source: Source) -> pl.DataFrame | None:
    """Return the items of STORED with their sentences, from the splits that they are rows of; None
    where those are not the same ones.
    """
    try:
        frames = [source.open(str(part["name"]), str(part["split"])).frame for part in stored.data]
    except EmbedlabError:
        return None
    names = sentence_columns(frames[0]) if frames else []
    if (
        not names
        or stored.texts is None
        or any(sentence_columns(frame) != names for frame in frames)
    ):
        return None
    rows, places = (
        pl.concat([frame.select(names) for frame in frames]),
        stored.items["item"].to_numpy(),
    )
    if places.max(initial=0) >= max(rows.height, 1) or not np.array_equal(
        text_keys(rows[places]), stored.texts
    ):
        return None
    second = pl.col(names[-1]) if len(names) > 1 else pl.lit(None, dtype=pl.String)
    return rows[places].select(stored.items["item"], sentence1=names[0], sentence2=second)
