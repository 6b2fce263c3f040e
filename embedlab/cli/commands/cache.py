"""`embedlab cache`: what is kept to be computed once, and how to be rid of it."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import UsageError
from embedlab.core.paths import disk_errors

if TYPE_CHECKING:
    from embedlab.reports.tables import Value

app = typer.Typer(name="cache", help="See and clear what is kept to be computed once.", no_args_is_help=True)

# What embedlab keeps in the cache folder: vectors by encoder, scores by model, tokenised sentences, encoders of the sample world.
# Anything else there is not ours to delete.
KINDS = ("embeddings", "models", "tokens", "sample-encoders")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One thing in the cache."""

    path: Path
    kind: str
    mib: float
    used_s: float  # seconds since 1970


def entries(cache: Path) -> Iterator[Entry]:
    """What the cache folder holds: one entry a fingerprint."""
    for kind in KINDS:
        folder = cache / kind
        for path in sorted(folder.iterdir()) if folder.is_dir() else []:
            if not path.name.startswith("."):
                files = [file for file in (path, *path.rglob("*")) if file.is_file()]
                size = sum(file.stat().st_size for file in files)
                yield Entry(path=path, kind=kind, mib=size / 2**20, used_s=path.stat().st_mtime)


@app.command(epilog=examples("embedlab cache ls", "embedlab cache ls --json"))
@common("output")
def ls(*, terminal: Terminal) -> None:
    """List what is kept, its size and when it was last used."""
    from embedlab.reports.tables import Column, Table

    folder = terminal.settings.cache
    found = sorted(entries(folder), key=lambda entry: -entry.used_s)
    rows: list[dict[str, Value]] = [
        {
            "entry": entry.path.name,
            "kind": entry.kind,
            "mib": entry.mib,
            "used": datetime.fromtimestamp(entry.used_s).astimezone().isoformat(),
        }
        for entry in found
    ]
    columns = (
        Column(key="entry", title="entry"),
        Column(key="kind", title="kind"),
        Column(key="mib", title="MiB", digits=1),
        Column(key="used", title="last used"),
    )
    total = f"{sum(entry.mib for entry in found):.1f} MiB in {folder}; embeddings are trimmed to {terminal.settings.cache_gib:g} GiB"
    terminal.show(Table(title="Cache", columns=columns, rows=rows, notes=(total,)))


@app.command(epilog=examples("embedlab cache clear", "embedlab cache clear --yes"))
@common("output")
def clear(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    *,
    terminal: Terminal,
) -> None:
    """Delete what is kept; it is computed again when it is needed."""
    folder = terminal.settings.cache
    found = list(entries(folder))
    mib = sum(entry.mib for entry in found)
    if found and not yes and not terminal.confirm(f"delete {len(found)} entries, {mib:.1f} MiB in {folder}?"):
        raise UsageError("nothing deleted: nobody said yes", hint="add --yes")
    for entry in found:
        with disk_errors(entry.path):
            shutil.rmtree(entry.path) if entry.path.is_dir() else entry.path.unlink()
    terminal.done(f"deleted {len(found)} entries, {mib:.1f} MiB", folder=str(folder), deleted=len(found), mib=mib)
