"""Open sessions of `embedlab tui --serve` and cut them at random times, as browsers do that lose
their network; then count the processes and the memory that stay.

    python benchmarks/served_sessions.py --sessions 300 --seed 1 [--write]

A session is cut without a goodbye: its socket is closed within --longest seconds of its start,
often before its dashboard has drawn anything; of the share --drawn, the time begins when it has.
At the end the server is killed by SIGKILL with --open sessions on it, and their dashboards have to
end too.
"""

import argparse
import asyncio
import random
import re
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from urllib.parse import urlsplit

import aiohttp
import psutil
import record

WITHIN_S = 60.0  # a loaded machine ends processes late


async def session(
    client: aiohttp.ClientSession, url: str, stays_s: float, *, until_drawn: bool = False
) -> int:
    """Open a session, stay, where wanted from when it has drawn something, and cut it; return the
    bytes that were drawn.
    """
    origin = f"http://{urlsplit(url).netloc}"
    async with client.get(url) as answer:
        found = re.search(r'data-session-websocket-url="(ws://[^"]+)"', await answer.text())
    assert found is not None
    terminal = await client.ws_connect(found[1], headers={"Origin": origin})
    drawn = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(WITHIN_S if until_drawn else stays_s) as end:
            while not terminal.closed:
                message = await terminal.receive()
                if isinstance(message.data, bytes):
                    if until_drawn and not drawn:
                        end.reschedule(asyncio.get_running_loop().time() + stays_s)
                    drawn += len(message.data)
    if (transport := terminal._writer.transport) is not None:
        transport.abort()
    return drawn


def dashboards(server: psutil.Process) -> list[psutil.Process]:
    """Return the processes below the server."""
    return server.children(recursive=True)


async def cut_all(url: str, server: psutil.Process, options: argparse.Namespace) -> tuple[int, int]:
    """Cut the sessions, some at a time; return how many had drawn something, and the most
    dashboards at once.
    """
    rng, most, drawn, queue = random.Random(options.seed), 0, 0, list(range(options.sessions))
    waits = [rng.random() < options.drawn for _ in queue]
    stays = [rng.uniform(0, options.longest) for _ in queue]
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(timeout=timeout) as client:

        async def work() -> None:
            nonlocal drawn, most
            while queue:
                place = queue.pop()
                seen = await session(client, url, stays[place], until_drawn=waits[place])
                drawn += seen > 0  # not in one line: others end while it waits
                most = max(most, len(dashboards(server)))

        await asyncio.gather(*(work() for _ in range(options.at_once)))
    print(f"{options.sessions} sessions cut, {drawn} had drawn; at most {most} dashboards at once")
    return drawn, most


def wait_for_few(processes: list[psutil.Process], few: int = 0) -> int:
    """Return how many of PROCESSES, beyond a FEW, are there after a while."""
    until = time.monotonic() + WITHIN_S
    while len(processes) > few and time.monotonic() < until:
        processes = psutil.wait_procs(processes, timeout=0.2)[1]
    return max(len(processes) - few, 0)


async def leave_open(url: str, count: int, server: psutil.Process) -> list[psutil.Process]:
    """Open sessions, kill the server under them; return their dashboards."""
    async with aiohttp.ClientSession() as client:
        waiting = [asyncio.create_task(session(client, url, WITHIN_S)) for _ in range(count)]
        with suppress(TimeoutError):
            async with asyncio.timeout(WITHIN_S):
                while len(dashboards(server)) < count:  # noqa: ASYNC110 - processes send no event
                    await asyncio.sleep(0.1)
        below = dashboards(server)
        server.kill()
        await asyncio.gather(*waiting, return_exceptions=True)
    return below


def write(options: argparse.Namespace, counts: dict[str, str]) -> None:
    """Write the page of results."""
    record.write_table(
        "served-sessions",
        "Served sessions that are cut",
        ("what", "count"),
        [*counts.items()],
        packages=["embedlab", "textual", "textual-serve"],
        notes=[
            f"a session is cut without a goodbye within {options.longest:g} s of its start or, "
            f"{options.drawn:.0%} of them, of what it first drew; {options.at_once} at a time"
        ],
    )


def main() -> int:
    """Return 1 where a process stays."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--longest", type=float, default=2.0, help="seconds")
    parser.add_argument("--drawn", type=float, default=0.8, help="share cut after it has drawn")
    parser.add_argument("--open", type=int, default=3, help="sessions under the server's end")
    parser.add_argument("--port", type=int, default=8737)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the page of results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        words = ["tui", "--serve", "--data", "tiny", "--runs", folder, "--quiet"]
        program = [sys.executable, "-m", "embedlab", *words, "--port", str(options.port)]
        started = subprocess.Popen(program, stderr=subprocess.PIPE, text=True, cwd=folder)
        server = psutil.Process(started.pid)
        try:
            assert started.stderr is not None
            lines = iter(started.stderr)
            url = next(found[0] for line in lines if (found := re.search(r"http://\S+", line)))
            before = server.memory_info().rss
            drawn, most = asyncio.run(cut_all(url, server, options))
            stay = wait_for_few(dashboards(server), 1)  # one waits for the next browser
            grown = (server.memory_info().rss - before) / 2**20
            print(f"{stay} dashboards stay; the server grew by {grown:.1f} MiB")
            left = wait_for_few(asyncio.run(leave_open(url, options.open, server)))
            print(f"{left} of {options.open} stay after the server was killed")
        finally:
            for process in (
                (*server.children(recursive=True), server) if server.is_running() else ()
            ):
                process.kill()
            started.wait()
    if options.write:
        counts = {
            "sessions cut": f"{options.sessions}",
            "of them had drawn": f"{drawn}",
            "dashboards at once, at most": f"{most}",
            "dashboards that stay": f"{stay}",
            "growth of the server": f"{grown:.1f} MiB",
            f"of {options.open} dashboards stay after the server was killed": f"{left}",
        }
        write(options, counts)
    return 1 if stay or left else 0


if __name__ == "__main__":
    sys.exit(main())
