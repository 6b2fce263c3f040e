"""Where data comes from: the generated corpora, a user's own file, the data folder or the starter
set, then the hub at a pinned revision; also the scored pairs of several datasets together.

The starter set is real pairs, premises and definitions inside the package, with their licences in
its folder. `--data starter` is a data folder like any other, which holds parts of three corpora
under their own names: every number of them is partial. Its pairs are also one dataset, `starter`:
those of the three splits of STS Benchmark together. benchmarks/starter_set.py makes the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Self, TypeVar

import polars as pl

from embedlab.core import plugins
from embedlab.core.errors import Hint, MissingError, NamedOption, NotDownloadedError, UsageError
from embedlab.core.network import OFFLINE
from embedlab.core.paths import INSIDE, STARTER_FOLDER, TINY_FOLDER, file_hash
from embedlab.core.plugins import Plugin
from embedlab.core.settings import Settings
from embedlab.data.corpus_file import read_corpus
from embedlab.data.dataset import (
    Dataset,
    DatasetKind,
    DatasetOrigin,
    DatasetState,
    FileLayout,
    ParsedRows,
    Part,
)
from embedlab.data.file_name import file_path, is_hub_name, is_pair_file
from embedlab.data.hub import is_local, read_hub
from embedlab.data.manifest import empty_rows, is_partial, revision_of
from embedlab.data.published import canonical_name, shipped_aliases
from embedlab.data.table_file import refuse_file

MANIFEST = "MANIFEST.tsv"  # path, lines and sha256 of each file
SOURCES = ("images", "track5.en-en")  # of STS Benchmark: those whose text may be passed on
CORPORA = ("sts-benchmark", "snli", "definitions")  # of which it holds a part
# where data are missing
OFFER = Hint(
    NamedOption("--data", "starter"),
    " for the small parts of STS-B, SNLI and WordNet inside embedlab",
)


def is_starter(folder: Path | None) -> bool:
    """Return whether FOLDER is the starter set."""
    return folder == STARTER_FOLDER


def refuse_damage(sha256: Mapping[str, str]) -> None:
    """Refuse files of the starter set, given by path and hash, that are not as they were made."""
    if damaged := next(
        (file for file, digest in sha256.items() if _hashes().get(file) != digest), None
    ):
        raise MissingError(
            f"{str(STARTER_FOLDER / damaged)!r} of the starter set is damaged",
            hint="install embedlab again",
        )


@cache
def _hashes() -> Mapping[str, str]:
    _, *lines = (STARTER_FOLDER / MANIFEST).read_text(encoding="utf-8").splitlines()
    return {path: digest for path, _, digest in (line.split("\t") for line in lines)}


# The modules whose exceptions speak of what is in a file.
_PARSERS = {
    *("zlib", "lzma", "_lzma", "gzip", "bz2", "zipfile", "tarfile"),
    *("csv", "_csv", "json", "polars", "pyarrow"),
}
Wanted = TypeVar("Wanted")
Opened = TypeVar("Opened")


def all_datasets() -> Mapping[str, Dataset]:
    """Every dataset by its name: the files of embedlab/data/corpora, and those of plug-ins."""
    return plugins.load_all("datasets", _load)


def dataset_names() -> list[str]:
    """Names of all datasets, for which no plug-in has to be loaded."""
    return plugins.names("datasets")


def dataset(name: str) -> Dataset:
    """The dataset called NAME, or by another of its names."""
    listing = "`embedlab data ls` lists all; for your own pairs give the path of their file"
    canonical = canonical_name(name)
    if plugins.find("datasets", canonical) is None:
        refuse_file(name)
    aliases = shipped_aliases()
    return _load(plugins.require("datasets", canonical, listing=listing, also=aliases))


def _load(plugin: Plugin) -> Dataset:
    plugin_object = plugin.load()
    if isinstance(plugin_object, Path):
        return read_corpus(plugin_object)
    return plugin.check_instance(plugin_object, Dataset, named=True)


# more than there are: a training with its evaluation opens each several times
@lru_cache(maxsize=256)
def _tiny_frame(chosen: Dataset, split: str) -> pl.DataFrame:
    from embedlab.data.tiny import tiny_rows

    return tiny_rows(chosen, split)


@dataclass(frozen=True, kw_only=True)
class Source:
    """Opens datasets by name, as the settings say."""

    folder: Path | None = None
    offline: bool = False
    allow_partial: bool = False
    downloads: bool = True  # False: what only the hub has is a NotDownloadedError

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """The source that the settings describe."""
        return cls(
            folder=settings.data,
            offline=settings.offline,
            allow_partial=settings.allow_partial,
        )

    def open(self, name: str, split: str | None = None, *, kind: DatasetKind = "sts") -> Part:
        """The rows of a dataset's split (default: test for STS, otherwise train), or of the user's
        own file at the path NAME.

        KIND says what a user's own file holds.

        Rows that are fewer, more or otherwise balanced than the full corpus are refused unless
        partial data is allowed.
        """
        if is_hub_name(name):
            from embedlab.data.hub_pairs import open_hub_pairs, parse_hub_name

            hub, _ = parse_hub_name(name)
            if not (self.downloads or self.offline or is_local(hub.repository)):
                raise NotDownloadedError(f"dataset {name!r}")
            return open_hub_pairs(name, offline=self.offline)
        if is_pair_file(name):
            from embedlab.data.own_files import open_own_file

            return open_own_file(name, kind, split)
        return self.open_split(dataset(name), split)

    def open_split(self, chosen: Dataset, split: str | None = None) -> Part:
        """Return the rows of a split of a dataset; an unknown split is a UsageError, a split that
        is not at hand a MissingError.
        """
        split = split or chosen.default_split
        origin: DatasetOrigin = "tiny"
        hashes, revision = dict[str, str](), None
        if not self.is_at_hand(chosen, split):
            if not self.downloads:
                raise NotDownloadedError(f"dataset {chosen.name!r} ({split})")
            hub = chosen.splits[split].hub
            assert hub is not None  # or it is at hand
            origin, revision = "hub", f"{hub.repository}@{hub.revision}"
            rows = read_hub(hub, chosen.kind)
        elif (place := self._place(chosen, split)) is None:
            rows = ParsedRows(frame=_tiny_frame(chosen, split))
        else:
            folder, layout = place
            hashes = self.hashes(chosen, split)
            if is_starter(folder):
                origin = "starter"
                refuse_damage(hashes)
            else:
                origin, revision = "folder", revision_of(folder, hashes)
            # the code that reads the files decides the rows too
            if code := plugins.identity("datasets", chosen.name):
                hashes["plug-in"] = code
            rows = _read(layout, [folder / file for file in layout.files])
        label, kind, frame = f"{chosen.name!r} ({split})", chosen.kind, rows.frame
        expected = chosen.splits[split].expected if origin != "tiny" else None
        # whoever names the starter set knows that it is a part
        allow_partial = self.allow_partial or origin == "starter"
        state = DatasetState(
            name=chosen.name,
            split=split,
            rows=len(frame),
            expected_rows=expected.rows if expected else None,
            origin=origin,
            partial=is_partial(label, kind, frame, expected, allow_partial=allow_partial),
            revision=revision,
            sha256=hashes,
            skipped=rows.skipped,
            empty=len(empty_rows(kind, frame)),
        )
        return Part(frame=frame, state=state)

    def is_at_hand(self, chosen: Dataset, split: str) -> bool:
        """Whether a split can be read without the hub. A split that neither the data folder nor the
        hub has is a MissingError.
        """
        if split not in chosen.splits:
            raise UsageError(
                f"{chosen.name!r} has no split {split!r}",
                hint=f"its splits: {', '.join(chosen.splits)}",
            )
        is_readable = self.folder == TINY_FOLDER or self._place(chosen, split) is not None
        if not is_readable and (chosen.splits[split].hub is None or self.offline):
            raise self._missing(chosen, split)
        return is_readable

    def hashes(self, chosen: Dataset, split: str) -> dict[str, str]:
        """The SHA-256 of the files of a split in the data folder; none where they are not there, or
        rows are generated.
        """
        folder, layout = self._place(chosen, split) or (Path(), None)
        return {file: file_hash(folder / file) for file in (layout.files if layout else ())}

    def is_current(self, state: Mapping[str, Any]) -> bool:
        """Whether nothing says that the rows of STATE, as evaluations store it, are others than
        those at hand: of another data folder, or of a file that changed.
        """
        origin = state.get("origin")
        is_read = origin == "file" or is_hub_name(state.get("name", ""))
        if origin in INSIDE or (self.folder == TINY_FOLDER and not is_read):
            return INSIDE.get(str(origin)) == self.folder
        for name, digest in state.get("sha256", {}).items():
            path = file_path(name) if origin == "file" else (self.folder or Path()) / name
            if path.is_file() and file_hash(path) != digest:
                return False
        return True

    def suite(self, datasets: Sequence[str]) -> Sequence[str]:
        """Return the DATASETS of a whole task that are read: all, or those of the starter set where
        that is the data folder and holds any.
        """
        available_names = (
            [name for name in datasets if name in CORPORA] if is_starter(self.folder) else []
        )
        return available_names or datasets

    def folder_of(self, chosen: Dataset) -> Path | None:
        """The folder that the files of a dataset are in: one of its own, or the data folder."""
        return chosen.folder or self.folder

    def _place(self, chosen: Dataset, split: str) -> tuple[Path, FileLayout] | None:
        """Return the folder of a split, and its first layout whose files are all there; of one that
        is preferred to it none may be there.
        """
        folder = self.folder_of(chosen)
        if folder is None or self.folder == TINY_FOLDER:
            return None
        if not folder.is_dir():
            is_file = f"the data folder {str(folder)!r} is not a folder"
            option = NamedOption("--data", "DIR")
            raise MissingError(
                is_file if folder.exists() else f"no data folder {str(folder)!r}",
                hint=Hint("give the folder of the corpora with ", option, " or EMBEDLAB_DATA"),
            )
        missing = ""  # the first missing file of the first layout that was begun
        for layout in chosen.splits[split].layouts:
            absent = [file for file in layout.files if not (folder / file).is_file()]
            if not absent and missing:
                raise MissingError(
                    f"no file {str(folder / missing)!r}, although the other files of its layout are "
                    f"there; embedlab does not read {Path(layout.files[0]).name!r} in its place",
                    hint=f"restore the file, or remove the rest of its layout from "
                    f"{str((folder / missing).parent)!r}",
                )
            if not absent:
                return folder, layout
            missing = missing or absent[0] * (len(absent) < len(layout.files))
        return None

    def _missing(self, chosen: Dataset, split: str) -> MissingError:
        """The error that names the first file of the preferred layout which is not there, and the
        ways to get it.
        """
        hub, folder, offer = chosen.splits[split].hub, self.folder_of(chosen), Hint(", or ", OFFER)
        advice = f"download it from {chosen.home}, then "
        reason = "no data folder is set"
        if hub is not None:
            advice = f"`embedlab data get {chosen.name}` on a machine with a network, or "
            reason += f", and {OFFLINE}"
        if folder is not None:
            files = chosen.splits[split].layouts[0].files
            absent = next(file for file in files if not (folder / file).is_file())
            reason = f"no file {absent!r} in {str(folder)!r}"
            offer = offer if chosen.name in CORPORA else Hint()
        return MissingError(
            f"dataset {chosen.name!r} ({split}) is missing: {reason}",
            hint=Hint(advice, NamedOption("--data", "DIR"), offer),
            reason=reason,
        )


def _read(layout: FileLayout, paths: Sequence[Path]) -> ParsedRows:
    """Return the rows of a corpus; what a decompressor or parser raises is the error of its
    files.
    """
    try:
        return layout.read(paths)
    except Exception as error:
        is_damage = isinstance(error, EOFError | UnicodeError)
        if not is_damage and type(error).__module__.partition(".")[0] not in _PARSERS:
            raise
        fault = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise MissingError(
            f"{' or '.join(map(str, paths))} cannot be read: {fault}",
            hint="it is damaged: get it again",
        ) from error


def open_available(
    names: Iterable[Wanted], open_one: Callable[[Wanted], Opened]
) -> tuple[list[Opened], list[MissingError]]:
    """Return what OPEN_ONE opens of NAMES, and the errors of the missing ones; if all are missing,
    the first error is raised.
    """
    opened, missing_errors = [], []
    for name in names:
        try:
            opened.append(open_one(name))
        except MissingError as error:
            missing_errors.append(error)
    if not opened:
        raise missing_errors[0]
    return opened, missing_errors


# a figure of tsukagoshi divides all its pairs (train, dev and test) into fifths by Dice
FIFTHS_OF = "sts-benchmark"
OTHER_SPLITS = ("train", "dev")


def open_parts(source: Source, datasets: Sequence[str]) -> tuple[list[Part], list[MissingError]]:
    """Open the test pairs of DATASETS; missing ones are returned, not raised.

    Raises the first error when nothing could be opened.
    """
    return open_available(datasets, lambda name: open_scored(source, name))


def open_scored(source: Source, name: str, split: str | None = None) -> Part:
    """Open the pairs of a dataset, by default its test split; a dataset without gold scores is a
    UsageError.
    """
    if plugins.find("datasets", name) is not None and dataset(name).kind != "sts":
        hint = (
            "name a dataset of scored pairs, such as sts12; `embedlab data ls` lists what "
            "each holds"
        )
        raise UsageError(f"{name!r} has no pairs with a gold score", hint=hint)
    return source.open(name, split)


def is_scored(candidate: Dataset) -> bool:
    """Return whether a dataset has scored pairs with a test split, or one split alone: another dev
    split chooses settings.
    """
    return candidate.kind == "sts" and ("test" in candidate.splits or len(candidate.splits) == 1)
