"""What every page says of itself: the command, the versions, the data and the date."""

import platform
import shlex
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from embedlab.core.version import __version__
from embedlab.data.published import content_of

if TYPE_CHECKING:
    from embedlab.data.dataset import DatasetState


def page_facts(states: "Iterable[DatasetState]") -> dict[str, str]:
    """The facts block of a page that this process writes, about numbers made from data in
    STATES.
    """
    program = Path(sys.argv[0]).name
    return {
        "command": shlex.join(["embedlab" if program == "__main__.py" else program, *sys.argv[1:]]),
        "versions": f"embedlab {__version__}, Python {platform.python_version()}",
        "data": _data_fact(states),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _data_fact(states: "Iterable[DatasetState]") -> str:
    """What was read: each part with its rows, the start of its hash, and whether it is all
    there.
    """
    return "; ".join(dict.fromkeys(_part(state) for state in states))


def _part(state: "DatasetState") -> str:
    digests = ", ".join(digest[:8] for digest in state.sha256.values())
    is_other = (
        state.origin == "folder" and not state.revision and content_of(state.sha256) == "unknown"
    )
    mark = (
        ", partial"
        if state.partial
        else ", generated"
        if state.origin == "tiny"
        else ", content unknown"
        if is_other
        else ""
    )
    return f"{state.name} {state.split}, {state.rows} rows{mark}" + (
        f", sha256 {digests}" if digests else ""
    )
