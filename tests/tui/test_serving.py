"""`embedlab tui --serve` before clients that speak the protocol of its pages, with and without what
lets them in.
"""

import asyncio
import os
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
import pytest_asyncio

aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("textual_serve")
from embedlab.tui.serving import DashboardServer


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def start(folder: Path, *words: str) -> "subprocess.Popen[str]":
    program = [sys.executable, "-m", "embedlab", "tui", "--serve", "--data", "tiny"]
    program += ["--runs", str(folder / "runs"), *words]
    # A server that several tests share begins before the home of any test is made.
    home = {
        name: str(folder / "home" / name)
        for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")
    }
    env = {**os.environ, **home}
    return subprocess.Popen(
        program, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def address(server: "subprocess.Popen[str]") -> str:
    """The address that the server prints once it listens."""
    for line in server.stderr:
        if found := re.search(r"http://\S+", line):
            return found[0]
    pytest.fail("it printed no address")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server process over `--data tiny`."""
    folder = tmp_path_factory.mktemp("served")
    server = start(folder, "--quiet", "--port", str(free_port()))
    try:
        yield address(server)
    finally:
        server.terminate()
        printed, _ = server.communicate(timeout=30)
        assert printed == ""  # stdout is for answers


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Any]:
    async with aiohttp.ClientSession() as session:
        yield session


def origin_of(url: str) -> str:
    return f"http://{urlsplit(url).netloc}"


async def shown(terminal: Any, text: str, patience_s: float = 120.0) -> None:
    """Wait until TEXT is drawn."""
    drawn = ""
    async with asyncio.timeout(patience_s):
        while text not in drawn:
            drawn += (await terminal.receive_bytes()).decode(errors="replace")


async def websocket_of(client: Any, url: str) -> str:
    """What the page at URL connects to."""
    async with client.get(url) as answer:
        assert answer.status == 200
        found = re.search(r'data-session-websocket-url="(ws://[^"]+)"', await answer.text())
    return found[1]


async def test_a_browser_sees_the_items_and_its_keys_are_obeyed(served: str, client: Any) -> None:
    """As the script of its page it says its size at once, before the dashboard has a screen."""
    socket_url = await websocket_of(client, served)
    async with client.ws_connect(
        f"{socket_url}?width=140&height=45", headers={"Origin": origin_of(served)}
    ) as terminal:
        await terminal.send_json(["resize", {"width": 140, "height": 45}])
        await shown(terminal, " items")
        await terminal.send_json(["stdin", "s"])  # a key of the table, which has the focus
        await shown(terminal, "by gap")
        await terminal.send_json(["stdin", "3"])
        await shown(terminal, "no runs yet")


async def test_the_page_has_a_title_and_loads_nothing_from_elsewhere(
    served: str, client: Any
) -> None:
    async with client.get(served) as answer:
        text, policy = await answer.text(), answer.headers["Content-Security-Policy"]
    assert "<title>embedlab</title>" in text
    assert "https:" not in text
    assert 'src="/dashboard.js"' in text  # it gives the terminal the keys without a click
    assert policy.startswith("default-src 'none'")
    for path in re.findall(r'(?:src|href)="(/[^"]+)"', text):
        async with client.get(origin_of(served) + path) as answer:
            assert answer.status == 200, path


async def refusal(client: Any, url: str, headers: dict[str, str]) -> int:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await client.ws_connect(url, headers=headers)
    return int(refused.value.status)


async def test_without_the_right_token_page_and_websocket_are_refused(
    served: str, client: Any
) -> None:
    own = origin_of(served)
    for query in ("", "?token=", "?token=wrong", "?token=%FF", "?tokens="):
        async with client.get(f"{own}/{query}") as answer:
            assert answer.status == 403, query
            assert "printed" in await answer.text()
    for path in ("/ws", "/ws/wrong", "/ws?token=wrong"):
        assert await refusal(client, f"{own}{path}", {"Origin": own}) == 403, path


@pytest.mark.parametrize("host", ["elsewhere.example", "a:b:c", "127.0.0.1:99999999", "[::1"])
async def test_a_page_under_another_name_is_refused_also_where_it_is_no_name(
    served: str, client: Any, host: str
) -> None:
    async with client.get(served, headers={"Host": host}) as answer:
        assert answer.status == 403


async def test_a_websocket_of_another_page_is_refused_though_it_has_the_token(
    served: str, client: Any
) -> None:
    socket_url, own = await websocket_of(client, served), urlsplit(served)
    origins = (
        "http://elsewhere.example",
        f"http://{own.hostname}:{free_port()}",
        f"https://{own.netloc}",
        f"http://{own.netloc}.example",
        f"http://localhost:{own.port}",
        "null",
    )
    rebound = f"elsewhere.example:{own.port}"
    headers = [{"Origin": origin} for origin in origins]
    for sent in (*headers, {}, {"Origin": f"http://{rebound}", "Host": rebound}):
        assert await refusal(client, socket_url, sent) == 403, sent


async def test_another_name_of_this_machine_serves_a_page_that_works(
    served: str, client: Any
) -> None:
    url = served.replace("127.0.0.1", "localhost")
    socket_url = await websocket_of(client, url)
    assert urlsplit(socket_url).hostname == "localhost"
    async with client.ws_connect(socket_url, headers={"Origin": origin_of(url)}) as terminal:
        await terminal.receive_bytes()


def test_a_port_in_use_is_two_lines(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = start(tmp_path, "--port", str(port))
        out, err = server.communicate(timeout=60)
    assert (server.returncode, out) == (3, "")
    error, hint = err.splitlines()
    assert error == f"embedlab: error: cannot serve on '127.0.0.1:{port}': Address already in use"
    assert "--port" in hint


async def test_on_a_network_the_token_is_needed_and_the_program_says_what_it_means(
    tmp_path: Path, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDLAB_THEME", "textual-light")
    server = start(tmp_path, "--host", "0.0.0.0", "--port", str(free_port()))
    try:
        warning, url = server.stderr.readline(), address(server)
        assert "as you" in warning
        assert "nothing is encrypted" in warning
        local = f"http://127.0.0.1:{urlsplit(url).port}"
        async with client.get(local) as answer:
            assert answer.status == 403
        async with client.get(f"{local}/?{urlsplit(url).query}") as answer:
            assert answer.status == 200
            # around the terminal, as in the theme
            assert "background: #e0e0e0; color: #202020" in await answer.text()
        assert await refusal(client, f"{local}/ws", {"Origin": local}) == 403
    finally:
        server.terminate()
        server.communicate(timeout=30)


def dashboards_of(server: "subprocess.Popen[str]") -> list[psutil.Process]:
    """Its dashboards, without what they score models with."""
    children = psutil.Process(server.pid).children(recursive=True)
    return [child for child in children if "evaluate" not in words_of(child)]


def words_of(process: psutil.Process) -> list[str]:
    """What it was started with; of one that has ended meanwhile, nothing."""
    with suppress(psutil.NoSuchProcess):
        return process.cmdline()
    return []


def is_alive(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


async def ended(
    processes: Sequence[psutil.Process], *, but: int = 0, patience_s: float = 30.0
) -> None:
    """Wait until all PROCESSES have ended, but so many that wait for a browser."""
    async with asyncio.timeout(patience_s):
        while sum(is_alive(process) for process in processes) > but:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@contextmanager
def server_of(folder: Path) -> "Iterator[tuple[subprocess.Popen[str], str]]":
    server = start(folder, "--port", str(free_port()))
    try:
        yield server, address(server)
    finally:
        server.kill()
        server.communicate(timeout=30)


async def connect(client: Any, url: str, query: str = "?width=100&height=30") -> Any:
    return await client.ws_connect(
        f"{await websocket_of(client, url)}{query}",
        headers={"Origin": origin_of(url)},
        max_msg_size=0,
    )


async def test_a_dashboard_waits_loaded_takes_its_browsers_size_and_ends_with_a_killed_server(
    tmp_path: Path, client: Any
) -> None:
    with server_of(tmp_path) as (server, url):
        waiting = await loaded(server)
        first = await connect(client, url, "?width=97&height=31")
        await shown(first, "\x1b[31;1H")
        assert waiting in dashboards_of(server)  # the one that waited, and no other
        await first.send_json(["resize", {"width": 10**5, "height": 10**5}])
        await shown(first, "\x1b[400;1H")
        assert all(process.memory_info().rss < 2**30 for process in dashboards_of(server))
        waiting.kill()
        assert await closed_by(first)
        second = await connect(client, url, f"?width={'9' * 30}&height=-5")
        await shown(second, " items")
        await connect(client, url)
        processes = dashboards_of(server)  # the third may not have begun
        assert processes
        server.kill()
        await ended(processes)


async def test_dashboards_end_with_their_clients_and_with_a_server_that_is_stopped(
    tmp_path: Path, client: Any
) -> None:
    with server_of(tmp_path) as (server, url):
        # More than one connection may be cut while its dashboard still loads.
        cut = [await connect(client, url) for _ in range(2)]
        processes = dashboards_of(server)
        for terminal in cut:
            terminal._response.close()
        await ended(processes, but=1)
        flooded = await connect(client, url)
        await shown(flooded, " items")
        for _ in range(8):
            await flooded.send_json(["stdin", "s" * 60_000])
        processes = dashboards_of(server)
        flooded._response.close()
        await ended(processes, but=1)
        await shown(await connect(client, url), " items")
        processes = dashboards_of(server)
        server.terminate()
        await ended(processes)
        out, err = server.communicate(timeout=30)
        assert (out, err) == ("", "")


async def test_a_browser_that_comes_while_a_dashboard_starts_takes_it_and_leaves_no_process() -> (
    None
):
    server = DashboardServer("sleep 60", host="127.0.0.1", port=0)
    await server.on_startup(aiohttp.web.Application())
    while (starts := server._spare) is None:  # noqa: ASYNC110 - in the next round of the loop
        await asyncio.sleep(0)
    dashboard = server._next_dashboard()
    assert dashboard is starts  # whose process was not there yet
    assert dashboard._process is None
    await dashboard.end()
    assert dashboard.has_ended
    server._spare = dashboard  # as one that ended while it waited
    another = server._next_dashboard()
    assert another is not dashboard
    await another.end()
    await server.on_shutdown(aiohttp.web.Application())
    own = psutil.Process().children(recursive=True)
    assert not [child for child in own if words_of(child) == ["sleep", "60"]]


async def loaded(server: "subprocess.Popen[str]") -> psutil.Process:
    """Wait for a dashboard of SERVER."""
    async with asyncio.timeout(60):
        while not (found := dashboards_of(server)):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return found[0]


async def closed_by(terminal: Any, patience_s: float = 60.0) -> int:
    """The code with which the server closed the connection of TERMINAL."""
    async with asyncio.timeout(patience_s):
        while not terminal.closed:
            await terminal.receive()
    return int(terminal.close_code)


async def test_input_that_waits_and_dashboards_have_limits(client: Any) -> None:
    """Of dashboards that read nothing."""
    server = DashboardServer("sleep 60", host="127.0.0.1", port=free_port())
    runner = aiohttp.web.AppRunner(await server._make_app())
    await runner.setup()
    await aiohttp.web.SockSite(runner, server.listen()).start()
    url = server.address
    big = await connect(client, url)
    await big.send_json(["stdin", "j" * 100_000])  # it fits what a socket holds unread
    assert await closed_by(big) == aiohttp.WSCloseCode.MESSAGE_TOO_BIG
    many = await connect(client, url)
    with suppress(ConnectionError):
        for _ in range(200):
            await many.send_json(["stdin", "s" * 60_000])
    assert await closed_by(many) == aiohttp.WSCloseCode.POLICY_VIOLATION
    for unreadable in ("{", "[]", '["stdin"]', '["stdin", 5]', '["resize", 7]', "[" * 60_000):
        terminal = await connect(client, url)
        await terminal.send_str(unreadable)
        assert await closed_by(terminal) == aiohttp.WSCloseCode.POLICY_VIOLATION, unreadable
    others = [await connect(client, url) for _ in range(16)]
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await connect(client, url)
    assert refused.value.status == 503
    dashboards: list[psutil.Process] = []
    async with asyncio.timeout(60):
        while len(dashboards) < 16:  # a process is another program once it has started
            await asyncio.sleep(0.02)
            children = psutil.Process().children(recursive=True)
            dashboards = [child for child in children if words_of(child) == ["sleep", "60"]]
    for terminal in others:
        await terminal.close()
    await ended(dashboards, but=1)
    await runner.cleanup()
    await ended(dashboards)


async def test_a_dashboard_that_is_cut_before_anything_of_it_is_read_ends() -> None:
    from textual_serve.download_manager import DownloadManager

    from embedlab.tui.serving import _Dashboard

    dashboard = _Dashboard("exec sleep 600", DownloadManager())
    await dashboard._start
    await dashboard.end()
    assert dashboard._process.returncode is not None
