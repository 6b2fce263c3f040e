"""How long the dashboard takes to answer, in a real terminal and before a real server.

    python benchmarks/dashboard.py --data DIR MODEL ... [--task sts] [--runs DIR] [--cache DIR]
        [--write]

MODELs that were not scored on the task are scored first. `embedlab tui` runs in a terminal of 140 x
45 cells, beside an empty Textual app. A time begins with the start of the program or with the
writing of a key, and ends when the program has written what answers it: the items, the number of
the item under the cursor, the new count, the title of the room. The dashboard draws 120 times a
second, so that a key waits for up to 8 ms of its time whatever it does. A served dashboard is one
that loaded before its browser came, and the next browser comes when another has. At rest: the
processor time of ten seconds. The machine: a loop that takes as long each time on a machine of
one's own.
"""

import argparse
import asyncio
import fcntl
import os
import pty
import re
import select
import statistics
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import urlsplit

import psutil
import record

COLUMNS, LINES = 140, 45
STARTS, KEYS, REST_S, PATIENCE_S = 7, 60, 10.0, 60.0
# A limit is for the 95th percentile on a machine that does nothing else; twice it is a fault.
LIMITS = {
    "first paint": "0.7 s after the empty app",
    "cursor down": "16 ms",
    "sort": "50 ms",
    "filter": "50 ms",
    "another room": "50 ms",
    "first frame in a browser": "1 s",
    "at rest, processor time a second": "5 ms",
}
EMPTY = "from textual.app import App; App().run()"
READY = re.compile(rb"\d of [\d,]+")
ROOMS = ((b"2", rb"difference from"), (b"3", rb"runs"), (b"1", READY.pattern))


class Terminal:
    """A program in a terminal, and what it wrote since the last key."""

    def __init__(self, words: list[str], environment: dict[str, str]) -> None:
        self.started = time.perf_counter()
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.execvpe(words[0], words, environment)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self.process = psutil.Process(self._pid)

    def wait(self, text: bytes | re.Pattern[bytes], since: float) -> float:
        """The seconds from SINCE until TEXT has been written."""
        got = b""
        while time.perf_counter() - since < PATIENCE_S:
            if select.select([self._fd], [], [], 1.0)[0]:
                got += os.read(self._fd, 2**16)
                if re.search(text, got):
                    return time.perf_counter() - since
        raise SystemExit(
            f"not written within {PATIENCE_S:.0f} s: {text!r}; it wrote {got[-2000:]!r}"
        )

    def rest(self, seconds: float) -> None:
        """Read what comes until nothing has come for so many SECONDS."""
        while select.select([self._fd], [], [], seconds)[0]:
            os.read(self._fd, 2**16)

    def press(self, keys: bytes, text: bytes | re.Pattern[bytes]) -> float:
        """The seconds from KEYS until TEXT has been written."""
        self.rest(0.25)
        since = time.perf_counter()
        os.write(self._fd, keys)
        return self.wait(text, since)

    def end(self) -> None:
        """Kill the program."""
        self.process.kill()
        os.waitpid(self._pid, 0)
        os.close(self._fd)


def answers(terminal: Terminal) -> dict[str, list[float]]:
    """The seconds of each thing that one does, KEYS times."""

    def repeated(press: Callable[[int], float]) -> list[float]:
        return [press(number) for number in range(KEYS)]

    times = {"cursor down": repeated(lambda n: terminal.press(b"j", rb"\D%d of [\d,]+" % (n + 2)))}
    times["sort"] = repeated(lambda _: terminal.press(b"s", READY))
    times["another room"] = repeated(lambda n: terminal.press(*ROOMS[n % 3]))
    terminal.press(b"/dice<0.3", READY)
    # A letter more, and without it: each time all items are filtered.
    times["filter"] = repeated(lambda n: terminal.press((b"1", b"\x7f")[n % 2], READY))
    return times


