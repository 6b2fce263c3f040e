"""Blocks of a page: the files that it shows, the Python and the commands that it runs, and the
outputs below them.

The line that opens a block says what becomes of it:

    ```toml file=mine.toml         the content of a file
    ```python                      runs; the blocks of a page share their names
    ```console                     each line after "$ " runs
    ```console output=12           the same, and at most 12 lines of each output are shown
    ```console output=9 varies     the same, but only the first line is compared: the rest depends
    on the numbers
    ```console fails=2             the command ends with this exit code
    ```console world               part of the runs that every page finds: executed once
    ```console needs="sick-r"      runs only where docs/refresh.py has --data: the folder with these
    corpora
    ```console not-run="reason"    does not run, for this reason

A command may go on in the next line after a backslash. No line of a console block is wider than a
page shows at 1280 pixels: tables fit into it by themselves, and what has no width of its own (CSV,
Markdown, signatures) is cut.

`docs/refresh.py` writes the outputs, tests/docs executes the pages.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
MORE = "…"  # the last line of a shortened output, and the end of a cut line
WIDTH = 90  # characters of a line that a page shows at 1280 pixels

_FENCE = re.compile(
    r"^```(?P<language>[\w-]*) ?(?P<facts>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_FACT = re.compile(r'([\w-]+)(?:=("[^"]*"|\S+))?')
_CONTINUED = re.compile(r" *\\\n *")
_TYPED = re.compile(
    r"^\s*(?:\$ )?(?:\w+=\S+ )*(?:embedlab|make|pip|python|git|export) ", re.MULTILINE
)
_PLAIN = {"", "text", "bash", "sh", "shell"}
_VARIES = (
    (re.compile(r"\$-\$(?=\d)"), "-"),
    (re.compile(r"\b[0-9a-f]{12,16}\b"), "0"),  # fingerprints
    (
        re.compile(r"\$\\ddagger\$(?:\d+\\%)?|‡(?:\d+%)?|(?<=\d)'(?=\s)"),
        "",
    ),  # marks and stars follow from the numbers
    (re.compile(r"\$(?:\^\\circ|\\dagger)\$|\\S\{\}|[†°§]|(?<=[\d\]])[*=]"), ""),
    (
        re.compile(r"[-+−±]?\d[\d,.]*(?:e[-+]\d+)?%?|(?<= )–(?= |$)", re.MULTILINE),
        "0",
    ),  # scores, counts, times
    (re.compile(r"[─-]{2,}|[ \t]+"), " "),  # widths of columns
    (re.compile(r"(?<=0) [a-f]{1,3}(?= |$)", re.MULTILINE), ""),  # letters
)


@dataclass(frozen=True, kw_only=True)
class Block:
    """One fenced block of a page."""

    language: str
    text: str
    facts: dict[str, str] = field(default_factory=dict)
    start: int  # where its text begins in the page
    line: int  # of the page, from 1

    @property
    def is_run(self) -> bool:
        """Whether it has commands or Python to execute."""
        return (
            self.language in {"console", "python"} and not {"not-run", "file"} & self.facts.keys()
        )

    @property
    def commands(self) -> list[tuple[str, str]]:
        """Each command with the output that is shown below it."""
        parts = re.split(r"^\$ ((?:.*\\\n)*.*)\n", self.text, flags=re.MULTILINE)
        return list(
            zip((_CONTINUED.sub(" ", one) for one in parts[1::2]), parts[2::2], strict=True)
        )

    @property
    def shown_lines(self) -> int:
        """The number of lines of each output that are shown."""
        return int(self.facts.get("output", "0"))

    @property
    def exit_code(self) -> int:
        """The exit code with which its commands end."""
        return int(self.facts.get("fails", "0"))


def blocks_of(page: str) -> Iterator[Block]:
    """Return the blocks of a page in their order."""
    for found in _FENCE.finditer(page):
        facts = {key: value.strip('"') for key, value in _FACT.findall(found["facts"])}
        line = page.count("\n", 0, found.start()) + 1
        yield Block(
            language=found["language"],
            text=found["text"],
            facts=facts,
            start=found.start("text"),
            line=line,
        )


def unmarked(page: str) -> list[Block]:
    """Return the blocks that hold commands but do not say so: nothing would execute them."""
    return [
        block
        for block in blocks_of(page)
        if block.language in _PLAIN and "file" not in block.facts and _TYPED.search(block.text)
    ]


def shortened(output: str, lines: int) -> str:
    """Return the first LINES of an output, without blanks at line ends and cut at WIDTH, as a page
    shows them.
    """
    found = [line.rstrip() for line in output.strip("\n").split("\n")]
    found = [line if len(line) <= WIDTH else line[: WIDTH - 1] + MORE for line in found]
    return "\n".join([*found[:lines], MORE] if len(found) > lines else found) + "\n"


def typed(command: str) -> str:
    """Return a COMMAND as a page shows it: in lines of WIDTH at most, which end at an option or a
    blank with a backslash.
    """
    lines = [f"$ {command}"]
    while len(lines[-1]) > WIDTH:
        line, end = lines[-1], WIDTH - 2
        place = max(line.rfind(" --", 6, end), 0) or line.rfind(" ", 6, end)
        if place < 6:
            break
        lines[-1:] = [line[:place] + " \\", "    " + line[place + 1 :]]
    return "\n".join(lines)


def pattern(output: str) -> str:
    """Return what of an output must be the same whenever it is made: all but numbers, what follows
    from them, and widths of columns.
    """
    for expression, instead in _VARIES:
        output = expression.sub(instead, output)
    return "\n".join(line.strip() for line in output.strip().split("\n"))


def pages() -> list[Path]:
    """Return the pages whose blocks are executed."""
    found = sorted((ROOT / "docs").rglob("*.md"))
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *found]
