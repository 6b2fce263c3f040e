"""Takes every picture of the pages: python docs/pictures.py [FOLDER].

The dashboard's screens and the commands below, over runs that are trained on the sample world. FOLDER holds the runs; those that are
finished there are not trained again. Without it everything is trained anew, in some minutes.
"""

import asyncio
import io
import os
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from docs.blocks import ROOT
from tests.tui.photographs import photograph, train, without_fonts

COMMANDS = {
    "terminal-compare": "embedlab compare demo-ce demo-supcl dice --sample",
    "terminal-slices": "embedlab compare demo-ce demo-supcl dice --sample --by dice --task sts12",
}
COLUMNS = 120


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

    os.environ.update({"COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "COLORTERM": "truecolor", "EMBEDLAB_CACHE": "cache"})
    os.environ.pop("NO_COLOR", None)
    with redirect_stdout(Screen()) as screen, redirect_stderr(io.StringIO()) as notes:
        if main([*command.split()[1:], "--runs", "runs", "--device", "cpu", "--threads", "1"]):
            raise RuntimeError(notes.getvalue())
    console = Console(record=True, file=io.StringIO(), width=COLUMNS)
    console.print(Text(f"$ {command}\n"), Text.from_ansi(screen.getvalue().rstrip("\n")), sep="")
    return without_fonts(console.export_svg(title="embedlab", unique_id=command.split()[1]))


def take_all(folder: Path) -> None:
    """Train what is missing in FOLDER and take the pictures."""
    pictures = ROOT / "pictures"
    train(folder)
    with chdir(folder):
        asyncio.run(photograph(pictures))
        for name, command in COMMANDS.items():
            (pictures / f"{name}.svg").write_text(terminal_picture(command), encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["XDG_STATE_HOME"] = temporary  # the dashboard remembers nothing of last time
        take_all(Path(sys.argv[1] if sys.argv[1:] else temporary))
