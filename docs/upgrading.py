"""The page of what was removed, made from the list of signed removals.

python -m docs.upgrading            writes docs/upgrading.md
"""

from pathlib import Path

from docs.reference.text import code, table
from tests.inventory import removals

FILE = Path(__file__).with_name("upgrading.md")


def page() -> str:
    """Return the page."""
    rows = [
        (code(one.name) if one.lines else one.name, one.instead)
        for one in removals()
        if not one.pending
    ]
    listed = table(("removed", "use instead"), rows) if rows else "Nothing was removed yet.\n"
    return (
        "# Upgrading\n\n"
        "Runs, checkpoints, grids, exported models and settings files of version 0.1.0 keep "
        "working; stored scores may be computed again. A removed command or option says what to "
        "use instead.\n\n" + listed
    )


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
