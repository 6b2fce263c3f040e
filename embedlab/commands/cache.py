"""`embedlab cache`: see and clear what is stored to be computed once."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from embedlab.commands.command import command, confirm
from embedlab.commands.options import ConfirmationOptions
from embedlab.commands.terminal import Terminal
from embedlab.core.cache import NAME_FILE, cache_entries, remove, size_of
from embedlab.core.disk import as_disk_errors, read_sealed_json
from embedlab.core.errors import EmbedlabError
from embedlab.core.foreign_files import MIB
from embedlab.core.printable import count_text
from embedlab.core.session import Session
from embedlab.reports.report import Report
from embedlab.reports.tables import Table, TableCell, Value, columns_of


@command("runs output")
def ls(session: Session) -> Report:
    """List what is cached: its model, its size and its last use.

    Examples:
        $ embedlab cache ls
        $ embedlab cache ls --json

    """
    from embedlab.models.grammar import title_of

    cache = session.settings.cache
    entries = cache_entries(cache)
    rows: list[dict[str, Value | TableCell]] = []
    for entry in sorted(entries, key=lambda entry: -entry.stat().st_mtime):
        model = _model(entry)
        last_use = datetime.fromtimestamp(entry.stat().st_mtime).astimezone().isoformat()
        rows.append(
            {
                "entry": entry.name,
                "kind": entry.parent.name,
                "model": TableCell(model, title_of(model)) if model else None,
                "mib": size_of(entry) / MIB,
                "used": TableCell(last_use, last_use[:16].replace("T", " ")),
            }
        )
    columns = columns_of("entry [minor]", "kind", "model", "mib = MiB .1", "used = last used")
    total = (
        f"{_mib(entries):.1f} MiB in {cache}; all but scores of models is trimmed to "
        f"{session.settings.cache_gib:g} GiB"
    )
    return Report.of(Table("Cache", columns, rows, (total,)))


@command("output")
def clear(options: ConfirmationOptions, session: Terminal) -> None:
    """Delete what embedlab has cached; it is computed again when needed.

    Examples:
        $ embedlab cache clear
        $ embedlab cache clear --yes

    """
    cache = session.settings.cache
    entries = cache_entries(cache)
    mib = _mib(entries)
    summary = f"{count_text(len(entries), 'entries')}, {mib:.1f} MiB"
    if entries:
        question = f"delete {summary} in {cache}?"
        confirm(question, "nothing deleted", session, is_confirmed=options.yes)
    for entry in entries:
        with as_disk_errors(entry):
            remove(entry)
    session.done(f"deleted {summary}", folder=str(cache), deleted=len(entries), mib=mib)


def _mib(entries: Iterable[Path]) -> float:
    return sum(map(size_of, entries)) / MIB


def _model(entry: Path) -> str:
    """Return the name under which the model of an ENTRY was used; empty where none is known."""
    from embedlab.runs.outcomes import stored_facts

    with suppress(OSError):
        return (entry / NAME_FILE).read_text(encoding="utf-8", errors="replace")
    evaluations = entry / "evaluations"
    for path in sorted(evaluations.glob("*.json")):
        with suppress(OSError, ValueError, KeyError, TypeError, EmbedlabError):
            return str(read_sealed_json(path, hint="")["model"])
    return next((facts.model for facts in stored_facts(evaluations)), "")
