"""The part of a paper's page that is generated: its tables as printed, what produces each row here,
claims and deviations.
"""

from typing import Any

from docs.reference.text import cell, code, table


def tables_of(paper: str) -> str:
    """Return every table of a PAPER: printed numbers, how each row is made, what the text claims,
    known deviations.
    """
    from embedlab.experiments.paper_file import load_paper

    return "\n".join(_section(paper, one) for one in load_paper(paper).values())


def _words(claim: Any) -> str:
    return f"“{claim.quotation}”" if claim.quotation else str(claim.text)


def _section(paper: str, one: Any) -> str:
    short = one.name.split("_")[0]
    parts = [f"### {short}: {one.summary}\n"]
    if one.shown_by:
        parts.append(f"A table without scores; `{one.shown_by}` shows the same here.\n")
    if one.sources:
        parts.append(
            f"`embedlab reproduce {paper} {short}` trains what is missing and puts our "
            f"numbers next to these.\n"
        )
        parts.append(_rows(one))
    if one.claims:
        claims = [
            (code(name), _cell(one.statement(claim)), _cell(_words(claim)), _cell(claim.source))
            for name, claim in one.claims.items()
        ]
        parts.append(table(("claim", "rows", "in the paper's words, or ours", "stated by"), claims))
    parts += _deviations(one)
    parts += [f"- Note: {_cell(note)}.\n" for note in one.notes]
    return "\n".join(parts)


def _deviations(one: Any) -> list[str]:
    """Return what is known before a run: of the paper, and where its authors' code is public of
    that profile.
    """
    from embedlab.core.errors import UsageError
    from embedlab.experiments.deviations import deviations, recipes_of, rows_text
    from embedlab.experiments.paper_trainings import limit_to_profile

    parts = []
    for profile, title in (
        ("paper", "Deviations from the paper"),
        ("code", "With `--profile code`"),
    ):
        try:
            chosen, left_out = limit_to_profile(one, profile)
        except UsageError:  # the authors' code is not public
            continue
        if profile == "code" and chosen is one:
            continue
        recipes = recipes_of(chosen, profile)
        found = deviations(chosen, recipes, [], {}, {})
        rows = [
            (
                _cell(each.what),
                _cell(each.paper),
                _cell(each.here),
                _cell(rows_text(each, list(recipes))),
                _cell(each.source),
            )
            for each in found
        ]
        if rows:
            parts.append(f"{title}:\n")
            parts.append(table(("key", "paper", "here", "rows", "source"), rows))
        if left_out:
            parts.append(f"Not in the authors' code: {', '.join(map(_cell, left_out))}.\n")
    return parts


def _rows(one: Any) -> str:
    columns = one.columns
    rows = []
    for label, source in one.sources.items():
        printed = one.printed.get(label, {})
        numbers = [
            "–" if printed.get(column) is None else f"{printed[column]:g}" for column in columns
        ]
        rows.append((_cell(label), *numbers, _made(source)))
    return table(("printed", *columns, "made here by"), rows)


def _made(source: Any) -> str:
    if source.recipe is not None:
        values = ", ".join(f"{key} = {value}" for key, value in source.set.items())
        return code(source.recipe) + (f" with {code(values)}" if values else "")
    if source.combine is not None:
        return f"{source.combine} of {', '.join(_cell(row) for row in source.of)}"
    if source.lacks is not None:
        return f"not made: {_cell(source.lacks)}"
    return f"no training, pooling {source.pooling}"


def _cell(value: object) -> str:
    return cell(value).replace("*", "\\*").replace("<", "&lt;")
