"""A cache of comparisons: the intervals of a dozen slices take seconds, and the same scores have the same ones at every start."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

import polars as pl
import xxhash

from embedlab import analysis, comparison, outcomes
from embedlab.analysis.scores import ModelColumns
from embedlab.comparison.comparison import Comparison
from embedlab.core.errors import EmbedlabError
from embedlab.core.seal import sealed_json
from embedlab.store.files import write_atomic
from embedlab.store.marks import keep_newest
from embedlab.store.sealed import read_sealed_json

_FILE_LIMIT = 64  # of some 30 KB each
_TEXTS, _NUMBERS = ("dataset", "source"), ("pair_key", "gold", "dice")  # equal sentences have equal keys


@dataclass(frozen=True, kw_only=True)
class StoredComparison:
    """The place of one comparison in the cache folder; its name depends on everything that decides a number in it."""

    path: Path

    @classmethod
    def of(cls, folder: Path, table: pl.DataFrame, models: Sequence[ModelColumns], options: Sequence[object]) -> Self:
        """The place of a comparison of MODELS, columns of TABLE, with these OPTIONS."""
        digest = xxhash.xxh3_128(_method())
        named = [(model.name, model.members, model.seeds) for model in models]
        digest.update(repr((*options, named)).encode("utf-8", "surrogatepass"))
        for column in (*_TEXTS, *_NUMBERS, *dict.fromkeys(member for model in models for member in model.members)):
            values = table[column]
            plain = (
                "\0".join(values.fill_null("\1")).encode() if column in _TEXTS else values.fill_null(_absent(values)).to_numpy().tobytes()
            )
            digest.update(plain + values.is_null().to_numpy().tobytes())
        return cls(path=folder / "comparisons" / f"{digest.hexdigest()[:16]}.json")

    def read(self) -> Comparison | None:
        """The comparison, if it is there and intact."""
        from pydantic import TypeAdapter, ValidationError

        try:
            values = read_sealed_json(self.path, hint="")
            self.path.touch()  # the newest remain
            return TypeAdapter(Comparison).validate_python(values)
        except (OSError, ValueError, TypeError, EmbedlabError, ValidationError):
            return None

    def write(self, found: Comparison) -> None:
        """Store a comparison and remove the oldest others; a disk that cannot be written only makes the next start slower."""
        from pydantic import TypeAdapter

        try:
            write_atomic(self.path, sealed_json(json.loads(json.dumps(TypeAdapter(Comparison).dump_python(found)))))
            keep_newest(self.path.parent, ".json", _FILE_LIMIT)
        except (OSError, EmbedlabError):
            return


def _absent(values: pl.Series) -> float | int:
    return 0.0 if values.dtype.is_float() else 0


@cache
def _method() -> bytes:
    """The code behind the numbers: an embedlab that computes something else finds nothing of an older one."""
    folders = [Path(folder) for package in (analysis, comparison, outcomes) for folder in package.__path__]
    files = sorted(path for folder in folders for path in folder.rglob("*.py"))
    return b"".join(path.read_bytes() for path in files)
