"""Chromium without a window, driven through its DevTools: what a page logs, loads and shows."""

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
]
LOCAL = ("file:", "data:", "blob:", "about:", "http://127.0.0.1:")


def program() -> str | None:
    """Return the path of an installed Chromium."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


@dataclass(kw_only=True)
class Seen:
    """What happened since a page was opened: its errors, and what it loaded from elsewhere."""

    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def add(self, event: dict[str, Any]) -> None:
        """Take an event of the browser."""
        facts = event.get("params", {})
        match event["method"]:
            case "Runtime.exceptionThrown":
                self.errors.append(
                    str(
                        facts["exceptionDetails"]
                        .get("exception", facts["exceptionDetails"])
                        .get("description", facts)
                    )
                )
            case "Runtime.consoleAPICalled" if facts["type"] in {"error", "assert"}:
                self.errors.append(json.dumps(facts["args"]))
            case "Log.entryAdded" if facts["entry"]["level"] == "error":
                self.errors.append(f"{facts['entry']['text']} {facts['entry'].get('url', '')}")
            case "Network.loadingFailed" if not facts.get("canceled"):
                self.errors.append(facts["errorText"])
            case "Network.requestWillBeSent" if not facts["request"]["url"].startswith(LOCAL):
                self.foreign.append(facts["request"]["url"])


class Tab:
    """One page of the browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._number = socket, 0
        self._loaded = False
        self.seen = Seen()

    async def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": arguments})
        while (message := await self._receive()).get("id") != self._number:
            pass
        assert "error" not in message, message
        result: dict[str, Any] = message["result"]
        return result

    async def open(self, url: str) -> None:
        """Load a page and wait until everything of it is there."""
        self.seen, self._loaded = Seen(), False
        await self.call("Page.navigate", url=url)
        while not self._loaded:
            await self._receive()

    async def value(self, script: str) -> Any:
        """Return the value of an expression in the page; a promise is awaited."""
        found = await self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def until(self, script: str, seconds: float = 20) -> Any:
        """Return the value of an expression as soon as it is true; the last one after some
        SECONDS.
        """
        for _ in range(int(seconds / 0.05)):
            if found := await self.value(script):
                break
            await asyncio.sleep(0.05)
        return found

    async def resize(self, width: int, height: int) -> None:
        """Show the page in a window of WIDTH x HEIGHT."""
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    async def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = await self._socket.receive_json(timeout=60)
        if "method" in message:
            self.seen.add(message)
            self._loaded |= message["method"] == "Page.loadEventFired"
        return message


@asynccontextmanager
async def opened_tab(profile: Path) -> AsyncIterator[Tab]:
    """Start Chromium with an empty PROFILE, yield its page, and end it."""
    found = program()
    assert found is not None
    words = [found, *QUIET, f"--user-data-dir={profile}", "about:blank"]
    process = await asyncio.create_subprocess_exec(
        *words, stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        port = await asyncio.wait_for(_port(process), 60)
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                address = next(
                    one["webSocketDebuggerUrl"]
                    for one in await answer.json()
                    if one["type"] == "page"
                )
            async with session.ws_connect(address, max_msg_size=0) as socket:
                tab = Tab(socket)
                for domain in ("Page", "Runtime", "Log", "Network"):
                    await tab.call(f"{domain}.enable")
                yield tab
    finally:
        process.terminate()
        await process.wait()


async def _port(process: asyncio.subprocess.Process) -> int:
    """Return the port that Chromium names on its stderr."""
    assert process.stderr is not None
    while line := await process.stderr.readline():
        if found := re.search(rb"DevTools listening on ws://[^:]+:(\d+)/", line):
            return int(found[1])
    raise RuntimeError("Chromium did not start")
