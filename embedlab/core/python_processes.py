"""Start Python processes that import nothing from the working folder: no other module starts any.

`python -m` and `python -c` put the working folder before the standard library. A file `random.py`
there, of the user or of whoever made the folder, would run in place of Python's own, and an
`x.dist-info` there would count as an installed package. The switch -P prevents it for the process,
PYTHONSAFEPATH for all that it and its libraries start. PYTHONPATH belongs to the user and stays.
"""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    import subprocess

CHECKOUT = Path(__file__).parents[2]  # or site-packages
SAFE_PATH = {"PYTHONSAFEPATH": "1"}


def python_command(*arguments: str, module: str = "embedlab") -> tuple[str, ...]:
    """Return the command that runs MODULE, by default the program `embedlab`, with ARGUMENTS."""
    return (sys.executable, "-P", "-m", module, *arguments)


def isolated_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return ENVIRONMENT for a process that imports nothing from the working folder, except from a
    source checkout of embedlab itself.
    """
    if Path.cwd() != CHECKOUT:
        return {**environment, **SAFE_PATH}
    # it may not be installed
    path = os.pathsep.join(filter(None, (environment.get("PYTHONPATH"), str(CHECKOUT))))
    return {**environment, **SAFE_PATH, "PYTHONPATH": path}


def isolate_children() -> None:
    """Make all Python processes that this one or a library starts import nothing from the working
    folder.
    """
    os.environ.update(SAFE_PATH)


def start(
    command: Sequence[str], *, environment: Mapping[str, str] | None = None, **options: Any
) -> "subprocess.Popen[bytes]":
    """Start COMMAND, which `python_command` made or which runs a program of its own; OPTIONS are
    those of Popen.
    """
    import subprocess  # only where a process is started

    return subprocess.Popen(
        command,
        env=isolated_environment(os.environ if environment is None else environment),
        **options,
    )


def output_of_module(module: str, *arguments: str) -> tuple[int, str]:
    """Run MODULE with ARGUMENTS without input; return its exit code and all that it wrote."""
    import subprocess

    command = python_command(*arguments, module=module)
    with start(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        written = process.communicate()[0]
    return process.returncode, written.decode(errors="replace")


_piped: list["asyncio.subprocess.Process"] = []


async def start_piped(command: Sequence[str], *, stderr: Any) -> "asyncio.subprocess.Process":
    """Start COMMAND in a session of its own, with pipes for its input and output."""
    import asyncio

    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=pipe,
        stdout=pipe,
        stderr=stderr,
        start_new_session=True,
        env=isolated_environment(os.environ),
    )
    _piped[:] = [*(earlier for earlier in _piped if earlier.returncode is None), process]
    return process


def end_piped() -> None:
    """End the processes that `start_piped` started, before this one ends without a clean-up."""
    for process in _piped:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
