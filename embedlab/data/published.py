"""The published corpora: the names under which people type them, such as `stsb`, `STS2012` and
`sickr`, hashes of their files, and remarks on data that differs from them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from embedlab.core import plugins
from embedlab.core.paths import CORPORA_FOLDER
from embedlab.core.printable import count_text
from embedlab.core.schema import TomlTable, read_toml


@cache
def shipped_aliases() -> Mapping[str, str]:
    """Return the other names under which people type corpora, written without signs between their
    parts: name → corpus.
    """
    return {
        alias: path.stem for path, values in _all_values() for alias in values.get("aliases", ())
    }


@cache
def shipped_hashes() -> Mapping[str, str]:
    """Return the sha256 of each published file by its path in a data folder."""
    hashes: dict[str, str] = {}
    for _, values in _all_values():
        hashes |= values.get("sha256", {})
    return hashes


def _all_values() -> Iterator[tuple[Path, TomlTable]]:
    """Yield what each file says, unchecked: to read all of them is a matter of milliseconds, to
    check all is not.
    """
    for path in sorted(CORPORA_FOLDER.rglob("*.toml")):
        yield path, read_toml(path)


Content = Literal["published", "unknown", "unrecorded"]

# How often a rule was wrong among the rows that were read, by the dataset that it makes of real
# data: research/statistics/contrast-rules.md.
_MADE_BY_RULE = {
    "contrast-number": "in a sample of 50, 2 do not contradict the anchor (4%, 95% interval "
    "0.5 to 13.7%)"
}
# The same file occurs in folders of other names: in SentEval's own data folder, in the archives of
# SNLI and MultiNLI.
_FOLDERS = {
    "downstream/": "SentEval/downstream/",
    "snli_1.0/": "SNLI/",
    "multinli_1.0/": "MultiNLI/",
}


def published_hash(file: str) -> str | None:
    """Return the sha256 of the published FILE; None if none is recorded."""
    for folder, published_folder in _FOLDERS.items():
        if file.startswith(folder):
            file = published_folder + file.removeprefix(folder)
    return shipped_hashes().get(file)


def other_files(sha256: Mapping[str, str]) -> list[str]:
    """Return the files whose content is not the published one."""
    return [file for file, digest in sha256.items() if published_hash(file) not in {None, digest}]


def content_of(sha256: Mapping[str, str]) -> Content:
    """Return whether files with these hashes are all published, one differs, or one has no recorded
    hash.
    """
    if other_files(sha256):
        return "unknown"
    return "published" if sha256 and all(map(published_hash, sha256)) else "unrecorded"


def state_remarks(state: Mapping[str, Any], *, is_named: bool = True) -> Iterator[str]:
    """Yield the remarks for every number made from data in this STATE, the fields of
    `dataset.DatasetState`.

    Those on a split name it, unless the reader sees its name beside them.
    """
    name, split = state["name"], state.get("split")
    label = name if split == "all" else f"{name} {split}"
    prefix = f"{label}: " if is_named else ""
    rows, expected_rows, origin = (state.get(key) for key in ("rows", "expected_rows", "origin"))
    if state.get("partial") and rows != expected_rows:
        starter = " (starter set)" if origin == "starter" else ""
        yield f"{name} is partial: {rows} of {expected_rows} rows{starter}"
    elif state.get("partial"):
        yield (
            f"{label} is partial: its classes or empty sentences are not those of the published corpus"
        )
    elif (
        origin == "folder"
        and not state.get("revision")
        and (paths := other_files(state.get("sha256", {})))
    ):
        more = f" and {len(paths) - 1} more" * (len(paths) > 1)
        yield f"{prefix}the counts are right, but {paths[0]!r}{more} differs from the published file"
    if name in _MADE_BY_RULE and origin != "tiny":
        yield f"{prefix}made by a rule; {_MADE_BY_RULE[name]}"
    yield from (f"{prefix}{note}" for note in state.get("notes", ()))
    if empty := state.get("empty", 0):
        yield prefix + count_text(empty, "empty sentences")


STS_YEARS = ("sts12", "sts13", "sts14", "sts15", "sts16")
STS_AVERAGES: Mapping[str, tuple[str, ...]] = {
    "sts12-16": STS_YEARS,
    "average of seven": (*STS_YEARS, "sts-benchmark", "sick-r"),
}
OFFICIAL_FOLDER = "STS"  # in a data folder; SentEval's copies are in another


SETS = {  # datasets that have a name together
    "multitask": ("sentiment", "paraphrases", "sts-course"),
    "sts": ("sts12", "sts13", "sts14", "sts15", "sts16", "sts-benchmark", "sick-r"),
}
_YEAR = re.compile(r"(?<=sts)20(?=\d\d)")
_SIGNS = re.compile(r"[-_. ]+")


def canonical_name(name: str) -> str:
    """Return the dataset or task that a typed NAME means; a path or an unknown name is returned
    unchanged.

    Case and signs between the parts do not matter, and years may be whole: `STS2012` is sts12. A
    split may follow, as in `stsb:dev`.
    """
    base, colon, split = name.partition(":")
    shipped = [*plugins.shipped_names("datasets"), *plugins.shipped_names("tasks")]
    if base in shipped or "/" in base:
        return name
    key = _name_key(base)
    name_by_key = {_name_key(shipped_name): shipped_name for shipped_name in reversed(shipped)}
    canonical = name_by_key.get(key) or shipped_aliases().get(key)
    # a plug-in's name is its own
    if canonical is None or plugins.find("datasets", base) or plugins.find("tasks", base):
        return name
    return f"{canonical}{colon}{split}"


def canonical_names(names: Sequence[str]) -> list[str]:
    """Return the datasets or tasks that typed NAMES mean, each once."""
    return list(dict.fromkeys(map(canonical_name, names)))


def datasets_of(name: str) -> tuple[str, ...]:
    """Return the datasets that NAME is of: those of a set, or the one of this name."""
    return SETS.get(name, (name,))


def _name_key(name: str) -> str:
    return _YEAR.sub("", _SIGNS.sub("", name.lower()))
