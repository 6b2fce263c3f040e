"""Pages and notebooks: tables and plots as HTML, in one file without a script or anything remote,
light and dark, for screens of any width and for print.
"""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from embedlab.core.disk import write_atomic
from embedlab.core.foreign_files import check_output
from embedlab.core.note import shown_notes
from embedlab.core.paths import hide_folders
from embedlab.core.printable import one_line, visible
from embedlab.reports.series import Plot
from embedlab.reports.tables import Table, TableCell, Value

# Nothing may be loaded, whatever a name or a note in the tables contains.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
GENERATOR = '<meta name="generator" content="embedlab">'  # identifies a page written by embedlab
CONTENTS_FROM = 4  # sections from which a page has a list of contents
MOST_ROWS = 24  # of a table in a notebook


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{generator}
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
{facts}
</header>
{contents}<main>
{sections}
</main>
</body>
</html>
"""
_NOTEBOOK_STYLE = """
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


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a page: a table, then plots."""

    title: str
    table: Table | None = None
    plots: tuple[Plot, ...] = ()


def page(title: str, sections: Sequence[Section], *, facts: Mapping[str, str]) -> str:
    """Return the whole page as HTML; FACTS (the command, versions, the state of the data, the date)
    are below its title.
    """
    style = files("embedlab.reports").joinpath("page.css").read_text(encoding="utf-8")
    links = [
        f'<li><a href="#section-{number}">{escape_html(section.title)}</a></li>\n'
        for number, section in enumerate(sections, start=1)
    ]
    contents = f'<nav aria-label="Contents"><ul>\n{"".join(links)}</ul></nav>\n'
    fact_items = [
        f"<dt>{escape_html(name)}</dt><dd>{escape_html(value)}</dd>"
        for name, value in facts.items()
    ]
    body: list[str] = []
    for number, section in enumerate(sections, start=1):
        body += _section(section, number)
    return hide_folders(
        _PAGE.format(
            generator=GENERATOR,
            policy=POLICY,
            title=escape_html(title),
            style=style,
            facts="\n".join(['<dl class="facts">', *fact_items, "</dl>"]),
            contents=contents if len(sections) >= CONTENTS_FROM else "",
            sections="\n".join(body),
        )
    )


def write_page(
    path: Path, title: str, sections: Sequence[Section], *, facts: Mapping[str, str]
) -> None:
    """Write the page to PATH in one step, replacing an older page there; `check_page_path` refuses
    other files.
    """
    check_page_path(path)
    write_atomic(path, page(title, sections, facts=facts), hint="choose another place with --html")


def check_page_path(path: Path) -> None:
    """Refuse a PATH where a page cannot be written, or would replace something else, before long
    work begins.
    """
    check_output(path, "--html", example="page.html", what="a page", mark=GENERATOR.encode())


def escape_html(text: str) -> str:
    """Return TEXT for a page: no mark-up, and no character that a page or a browser cannot hold."""
    return html.escape(visible(text))


def _section(section: Section, number: int) -> Iterator[str]:
    yield f'<section id="section-{number}">'
    yield f"<h2>{escape_html(section.title)}</h2>"
    if section.table is not None:
        yield from _page_table(section.table)
    if section.plots:
        from embedlab.reports.plots import draw_svg

        yield '<div class="plots">'
        for plot in section.plots:
            caption = f"<figcaption>{escape_html(plot.title)}</figcaption>"
            yield f"<figure>\n{caption}\n{draw_svg(plot)}\n</figure>"
        yield "</div>"
    yield "</section>"


def _page_table(table: Table) -> Iterator[str]:
    """Yield the table in a frame that scrolls sideways on a narrow screen; its answer in words
    above, its notes below.
    """
    yield from (f"<p>{escape_html(sentence)}</p>" for sentence in table.answer)
    if table.columns:
        label = escape_html(table.shown_title or "table")
        yield f'<div class="table" role="region" tabindex="0" aria-label="{label}">'
        yield from _table(table, is_plain=True)
        yield "</div>"
    if table.notes:
        yield from _list_lines("notes", table.notes)
    if table.signature_lines:
        yield "<details><summary>signatures</summary>"
        yield from _list_lines("notes signatures", table.signature_lines)
        yield "</details>"


def _list_lines(name: str, lines: Sequence[str]) -> Iterator[str]:
    yield f'<ul class="{name}">'
    yield from (f"<li>{escape_html(line)}</li>" for line in lines)
    yield "</ul>"


def _table(table: Table, *, is_plain: bool) -> Iterator[str]:
    """Yield the table element; in a notebook, where it is not PLAIN, its best numbers are bold,
    letters raised, and intervals where the pointer rests.
    """
    classes = []
    for column in table.columns:
        is_number = table.align(column) == "right"
        classes.append("number" if is_number else "text" if column.is_text else "")
    header, *body = table.texts()
    scope = ' scope="col"' if is_plain else ""
    yield "<table>"
    yield f"<caption>{escape_html(table.shown_title)}</caption>" if table.shown_title else ""
    titles = [
        f"<th{scope}{_attribute('class', class_name)}>{escape_html(text)}</th>"
        for text, class_name in zip(header, classes, strict=True)
    ]
    yield f"<thead><tr>{''.join(titles)}</tr></thead><tbody>"
    for row, texts in zip(table.rows, body, strict=True):
        cells = [
            _cell(text if is_plain else row.get(column.key), text, _attribute("class", class_name))
            for column, text, class_name in zip(table.columns, texts, classes, strict=True)
        ]
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"


def _cell(cell: Value | TableCell, text: str, attributes: str) -> str:
    content = escape_html(text)
    if isinstance(cell, TableCell):
        content = escape_html(text.removesuffix(cell.raised).rstrip() if cell.raised else text)
        content = f"<b>{content}</b>" if cell.is_best else content
        content = f'<span style="opacity:.6">{content}</span>' if cell.is_dim else content
        content += f"<sup>{escape_html(cell.raised)}</sup>" if cell.raised else ""
        attributes += _attribute("title", cell.hover)
    return f"<td{attributes}>{content}</td>"


def _attribute(name: str, value: str) -> str:
    return f' {name}="{escape_html(value)}"' if value else ""


def report_html(tables: Sequence[Table], messages: Sequence[str] = ()) -> str:
    """Return TABLES with their notes for a notebook, in the colours of its light or dark theme, and
    below them the MESSAGES of the way.
    """
    elements: list[str] = []
    for table in tables:
        shortened = replace(table, rows=table.rows[:MOST_ROWS])
        elements += _table(shortened, is_plain=False) if table.columns else []
        if table.shown_title and not table.columns:
            elements.append(f"<p>{escape_html(table.shown_title)}</p>")
        hidden_count = len(table.rows) - MOST_ROWS
        cut_note = (
            [f".table() has {hidden_count} more {'row' if hidden_count == 1 else 'rows'}"]
            if hidden_count > 0
            else []
        )
        notes = shown_notes(table.notes, table.titles, more=".notes has {count} more {notes}")
        elements.append(_list([*cut_note, *notes]))
    body = "".join([*elements, _list(messages)])
    return f'<div class="embedlab"><style>{_NOTEBOOK_STYLE}</style>{body}</div>'


def _list(notes: Sequence[str]) -> str:
    items = "".join(f"<li>{escape_html(one_line(note))}</li>" for note in notes)
    return f"<ul>{items}</ul>" if notes else ""
