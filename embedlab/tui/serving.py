"""The dashboard in a browser through textual-serve, for holders of the printed address only."""

import asyncio
import ipaddress
import json
import logging
import os
import secrets
import signal
import socket
from contextlib import suppress
from html import escape
from importlib.resources import files
from string import Template

from aiohttp import WSCloseCode, WSMsgType, web
from textual.theme import BUILTIN_THEMES
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager
from textual_serve.server import Server

from embedlab.core.errors import MissingError
from embedlab.tui.state import Memory

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("", "0.0.0.0", "::")
FONT_SIZE, LARGEST_FONT = 16, 96
MOST_DASHBOARDS = 16  # each is a process of 90 to 275 MB
USUAL_CELLS = {"width": 80, "height": 24}
MOST_CELLS = {"width": 1000, "height": 400}
MESSAGE_BYTES = 2**16  # of one message of a browser; nobody pastes more
WAITING_BYTES = 2**20  # that a dashboard has not taken yet
SPARE_AFTER_S = 5.0  # the next dashboard does not load while one begins
END_WITHIN_S = 2.0  # before a dashboard whose browser has gone is killed


async def _unopened(*_: object) -> None:
    """What a dashboard sends before a browser opens it: nothing."""


class _Dashboard(AppService):
    """The process of one browser. It loads before there is one, and begins with a size."""

    def __init__(self, command: str, downloads: DownloadManager) -> None:
        super().__init__(
            command,
            write_bytes=_unopened,
            write_str=_unopened,
            close=_unopened,
            download_manager=downloads,
        )
        self._start = asyncio.create_task(self._open_app_process())

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended, or could not start."""
        return self._start.done() and (
            self._process is None or self._process.returncode is not None
        )

    async def open(self, websocket: web.WebSocketResponse, width: int, height: int) -> None:
        """Begin in WIDTH x HEIGHT cells, for the browser at the other end of WEBSOCKET."""

        async def closes() -> None:
            await websocket.close()

        self.remote_write_bytes, self.remote_write_str = websocket.send_bytes, websocket.send_str
        self.remote_close = closes
        await self._start
        await self.set_terminal_size(width, height)
        self._task = asyncio.create_task(self.run())

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        return {
            **super()._build_environment(width, height),
            "TEXTUAL_DRIVER": "embedlab.tui.served_driver:ServedDriver",
        }

    async def run(self) -> None:
        """Show what the process draws; one that crashed or was killed closes its browser's page."""
        await super().run()
        process = self._process
        if process is not None and process.stdout is not None and process.stdout.at_eof():
            await self.remote_close()

    def take(self, message: str) -> bool:
        """Pass a MESSAGE of the browser on; returns whether it can be read and there is room for
        it.
        """
        try:
            kind, *values = json.loads(message)
            if kind == "stdin":
                packet = self.encode_packet(b"D", values[0].encode("utf-8", "replace"))
            elif kind == "resize":
                meta = {
                    "type": kind,
                    **{side: _cells(values[0][side], side) for side in MOST_CELLS},
                }
                packet = self.encode_packet(b"M", json.dumps(meta).encode())
            elif kind in {"blur", "focus"}:
                packet = self.encode_packet(b"M", json.dumps({"type": kind}).encode())
            else:
                return True
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return False
        self.stdin.write(packet)
        return self.stdin.transport.get_write_buffer_size() <= WAITING_BYTES

    async def end(self) -> None:
        """End the process: at its own pace if it is quick, whatever it does now."""
        if self._task is not None:  # it would print what the process says of its end
            self._task.cancel()
            # One that was cancelled before it began would raise, and leave the process alive.
            await asyncio.wait([self._task])
        await asyncio.wait([self._start])
        if (process := self._process) is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    # `terminate` could take the exit status away from the loop, which warns then.
                    os.kill(process.pid, number)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), END_WITHIN_S)


