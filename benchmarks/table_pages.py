"""Pages of results whose tables programs make again, each between two lines: `<!-- KIND FILE ARGUMENTS -->` and `<!-- end of KIND -->`."""

import re
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path


def refreshed(page: str, kind: str, folder: Path, parser: ArgumentParser, shown: Callable[[Namespace], str]) -> str:
    """Return PAGE with the text of each place of this KIND made again; PARSER reads its arguments, and files are relative to FOLDER."""

    def again(found: re.Match[str]) -> str:
        arguments = parser.parse_args(shlex.split(found["arguments"]))
        arguments.file = folder / arguments.file
        return f"{found['begin']}\n{shown(arguments)}\n{found['end']}"

    return re.sub(rf"(?P<begin><!-- {kind} (?P<arguments>.*?) -->\n).*?(?P<end><!-- end of {kind} -->)", again, page, flags=re.DOTALL)
