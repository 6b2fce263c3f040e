"""The dashboard in a browser: textual-serve, asked only by the page that it served itself."""

import logging
from urllib.parse import urlsplit

from aiohttp import web
from textual_serve.server import Server

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class DashboardServer(Server):
    """A process of COMMAND for each browser that comes.

    A browser lets any web page open a websocket to this machine. Whoever holds one can start and delete runs, so pages from
    elsewhere are refused, also under a name that was made to point here.
    """

    def __init__(self, command: str, *, host: str, port: int) -> None:
        super().__init__(command, host=host, port=port, title="embedlab")

    def initialize_logging(self) -> None:
        """Warnings to stderr, and no line for every request."""
        logging.basicConfig(level="WARNING")

    async def on_startup(self, app: web.Application) -> None:
        """Print nothing: the command has said where it is, and stdout is for answers."""

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Refuse a page from elsewhere."""
        origin = request.headers.get("Origin")  # a program other than a browser sends none
        if origin is not None and urlsplit(origin).hostname not in {*LOOPBACK, self.host}:
            raise web.HTTPForbidden(text=f"this page may not drive the dashboard: {origin}")
        answer: web.WebSocketResponse = await super().handle_websocket(request)
        return answer
