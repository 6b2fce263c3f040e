"""Takes every picture of the pages: python docs/pictures.py [FOLDER] [--data DIR].

The dashboard's screens and the commands below, over runs that are trained on generated corpora.
FOLDER holds the runs; those that are finished there are not trained again. Without it everything is
trained anew, in some minutes. With `--data`, the folder of corpora, the plot of the README's
finding alone is drawn, for which the models must be there (`embedlab models ls`).
"""

import argparse
import asyncio
import io
import os
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from docs.blocks import ROOT
from tests.tui.photographs import photograph, train, without_fonts

COMMANDS = {
    "terminal-compare": "embedlab compare tiny-ce tiny-supcl dice --data tiny",
    "terminal-slices": "embedlab compare tiny-ce tiny-supcl dice --data tiny --by dice --task sts12",
}
COLUMNS = 120
FOUND_BY: dict[str, Any] = {
    "models": ["minilm", "mpnet", "wordllama", "dice"],
    "tasks": "sick-r",
    "by": "negation:one",
}
ENDS = (("values", "difference"), ("low", "difference_low"), ("high", "difference_high"))
FOUND_LABELS = {"rest": "no negation,\nor two", "fits": "one sentence\nhas a negation"}


class Screen(io.StringIO):
    """Text that a command takes for a terminal."""

    def isatty(self) -> bool:
        """Say yes, so that colours are written."""
        return True


def terminal_picture(command: str) -> str:
    """Return the picture of a command and its answer in a terminal."""
    from rich.console import Console
    from rich.text import Text

    from embedlab.cli.app import main

    os.environ.update(
        {
            "COLUMNS": str(COLUMNS),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "EMBEDLAB_CACHE": "cache",
        }
    )
    os.environ.pop("NO_COLOR", None)
    with redirect_stdout(Screen()) as screen, redirect_stderr(io.StringIO()) as notes:
        if main([*command.split()[1:], "--runs", "runs", "--device", "cpu", "--threads", "1"]):
            raise RuntimeError(notes.getvalue())
    console = Console(record=True, file=io.StringIO(), width=COLUMNS)
    console.print(Text(f"$ {command}\n"), Text.from_ansi(screen.getvalue().rstrip("\n")), sep="")
    return without_fonts(console.export_svg(title="embedlab", unique_id=command.split()[1]))


def finding_picture(data: Path) -> str:
    """Return the plot of what the README found: how far three models are from MiniLM, without and
    with a negation.
    """
    import embedlab
    from embedlab.reports.plots import draw_svg
    from embedlab.reports.series import Plot, Series

    frame = embedlab.compare(**FOUND_BY, data=data).frame
    rows = {name: frame.filter(frame["slice"].str.ends_with(f"/{name}")) for name in FOUND_LABELS}
    series = [
        Series(
            name=model,
            **{
                end: [part.filter(part["model"] == model)[column].item() for part in rows.values()]
                for end, column in ENDS
            },
        )
        for model in FOUND_BY["models"][1:]
    ]
    counts = [part["items"][0] for part in rows.values()]
    labels = [
        f"{label}\n({count:,} pairs)"
        for label, count in zip(FOUND_LABELS.values(), counts, strict=True)
    ]
    axis = "points of Spearman x 100 above minilm, with 95% intervals"
    return with_colours(
        draw_svg(
            Plot(
                kind="dots",
                title="SICK-R with and without a negation",
                labels=labels,
                series=series,
                axis=axis,
                line="zero",
            )
        )
    )


def with_colours(svg: str) -> str:
    """Return a plot of a page as a picture of its own, in the page's light or dark colours."""
    css = (
        (ROOT / "embedlab" / "reports" / "page.css").read_text("utf-8").partition("@media print")[0]
    )
    font = "svg { background: var(--paper); font-family: system-ui, sans-serif; }"
    start = svg.index(">") + 1
    head = svg[: start - 1].replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    return f"{head}><style>{css}{font}</style>{svg[start:]}\n"


def take_all(folder: Path) -> None:
    """Train what is missing in FOLDER and take the pictures."""
    pictures = ROOT / "pictures"
    train(folder)
    with chdir(folder):
        asyncio.run(photograph(pictures))
        for name, command in COMMANDS.items():
            (pictures / f"{name}.svg").write_text(terminal_picture(command), encoding="utf-8")


def main(words: list[str]) -> None:
    """Take the pictures that WORDS select."""
    options = argparse.ArgumentParser(description="Take the pictures of the pages.")
    options.add_argument("folder", nargs="?", type=Path)
    options.add_argument(
        "--data", type=Path, help="draw the README's finding alone, on the corpora in this folder"
    )
    chosen = options.parse_args(words)
    if chosen.data:
        (ROOT / "pictures" / "finding.svg").write_text(
            finding_picture(chosen.data), encoding="utf-8"
        )
        return
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["XDG_STATE_HOME"] = temporary  # the dashboard remembers nothing of last time
        take_all(chosen.folder or Path(temporary))


if __name__ == "__main__":
    main(sys.argv[1:])