async def served_frames(words: list[str], environment: dict[str, str]) -> list[float]:
    """The seconds until a browser has the first whole frame."""
    import aiohttp

    server = await asyncio.create_subprocess_exec(
        *words, env=environment, stderr=asyncio.subprocess.PIPE
    )
    times = []
    try:
        assert server.stderr is not None
        found = re.search(rb"http://\S+", await server.stderr.readline())
        assert found is not None
        url = found[0].decode()
        origin = f"http://{urlsplit(url).netloc}"
        async with aiohttp.ClientSession() as client:
            for _ in range(STARTS):
                await asyncio.sleep(10)  # another loads
                since = time.perf_counter()
                async with client.get(url) as page:
                    address = re.search(r'socket-url="(ws://[^"]+)"', await page.text())
                assert address is not None
                size = f"?width={COLUMNS}&height={LINES}"
                async with client.ws_connect(
                    address[1] + size, headers={"Origin": origin}, max_msg_size=0
                ) as browser:
                    while len(await browser.receive_bytes()) < COLUMNS * LINES:
                        pass
                    times.append(time.perf_counter() - since)
    finally:
        server.terminate()
        await server.wait()
    return times


def machine() -> list[float]:
    """The seconds of the same piece of Python, as often as a key: how steady the machine is."""
    times = []
    for _ in range(KEYS):
        since = time.perf_counter()
        sum(number * number for number in range(200_000))
        times.append(time.perf_counter() - since)
        time.sleep(0.3)
    return times


def row(what: str, times: list[float], unit: str = "ms") -> tuple[str, str, str, str]:
    """The median, the 95th percentile or the largest of a few, and the limit."""
    scale = 1000 if unit == "ms" else 1
    form = "{:.0f} ms" if unit == "ms" else "{:.2f} s"
    high = statistics.quantiles(times, n=20)[-1] if len(times) >= 20 else max(times)
    median = statistics.median(times)
    return what, form.format(scale * median), form.format(scale * high), LIMITS.get(what, "")


def main() -> None:
    """Measure, print a table, and with --write its page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--data", default="starter")
    parser.add_argument("--task", default="starter")
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--cache", type=Path, default=Path("cache"))
    parser.add_argument("--write", action="store_true", help="write the page of results")
    given = parser.parse_args()
    environment = {
        **os.environ,
        "EMBEDLAB_CACHE": str(given.cache),
        "XDG_STATE_HOME": mkdtemp(),  # no filter or room of a user's own
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
    }
    program = [sys.executable, "-m", "embedlab"]
    places = ["--data", given.data, "--runs", str(given.runs), "--quiet"]
    for model in (*given.models, "dice"):
        words = [*program, "evaluate", model, "--task", given.task, *places]
        subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL)
    remember = (
        "import sys; from pathlib import Path; from embedlab.core.paths import data_folder, data_name;"
        "from embedlab.tui.state import Memory; m = Memory(data_name(data_folder(Path(sys.argv[1]))));"
        "m.set('task', sys.argv[2]); m.set('models', sys.argv[3:]); m.write()"
    )
    words = [sys.executable, "-c", remember, given.data, given.task, *given.models]
    subprocess.run(words, env=environment, check=True)
    tui = [*program, "tui", *places]
    rows = []
    for what, words, text in (
        ("first paint, empty", [sys.executable, "-c", EMPTY], re.compile(rb" {100}")),
        ("first paint", tui, READY),
    ):
        times = []
        for _ in range(STARTS):
            terminal = Terminal(words, environment)
            times.append(terminal.wait(text, terminal.started))
            terminal.end()
        rows.append(row(what, times, "s"))
    terminal = Terminal(tui, environment)
    terminal.wait(READY, terminal.started)
    terminal.rest(5.0)
    rows.append(row("the machine: the same loop", machine()))
    rows += [row(what, times) for what, times in answers(terminal).items()]
    terminal.press(b"\x1b\x1b1", READY)
    terminal.rest(3.0)
    before = sum(terminal.process.cpu_times()[:2])
    time.sleep(REST_S)
    used = (sum(terminal.process.cpu_times()[:2]) - before) / REST_S
    rows.append(row("at rest, processor time a second", [used]))
    terminal.end()
    serve = [*tui, "--serve", "--port", "8739"]
    rows.append(
        row("first frame in a browser", asyncio.run(served_frames(serve, environment)), "s")
    )
    columns = ("what", "median", "95%, or the largest of 7", "limit")
    for cells in (columns, *rows):
        print(" | ".join(cells))
    if given.write:
        record.write_table(
            "dashboard",
            "The dashboard",
            columns,
            rows,
            packages=["embedlab", "textual", "textual-serve"],
            notes=[
                "a time ends when the answer has been written to the terminal; a limit is for the "
                "95th percentile, and twice the limit is a fault",
            ],
        )


if __name__ == "__main__":
    main()
