"""The user's own files with plug-ins: which settings name them, what they declare, whether they may
run, and running one.

A file declares what it adds in one literal at its top level, which is read without running the
file:

    PLUGINS = {"poolings": {"ends": "pool_ends"}}    # kind → name → attribute of the file

A TOML file is one dataset, called after it: it declares a corpus (embedlab/data/corpus_file.py),
and runs nothing.

Files that the user's own settings name may run. A file that a folder's settings or EMBEDLAB_PLUGINS
name may run after `embedlab plugins trust FILE` has stored its SHA-256, or `embedlab trust FOLDER`
its path: then it may change.
"""

import hashlib
import json
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.foreign_files import MIB, read_foreign
from embedlab.core.paths import user_config_file
from embedlab.core.settings import folder_settings, named_plugins
from embedlab.core.trust import Trusted, digest_of, trusted

if TYPE_CHECKING:
    import ast

DECLARATION = "PLUGINS"
_CORPUS = ".toml"
LARGEST_FILE = 4 * MIB
Declared = Mapping[str, Mapping[str, str]]
"""Kind → name → attribute of the file."""

_EXAMPLE = f'for example {DECLARATION} = {{"poolings": {{"last": "pool_last"}}}}'


class UntrustedError(MissingError):
    """A file that may not run before the user says so."""


@dataclass(frozen=True, kw_only=True)
class PluginFile:
    """One file that settings name."""

    path: Path  # absolute
    needs_trust: bool
    folder: Path | None = None  # whose settings name it

    def read(self) -> bytes:
        """Return the content; a file that cannot be read is a MissingError."""
        try:
            return read_foreign(self.path, limit=LARGEST_FILE)
        except OSError as error:
            raise MissingError(
                f"cannot read the plug-in file {str(self.path)!r}: {error.strerror}",
                hint="correct [plugins] files in the settings",
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

    def distrust(self, content: bytes) -> UntrustedError | None:
        """Return why CONTENT may not run as this file; None where it may."""
        if not self.needs_trust:
            return None
        known = trusted()
        if known.files.get(str(self.path)) == digest(content) or self._may_change(known):
            return None
        changed = "changed since it was trusted" if str(self.path) in known.files else "not trusted"
        lasting = ""
        if self.folder is not None and self.path.resolve().is_relative_to(self.folder.resolve()):
            lasting = f"embedlab trust {_typed(self.folder)} (it may then change), or as it is: "
        return UntrustedError(
            f"the plug-in file {str(self.path)!r} is {changed}",
            hint=f"read it, then type: {lasting}embedlab plugins trust {_typed(self.path)}",
        )

    def _may_change(self, known: Trusted) -> bool:
        """Whether a folder is trusted with it, and that folder's settings are as they were
        trusted.
        """
        for path, folder in known.folders.items():
            if str(self.path) in folder.plugins and self.path.resolve().is_relative_to(path):
                with suppress(EmbedlabError):
                    current = folder_settings(Path(path))
                    return current is not None and digest_of(current[1]) == folder.settings
        return False

    def checked_path(self) -> Path:
        """Return the path of a file that may be used as it is now."""
        if self.needs_trust and (refusal := self.distrust(self.read())):
            raise refusal
        return self.path

    def run(self) -> ModuleType:
        """Return the module of the file, which runs once for each content; whatever it raises is a
        MissingError of one line.
        """
        content = self.read()
        if refusal := self.distrust(content):
            raise refusal
        name = f"embedlab_plugin_{self.path.stem}_{digest(content)[:16]}"
        if name in sys.modules:
            return sys.modules[name]
        module = ModuleType(name)
        module.__file__ = str(self.path)
        sys.modules[name] = module  # dataclasses and pydantic look their module up
        try:
            # The bytes that were compared run, and no compiled file that lies beside them.
            exec(compile(content, str(self.path), "exec", dont_inherit=True), module.__dict__)
        except (Exception, SystemExit) as error:
            del sys.modules[name]
            if isinstance(error, EmbedlabError):
                raise
            raise MissingError(
                f"the plug-in file {str(self.path)!r} fails{_place(error, self.path)}: "
                f"{error_line(error)}",
                hint="correct it, or remove it from [plugins] files in the settings",
            ) from error
        return module


def plugin_files() -> tuple[PluginFile, ...]:
    """Return the files that the settings in force name, those of the user's own settings first."""
    user_file = str(user_config_file())
    files: dict[Path, PluginFile] = {}
    for source, paths in named_plugins():
        folder = None if source in {user_file, "environment"} else Path(source).absolute().parent
        for path in paths:
            files.setdefault(
                path, PluginFile(path=path, needs_trust=source != user_file, folder=folder)
            )
    return tuple(files.values())


def digest(content: bytes) -> str:
    """Return the SHA-256 of CONTENT."""
    return hashlib.sha256(content).hexdigest()


def trusted_with(path: Path) -> Trusted:
    """Return what is trusted, and the file at PATH too, which may run as it is now; one that
    declares no plug-in is refused.
    """
    file = PluginFile(path=path.absolute(), needs_trust=True)
    if file.path.is_dir():
        raise UsageError(
            f"{str(path)!r} is a folder, not a plug-in file", hint="give the path of a Python file"
        )
    content = file.read()
    _declared(content, file.path)
    known = trusted()
    return replace(known, files={**known.files, str(file.path): digest(content)})


def error_line(error: BaseException) -> str:
    """Return an error's type and the first line of its text."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def _typed(path: Path) -> str:
    """PATH as it is typed here."""
    return shlex.quote(
        str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
    )


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
