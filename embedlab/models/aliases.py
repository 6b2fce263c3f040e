"""Names that the user gives models: `mini=PATH` wherever a model is typed, stored beside the user's
settings.

An alias is the model's name from then on, in tables, filters, pages and the dashboard. It never
hides what embedlab ships.
"""

import os.path
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import tomli_w

from embedlab.core import plugins
from embedlab.core.disk import as_disk_errors, sole_writer, write_atomic
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.nearest import unknown_name_error
from embedlab.core.paths import user_config_file
from embedlab.core.schema import read_toml
from embedlab.models.hosts import note_typed
from embedlab.models.published import SHIPPED

_TYPED = re.compile(r"(?P<name>[\w.-]+)=(?P<model>.+)", re.DOTALL)
_BEGINS = re.compile(r"[\w.-]+(?=$|[?@])")
_NAME = re.compile(r"[A-Za-z][\w.-]{0,39}")
# columns of tables, beside properties
_IN_TABLES = {
    *("dataset", "gap", "note", "pair", "pair_key", "right"),
    *("s1", "s2", "sentence1", "sentence2", "tag"),
}
# typed, and not stored: not used yet, or the file could not be written
_of_this_process: dict[str, str] = {}
_of_this_call: dict[str, str] = {}  # given in a call from Python, and never stored
_before: dict[str, str] = {}  # what a name meant until this process gave it another model


def aliases_file() -> Path:
    """Return the path of the user's aliases: one `name = "model"` a line."""
    return user_config_file().with_name("aliases.toml")


def aliases() -> Mapping[str, str]:
    """Return the model behind each alias, as it was typed."""
    return {**_read_aliases(), **_of_this_process, **_of_this_call}


def _read_aliases() -> dict[str, str]:
    path = aliases_file()
    model_of_alias = read_toml(path) if path.is_file() else {}
    if bad_alias := next(
        (name for name, model in model_of_alias.items() if not isinstance(model, str)), None
    ):
        raise UsageError(
            f"{path}: {bad_alias!r} is not a text",
            hint=f'write {bad_alias} = "MODEL", or delete the line',
        )
    return {name: str(model) for name, model in model_of_alias.items()}


def aliased_model(name: str) -> str | None:
    """Return the model that the alias NAME means; None where there is no such alias."""
    model = (model_of_alias := aliases()).get(name)
    if model is not None and _without_aliases(model, model_of_alias) != model:
        raise UsageError(
            f"{aliases_file()}: {name!r} names another alias",
            hint=f"write the model itself, or delete the line of {name}",
        )
    return model


@contextmanager
def temporary_aliases() -> Iterator[None]:
    """Let names that the block takes for a call mean their models in the block alone."""
    saved = dict(_of_this_call)
    try:
        yield
    finally:
        _of_this_call.clear()
        _of_this_call.update(saved)


def take_alias(text: str, *, is_of_call: bool = False) -> str:
    """Return the name of a typed model: for `mini=PATH` the alias, which is stored when it is used
    unless it IS_OF_CALL; any other TEXT as it is.
    """
    note_typed(text)
    match = _TYPED.fullmatch(text)
    if match is None or os.path.exists(os.path.expanduser(text)):  # noqa: PTH110, PTH111 - these take any text, Path refuses some
        return text
    model_of_alias = dict(aliases())
    name, model = match["name"], _without_aliases(match["model"], model_of_alias)
    folder = os.path.expanduser(model)  # noqa: PTH111
    if os.path.isdir(folder):  # noqa: PTH112
        model = os.path.abspath(folder)  # noqa: PTH100 - as it is from anywhere
    _refuse(name, model, text)
    if is_of_call:
        _of_this_call[name] = model
    elif model_of_alias.get(name) != model:
        if name in model_of_alias:
            _before[name] = model_of_alias[name]
        _of_this_process[name] = model
    return name


def alias_change(name: str) -> str:
    """Return what to say of the alias NAME where it meant another model; nothing otherwise."""
    return f"{name} meant {_before[name]} before" if name in _before else ""


def store_used(name: str) -> None:
    """Store the alias NAME if it was typed in this process: a command that is refused before it
    looks for its models changes nothing.
    """
    if (model := _of_this_process.pop(name, None)) is None:
        return
    try:
        with _change_aliases() as model_of_alias:
            model_of_alias[name] = model
    except MissingError:  # a disk that takes nothing: it is known until this process ends
        _of_this_process[name] = model


def remove_alias(name: str) -> str:
    """Remove the stored alias NAME and return its model; an unknown alias is a UsageError."""
    with _change_aliases() as model_of_alias:
        if name not in model_of_alias:
            raise unknown_name_error(
                "alias",
                name,
                model_of_alias,
                listing="`embedlab models ls` lists them after the models in packages",
            )
        return model_of_alias.pop(name)


@contextmanager
def _change_aliases() -> Iterator[dict[str, str]]:
    """Store what the block makes of the aliases; processes that change them wait for each other."""
    path = aliases_file()
    with as_disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with sole_writer(path):
            model_of_alias = _read_aliases()
            yield model_of_alias
            content = tomli_w.dumps(dict(sorted(model_of_alias.items())))
            write_atomic(path, content.encode("utf-8", "surrogatepass"))


def _without_aliases(model: str, model_of_alias: Mapping[str, str]) -> str:
    """Return a typed model with a leading alias replaced by its model, so that no stored alias
    names another.
    """
    match = _BEGINS.match(model)
    if match is None or match[0] not in model_of_alias:
        return model
    return model_of_alias[match[0]] + model[match.end() :]


def _refuse(name: str, model: str, text: str) -> None:
    from embedlab.outcomes.property import property_names

    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{text!r}: {name!r} cannot be an alias",
            hint="begin with a letter; letters, digits, -, _ and . follow, 40 at most",
        )
    reserved = {*SHIPPED, *plugins.names("encoders"), *property_names(), *_IN_TABLES}
    if name in reserved:
        raise UsageError(
            f"{text!r}: {name!r} already names something else",
            hint="choose another name before the =",
        )
    if _TYPED.fullmatch(model) or name == model:
        raise UsageError(f"{text!r}: {model!r} is not a model", hint="write NAME=MODEL")
