"""The picture of the layout, made from the imports: a row for each package of embedlab, a column
for each that it imports.
"""

import re
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
CELL, LEFT, TOP = 34, 112, 92


def layers() -> list[str]:
    """Return the packages from the highest to the lowest, as the import contract orders them."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ][0]
    return [
        name.removeprefix("embedlab.")
        for line in contract["layers"]
        for name in re.findall(r"embedlab\.\w+", line)
    ]


def imports() -> Counter[tuple[str, str]]:
    """Return how many modules of a package import modules of another one; imports inside functions
    and for types count.
    """
    import grimp

    graph = grimp.build_graph("embedlab")
    found: Counter[tuple[str, str]] = Counter()
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            pair = _package(module), _package(other)
            if pair[0] != pair[1] and all(pair):
                found[pair] += 1
    return found


def _package(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def picture() -> str:
    """Return the picture as SVG: a number is how many imports go from its row to its column, all of
    them right of the diagonal.
    """
    names, counts = layers(), imports()
    size = LEFT + CELL * len(names) + 12, TOP + CELL * len(names) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" '
        f'font-family="sans-serif" font-size="13">',
        "<title>Imports between the packages of embedlab</title>",
        f'<rect width="{size[0]}" height="{size[1]}" fill="#ffffff"/>',
    ]
    for row, name in enumerate(names):
        y = TOP + CELL * row
        parts.append(
            f'<text x="{LEFT - 8}" y="{y + CELL * 0.62:.0f}" text-anchor="end" '
            f'fill="#1a1a1a">{name}</text>'
        )
        x = LEFT + CELL * row + CELL * 0.62
        parts.append(
            f'<text transform="translate({x:.0f} {TOP - 8}) rotate(-60)" '
            f'fill="#1a1a1a">{name}</text>'
        )
        for column, other in enumerate(names):
            parts.append(
                _square(LEFT + CELL * column, y, counts[name, other], is_self=name == other)
            )
    return "\n".join([*parts, "</svg>\n"])


def _square(x: int, y: int, count: int, *, is_self: bool) -> str:
    shade = (
        "#c8c8c8"
        if is_self
        else "#ffffff"
        if not count
        else f"hsl(225 70% {92 - min(count, 60) * 0.6:.0f}%)"
    )
    square = (
        f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{shade}" stroke="#dddddd"/>'
    )
    if not count:
        return square
    return (
        f'{square}<text x="{x + CELL / 2:.0f}" y="{y + CELL * 0.62:.0f}" '
        f'text-anchor="middle" font-size="11" fill="#1a1a1a">{count}</text>'
    )