class DashboardServer(Server):
    """Starts a process of COMMAND for each browser that sends the token of this server.

    A user of the dashboard can start and delete runs and write files. Any user of this machine can
    connect to a local port, and a browser lets any web page open a websocket to it. So the page and
    the websocket each require the token, and the websocket also requires the origin of the page.
    """

    def __init__(self, command: str, *, host: str, port: int, theme: str | None = None) -> None:
        super().__init__(f"exec {command}", host=host, port=port, title="embedlab")
        self._open: set[web.WebSocketResponse] = set()
        self._spare: _Dashboard | None = None  # loaded, for the next browser
        self._loads: asyncio.TimerHandle | None = None  # until it does
        self._theme = theme
        self._token = secrets.token_urlsafe(32)
        self._page = Template(
            files("embedlab.tui").joinpath("served.html").read_text(encoding="utf-8")
        )

    @property
    def address(self) -> str:
        """The address to open in a browser; it contains the token."""
        name = socket.gethostname() if self.host in EVERYWHERE else self.host
        return f"http://{_authority(name, self.port)}/?token={self._token}"

    def initialize_logging(self) -> None:
        """Log warnings to stderr, and no requests."""
        logging.basicConfig(level="WARNING")

    def listen(self) -> socket.socket:
        """Open the socket to serve on; a port in use is an error before anything is printed."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            return socket.create_server((self.host, self.port), family=family)
        except OSError as error:
            raise MissingError(
                f"cannot serve on {_authority(self.host, self.port)!r}: {_reason(error)}",
                hint=f"choose another port, for example --port "
                f"{self.port + 1 if self.port < 65_535 else 8000}",
            ) from error

    def serve_on(self, listening: socket.socket) -> None:
        """Serve until Ctrl-C or SIGTERM."""
        self.initialize_logging()
        web.run_app(self._make_app(), sock=listening, print=None, access_log=None)

    async def _make_app(self) -> web.Application:
        app: web.Application = await super()._make_app()
        app.router.add_get(
            "/ws/{token}", self.handle_websocket
        )  # the script of the page adds a query to the address
        app.router.add_get("/dashboard.js", self.handle_script)
        app.on_response_prepare.append(self._protect)
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Load the first dashboard; print nothing, for the command has printed the address."""
        self._load_spare(0)

    def _load_spare(self, after_s: float) -> None:
        def load() -> None:
            self._loads, self._spare = None, _Dashboard(self.command, self.download_manager)

        if self._spare is None and self._loads is None:
            self._loads = asyncio.get_running_loop().call_later(after_s, load)

    def _next_dashboard(self) -> _Dashboard:
        """One that has loaded or does, or a new one; the next will be loaded."""
        dashboard, self._spare = self._spare, None
        self._load_spare(SPARE_AFTER_S)
        if dashboard is None or dashboard.has_ended:
            return _Dashboard(self.command, self.download_manager)
        return dashboard

    async def handle_index(self, request: web.Request) -> web.Response:
        """Serve the page to a request with the token."""
        self._check_token(request.query.get("token", ""))
        self._check_host(request)
        size = request.query.get("fontsize", "")
        name = self._theme or Memory("").get("theme", "", everywhere=True)
        theme = BUILTIN_THEMES.get(name)
        is_light = theme is not None and not theme.dark
        values = {
            "paper": "#e0e0e0" if is_light else "#121212",  # around the terminal
            "ink": "#202020" if is_light else "#e0e0e0",
            "websocket": f"ws://{request.host}/ws/{self._token}",
            "font_size": str(min(int(size), LARGEST_FONT))
            if size.isdecimal() and len(size) < 4
            else str(FONT_SIZE),
        }
        text = self._page.substitute({name: escape(value) for name, value in values.items()})
        return web.Response(text=text, content_type="text/html")

    async def handle_script(self, request: web.Request) -> web.Response:
        """Serve the script of the page, which holds no secret."""
        self._check_host(request)
        script = files("embedlab.tui").joinpath("served.js").read_text(encoding="utf-8")
        return web.Response(text=script, content_type="text/javascript")

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Connect the page that this server served, and no other, to a dashboard."""
        self._check_token(request.match_info.get("token", ""))
        self._check_host(request)
        if (origin := request.headers.get("Origin", "")) != f"http://{request.host}":
            raise web.HTTPForbidden(
                text=f"this page may not use the dashboard: {origin or 'it names no origin'}"
            )
        if len(self._open) >= MOST_DASHBOARDS:
            raise web.HTTPServiceUnavailable(
                text=f"{MOST_DASHBOARDS} dashboards are open; close one of them first"
            )
        websocket = web.WebSocketResponse(heartbeat=15, max_msg_size=MESSAGE_BYTES)
        self._open.add(websocket)
        dashboard = self._next_dashboard()
        try:
            await websocket.prepare(request)
            cells = (_cells(request.query.get(side, ""), side) for side in MOST_CELLS)
            await dashboard.open(websocket, *cells)
            async for message in websocket:
                if message.type != WSMsgType.TEXT or not dashboard.take(message.data):
                    await websocket.close(code=WSCloseCode.POLICY_VIOLATION)
        finally:
            self._open.discard(websocket)
            await asyncio.shield(dashboard.end())
        return websocket

    async def on_shutdown(self, app: web.Application) -> None:
        """Close what is open, so that its dashboards end before the server does."""
        if self._loads is not None:
            self._loads.cancel()
        if self._spare is not None:
            await self._spare.end()
        for websocket in list(self._open):
            await websocket.close(code=WSCloseCode.GOING_AWAY)

    def _check_token(self, token: str) -> None:
        if not secrets.compare_digest(token.encode(errors="replace"), self._token.encode()):
            raise web.HTTPForbidden(
                text="open the address that `embedlab tui --serve` printed: it contains a token "
                "that is missing here"
            )

    def _check_host(self, request: web.Request) -> None:
        """Refuse a foreign name that resolves to this machine; the names of a server on a network
        are not known.
        """
        if is_local_host(self.host) and request.host not in {
            host for name in (*LOOPBACK, self.host) for host in _hosts(name, self.port)
        }:
            raise web.HTTPForbidden(text=f"this server is not {request.host!r}")

    async def _protect(self, request: web.Request, response: web.StreamResponse) -> None:
        """Allow the page to load only from this server, in no frame, without a referrer."""
        sources = (
            "script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src "
            "'self' data:"
        )
        connections = f"connect-src 'self' ws://{request.host}"
        restrictions = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
        response.headers["Content-Security-Policy"] = (
            f"default-src 'none'; {sources}; {connections}; {restrictions}"
        )
        response.headers.update(
            {
                "Referrer-Policy": "no-referrer",
                "X-Content-Type-Options": "nosniff",
                "Cache-Control": "no-store",
            }
        )


def _cells(value: object, side: str) -> int:
    """Return as many cells as a terminal can have on this SIDE; what is no number is its usual
    size.
    """
    digits = str(value)
    if not digits.isdecimal():
        return USUAL_CELLS[side]
    return min(max(1, int(digits[:9])), MOST_CELLS[side])


def is_local_host(host: str) -> bool:
    """Whether only this machine can connect to HOST."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host in LOOPBACK


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _hosts(name: str, port: int) -> tuple[str, ...]:
    """The names that a browser uses for this server; it omits port 80."""
    authority = _authority(name, port)
    return (authority, authority.removesuffix(":80"))


def _reason(error: OSError) -> str:
    """The message of the system without the additions of Python; the error of an unknown host has
    no system number.
    """
    return (
        os.strerror(error.errno)
        if error.errno is not None and error.errno > 0
        else str(error.strerror or error).partition(" (while")[0]
    )
