"""A cache of comparisons: the intervals of a dozen slices take seconds, and the same scores have
the same ones at every start.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl
import xxhash

from embedlab.analysis import near_duplicates, uncertainty
from embedlab.analysis.another_dataset import Elsewhere
from embedlab.analysis.comparison import ComparedSlice, Difference, SliceScore
from embedlab.analysis.scores import ModelColumns
from embedlab.comparison.comparison import Comparison
from embedlab.core.seal import json_values
from embedlab.store.entries import EntryKind
from embedlab.store.json_files import JsonFormat

# The method behind the numbers, which decides with the scores what they are: another one for other
# numbers of the same scores. tests/comparison/test_stored_comparisons.py has the numbers of each.
COMPARISON_METHOD = "comparison-4"

_TEXTS, _NUMBERS = (
    ("dataset", "source"),
    ("pair_key", "gold", "dice"),
)  # equal sentences have equal keys


def _values(comparison: Comparison) -> Mapping[str, Any]:
    from pydantic import TypeAdapter

    return dict(TypeAdapter(Comparison).dump_python(comparison))


def _comparison(content: bytes, _path: Path) -> Comparison:
    from pydantic import TypeAdapter

    return TypeAdapter(Comparison).validate_python(json_values(content))


COMPARISONS: EntryKind[Comparison] = EntryKind(
    folder="comparisons",
    format=JsonFormat(to_values=_values, from_content=_comparison),
    is_cache=True,
    most_entries=64,  # of some 30 KB each
)


def comparison_key(
    table: pl.DataFrame, models: Sequence[ModelColumns], options: Sequence[object]
) -> str:
    """Return the key of a comparison of MODELS, columns of TABLE, with these OPTIONS: a hash of
    everything that decides a number in it.
    """
    digest = xxhash.xxh3_128(repr(_method()).encode())
    named = [
        (
            model.name,
            model.members,
            model.seeds,
            [sorted(runs) for runs in model.behind],
            model.is_published,
        )
        for model in models
    ]
    digest.update(repr((*options, named)).encode("utf-8", "surrogatepass"))
    for column in (
        *_TEXTS,
        *_NUMBERS,
        *dict.fromkeys(member for model in models for member in model.members),
    ):
        values = table[column]
        plain = (
            "\0".join(values.fill_null("\1")).encode()
            if column in _TEXTS
            else values.fill_null(_absent(values)).to_numpy().tobytes()
        )
        digest.update(plain + values.is_null().to_numpy().tobytes())
    return digest.hexdigest()[:16]


def _method() -> tuple[object, ...]:
    """What decides the numbers beside the scores, and what of them is stored."""
    stored = [
        field.name
        for kind in (Comparison, ComparedSlice, SliceScore, Difference, Elsewhere)
        for field in fields(kind)
    ]
    return (
        COMPARISON_METHOD,
        uncertainty.METHOD,
        near_duplicates.METHOD,
        near_duplicates.LEAST_COSINE,
        *stored,
    )


def _absent(values: pl.Series) -> float | int:
    return 0.0 if values.dtype.is_float() else 0
