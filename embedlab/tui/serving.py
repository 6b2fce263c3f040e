"""The dashboard in a browser: textual-serve, driven only by who holds the address that was printed."""

import ipaddress
import logging
import os
import secrets
import socket
from contextlib import suppress
from html import escape
from importlib.resources import files
from string import Template

from aiohttp import web
from textual_serve.server import Server

from embedlab.core.errors import MissingError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("", "0.0.0.0", "::")
FONT_SIZE, LARGEST_FONT = 16, 96


class DashboardServer(Server):
    """A process of COMMAND for each browser that brings the TOKEN of this server.

    Whoever drives the dashboard can start and delete runs and write files. Any user of this machine can connect to a local port, and
    a browser lets any web page open a websocket to it: so the page and the websocket each need the token, and the websocket
    the page's own origin.
    """

    def __init__(self, command: str, *, host: str, port: int) -> None:
        super().__init__(command, host=host, port=port, title="embedlab")
        self._token = secrets.token_urlsafe(32)
        self._page = Template(files("embedlab.tui").joinpath("served.html").read_text(encoding="utf-8"))

    @property
    def address(self) -> str:
        """What to open in a browser; it holds the token."""
        name = socket.gethostname() if self.host in EVERYWHERE else self.host
        return f"http://{_authority(name, self.port)}/?token={self._token}"

    def initialize_logging(self) -> None:
        """Warnings to stderr, and no line for every request."""
        logging.basicConfig(level="WARNING")

    def listen(self) -> socket.socket:
        """The socket to serve on; where another program has it, an error before anything is printed."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            return socket.create_server((self.host, self.port), family=family)
        except OSError as error:
            raise MissingError(
                f"cannot serve on {_authority(self.host, self.port)!r}: {_reason(error)}",
                hint=f"choose another port, for example --port {self.port + 1 if self.port < 65_535 else 8000}",
            ) from error

    def serve_on(self, listening: socket.socket) -> None:
        """Serve until Ctrl-C or SIGTERM."""
        self.initialize_logging()
        web.run_app(self._make_app(), sock=listening, print=None, access_log=None)

    async def _make_app(self) -> web.Application:
        app: web.Application = await super()._make_app()
        app.router.add_get("/ws/{token}", self.handle_websocket)  # its script adds a query of its own to the address
        app.on_response_prepare.append(self._protect)
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Print nothing: the command has said where it is, and stdout is for answers."""

    async def handle_index(self, request: web.Request) -> web.Response:
        """The page, for whoever brings the token."""
        self._check_token(request.query.get("token", ""))
        self._check_host(request)
        size = request.query.get("fontsize", "")
        values = {
            "websocket": f"ws://{request.host}/ws/{self._token}",
            "font_size": str(min(int(size), LARGEST_FONT)) if size.isdecimal() and len(size) < 4 else str(FONT_SIZE),
        }
        text = self._page.substitute({name: escape(value) for name, value in values.items()})
        return web.Response(text=text, content_type="text/html")

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """A dashboard, for the page that this server served and nothing else."""
        self._check_token(request.match_info.get("token", ""))
        self._check_host(request)
        if (origin := request.headers.get("Origin", "")) != f"http://{request.host}":
            raise web.HTTPForbidden(text=f"this page may not drive the dashboard: {origin or 'it names no origin'}")
        answer: web.WebSocketResponse = await super().handle_websocket(request)
        return answer

    def _check_token(self, token: str) -> None:
        if not secrets.compare_digest(token.encode(errors="replace"), self._token.encode()):
            raise web.HTTPForbidden(text="open the address that `embedlab tui --serve` printed: it holds a token that was left out here")

    def _check_host(self, request: web.Request) -> None:
        """Refuse a name from elsewhere that was made to point to this machine; on a network its names are not known."""
        if is_local(self.host) and request.host not in {part for name in (*LOOPBACK, self.host) for part in _hosts(name, self.port)}:
            raise web.HTTPForbidden(text=f"this server is not {request.host!r}")

    async def _protect(self, request: web.Request, response: web.StreamResponse) -> None:
        """Let a page load from this server alone, be framed by none, and pass its address on to none."""
        sources = "script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:"
        connections = f"connect-src 'self' ws://{request.host}"
        rest = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
        response.headers["Content-Security-Policy"] = f"default-src 'none'; {sources}; {connections}; {rest}"
        response.headers.update({"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"})


def is_local(host: str) -> bool:
    """Whether only this machine reaches what is served on HOST."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host in LOOPBACK


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _hosts(name: str, port: int) -> tuple[str, ...]:
    """How a browser names this server; it leaves out port 80."""
    whole = _authority(name, port)
    return (whole, whole.removesuffix(":80")) if port == 80 else (whole,)


def _reason(error: OSError) -> str:
    """What the system says, without what Python adds; a name that nobody knows has no number of the system's."""
    return os.strerror(error.errno) if error.errno is not None and error.errno > 0 else str(error.strerror or error).partition(" (while")[0]
