"""Pages of results whose tables programs make again, each between two lines: `<!-- KIND ARGUMENTS -->` and `<!-- end of KIND -->`."""

import re
import shlex
from collections.abc import Callable


def refreshed(page: str, kind: str, made: Callable[[list[str]], str]) -> str:
    """Return PAGE with the text of each place of this KIND made again, from the arguments that it names."""

    def again(found: re.Match[str]) -> str:
        return f"{found['begin']}\n{made(shlex.split(found['arguments']))}\n{found['end']}"

    return re.sub(rf"(?P<begin><!-- {kind} (?P<arguments>.*?) -->\n).*?(?P<end><!-- end of {kind} -->)", again, page, flags=re.DOTALL)
