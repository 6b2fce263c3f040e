"""Settings and their origins: flags > EMBEDLAB_* > file of --config > ./embedlab.toml > user file >
default.

Whoever made the working folder must not choose which code runs, what is read, written or deleted:
./embedlab.toml sets only how an answer is shown.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from embedlab.core.cache import cache_folder
from embedlab.core.errors import Hint, NamedOption, UsageError
from embedlab.core.nearest import nearest_name
from embedlab.core.paths import data_folder, data_name, default_cache_folder, user_config_file
from embedlab.core.schema import build, read_toml, table

Device = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["auto", "float32", "tf32", "bf16", "fp16", "int8"]
Switch = Literal["on", "off"]
Spread = Literal["none", "auto", "balanced", "sequential"]
Attention = Literal["auto", "cudnn", "efficient", "math"]
Format = Literal["table", "json", "csv", "markdown", "latex"]

MOST_THREADS = 4096
SHOWN = ("format", "quiet", "notes", "theme")  # what ./embedlab.toml may set
# Files that this process and those that it starts use, as --config and --plugin name them.
CONFIG, PLUGINS = "EMBEDLAB_CONFIG", "EMBEDLAB_PLUGINS"

# Removed settings and what each did: where one is still set, it is reported and has no other
# effect.
REMOVED = {"textual_tuning": "let the dashboard change private parts of Textual"}

# Not a setting: the file in which the process that starts this one expects its error as a JSON
# event.
ERRORS_TO = "EMBEDLAB_ERRORS_TO"
API_KEY = "EMBEDLAB_API_KEY"  # of an endpoint: no setting, as these are shown and stored
API_HEADERS = "EMBEDLAB_API_HEADERS"  # of an endpoint, one `name: value` a line
ALLOW_HOST = "EMBEDLAB_ALLOW_HOST"  # servers that files may name, as --allow-host
TYPED_HOSTS = "EMBEDLAB_TYPED_HOSTS"  # what the process that started this one knows as typed
_NO_SETTINGS = {ERRORS_TO, API_KEY, API_HEADERS, ALLOW_HOST, TYPED_HOSTS, CONFIG}

# Variables that launchers of several processes set: torchrun and accelerate, then Intel MPI, Open
# MPI and MVAPICH.
_OF_TEAMS = (
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "PMI_SIZE",
    "OMPI_COMM_WORLD_SIZE",
    "MV2_COMM_WORLD_SIZE",
)


@table
class PluginSettings:
    """The user's own files with plug-ins."""

    files: tuple[Path, ...] = ()

    def __str__(self) -> str:
        return ", ".join(map(str, self.files))


@table
class Settings:
    """The settings of one invocation; None means not set."""

    # folder of corpora in their own layouts; "starter" names that inside the package, "tiny"
    # generated ones
    data: Path | None = None
    runs: Path = Path("runs")
    # vectors, scores and tokens, which can be computed again
    cache: Path = field(default_factory=default_cache_folder)
    # upper limit of the cache, but for scores
    cache_gib: Annotated[float, Ge(0), Le(1_000_000_000)] = 8.0
    offline: bool = False
    allow_partial: bool = False
    device: Device = "auto"
    precision: Precision = "auto"
    deterministic: bool = False  # on a GPU, too, only operations that give the same bits each time
    # on a GPU, run the passes of training as CUDA graphs
    capture: bool = False
    # keep little of the layers in training, and compute the rest once more in the backward pass
    gradient_checkpointing: bool = False
    attention: Attention = "auto"  # which kernels may compute it on a GPU
    threads: Annotated[int, Ge(1), Le(MOST_THREADS)] | None = None
    # of the layers of an encoder over several GPUs, by accelerate: "auto" fills all that are free
    device_map: Spread = "none"
    cpu_engine: Switch = "on"  # off: transformers and torch run on the CPU unchanged
    # three sentences at the start of each use of an endpoint: is it still the same model?
    endpoint_check: Switch = "on"
    format: Format = "table"
    quiet: bool = False
    notes: bool = False  # show also the notes that do not change how a number is read
    debug: bool = False
    theme: str | None = None  # of the dashboard
    # unlike the others, what several places name adds up
    plugins: PluginSettings = PluginSettings()


@table
class SettingOrigin:
    """One setting's value and where it was set."""

    key: str
    value: Any
    source: str


