"""The web server of a worker: `/healthz`, `/readyz`, `/metrics` and `/stats`, and nothing else."""

import errno
import logging
import socket
from dataclasses import dataclass

import faust
import msgspec
from aiohttp import web
from faust.web.drivers.aiohttp import Web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from stream_dedup.app.health import Health
from stream_dedup.app.plain_text import plain
from stream_dedup.app.setting_types import MAX_PORT
from stream_dedup.app.statistics import Statistics
from stream_dedup.errors import PortInUseError, SettingsError

PORTS_TRIED = 100
"""Ports after the default one that are tried: more workers than one machine has use for."""


@dataclass(frozen=True, slots=True)
class Pages:
    """What the pages show."""

    health: Health
    registry: CollectorRegistry
    statistics: Statistics

    def routes(self) -> list[web.RouteDef]:
        """The routes for an aiohttp application."""
        return [
            web.get("/healthz", self._healthz),
            web.get("/readyz", self._readyz),
            web.get("/metrics", self._metrics),
            web.get("/stats", self._stats),
        ]

    async def _healthz(self, _request: web.Request) -> web.Response:
        return _verdict("healthy", self.health.stalled())

    async def _readyz(self, _request: web.Request) -> web.Response:
        return _verdict("ready", self.health.waiting())

    async def _metrics(self, _request: web.Request) -> web.Response:
        return web.Response(body=generate_latest(self.registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _stats(self, _request: web.Request) -> web.Response:
        return web.Response(body=msgspec.json.encode(self.statistics.shown()), content_type="application/json")


def _verdict(name: str, problems: list[str]) -> web.Response:
    status = 503 if problems else 200
    return web.json_response({name: not problems, "problems": problems}, status=status)


def bind(host: str, port: int, *, attempts: int = 1) -> socket.socket:
    """A listening socket at the port or, where it is taken, at the first free one of the next `attempts` - 1.

    Raises:
        PortInUseError: all of them are taken.
        SettingsError: the address is not this machine's, or the port needs more rights.
    """
    last = min(port + attempts - 1, MAX_PORT)
    for candidate in range(port, last + 1):
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            return socket.create_server((host, candidate), family=family)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                where = f"{plain(host, 80)} port {candidate}"
                raise SettingsError(f"web_host, web_port: cannot listen on {where}: {error.strerror}") from error
    tried = f"port {port} of {host} is" if last == port else f"ports {port} to {last} of {host} are"
    raise PortInUseError(f"{tried} in use: choose another with --web-port, or 0 for a free one")


def url_of(listening: socket.socket) -> str:
    """The address of the pages."""
    host, port, *_ = listening.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class PagesServer(Web):
    """Faust's web server on a socket that is bound already, with our pages in place of Faust's own."""

    logger = logging.getLogger("mode")
    mundane_level = "debug"

    default_blueprints = ()
    production_blueprints = ()
    debug_blueprints = ()
    optional_blueprints = ()

    def __init__(self, app: faust.App, pages: Pages, listening: socket.socket) -> None:
        super().__init__(app)
        self.web_app.add_routes(pages.routes())
        self._transport_handlers = {"tcp": lambda: web.SockSite(self._runner, listening)}
