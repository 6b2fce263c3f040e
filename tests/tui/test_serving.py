"""`embedlab tui --serve` before a client that speaks the websocket protocol of its pages."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("textual_serve")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server process over the sample world."""
    port = free_port()
    words = ["tui", "--serve", "--sample", "--port", str(port), "--runs", str(folder / "runs")]
    server = subprocess.Popen([sys.executable, "-m", "embedlab", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        printed, _ = server.communicate(timeout=30)
        assert printed == b""  # stdout is for answers


async def page(client: "aiohttp.ClientSession", address: str, patience_s: float = 120.0) -> str:
    """The page, once the server has started."""
    async with asyncio.timeout(patience_s):
        while True:
            try:
                async with client.get(address) as answer:
                    return await answer.text()
            except aiohttp.ClientConnectorError:
                await asyncio.sleep(0.05)


async def shown(terminal: "aiohttp.ClientWebSocketResponse", text: str, patience_s: float = 120.0) -> None:
    """Wait until TEXT is drawn."""
    drawn = ""
    async with asyncio.timeout(patience_s):
        while text not in drawn:
            drawn += (await terminal.receive_bytes()).decode(errors="replace")


async def test_a_browser_sees_the_pairs_and_its_keys_are_obeyed(tmp_path: Path) -> None:
    with served(tmp_path) as address:
        async with aiohttp.ClientSession() as client:
            assert "embedlab" in await page(client, address)
            origin = {"Origin": address}
            async with client.ws_connect(f"{address}/ws?width=140&height=45", headers=origin) as terminal:
                await shown(terminal, "5,400 pairs")
                await terminal.send_json(["stdin", "3"])
                await shown(terminal, "press 4 to start one")
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await client.ws_connect(f"{address}/ws", headers={"Origin": "http://elsewhere.example"})
            assert refused.value.status == 403