def load_settings(
    flags: Mapping[str, Any],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    note: Callable[[str], None] = lambda _text: None,
    given_as: str = "flag",
) -> tuple[Settings, list[SettingOrigin]]:
    """Return the effective settings and the origin of each; FLAGS contains only what was typed,
    GIVEN_AS flags or as something else.

    Unknown keys and EMBEDLAB_* variables, and values of the wrong type, are errors that name the
    file or variable. NOTE receives a line for each removed setting that is still set.
    """
    environment = os.environ if environment is None else environment
    defaults = Settings()
    origins = {
        setting.name: SettingOrigin(
            key=setting.name, value=getattr(defaults, setting.name), source="default"
        )
        for setting in fields(Settings)
    }
    for source, values in (
        *_files(folder or Path(), environment),
        *_variables(environment),
        (given_as, dict(flags)),
    ):
        is_variable = source in environment
        known_values = _without_removed(values, source, note, is_variable=is_variable)
        if known_values == {}:
            continue
        checked = build(Settings, known_values, where=source, is_text=is_variable)
        for key in known_values:
            value, label = getattr(checked, key), source
            if key == "data" and value is not None:
                value = data_folder(value)
            if key == "cache":
                value = cache_folder(value)
            if key == "plugins":
                value = PluginSettings(files=tuple(named_plugins(environment)))
                earlier_source = origins[key].source
                label = label if earlier_source == "default" else f"{earlier_source}, {label}"
            origins[key] = SettingOrigin(key=key, value=value, source=label)
    settings = replace(defaults, **{key: origin.value for key, origin in origins.items()})
    files = replace(origins["plugins"], key="plugins.files", value=str(settings.plugins) or None)
    return settings, [files if origin.key == "plugins" else origin for origin in origins.values()]


def words_of(settings: Settings, names: Iterable[str]) -> list[str]:
    """Return the words of a command line that set NAMES as they are in SETTINGS; none for what is
    not set, or off.
    """
    words: list[str] = []
    for name in names:
        value, flag = getattr(settings, name), f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif value is not None and value is not False:
            words += [flag, data_name(value) if name == "data" else str(value)]
    return words


