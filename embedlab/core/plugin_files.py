"""Where plug-ins come from: the user's own files, and the entry points of installed packages, found
without importing any of them.

A file declares what it adds in one literal at its top level, which is read without running the
file:

    PLUGINS = {"poolings": {"ends": "pool_ends"}}    # kind → name → attribute of the file

A TOML file is one dataset, called after it: it declares a corpus (embedlab/data/corpus_file.py),
and runs nothing.

The user's own settings, `--plugin` and EMBEDLAB_PLUGINS name files.
"""

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.foreign_files import MIB, read_foreign
from embedlab.core.paths import file_hash
from embedlab.core.settings import named_plugins

if TYPE_CHECKING:
    import ast
    from importlib.metadata import Distribution, EntryPoint


DECLARATION = "PLUGINS"
_CORPUS = ".toml"
LARGEST_FILE = 4 * MIB
Declared = Mapping[str, Mapping[str, str]]
"""Kind → name → attribute of the file."""

_EXAMPLE = f'for example {DECLARATION} = {{"poolings": {{"last": "pool_last"}}}}'


@dataclass(frozen=True, kw_only=True)
class PluginFile:
    """One file that the user names."""

    path: Path  # absolute

    def read(self) -> bytes:
        """Return the content; a file that cannot be read is a MissingError."""
        try:
            return read_foreign(self.path, limit=LARGEST_FILE)
        except OSError as error:
            raise MissingError(
                f"cannot read the plug-in file {str(self.path)!r}: {error.strerror}",
                hint="correct the path where you name it",
            ) from error

    @property
    def declared(self) -> Declared:
        """What the file says that it adds, read without running it; a file without a valid
        declaration is a MissingError.
        """
        return _declared(self.read(), self.path)

    @property
    def is_corpus(self) -> bool:
        """Whether it declares one dataset without any code."""
        return self.path.suffix == _CORPUS

    def run(self) -> ModuleType:
        """Return the module of the file, which runs once for each content; whatever it raises is a
        MissingError of one line.
        """
        content = self.read()
        name = f"embedlab_plugin_{self.path.stem}_{digest(content)[:16]}"
        if name in sys.modules:
            return sys.modules[name]
        module = ModuleType(name)
        module.__file__ = str(self.path)
        sys.modules[name] = module  # dataclasses and pydantic look their module up
        try:
            # The bytes of the plug-in's identity run, and no compiled file beside them.
            exec(compile(content, str(self.path), "exec", dont_inherit=True), module.__dict__)
        except (Exception, SystemExit) as error:
            del sys.modules[name]
            if isinstance(error, EmbedlabError):
                raise
            raise MissingError(
                f"the plug-in file {str(self.path)!r} fails{_place(error, self.path)}: "
                f"{error_line(error)}",
                hint="correct it, or do not name it as a plug-in",
            ) from error
        return module


def plugin_files() -> tuple[PluginFile, ...]:
    """Return the files that the user names, those of the user's own settings first."""
    return tuple(PluginFile(path=path) for path in named_plugins())


def digest(content: bytes) -> str:
    """Return the SHA-256 of CONTENT."""
    return hashlib.sha256(content).hexdigest()


def error_line(error: BaseException) -> str:
    """Return an error's type and the first line of its text."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


@lru_cache(maxsize=64)
def _declared(content: bytes, path: Path) -> Declared:
    if path.suffix == _CORPUS:
        return {"datasets": {path.stem: ""}}
    import ast  # only where there is a file

    try:
        tree = ast.parse(content, str(path))
    except (SyntaxError, ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise MissingError(
            f"the plug-in file {str(path)!r} is not Python{line}: {error_line(error)}",
            hint="correct it",
        ) from error
    assigned = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and _assigns(node) and node.value
    ]
    if len(assigned) != 1:
        count = "no" if not assigned else "more than one"
        raise MissingError(
            f"the plug-in file {str(path)!r} has {count} {DECLARATION} at its top level",
            hint=_EXAMPLE,
        )
    try:
        values = ast.literal_eval(assigned[0])
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise MissingError(
            f"the plug-in file {str(path)!r}: {DECLARATION} is not a literal, so that it "
            f"cannot be read without running the file",
            hint=_EXAMPLE,
        ) from error
    if not _is_declaration(values):
        raise MissingError(
            f"the plug-in file {str(path)!r}: {DECLARATION} = "
            f"{json.dumps(values, default=repr)[:80]} is not kind → name → attribute",
            hint=_EXAMPLE,
        )
    return dict(values)


def _assigns(node: "ast.Assign | ast.AnnAssign") -> bool:
    import ast

    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id == DECLARATION for target in targets)


def _is_declaration(values: Any) -> bool:
    return isinstance(values, dict) and all(
        isinstance(kind, str)
        and isinstance(value, dict)
        and all(isinstance(text, str) for pair in value.items() for text in pair)
        for kind, value in values.items()
    )


def _place(error: BaseException, path: Path) -> str:
    """Return the last line of the file that an error passed through."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f" at line {error.lineno}"
    lines = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return f" at line {lines[-1]}" if lines else ""


def package_entries(group: str, path: tuple[str, ...]) -> "list[EntryPoint]":
    """The entry points of GROUP among the packages on PATH, in the order of the packages' names."""
    if not _may_declare(f"[{group}]", path):
        return []
    from importlib.metadata import distributions

    first: dict[str, Distribution] = {}  # of two versions of a package the first one is imported
    for distribution in distributions(path=list(path)):
        first.setdefault(distribution.name.lower().replace("_", "-"), distribution)
    entries = [
        entry
        for distribution in first.values()
        for entry in distribution.entry_points
        if entry.group == group
    ]
    return sorted(entries, key=lambda entry: (entry.dist.name if entry.dist else "", entry.name))


def _may_declare(section: str, path: tuple[str, ...]) -> bool:
    """Return whether a package on PATH may have a SECTION of entry points.

    Most have none, which takes 4 ms to see; importlib.metadata, which also parses every package's
    file, takes 200 ms.
    """
    return any(section in text for text in _declarations(path)) or any(
        Path(folder).is_file() for folder in path
    )  # an archive


@cache
def _declarations(path: tuple[str, ...]) -> tuple[str, ...]:
    """The text of every file of entry points on PATH."""
    return tuple(
        file.read_text(encoding="utf-8", errors="replace")
        for folder in path
        for place in ("*.dist-info", "*.egg-info", "EGG-INFO")
        for file in Path(folder).glob(f"{place}/entry_points.txt")
    )


def package_identity(entry: "EntryPoint", package: str) -> str:
    """Return PACKAGE, the name and version of an entry's package, with the hash of the module's
    file, where that is found.
    """
    if entry.dist is None:
        return package
    module_path = entry.module.replace(".", "/")
    for ending in (".py", "/__init__.py"):
        if (file := Path(str(entry.dist.locate_file(f"{module_path}{ending}")))).is_file():
            return f"{package} {file_hash(file)}"
    return package
