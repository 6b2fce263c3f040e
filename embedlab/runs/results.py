"""Read results from JSON to verify them against each other: output of `evaluate` and `compare`, and
stored evaluations.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Annotated, Any, NotRequired, Self

from annotated_types import Len
from typing_extensions import TypedDict

from embedlab.core.errors import MissingError
from embedlab.core.schema import adapter, quote
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.signature import Signature

_HINT = (
    "give what `evaluate --json` or `compare --json` printed, or a file of a run's folder "
    "evaluations"
)
# what a row holds beside each of its scores
_BESIDE = (".sd", ".seeds", ".shared_pairs", ".shared_sentences")
# what a row has that holds one number of one model
_OF_ONE_NUMBER = {"task", "by", "slice", "metric", "model", "score"}
_AGAIN = "evaluate again with this embedlab"


class _Table(TypedDict):
    """What is read of a table; of stored ones the rest is for people."""

    rows: list[dict[str, Any]]
    signatures: NotRequired[dict[str, str]]


_Tables = Annotated[list[_Table], Len(1)]


@dataclass(frozen=True, kw_only=True)
class ScoreKey:
    """The identity of a number, independent of its file."""

    by: str  # "dataset" (of averages too), "source" or "dice"
    slice: str  # a user's own file without its folder
    metric: str
    # the aggregation of correlations, the classifier setting of accuracies; empty where a file does
    # not say it
    setting: str
    split: str = ""  # empty where a file does not say it
    task: str = field(default="", compare=False)

    def is_of(self, other: Self) -> bool:
        """Return whether OTHER is the same number, as far as both files say."""
        settings, splits = {self.setting, other.setting}, {self.split, other.split}
        return (
            (self.by, self.slice, self.metric) == (other.by, other.slice, other.metric)
            and len(settings - {""}) < 2
            and len(splits - {""}) < 2
        )


@dataclass(frozen=True, kw_only=True)
class StoredResult:
    """One model's numbers in one table or file."""

    model: str
    signature: Signature
    scores: Mapping[
        ScoreKey, float
    ]  # as in tables: x 100 except for tasks with their own units; nan where undefined


def read_results(path: Path) -> list[StoredResult]:
    """Return the results in the file at PATH; a file without any is a MissingError."""
    try:
        values = json.loads(path.read_bytes())
    except OSError as error:
        raise MissingError(f"cannot read {str(path)!r}: {error.strerror}", hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise MissingError(f"{str(path)!r} is not JSON", hint=_HINT) from error
    if isinstance(values, dict) and "fingerprint" in values and "scores" in values:
        return [_of_evaluation(Evaluation.load(path))]
    try:
        found_tables = values.get("tables", [values]) if isinstance(values, dict) else []
        tables: list[_Table] = adapter(_Tables).validate_python(found_tables, strict=True)
    except ValueError as error:
        raise MissingError(f"{str(path)!r} holds no result of embedlab", hint=_HINT) from error
    if not any(table.get("signatures") for table in tables):
        raise MissingError(
            f"{str(path)!r} has no signature: what decided its numbers is unknown", hint=_AGAIN
        )
    return [result for table in tables for result in _of_table(table, path)]


def without_folder(name: str, signature: Signature) -> str:
    """Return the NAME of a slice, a user's own file without its folder unless two files of one name
    were scored.
    """
    files = Counter(
        part.rpartition("@")[0].removesuffix("/all") for part in signature.data if "/all@" in part
    )
    parts = name.split("/")
    start = next((number for number, part in enumerate(parts) if files[part] == 1), 0)
    return "/".join(parts[start:])


def _key(signature: Signature, task: str, values: Mapping[str, Any]) -> ScoreKey:
    """Return the key of a score that VALUES describe as a row of a table does."""
    by, setting, split = (str(values.get(name) or "") for name in ("by", "setting", "split"))
    return ScoreKey(
        task=task,
        by="dataset" if by == "average" else by,
        slice=without_folder(str(values["slice"]), signature),
        metric=str(values["metric"]),
        setting=setting,
        split=split,
    )


def _of_evaluation(evaluation: Evaluation) -> StoredResult:
    signature = evaluation.signature
    scores = {
        _key(signature, evaluation.task, vars(score)): score.scale * score.value
        for score in evaluation.scores
    }
    return StoredResult(model=evaluation.model, signature=signature, scores=scores)


def _of_table(table: _Table, path: Path) -> Iterator[StoredResult]:
    for model, line in table.get("signatures", {}).items():
        try:
            signature = Signature.parse(line)
        except MissingError as error:
            raise MissingError(f"{path}: {model!r}: {error.message}", hint=error.hint) from error
        scores = {}
        for number, row in enumerate(table["rows"]):
            for key, value in _row_scores(row, model, signature):
                if value is None:
                    value = nan
                elif not _is_number(value):
                    raise MissingError(
                        f"{path}: row {number}: the score of {model!r} is {quote(value)}: "
                        f"not a number",
                        hint=_AGAIN,
                    )
                scores[key] = float(value)
        yield StoredResult(model=model, signature=signature, scores=scores)


def _is_number(value: Any) -> bool:
    """Return whether VALUE is a possible score: Python reads JSON's integers of any length, and
    infinity.
    """
    is_numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return is_numeric and abs(value) < 1e300


def _row_scores(
    row: Mapping[str, Any], model: str, signature: Signature
) -> Iterator[tuple[ScoreKey, Any]]:
    """The number of MODEL in a row of one number, or its numbers in a row of a paper's table, with
    a column a dataset.
    """
    if row.keys() >= _OF_ONE_NUMBER:
        if row["model"] == model:
            yield _key(signature, str(row["task"]), row), row["score"]
    elif row.get("what") == "ours" and row.get("row") == model:
        metric, by = ",".join(signature.metric), ",".join(signature.by)
        for name, value in row.items():
            if name not in {"row", "what"} and not name.endswith(_BESIDE):
                yield ScoreKey(by=by, slice=name, metric=metric, setting=""), value
