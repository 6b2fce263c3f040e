"""A page of tables and plots in one file: no script, nothing remote, light and dark, for screens of
any width and for print.
"""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from embedlab.core.foreign_files import check_output
from embedlab.core.own_files import published
from embedlab.core.printable import visible
from embedlab.reports.series import Plot
from embedlab.reports.tables import Table
from embedlab.store.files import write_atomic

# Nothing may be loaded, whatever a name or a note in the tables contains.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
GENERATOR = '<meta name="generator" content="embedlab">'  # identifies a page written by embedlab
CONTENTS_FROM = 4  # sections from which a page has a list of contents


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a page: paragraphs, then a table, then plots."""

    title: str
    text: tuple[str, ...] = ()
    table: Table | None = None
    plots: tuple[Plot, ...] = ()


def page(title: str, sections: Sequence[Section], *, facts: Mapping[str, str]) -> str:
    """Return the whole page as HTML; FACTS (the command, versions, the state of the data, the date)
    are below its title.
    """
    style = files("embedlab.reports").joinpath("page.css").read_text(encoding="utf-8")
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        GENERATOR,
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escaped(title)}</title>",
        f"<style>\n{style}</style>",
        "</head>",
        "<body>",
        f"<header>\n<h1>{escaped(title)}</h1>",
        *_facts(facts),
        "</header>",
        *(_contents(sections) if len(sections) >= CONTENTS_FROM else ()),
        "<main>",
        *(
            line
            for number, section in enumerate(sections, start=1)
            for line in _section(section, number)
        ),
        "</main>",
        "</body>",
        "</html>",
    ]
    return published("\n".join(parts) + "\n")


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


def escaped(text: str) -> str:
    """Return TEXT for a page: no mark-up, and no character that a page or a browser cannot hold."""
    return html.escape(visible(text))


def _facts(facts: Mapping[str, str]) -> Iterator[str]:
    yield '<dl class="facts">'
    yield from (
        f"<dt>{escaped(name)}</dt><dd>{escaped(value)}</dd>" for name, value in facts.items()
    )
    yield "</dl>"


def _contents(sections: Sequence[Section]) -> Iterator[str]:
    yield '<nav aria-label="Contents"><ul>'
    yield from (
        f'<li><a href="#section-{number}">{escaped(section.title)}</a></li>'
        for number, section in enumerate(sections, start=1)
    )
    yield "</ul></nav>"


def _section(section: Section, number: int) -> Iterator[str]:
    yield f'<section id="section-{number}">'
    yield f"<h2>{escaped(section.title)}</h2>"
    yield from (f"<p>{escaped(paragraph)}</p>" for paragraph in section.text)
    if section.table is not None:
        yield from _table(section.table)
    if section.plots:
        from embedlab.reports.plots import draw_svg

        yield '<div class="plots">'
        yield from (
            f"<figure>\n<figcaption>{escaped(plot.title)}</figcaption>\n{draw_svg(plot)}\n</figure>"
            for plot in section.plots
        )
        yield "</div>"
    yield "</section>"


def _table(table: Table) -> Iterator[str]:
    """Yield the table in a frame that scrolls sideways on a narrow screen; its answer in words
    above, its notes below.
    """
    yield from (f"<p>{escaped(sentence)}</p>" for sentence in table.answer)
    if table.columns:
        sides = [
            ' class="number"' if table.align(column) == "right" else "" for column in table.columns
        ]
        header, *body = table.texts()
        yield (
            f'<div class="table" role="region" tabindex="0" '
            f'aria-label="{escaped(table.shown_title or "table")}"><table>'
        )
        yield f"<caption>{escaped(table.shown_title)}</caption>" if table.shown_title else ""
        yield "<thead>" + _row(header, sides, 'th scope="col"') + "</thead>"
        yield "<tbody>"
        yield from (_row(texts, sides, "td") for texts in body)
        yield "</tbody></table></div>"
    if table.notes:
        yield '<ul class="notes">'
        yield from (f"<li>{escaped(note)}</li>" for note in table.notes)
        yield "</ul>"
    if table.signatures:
        yield '<ul class="notes signatures">'
        yield from (f"<li>{escaped(line)}</li>" for line in table.signature_lines)
        yield "</ul>"


def _row(texts: Sequence[str], sides: Sequence[str], tag: str) -> str:
    name = tag.partition(" ")[0]
    cells = (
        f"<{tag}{side}>{escaped(text)}</{name}>" for text, side in zip(texts, sides, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"
