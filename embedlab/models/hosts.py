"""Servers that may be contacted: those that the user typed, and those that the user allows.

A recipe, a paper or a stored result may name any server. What the user typed or stored as an alias
is the user's own: only it gets the user's key and headers. Other processes of a command know it by
the environment.
"""

import os
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from embedlab.core.errors import UsageError
from embedlab.core.settings import ALLOW_HOST, TYPED_HOSTS

_ADDRESS = re.compile(r"https?://[^\s#?,()\"]+")
_PORTS = {"http": 80, "https": 443}


def note_typed(text: str) -> None:
    """Note the servers in TEXT, which the user typed or wrote into a file of settings."""
    if servers := [_server(address) for address in _ADDRESS.findall(text)]:
        _extend(TYPED_HOSTS, servers)


def allow_hosts(hosts: Iterable[str]) -> None:
    """Let HOSTS, with or without a port, be contacted, without a key."""
    _extend(ALLOW_HOST, hosts)


def is_typed(address: str) -> bool:
    """Return whether the user named the server of ADDRESS."""
    return _server(address) in _hosts_in_variable(TYPED_HOSTS)


def refuse_strangers(texts: Iterable[str]) -> None:
    """Refuse all servers in TEXTS that the user neither typed nor allowed."""
    allowed = {host.lower() for host in _hosts_in_variable(ALLOW_HOST)}
    strangers: dict[str, None] = {}
    for address in (address for text in texts for address in _ADDRESS.findall(text)):
        if is_typed(address):
            continue
        url_parts = urlsplit(address)
        if not allowed & {url_parts.netloc.lower(), url_parts.hostname}:
            strangers[url_parts.netloc.lower()] = None
    if strangers:
        raise UsageError(
            f"a file names {' and '.join(map(repr, strangers))}, which you did not type: nothing "
            f"was sent there",
            hint=f"{' '.join(f'--allow-host {host}' for host in strangers)} sends it the sentences, "
            f"and never your key",
        )


def _server(address: str) -> str:
    try:
        url_parts = urlsplit(address)
        port = url_parts.port or _PORTS.get(url_parts.scheme)
    except ValueError as error:
        raise UsageError(
            f"{address!r} is not an address: {error}",
            hint="for example http://localhost:8000/v1#MODEL",
        ) from error
    return f"{url_parts.scheme}://{url_parts.hostname}:{port}"


def _extend(variable: str, hosts: Iterable[str]) -> None:
    os.environ[variable] = " ".join(dict.fromkeys([*_hosts_in_variable(variable), *hosts]))


def _hosts_in_variable(variable: str) -> list[str]:
    return os.environ.get(variable, "").replace(",", " ").split()
