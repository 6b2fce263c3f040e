"""Stored evaluations: every score with its origin, in one JSON file per task."""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, GetPydanticSchema

from embedlab.choices import Aggregate, TableScale
from embedlab.core.disk import as_reading_errors, read_sealed, write_json
from embedlab.core.note import NoteKind, stored_kinds, with_kinds
from embedlab.core.schema import read_json
from embedlab.core.version import __version__
from embedlab.data.marks import Overlap
from embedlab.runs.environment import StoredPart
from embedlab.runs.signature import UNKNOWN, Signature, data_part, joined_values

SCHEMA = 1
_AGAIN = "evaluate again to replace it"
_SEED = re.compile(r"@(\d+)(?=[,)?]|$)")  # of a run, in the name of a member


# JSON has no nan: an undefined score is null there.
_Undefined = Annotated[None, AfterValidator(lambda _: float("nan"))]
StoredNumber = Annotated[float, GetPydanticSchema(lambda _, handler: handler(float | _Undefined))]


@dataclass(frozen=True, kw_only=True)
class StoredScore:
    """One number and what it measures."""

    by: str  # "dataset", "source", "dice" or "average"
    slice: str  # "sts12", "sts12/MSRpar", "sts-benchmark/fifth 1" …
    metric: str  # "spearman", "pearson", "accuracy" …
    setting: str  # the aggregation of correlations, the classifier setting of accuracies
    value: StoredNumber  # nan where undefined (a constant column)
    items: int  # pairs or test items behind it
    # Of a classifier's accuracy: "test", "cv" (test folds of a cross-validation) or "dev" (which
    # chose the L2); of an average over both of the first "cv and test".
    split: str | None = None
    scale: TableScale = 100  # 100: −1–1 or 0–1, and more is better
    title: str | None = field(
        default=None, compare=False
    )  # of the slice, where it says more: a fifth with its range of Dice


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One model on one task, with everything that decides its numbers."""

    task: str
    model: str
    fingerprint: str
    precision: str
    pooling: str | None
    max_tokens: int | None
    truncated: int
    data: tuple[
        StoredPart, ...
    ]  # the state of every part that was read: split, rows, hashes, partial, origin
    marks: tuple[str, ...]  # "partial", "generated", "overlap"
    scores: tuple[StoredScore, ...]
    notes: tuple[str, ...] = ()
    note_kinds: Mapping[str, NoteKind] = field(
        default_factory=dict
    )  # of the texts in a file; here notes have them
    training_precision: str | None = None  # absent: not known to be a run of embedlab
    overlaps: Mapping[str, Overlap] = field(
        default_factory=dict
    )  # slice → its overlap with the training data, if any
    seed: int | None = None
    dims: int | None = None  # length of a vector; absent without vectors, and in older files
    backend: tuple[str, ...] = ()  # backend of the vectors; empty in older files
    scored_by: tuple[str, ...] = ()  # other versions of embedlab that computed the similarities
    refused: tuple[str, ...] = ()  # texts that the model has no vector of
    embedlab: str = field(default=__version__)
    schema: int = SCHEMA

    @property
    def signature(self) -> Signature:
        """Everything that decides these numbers; derived from the file's content, so that it cannot
        contradict it.
        """
        settings = {score.setting for score in self.scores if score.setting}
        aggregation = settings & {*get_args(Aggregate)}
        chosen_last = sorted(
            self.scores, key=lambda score: score.split != "dev"
        )  # test items take precedence
        items_of_dataset = {
            score.slice: score.items for score in chosen_last if score.by == "dataset"
        }
        seeds = {str(self.seed)} if self.seed is not None else {*_SEED.findall(self.model)}
        is_known = bool(self.backend)
        return Signature(
            aggregation=tuple(aggregation),
            backend=self.backend or UNKNOWN,
            by=tuple({"dataset" if score.by == "average" else score.by for score in self.scores}),
            data=tuple(data_part(state) for state in self.data),
            dims=(str(self.dims),) if self.dims is not None else () if is_known else UNKNOWN,
            max_tokens=(str(self.max_tokens),) if self.max_tokens is not None else (),
            metric=tuple(score.metric for score in self.scores),
            model=(self.fingerprint,),
            n=(str(sum(items_of_dataset.values())),),
            pooling=joined_values(self.pooling),
            precision=joined_values(self.precision),
            seeds=tuple(seeds),
            setting=tuple(settings - aggregation),
            task=(self.task,),
            training_precision=joined_values(self.training_precision),
            version=(self.embedlab, *self.scored_by),
        )

    def save(self, folder: Path, name: str | None = None) -> Path:
        """Write `<folder>/<task>.json`, or under another NAME, and return its path."""
        path = folder / f"{name or self.task}.json"
        content = {
            **asdict(self),
            "note_kinds": stored_kinds(self.notes),
            "signature": str(self.signature),
        }
        write_json(path, _without_nan(content), indent=1)
        return path

    @classmethod
    def load(
        cls, path: Path, *, where: Callable[[Mapping[str, Any]], bool] | None = None
    ) -> "Evaluation":
        """Read what `save` wrote, with the scores that WHERE selects by their fields; a damaged or
        newer file is a MissingError.
        """
        with as_reading_errors(path, hint=_AGAIN):
            content = read_sealed(path, hint=_AGAIN)
            evaluation = read_json(Evaluation, content, where=path, schema=SCHEMA, hint=_AGAIN)
            return replace(
                evaluation,
                notes=with_kinds(evaluation.notes, evaluation.note_kinds),
                note_kinds={},
                scores=tuple(
                    score for score in evaluation.scores if where is None or where(vars(score))
                ),
            )


def _without_nan(value: Any) -> Any:
    """JSON has no nan: an undefined score is null."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and value != value else value