def _folder_settings(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    """Return the settings file of a FOLDER and its values; None where it has none."""
    project, pyproject = folder / "embedlab.toml", folder / "pyproject.toml"
    if project.exists() and not project.is_dir():
        return project, read_toml(project)
    if pyproject.exists() and not pyproject.is_dir():
        tools = read_toml(pyproject).get("tool")  # other tools check the rest of that file
        if isinstance(tools, dict) and "embedlab" in tools:
            return pyproject, tools["embedlab"]
    return None


def _refuse(file: Path, values: Any, keys: Collection[str]) -> None:
    """Refuse those KEYS that a settings FILE sets but may not."""
    refused_keys = [key for key in keys if isinstance(values, dict) and key in values]
    if refused_keys:
        option, alternatives = "--plugin", ""
        if "plugins" not in refused_keys:
            option, variable = "--config", f"EMBEDLAB_{refused_keys[0].upper()}"
            alternatives = f", or by {variable}; the settings of a folder hold {', '.join(SHOWN)}"
        own_settings = f", or in your own settings, {user_config_file()}"
        raise UsageError(
            f"{file}: {', '.join(map(repr, refused_keys))} cannot be set there",
            hint=Hint("set it by ", NamedOption(option, "FILE"), own_settings, alternatives),
        )


def named_plugins(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Return the plug-in files that the user's own settings and the environment name, without
    checking any other setting.

    A value of a wrong type, which `load_settings` refuses, names none.
    """
    user_file = user_config_file()
    user_files: tuple[Path, ...] = ()
    values = read_toml(user_file) if user_file.is_file() else {}
    if "plugins" in values:
        with suppress(UsageError):
            files = build(PluginSettings, values["plugins"], where=str(user_file)).files
            user_files = _absolute(map(str, files), user_file.parent)
    environment_files = _absolute(_file_list(environment.get(PLUGINS, "")), Path())
    return list(dict.fromkeys([*user_files, *environment_files]))


@contextmanager
def name_files(config: Path | None, plugins: Sequence[Path]) -> Iterator[None]:
    """Let this process, and those that it starts meanwhile, read the settings in the file CONFIG
    and use the files of PLUGINS too.
    """
    environment_before = {name: os.environ.get(name) for name in (CONFIG, PLUGINS)}
    named_before = _file_list(environment_before[PLUGINS] or "")
    files = os.pathsep.join(map(str, _absolute([*named_before, *map(str, plugins)], Path())))
    values = {
        CONFIG: str(config.absolute()) if config is not None else environment_before[CONFIG],
        PLUGINS: files,
    }
    try:
        os.environ.update({name: value for name, value in values.items() if value})
        yield
    finally:
        for name, value in environment_before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _file_list(text: str) -> list[str]:
    """The files in a list as PATH has one."""
    return [file for file in text.split(os.pathsep) if file]


def _absolute(files: Iterable[str], folder: Path) -> tuple[Path, ...]:
    """The absolute paths of FILES that are named relative to FOLDER."""
    # These take any text, while Path refuses some: "~" before a user that does not exist.
    return tuple(
        Path(os.path.normpath(folder.absolute() / os.path.expanduser(file)))  # noqa: PTH111
        for file in files
    )


def process_rank(environment: Mapping[str, str] | None = None) -> int:
    """Return the rank of this process among those of one training, as torchrun and accelerate set
    it; 0 leads, or is alone.

    RANK counts only if all variables of the rendezvous are set: job systems set RANK for other
    purposes.
    """
    environment = os.environ if environment is None else environment
    return int(environment["RANK"]) if _is_in_team(environment) else 0


@contextmanager
def without_half_a_team() -> Iterator[None]:
    """Hide the variables of a process group that this process is not part of: accelerate trusts
    each of them alone.
    """
    names = () if _is_in_team(os.environ) else [name for name in _OF_TEAMS if name in os.environ]
    hidden = {name: os.environ.pop(name) for name in names}
    try:
        yield
    finally:
        os.environ.update(hidden)


def _is_in_team(environment: Mapping[str, str]) -> bool:
    rank, size = environment.get("RANK", ""), environment.get("WORLD_SIZE", "")
    has_address = all(map(environment.get, ("MASTER_ADDR", "MASTER_PORT", "LOCAL_RANK")))
    return has_address and rank.isdecimal() and size.isdecimal() and int(rank) < int(size)


def _without_removed(
    values: Any, source: str, note: Callable[[str], None], *, is_variable: bool
) -> Any:
    """Return VALUES without removed settings, noting each with NOTE; anything but a table is
    returned unchanged.
    """
    if not isinstance(values, dict):
        return values
    for key in REMOVED.keys() & values:
        setting = source if is_variable else f"{source}: {key!r}"
        note(
            f"{setting} has no effect any more: the setting, which {REMOVED[key]}, was "
            f"removed; delete it there"
        )
    return {key: value for key, value in values.items() if key not in REMOVED}


def _files(folder: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the settings files that are there with their values, the strongest last."""
    user_file = user_config_file()
    config_file = Path(environment.get(CONFIG) or user_file)
    if user_file.is_file():
        yield str(user_file), read_toml(user_file)
    local_file, values = _folder_settings(folder) or (user_file, {})
    if local_file.resolve() not in {user_file.resolve(), config_file.resolve()}:
        _refuse(local_file, values, [key.name for key in fields(Settings) if key.name not in SHOWN])
        yield str(local_file), values
    if config_file != user_file:
        values = read_toml(config_file)
        _refuse(config_file, values, ["plugins"])
        yield str(config_file), values


def _variables(environment: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each variable that is a setting with its value by the setting's name."""
    settings = [setting.name for setting in fields(Settings)]
    for variable, text in environment.items():
        if not variable.startswith("EMBEDLAB_") or not text or variable in _NO_SETTINGS:
            continue
        key = variable.removeprefix("EMBEDLAB_").lower()
        if variable != f"EMBEDLAB_{key.upper()}" or key not in {*settings, *REMOVED}:
            guess = nearest_name(key, settings)
            advice = f"did you mean EMBEDLAB_{guess.upper()}? otherwise " if guess else ""
            raise UsageError(
                f"{variable} is not a setting",
                hint=f"{advice}unset it; `embedlab config` lists all settings",
            )
        yield variable, {key: {"files": _file_list(text)} if variable == PLUGINS else text}
