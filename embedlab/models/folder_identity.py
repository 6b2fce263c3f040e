"""Which files of a model folder belong to its fingerprint: all but a short list of those that are
never read for a vector.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path, PurePosixPath

from embedlab.core.errors import MissingError
from embedlab.core.paths import file_hash, files_below
from embedlab.models.folder_files import named_files
from embedlab.models.modules import module_folders

# By what they are. A pattern with "/" is of all that is in such a folder; another of a name in any
# folder. Folders of modules are read. A file that another one names is read, whatever it is called.
NEVER_READ: Mapping[str, tuple[str, ...]] = {
    "texts and pictures": (
        *("*.md", "README*", "LICENSE*", "LICENCE*", "NOTICE*", "COPYING*", "CITATION*"),
        *("*.png", "*.jpg", "*.jpeg", "*.gif", "*.svg", "*.pdf"),
    ),
    "weights in other formats": (
        *(
            "*.bin",
            "*.bin.index.json",
            "*.pt",
            "*.pth",
            "*.ckpt",
            "*.h5",
            "*.msgpack",
            "*.ot",
            "*.onnx",
            "*.onnx_data",
            "*.gguf",
        ),
        *("onnx/*", "openvino/*", "coreml/*"),
    ),
    "programs, which are never run": ("*.py",),
    "what a training left": ("data_config.json", "trainer_state.json", "checkpoint-*/*"),
    "what a download or a version control left": (
        ".gitattributes",
        ".gitignore",
        ".git/*",
        ".cache/*",
        ".DS_Store",
    ),
    "embedlab's own notes on a model": (
        "checksums.json",  # of the other files, which are compared with it
        "training/*/seed-*/*",  # the training text of an export: it decides marks alone
    ),
}
_PATTERNS = tuple(chain.from_iterable(NEVER_READ.values()))


def folder_parts(folder: Path) -> list[str]:
    """Return the path and the hash of each file in FOLDER that belongs to its fingerprint, in order
    of their paths.
    """
    return [
        f"{path.relative_to(folder).as_posix()}={_hash(path)}" for path in decisive_files(folder)
    ]


def decisive_files(folder: Path) -> list[Path]:
    """Return the files in FOLDER that belong to its fingerprint, in order; a path written in one
    that leaves it is a MissingError.
    """
    places = (folder, *module_folders(folder))
    named = set(chain.from_iterable(map(named_files, places)))

    def is_skipped(
        inner: Path,
    ) -> (
        bool
    ):  # the history of a repository or a trainer's checkpoints may be larger than the model
        return _is_never_read(inner / "-", places) and not any(
            path.is_relative_to(inner) for path in (*places, *named)
        )

    return sorted(
        path
        for path in files_below(folder, skips=is_skipped)
        if path in named or not _is_never_read(path, places)
    )


@lru_cache(maxsize=4096)
def is_never_read(name: str) -> bool:
    """Return whether no vector depends on the file called NAME, a path in the folder of a model or
    of one of its modules.
    """
    path = PurePosixPath(name)
    return any(
        candidate.match(pattern)
        for pattern in _PATTERNS
        for candidate in ((path, *path.parents) if "/" in pattern else (path,))
    )


def _is_never_read(path: Path, places: Sequence[Path]) -> bool:
    """Return whether no vector depends on PATH, by its name in the innermost of PLACES that holds
    it.
    """
    return is_never_read(
        min(
            (
                path.relative_to(folder).as_posix()
                for folder in places
                if path.is_relative_to(folder)
            ),
            key=len,
        )
    )


def _hash(path: Path) -> str:
    try:
        return file_hash(path)
    except OSError as error:
        raise MissingError(
            f"cannot read {str(path)!r}: {error.strerror}",
            hint="check its permissions; every file of a model is read",
        ) from error
