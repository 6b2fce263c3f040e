"""Pages of results whose tables programs make again, each between two lines: `<!-- KIND FILE
ARGUMENTS -->` and `<!-- end of KIND -->`.
"""

import re
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path


def made_again(
    page: str, kind: str, parser: ArgumentParser, shown: Callable[[Namespace], str]
) -> str:
    """Return PAGE with the text of each place of this KIND as SHOWN makes it of the arguments that
    PARSER reads.
    """

    def again(found: re.Match[str]) -> str:
        return f"{found['begin']}\n{shown(parser.parse_args(shlex.split(found['arguments'])))}\n{found['end']}"

    return re.sub(
        rf"(?P<begin><!-- {kind} (?P<arguments>.*?) -->\n).*?(?P<end><!-- end of {kind} -->)",
        again,
        page,
        flags=re.DOTALL,
    )


def refreshed(
    page: str, kind: str, folder: Path, parser: ArgumentParser, shown: Callable[[Namespace], str]
) -> str:
    """Return PAGE with the text of each place of this KIND made again; PARSER reads its arguments,
    and files are relative to FOLDER.
    """

    def of_folder(arguments: Namespace) -> str:
        arguments.file = folder / arguments.file
        return shown(arguments)

    return made_again(page, kind, parser, of_folder)
