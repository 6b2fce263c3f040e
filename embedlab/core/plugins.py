"""What embedlab ships, what packages add, and what the files of users add: objectives, tasks,
datasets, poolings and more.

`discover` lists them in this order without importing anything of a package or file; `load` imports
one, in the process that uses it. A package adds by entry points of the groups embedlab.objectives,
embedlab.tasks …. A file, which the user's own settings, `--plugin` or EMBEDLAB_PLUGINS name,
declares what it adds in one literal at its top level, which is read without running the file:

    PLUGINS = {"poolings": {"ends": "pool_ends"}}    # kind → name → attribute of the file

A TOML file is one dataset, called after it: it declares a corpus (embedlab/data/corpus_file.py),
and runs nothing. What is shipped is found in the same way, by file. A file that declares PLUGINS
has the same names inside the package as outside; without a declaration it is called after the file.
"""

import hashlib
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from embedlab.core.errors import EmbedlabError, MissingError, NotLoadedError
from embedlab.core.foreign_files import MIB, read_foreign
from embedlab.core.nearest import nearest_hint, unknown_name_error
from embedlab.core.paths import CORPORA_FOLDER, PACKAGE, file_hash
from embedlab.core.schema import quote
from embedlab.core.settings import named_plugins

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

DECLARATION = "PLUGINS"
_CORPUS = ".toml"
_MODULE = "embedlab_plugin_"  # what the name of a file's module begins with
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
            hint = "correct the path where you name it"
            raise _file_error(self.path, f" cannot be read: {error.strerror}", hint) from error

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
        name = f"{_MODULE}{self.path.stem}_{content_hash(content)[:16]}"
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
            problem = f" fails{_place(error, self.path)}: {error_line(error)}"
            hint = "correct it, or do not name it as a plug-in"
            raise _file_error(self.path, problem, hint) from error
        return module


def plugin_files() -> tuple[PluginFile, ...]:
    """Return the files that the user names, those of the user's own settings first."""
    return tuple(PluginFile(path=path) for path in named_plugins())


def _file_error(path: Path, problem: str, hint: str = "correct it") -> MissingError:
    return MissingError(f"the plug-in file {str(path)!r}{problem}", hint=hint)


def content_hash(content: bytes) -> str:
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
        raise _file_error(path, f" is not Python{line}: {error_line(error)}") from error
    assigned = []
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            assigned += [node.value] * (DECLARATION in map(ast.unparse, targets))
    if len(assigned) != 1:
        count = "no" if not assigned else "more than one"
        raise _file_error(path, f" has {count} {DECLARATION} at its top level", _EXAMPLE)
    try:
        values = ast.literal_eval(assigned[0])
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        problem = f": {DECLARATION} is not a literal, which can be read without running the file"
        raise _file_error(path, problem, _EXAMPLE) from error
    if not _is_declaration(values):
        problem = f": {DECLARATION} = {quote(values)} is not kind → name → attribute"
        raise _file_error(path, problem, _EXAMPLE)
    return dict(values)


def _is_declaration(values: Any) -> bool:
    return isinstance(values, dict) and all(
        isinstance(kind, str)
        and isinstance(entries, dict)
        and all(isinstance(text, str) for pair in entries.items() for text in pair)
        for kind, entries in values.items()
    )


