"""Tables as a notebook shows them: compact, in the colours of its light or dark theme, with
intervals where the pointer rests.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from embedlab.core.note import shown_notes
from embedlab.core.printable import one_line
from embedlab.reports.html import escaped
from embedlab.reports.tables import Table, TableCell, Value

MOST_ROWS = 24
_STYLE = """
.embedlab { color: inherit; margin: 0.3em 0; }
.embedlab table { border-collapse: collapse; border: 0; margin: 0 0 0.4em; font-size: 0.95em; color: inherit; }
.embedlab table { font-variant-numeric: tabular-nums; }
.embedlab caption { caption-side: top; text-align: left; padding: 0.2em 0; color: inherit; font-style: italic; white-space: nowrap; }
.embedlab tr, .embedlab th, .embedlab td { background: transparent !important; color: inherit; border: 0; }
.embedlab th, .embedlab td { padding: 0.15em 0.7em; text-align: left !important; vertical-align: baseline; white-space: nowrap; }
.embedlab td.text { white-space: normal; max-width: 40em; }
.embedlab th.number, .embedlab td.number { text-align: right !important; }
.embedlab thead th { border-bottom: 1px solid currentColor; font-weight: 600; }
.embedlab tbody tr:last-child td { border-bottom: 1px solid currentColor; }
.embedlab td[title] { cursor: help; }
.embedlab sup { font-size: 0.75em; }
.embedlab ul { margin: 0; padding-left: 1.2em; font-size: 0.85em; opacity: 0.8; }
"""


def report_html(tables: Sequence[Table], said: Sequence[str] = ()) -> str:
    """Return TABLES with their notes, and below them what was SAID on the way."""
    body = "".join(fragment for table in tables for fragment in _table(table))
    return f'<div class="embedlab"><style>{_STYLE}</style>{body}{_list(said)}</div>'


def _table(table: Table) -> Iterator[str]:
    more = len(table.rows) - MOST_ROWS
    shown = replace(table, rows=table.rows[:MOST_ROWS])
    if shown.columns:
        sides = [
            "number" if shown.align(column) == "right" else "text" if column.is_text else ""
            for column in shown.columns
        ]
        header, *body = shown.texts()
        yield "<table>"
        yield f"<caption>{escaped(shown.shown_title)}</caption>" if shown.shown_title else ""
        yield f"<thead><tr>{''.join(_tag('th', side, escaped(text)) for side, text in zip(sides, header, strict=True))}</tr></thead><tbody>"
        for row, texts in zip(shown.rows, body, strict=True):
            cells = (
                _cell(row.get(column.key), text, side)
                for column, text, side in zip(shown.columns, texts, sides, strict=True)
            )
            yield f"<tr>{''.join(cells)}</tr>"
        yield "</tbody></table>"
    elif shown.shown_title:
        yield f"<p>{escaped(shown.shown_title)}</p>"
    notes = shown_notes(table.notes, table.titles, more=".notes has {count} more {notes}")
    yield _list(
        [
            *([f".table() has {more} more {'row' if more == 1 else 'rows'}"] if more > 0 else []),
            *notes,
        ]
    )


def _cell(value: Value | TableCell, text: str, side: str) -> str:
    if not isinstance(value, TableCell):
        return _tag("td", side, escaped(text))
    shown = escaped(text.removesuffix(value.raised).rstrip() if value.raised else text)
    shown = f"<b>{shown}</b>" if value.is_best else shown
    shown = f'<span style="opacity:.6">{shown}</span>' if value.is_dim else shown
    return _tag(
        "td",
        side,
        f"{shown}<sup>{escaped(value.raised)}</sup>" if value.raised else shown,
        value.hover,
    )


def _tag(name: str, side: str, content: str, title: str = "") -> str:
    attributes = f' class="{side}"' if side else ""
    attributes += f' title="{escaped(title)}"' if title else ""
    return f"<{name}{attributes}>{content}</{name}>"


def _list(notes: Sequence[str]) -> str:
    return (
        f"<ul>{''.join(f'<li>{escaped(one_line(note))}</li>' for note in notes)}</ul>"
        if notes
        else ""
    )
