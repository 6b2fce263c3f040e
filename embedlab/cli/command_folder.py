"""A folder of commands, one a file: each holds the function that has the file's name, and its
EXAMPLES; nothing else lists them.

A command that was typed is imported without the others: their options take longer than its help.
"""

import pkgutil
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType

import typer

from embedlab.cli.help_pages import HelpedCommand


def add_commands(app: typer.Typer, folder: str, first: Sequence[str], typed: str = "") -> None:
    """Add the commands of a package, FOLDER, to APP: those named FIRST in this order, others by
    name, then groups, which have an `app`.

    Where one of them is called as was TYPED, it is added alone.
    """
    modules = list(_modules(folder, first, typed))
    for module in modules:
        if not hasattr(module, "app"):
            function = getattr(module, module.__name__.rpartition(".")[2])
            app.command(cls=HelpedCommand, epilog=module.EXAMPLES)(function)
            for other in getattr(module, "ALSO", ()):
                app.command(other, cls=HelpedCommand, epilog=module.EXAMPLES, hidden=True)(function)
    for module in modules:
        if hasattr(module, "app"):
            app.add_typer(module.app)


def _modules(folder: str, first: Sequence[str], typed: str) -> Iterator[ModuleType]:
    names = [module.name for module in pkgutil.iter_modules(import_module(folder).__path__)]
    names = [typed] if typed in names else names
    for name in sorted(
        names, key=lambda name: (first.index(name) if name in first else len(first), name)
    ):
        yield import_module(f"{folder}.{name}")
