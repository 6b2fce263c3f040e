"""Lists sentences of the README and of pages of results that order models in words of their own,
outside of claims.

    python research/programs/ordering_words.py [PAGE…]

What a program makes again is not listed: claims, tables, blocks between `<!-- … -->` and `<!-- end
of … -->`, commands and their output.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORDS = (
    *(
        "above",
        "below",
        "ahead",
        "behind",
        "better",
        "best",
        "worse",
        "worst",
        "higher",
        "highest",
        "lower",
        "lowest",
        "stronger",
        "weaker",
    ),
    *(
        "gain",
        "gains",
        "gained",
        "lose",
        "loses",
        "lost",
        "loss",
        "beat",
        "beats",
        "outperforms",
        "exceeds",
        "improves",
        "improve",
    ),
    *("distinguished", "distinguish", "distinguishes", "reversed", "on top"),
)
ORDERING = re.compile(rf"\b({'|'.join(WORDS)})\b", re.IGNORECASE)
MADE = re.compile(
    r"^```.*?^```|<!-- claim:.*?<!-- /claim -->|<!-- (?P<kind>\w+)\b[^>]*-->.*?<!-- end of "
    r"(?P=kind) -->|^\|.*?$|\]\([^)]*\)|`[^`\n]*`",
    re.DOTALL | re.MULTILINE,
)


def pages() -> list[Path]:
    """Return the pages whose sentences order models."""
    return [ROOT / "README.md", *sorted((ROOT / "research").glob("*.md"))]


def ordering_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line of a page with a word that orders, outside of what
    programs make.
    """
    own = MADE.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, (line, left) in enumerate(
        zip(text.splitlines(), own.splitlines(), strict=True), start=1
    ):
        if ORDERING.search(left):
            yield number, line


def main() -> None:
    """Print the lines, each with its page and number."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", type=Path, nargs="*")
    for page in parser.parse_args().pages or pages():
        for number, line in ordering_lines(page.read_text("utf-8")):
            print(f"{page.name}:{number}: {line}")


if __name__ == "__main__":
    main()
