"""The pairs of the dashboard: every available STS dataset, or the user's own file, with the scores
of models.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import polars as pl

from embedlab.analysis.measures import MEASURES
from embedlab.analysis.pairing import Pairing, with_pairing
from embedlab.analysis.rank_errors import with_rank_errors
from embedlab.analysis.scores import ModelColumns
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.first_few import first_few
from embedlab.core.settings import Settings
from embedlab.data.dataset import Dataset, DatasetState, Part
from embedlab.data.get import is_in_folder
from embedlab.data.hub_pairs import is_hub_name
from embedlab.data.marks import UNKNOWN_TEXT, data_marks
from embedlab.data.pair_parts import shipped_pairs
from embedlab.data.source import Source, dataset
from embedlab.data.sts import STS_AVERAGES
from embedlab.outcomes.frame import Outcomes
from embedlab.tui.key_table import shown_key
from embedlab.tui.model_titles import short_name
from embedlab.tui.pair_scores import pair_table, with_scores
from embedlab.tui.pair_table.plugin_parts import read_plugin_parts
from embedlab.tui.stored_models import WORD_OVERLAP, StoredModel

PAIR_COLUMNS = ("dataset", "source", "pair", "sentence1", "sentence2", "gold", "dice", "pair_key")

_NAME = 24  # cells of a model in a mark
_AGAIN = "start again with --data DIR, --data starter, or --pairs FILE for your own"

GOLD_TEXT, ANSWER = (
    "gold_text",
    "answer:",
)  # columns of the items of other tasks: what is right, and before a model's name its answer

SUITE = STS_AVERAGES["average of seven"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PairData:
    """A pair table, the models whose scores it holds, and what is known about both.

    table: PAIR_COLUMNS, then each member's scores, each model's mean, "error(MODEL)" and gap.
    """

    table: pl.DataFrame
    gold_ranges: Mapping[str, tuple[float, float]]  # dataset → its scale
    models: tuple[ModelColumns, ...] = ()
    data_marks: tuple[str, ...] = ()  # "generated", "partial"
    of_unknown_text: tuple[str, ...] = ()  # models
    model_marks: tuple[str, ...] = ()  # how models were trained
    missing: tuple[str, ...] = ()  # why datasets are missing
    troubles: tuple[EmbedlabError, ...] = field(default=(), compare=False)
    # of the only two models, which have the columns of `with_pairing`
    pairing: Pairing | None = None
    files: tuple[str, ...] = field(
        default=(), compare=False
    )  # that rows of plug-ins' datasets were read from
    task: str = ""  # whose items the rows are; empty for the pairs of STS datasets
    items: Outcomes | None = field(
        default=None, compare=False
    )  # the rows as outcomes, where they are items of another task

    @property
    def marks(self) -> list[str]:
        """What every view of the numbers must show: about the pairs, and about the training text of
        the models.
        """
        return [
            *self.data_marks,
            *self.model_marks,
            *(
                [
                    f"{UNKNOWN_TEXT}: "
                    f"{', '.join(short_name(name, _NAME) for name in self.of_unknown_text)}"
                ]
                if self.of_unknown_text
                else []
            ),
            *self.coverage,
        ]

    @cached_property
    def coverage(self) -> tuple[str, ...]:
        """Models that scored a part of a dataset alone, such as the pairs that it shares with
        another one.
        """
        counts = self.table.group_by("dataset", maintain_order=True).agg(
            pl.len().alias("all"), *(pl.col(model.name).count() for model in self.models)
        )
        parts = [
            (model.name, f"{row[model.name]:,} of {row['all']:,} {row['dataset']}")
            for model in self.models
            for row in counts.iter_rows(named=True)
            if 0 < row[model.name] < row["all"]
        ]
        by_model = {name: tuple(text for of, text in parts if of == name) for name, _ in parts}
        alike = {
            texts: [short_name(name, _NAME) for name, other in by_model.items() if other == texts]
            for texts in by_model.values()
        }
        return tuple(
            f"scored in part by {', '.join(names)}: {', '.join(texts)}"
            for texts, names in alike.items()
        )

    def field(self, model: str) -> str:
        """The field of the filter language with the scores of a model."""
        return self.pairing.letter(model) if self.pairing is not None else model

    @property
    def noun(self) -> str:
        """What a row is, in the plural."""
        return "pairs" if self.items is None else "items"

    @property
    def why_empty(self) -> str:
        """Why there are no rows, and what to do about it; empty where there are some."""
        if not self.table.is_empty():
            return ""
        why = "\n".join(list(dict.fromkeys(self.missing))[:3])
        again = f"{shown_key('tasks')} chooses another task" if self.task else _AGAIN
        return f"no {self.noun if self.task else 'pairs'} available\n\n{why}\n\n{again}"

    @cached_property
    def has_second(self) -> bool:
        """Whether rows have a second sentence."""
        return self.items is None or bool((self.table["sentence2"] != "").any())

    @property
    def is_classified(self) -> bool:
        """Whether rows have a class as the right answer."""
        return self.items is not None and any(block.classes for block in self.items.blocks)

    @property
    def is_ranked(self) -> bool:
        """Whether what models answer is the rank of a text."""
        return self.items is not None and any(
            MEASURES[block.measures[0]].is_of_ranks for block in self.items.blocks
        )

    @cached_property
    def is_plotted(self) -> bool:
        """Whether the right answers are numbers, which plots have an axis of."""
        return self.items is None or (not self.is_classified and self.table["gold"].count() > 0)

    @property
    def datasets(self) -> list[str]:
        """The names in the order of the table."""
        return list(self.gold_ranges)


def compared_models(data: PairData) -> list[ModelColumns]:
    """The models of DATA with scores: a model without any would leave no pairs to compare the
    others on.
    """
    return [
        model
        for model in data.models
        if all(data.table[member].count() for member in model.members)
    ]


def load_pairs(settings: Settings, pair_file: Path | None = None) -> PairData:
    """The pairs without any model, and why datasets are missing. Reads no network."""
    if pair_file is not None:
        part = Source().open(str(pair_file) if "/" in str(pair_file) else f"./{pair_file}")
        return _from_parts(
            [replace(part, state=replace(part.state, name=pair_file.name, split="test"))]
        )
    return _from_settings(settings)


def no_pairs(error: EmbedlabError) -> PairData:
    """An empty table with the ERROR that prevented reading the pairs."""
    return with_models(_from_parts([], [f"{error.reason}\n{error.hint}".strip()]), [])


def lost_datasets(shown: PairData, read: PairData) -> MissingError | None:
    """The error of a reload that READ less than was SHOWN: a folder that is absent for a moment
    must not remove the pairs.
    """
    lost = [name for name in shown.datasets if name and name not in read.datasets]
    if not lost:
        return None
    return MissingError(
        f"cannot read {first_few(lost, 3)} again: the pairs read before remain",
        hint=f"press {shown_key('reload')} once the data folder is back",
    )


def unscored_by(data: PairData) -> list[str]:
    """The names of the models without a score for any pair."""
    return [
        model.name
        for model in data.models
        if data.table[model.name].null_count() == data.table.height
    ]


def warn_unscored(absent: Sequence[str]) -> list[EmbedlabError]:
    """Return a warning about models without a score for any pair, as is usual for a user's own new
    file.
    """
    return (
        [
            MissingError(
                f"not scored yet by {', '.join(absent)}",
                hint=f"press {shown_key('add_model')} on Pairs and name the model",
            )
        ]
        if absent
        else []
    )


def with_models(data: PairData, models: Sequence[StoredModel]) -> PairData:
    """DATA with a column for each of MODELS; a score file that cannot be read is skipped, and its
    error is among the troubles.
    """
    bare = data.table.select(PAIR_COLUMNS)
    model_columns: list[ModelColumns] = []
    troubles: list[EmbedlabError] = []
    members: dict[str, pl.DataFrame] = {}
    for model in models:
        if model.name == WORD_OVERLAP.name:
            model_columns.append(
                ModelColumns(name=model.name, members=(model.name,), is_published=True)
            )
            continue
        if model.name in PAIR_COLUMNS or model.name in {"gap", "row"}:
            troubles.append(
                MissingError(
                    f"the pair table cannot show a model named {model.name!r}",
                    hint="embedlab runs rename OLD NEW",
                )
            )
            continue
        try:
            members |= (scores := model.read())
        except EmbedlabError as error:
            troubles.append(error)
        else:
            model_columns.append(
                ModelColumns(name=model.name, members=tuple(scores), seeds=model.seeds)
            )
    table = with_scores(bare, members)
    table = (
        with_rank_errors(table, model_columns)
        if model_columns
        else table.with_columns(pl.lit(None, pl.Float64).alias("gap"))
    )
    unknown = tuple(model.name for model in models if model.is_text_unknown)
    return replace(
        data,
        table=table,
        models=tuple(model_columns),
        of_unknown_text=unknown,
        troubles=(*troubles,),
    )


def face_to_face(data: PairData, pairing: Pairing) -> PairData | None:
    """DATA with the two models of PAIRING alone, the reference first; None if one of them is not
    shown.
    """
    models = {model.name: model for model in data.models}
    if (
        pairing.reference not in models
        or pairing.other not in models
        or pairing.reference == pairing.other
    ):
        return None
    shown = (models[pairing.reference], models[pairing.other])
    return replace(data, table=with_pairing(data.table, pairing), models=shown, pairing=pairing)


def _from_settings(settings: Settings) -> PairData:
    # Offline: the hub would load `datasets`, and a screen must not wait for a network.
    source = replace(Source.from_settings(settings), offline=True)
    parts: list[Part] = []
    missing: list[str] = []
    for chosen, split in shipped_pairs():
        if chosen.name not in source.suite(SUITE) and not _is_at_hand(chosen, split, settings):
            continue
        try:
            parts.append(source.open_split(chosen, split))
        except EmbedlabError as error:
            missing.append(error.reason)
    more = read_plugin_parts(settings)
    pair_data = _from_parts([*parts, *more.parts], [*missing, *more.missing], more.gold_ranges)
    return replace(pair_data, files=more.files)


def _is_at_hand(chosen: Dataset, split: str, settings: Settings) -> bool:
    """Return whether the data folder holds a split: of datasets outside the suite only those are
    shown, and none is missed.
    """
    if settings.data is None or chosen.folder is not None:
        return False
    return is_in_folder(chosen.splits[split], settings.data)


def _from_parts(
    parts: Sequence[Part],
    missing: Sequence[str] = (),
    plugin_ranges: Mapping[str, tuple[float, float]] = MappingProxyType({}),
) -> PairData:
    empty = Part(
        frame=pl.DataFrame(schema=_EMPTY),
        state=DatasetState(name="", split="test", rows=0, expected_rows=None, origin="file"),
    )
    table = pair_table(parts or [empty])
    marks = data_marks(part.state for part in parts)
    published = {
        part.state.name
        for part in parts
        if part.state.origin != "file" and not is_hub_name(part.state.name)
    }
    ranges = _gold_ranges(table, published - plugin_ranges.keys())
    return PairData(
        table=table,
        gold_ranges={**ranges, **plugin_ranges},
        data_marks=tuple(marks),
        missing=tuple(missing),
    )


_EMPTY = {"sentence1": pl.String, "sentence2": pl.String, "gold": pl.Float64, "source": pl.String}


def _gold_ranges(table: pl.DataFrame, published: Collection[str]) -> dict[str, tuple[float, float]]:
    """The gold scale of each dataset: the official one where it is PUBLISHED, the range of its
    values for a user's own file.
    """
    spans = table.group_by("dataset", maintain_order=True).agg(
        low=pl.col("gold").min(), high=pl.col("gold").max()
    )
    ranges = {}
    for name, low, high in spans.iter_rows():
        base = name.partition(":")[0]
        ranges[name] = dataset(base).gold_range if base in published else (min(low, 0.0), high)
    return ranges