def _place(error: BaseException, path: Path) -> str:
    """Return the last line of the file that an error passed through."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f" at line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f" at line {lines[-1]}" if lines else ""


def runtime_fault(error: BaseException, hint: str) -> MissingError | None:
    """Return what an ERROR says that passed through the code of a plug-in; None for any other."""
    entries = package_entries(tuple(folder for folder in sys.path if folder))
    packages = {entry.module.partition(".")[0] for _, entry in entries}
    files = [
        frame.f_code.co_filename
        for frame, _ in traceback.walk_tb(error.__traceback__)
        if (module := str(frame.f_globals.get("__name__"))).startswith(_MODULE)
        or module.partition(".")[0] in packages
    ]
    if not files:
        return None
    path = Path(files[-1])
    return _file_error(path, f" fails{_place(error, path)}: {error_line(error)}", hint)


@cache
def package_entries(path: tuple[str, ...]) -> "tuple[tuple[Distribution, EntryPoint], ...]":
    """Return the entry points of our groups with their packages, of those in the folders of PATH,
    in the order of the packages' names.
    """
    from importlib.metadata import entry_points

    folders = {Path(folder).resolve() for folder in path}
    listed_entries = entry_points()
    entries = [
        (entry.dist, entry)
        for kind in KINDS
        for entry in listed_entries.select(group=f"{SHIPPED}.{kind}")
        if entry.dist is not None and Path(str(entry.dist.locate_file(""))).resolve() in folders
    ]
    return tuple(sorted(entries, key=lambda item: (item[0].name, item[1].name)))


def _module_hash(package: "Distribution", module: str) -> str:
    """Return the hash of the file of a MODULE, behind a blank; empty where that is not found."""
    for ending in (".py", "/__init__.py"):
        file = Path(str(package.locate_file(module.replace(".", "/") + ending)))
        if file.is_file():
            return f" {file_hash(file)}"
    return ""


T = TypeVar("T")
Kind = Literal["objectives", "tasks", "datasets", "poolings", "encoders", "properties"]
KINDS: tuple[Kind, ...] = get_args(Kind)

SHIPPED = "embedlab"
# Names with a meaning of their own where names of the kind are typed.
RESERVED: Mapping[Kind, frozenset[str]] = {
    "objectives": frozenset(),
    "tasks": frozenset({"all"}),
    "datasets": frozenset({"all", "none"}),
    "poolings": frozenset(),
    "encoders": frozenset(
        {
            "average",
            "normalized-average",
            "concat",
            "ensemble",
            "rerank",
            "dice",
            "run",
            "folder",
            "hub",
        }
    ),
    "properties": frozenset({"dataset", "item", "gap", "right"}),
}
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}", re.ASCII)

# where they are gathered
_faults: ContextVar[list[str] | None] = ContextVar("faults", default=None)
_loading_refused: list[str] = []  # the reason, once there is one


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """One name of a kind; nothing of it is loaded."""

    kind: Kind
    name: str
    origin: str  # "embedlab", the name and version of a package, or the path of a file
    module: str = ""  # absent: in a file
    attribute: str = ""  # absent: the module itself
    file: PluginFile | None = None
    identity: str = ""  # of its code: changes when that does; empty for what is shipped
    fault: EmbedlabError | None = None  # why it cannot be used

    @property
    def is_shipped(self) -> bool:
        """Whether it is part of embedlab."""
        return self.origin == SHIPPED

    def load(self) -> Any:
        """Import it; an unusable plug-in, or one that fails to import, is an EmbedlabError of one
        line that names its origin.

        For a dataset in a TOML file, which runs nothing, return the path.
        """
        if self.fault is not None:
            raise self.fault
        if self.is_shipped and self.file is None:
            return _attribute(import_module(self.module), self)
        if _loading_refused and not self.is_shipped:
            raise NotLoadedError(
                f"{self.title} is not loaded: {_loading_refused[0]}",
                hint="type the command in a terminal",
            )
        if self.file is not None:
            return self.file.path if self.file.is_corpus else _attribute(self.file.run(), self)
        try:
            return _attribute(import_module(self.module), self)
        except EmbedlabError:
            raise
        except (Exception, SystemExit) as error:
            raise MissingError(
                f"the plug-in package {self.origin!r} fails to import {self.module!r}: "
                f"{error_line(error)}",
                hint="update or uninstall the package",
            ) from error

    def check_instance(self, instance: Any, cls: type[T], *, named: bool = False) -> T:
        """Return what loading gave, INSTANCE, if it is a CLS; NAMED says that it must have the
        plug-in's name.
        """
        if not isinstance(instance, cls):
            raise MissingError(
                f"{self.title} is of type {type(instance).__name__}, not a {cls.__name__}",
                hint="docs/plugins.md shows one",
            )
        if named and getattr(instance, "name", None) != self.name:
            raise MissingError(
                f"{self.title} calls itself {getattr(instance, 'name', None)!r}",
                hint=f"make it {self.name!r}, as {DECLARATION} or the file's name says, or rename that",
            )
        return instance

    @property
    def title(self) -> str:
        """What an error calls it."""
        return f"the {called_one(self.kind)} {self.name!r} of {self.origin!r}"


def called_one(kind: Kind) -> str:
    """Return the word for one of a KIND."""
    return "property" if kind == "properties" else kind.removesuffix("s")


def discover(kind: Kind) -> tuple[Plugin, ...]:
    """Return everything of a KIND: shipped, then from packages, then from files; nothing of the
    last two is imported.

    What may not be used, as its name is shipped or used before it, has a fault.
    """
    usable, checked = dict(_shipped_plugins(kind)), []
    for plugin in added_plugins(kind):
        error = plugin.fault or _name_fault(plugin, usable.get(plugin.name))
        if error is None:
            usable[plugin.name] = plugin
        else:
            _note(error)
        checked.append(replace(plugin, fault=error))
    return (*_shipped_plugins(kind).values(), *checked)


def added_plugins(kind: Kind) -> tuple[Plugin, ...]:
    """Return what packages and files add to a KIND, without looking for other things of the same
    names.
    """
    # "" is the working folder, where nothing is installed: prompts have it
    path = tuple(folder for folder in sys.path if folder)
    return (*_of_packages(kind, path), *_of_files(kind))


def names(kind: Kind) -> list[str]:
    """Return the names of a KIND that can be used."""
    return [plugin.name for plugin in discover(kind) if plugin.fault is None]


def shipped_names(kind: Kind) -> list[str]:
    """Return the names of a KIND that embedlab ships."""
    return list(_shipped_plugins(kind))


def find(kind: Kind, name: str) -> Plugin | None:
    """Return the plug-in called NAME, or None. If only plug-ins with a fault have the name, the
    first of them is returned.
    """
    if plugin := _shipped_plugins(kind).get(name):  # no plug-in can hide it
        _note_faults(kind)
        return plugin
    namesakes = [plugin for plugin in discover(kind) if plugin.name == name]
    return min(namesakes, key=lambda plugin: plugin.fault is not None, default=None)


def require(kind: Kind, name: str, *, listing: str = "", also: Iterable[str] = ()) -> Plugin:
    """Return the plug-in called NAME; an unknown name is a UsageError with the nearest one.

    ALSO are other names that the user may have meant.
    """
    plugin = find(kind, name)
    if plugin is None:
        raise unknown_name_error(called_one(kind), name, [*names(kind), *also], listing=listing)
    return plugin


def load_all(kind: Kind, load: Callable[[Plugin], T]) -> dict[str, T]:
    """LOAD everything of a KIND that this process can load, by name; what fails is noted and left
    out.
    """
    by_name = {}
    for plugin in discover(kind):
        if plugin.fault is not None or not can_load(plugin):
            continue
        try:
            by_name[plugin.name] = load(plugin)
        except EmbedlabError as error:
            _note(error)
    return by_name


def identity(kind: Kind, name: str) -> str:
    """Return the hash of a plug-in's code, which decides its numbers; empty for what is shipped or
    unknown.
    """
    plugin = find(kind, name)
    return plugin.identity if plugin is not None else ""


def file_faults() -> Iterator[tuple[PluginFile, EmbedlabError]]:
    """The files that declare nothing that could be read, each with the reason."""
    for file in plugin_files():
        try:
            unknown_kind = next((kind for kind in file.declared if kind not in KINDS), None)
        except EmbedlabError as error:
            yield file, error
        else:
            if unknown_kind is not None:
                hint = nearest_hint(unknown_kind, KINDS, f"kinds: {', '.join(KINDS)}")
                problem = f" adds {unknown_kind!r}, which is not a kind"
                yield file, _file_error(file.path, problem, hint)


def plugin_versions() -> dict[str, str]:
    """Return the version of each plug-in that can be used, by kind and name: of its package, or the
    digest of its file.
    """
    versions = {}
    for plugin in (plugin for kind in KINDS for plugin in discover(kind)):
        if plugin.fault is None and not plugin.is_shipped:
            version = plugin.origin if plugin.file is None else plugin.identity[:16]
            versions[f"{plugin.kind}:{plugin.name}"] = version
    return versions


@contextmanager
def gathered_faults() -> Iterator[list[str]]:
    """Gather what is wrong with the plug-ins that are listed meanwhile, each once."""
    faults: list[str] = []
    _note_faults.cache_clear()
    token = _faults.set(faults)
    try:
        yield faults
    finally:
        _faults.reset(token)


def can_load(plugin: Plugin) -> bool:
    """Whether this process may import PLUGIN."""
    return plugin.is_shipped or not _loading_refused


def refuse_loading(reason: str) -> None:
    """Import no plug-in in this process from now on: the dashboard shows what other processes
    computed.
    """
    _loading_refused.append(reason)


@cache
def _note_faults(kind: Kind) -> None:
    """Note, once while faults are gathered, what of a KIND is not used: its name may be shipped."""
    discover(kind)


def _note(error: EmbedlabError) -> None:
    line = f"{error.message}; {error.hint}"
    if (faults := _faults.get()) is not None and line not in faults:
        faults.append(line)


def _attribute(module: Any, plugin: Plugin) -> Any:
    try:
        return getattr(module, plugin.attribute) if plugin.attribute else module
    except AttributeError as error:
        raise MissingError(
            f"{plugin.origin!r} has no {plugin.attribute!r}, which it declares for {plugin.name!r}",
            hint="add it",
        ) from error


def _name_fault(plugin: Plugin, namesake: Plugin | None) -> EmbedlabError | None:
    """Return why the name of PLUGIN cannot be used; NAMESAKE has it already."""
    if not _NAME.fullmatch(plugin.name):
        return MissingError(
            f"{plugin.title} is not used: not a name",
            hint="begin with a letter or digit, then letters, digits, . _ -",
        )
    if plugin.name in RESERVED[plugin.kind] or (
        plugin.kind == "datasets" and plugin.name in _shipped_plugins("tasks")
    ):
        return MissingError(f"{plugin.title} is not used: the name is reserved", hint="rename it")
    if namesake is None:
        return None
    holder = "embedlab ships" if namesake.is_shipped else f"{namesake.origin!r} has"
    return MissingError(f"{plugin.title} is not used: {holder} one of that name", hint="rename it")


@cache
def _of_packages(kind: Kind, path: tuple[str, ...]) -> tuple[Plugin, ...]:
    """Return what packages on PATH add to a KIND."""
    plugins = []
    for package, entry in package_entries(path):
        if entry.group == f"{SHIPPED}.{kind}":
            origin = f"{package.name} {package.version}"
            plugin = Plugin(
                kind=kind,
                name=entry.name,
                origin=origin,
                module=entry.module,
                attribute=entry.attr,
                identity=origin + _module_hash(package, entry.module),
            )
            plugins.append(plugin)
    return tuple(plugins)


def _of_files(kind: Kind) -> Iterator[Plugin]:
    for _, error in file_faults():
        _note(error)
    for file in plugin_files():
        try:
            declared, identity = file.declared.get(kind, {}), content_hash(file.read())
        except EmbedlabError:
            continue
        for name, attribute in declared.items():
            yield Plugin(
                kind=kind,
                name=name,
                origin=str(file.path),
                attribute=attribute,
                file=file,
                identity=identity,
            )


@cache
def _shipped_plugins(kind: Kind) -> Mapping[str, Plugin]:
    """What embedlab ships of a KIND, by name."""
    shipped = [*_shipped_modules(kind)] if kind in _FOLDERS else []
    for path in CORPORA_FOLDER.glob("*.toml") if kind == "datasets" else ():
        file = PluginFile(path=path)
        shipped.append(Plugin(kind=kind, name=path.stem, origin=SHIPPED, file=file))
    plugins = sorted(shipped, key=lambda plugin: plugin.name)
    return {plugin.name: plugin for plugin in plugins}


# The folder whose files have one each, what it is called there, and what stands for "_" in a name.
_FOLDERS: Mapping[Kind, tuple[str, str, str]] = {
    "objectives": ("objectives/losses", "", "_"),
    "tasks": ("tasks", "TASK", "_"),
    "poolings": ("encoders/poolings", "POOLING", "-"),
    "encoders": ("encoders/kinds", "ENCODER", "-"),
    "properties": ("outcomes/properties", "PROPERTY", "-"),
}


def _shipped_modules(kind: Kind) -> Iterator[Plugin]:
    """The public files of the folder of a KIND but for a task's contract, under the names that they
    declare, or their own.
    """
    folder, attribute, hyphen = _FOLDERS[kind]
    for path in sorted((PACKAGE / folder).glob("[!_]*.py")):
        if path.name != "task.py":
            names: Mapping[str, str] = {path.stem.replace("_", hyphen): attribute}
            file = PluginFile(path=path)
            if f"\n{DECLARATION}".encode() in file.read():
                names = file.declared.get(kind) or names
            module = f"{SHIPPED}.{folder.replace('/', '.')}.{path.stem}"
            for name, variable in names.items():
                yield Plugin(
                    kind=kind, name=name, origin=SHIPPED, module=module, attribute=variable
                )
