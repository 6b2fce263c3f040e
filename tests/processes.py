"""Real processes for tests of what several do at once: forked from a server that has loaded what
they need.
"""

import multiprocessing
import os
import resource
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from threading import Barrier
from typing import Any

from embedlab.core.errors import EmbedlabError

# Each test process has one such server. What is not loaded there is loaded by each of the
# processes: a second or more of each.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "matplotlib.backends.backend_svg",
        "matplotlib.figure",
        "transformers.models.bert.modeling_bert",
        "tests.processes",
        "embedlab.cli.app",
        "embedlab.encoders.kinds.word_vectors",
        "embedlab.encoders.random_encoder",
        "embedlab.training.stages",
        "embedlab.commands.compare",
        "embedlab.commands.pages",
        "embedlab.commands.encode",
        "embedlab.commands.evaluate",
        "embedlab.commands.export",
        "embedlab.commands.training",
        "tests.benchmarks.programs",
        "tests.tasks.test_submission",
        "tests.test_two_processes",
        "tests.training.killed_run",
        "tests.training.test_parallel",
    ]
)


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a process ended, and what it wrote to stderr."""

    code: int  # 99: a traceback
    err: str


def process(function: Callable[..., Any], *arguments: Any) -> ForkServerProcess:
    """A process that is to call the function of a module with these arguments."""
    return CONTEXT.Process(target=function, args=arguments)


def at_once(
    calls: Sequence[tuple[Callable[..., Any], Sequence[Any]]],
    *,
    has_rights: bool = True,
    patience_s: float = 120,
) -> list[Ended]:
    """Call each function of a module with its arguments in a process of its own; they begin when
    all are there.

    What a function gives is the exit code, None counts as 0, and an error of embedlab as its own.
    Without HAS_RIGHTS even root may do
    only what a file's mode allows. PATIENCE_S is for a process that hangs.
    """
    folder, start = Path.cwd(), CONTEXT.Barrier(len(calls))
    files = [folder / f".err-{number}" for number in range(len(calls))]
    processes = [
        process(
            _run, function, arguments, str(folder), dict(os.environ), str(file), start, has_rights
        )
        for (function, arguments), file in zip(calls, files, strict=True)
    ]
    for each in processes:
        each.start()
    return [
        Ended(code=_code(each, patience_s), err=_taken(file))
        for each, file in zip(processes, files, strict=True)
    ]


def embedlab_at_once(*commands: Sequence[str], has_rights: bool = True) -> list[Ended]:
    """The same of commands `embedlab …`."""
    from embedlab.cli.app import main

    return at_once([(main, (list(command),)) for command in commands], has_rights=has_rights)


def embedlab_on_a_small_disk(command: Sequence[str], limit: int) -> Ended:
    """The command `embedlab …` where no file may grow over LIMIT bytes."""
    return at_once([(_limited, (list(command), limit))])[0]


def _limited(command: Sequence[str], limit: int) -> int:
    from embedlab.cli.app import main

    resource.setrlimit(
        resource.RLIMIT_FSIZE, (limit, limit)
    )  # Python ignores the signal: the write fails
    return main(command)


def _run(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    folder: str,
    environment: dict[str, str],
    err: str,
    start: Barrier,
    has_rights: bool,
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.stdin, sys.stdout, sys.stderr = (
        Path(name).open(mode)  # noqa: SIM115
        for name, mode in ((os.devnull, "r"), (os.devnull, "w"), (err, "w"))
    )
    if not has_rights:
        _drop_rights()
    start.wait(120)
    try:
        code = int(function(*arguments) or 0)
    except EmbedlabError as error:
        code = error.exit_code
    except BaseException:
        sys.stderr.write(traceback.format_exc())
        code = 99
    sys.stderr.flush()
    os._exit(code)


def _drop_rights() -> None:
    """Give up what lets root read and write everything: see capabilities(7)."""
    import ctypes

    if os.geteuid() == 0:
        version, empty = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        assert ctypes.CDLL(None).capset(version, empty) == 0


def _code(started: ForkServerProcess, patience_s: float) -> int:
    started.join(patience_s)
    if started.exitcode is None:
        started.kill()
        raise TimeoutError(f"a process did not end in {patience_s:g} s")
    return started.exitcode


def _taken(file: Path) -> str:
    text = file.read_text()
    file.unlink()
    return text
