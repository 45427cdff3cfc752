"""An MCP server: agents ask models about tables, within one folder and within bounds."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refold.base.errors import UserError, sentence_of
from refold.base.needs import needs
from refold.base.version import VERSION
from refold.integrations._mcp_tools import ModelTools
from refold.service.errors import RequestError

if TYPE_CHECKING:
    import socket

__all__ = ["ModelTools", "create_server", "serve_http"]

_ANSWER = 200_000  # characters of one answer
_AT_ONCE = threading.BoundedSemaphore(2)  # tools that work at a time; others wait


def create_server(tools: ModelTools) -> Any:
    """Return an MCP server with these tools.

    Parameters
    ----------
    tools : ModelTools
        What may be asked.

    Returns
    -------
    mcp.server.MCPServer
        Its ``run("stdio")`` serves standard input and output.

    Examples
    --------
    >>> from refold.integrations.mcp import ModelTools, create_server
    >>> server = create_server(ModelTools({"parts": "parts.json"}))
    >>> server.run("stdio")  # doctest: +SKIP
    """
    server_module = needs("mcp.server", "mcp")
    names = ", ".join(tools.models) or "none yet"
    server = server_module.MCPServer(
        "refold",
        version=VERSION,
        log_level="WARNING",
        instructions="Models that have learned what normal rows of a table are, and say of new "
        f"rows: normal or not, how far off, because of which columns. Models: {names}.",
    )
    offered: list[Callable[..., Any]] = [
        tools.check,
        tools.score,
        tools.explain,
        tools.compare,
        tools.limits,
        tools.rules,
    ]
    if tools.folder is not None:
        offered.append(tools.learn)
    for tool in offered:
        server.add_tool(_guarded(tool, tools), structured_output=True)
    return server


def serve_http(
    tools: ModelTools, at: socket.socket, token: str, started: Callable[[], None]
) -> None:
    """Serve the tools over HTTP at ``/mcp`` to those who send the token, until told to stop.

    Parameters
    ----------
    tools : ModelTools
        What may be asked.
    at : socket
        A socket that listens.
    token : str
        What clients send as ``Authorization: Bearer …``.
    started : callable
        Is called when the server answers.

    Examples
    --------
    >>> from refold.integrations.mcp import ModelTools, serve_http
    >>> from refold.service import listen
    >>> tools = ModelTools({"parts": "parts.json"})
    >>> serve_http(tools, listen("127.0.0.1", 8090), token, print)  # doctest: +SKIP
    """
    from starlette.middleware import Middleware

    from refold.service.connections import Connections
    from refold.service.log import log_lines
    from refold.service.metrics import Metrics
    from refold.service.middleware import LogMiddleware, RequestMiddleware
    from refold.service.server import serve
    from refold.service.settings import Settings

    settings = Settings(token=token, max_body=4 * 2**20)
    security = needs("mcp.server.transport_security", "mcp").TransportSecuritySettings
    app = create_server(tools).streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=settings.max_body,
        transport_security=security(enable_dns_rebinding_protection=False),  # the token is asked
    )
    app.state.connections = Connections(settings, log_lines)
    metrics = Metrics(settings, app.state.connections)
    app.user_middleware[:0] = [
        Middleware(LogMiddleware, metrics, log_lines),
        Middleware(RequestMiddleware, settings, log_lines),
    ]
    serve(app, at, started=started)


def _guarded(tool: Callable[..., Any], tools: ModelTools) -> Callable[..., Any]:
    """Let a tool answer with what was wrong, in a sentence; refuse an answer that is too long."""
    tool_error = needs("mcp.server.mcpserver.exceptions", "mcp").ToolError

    @functools.wraps(tool)
    def guarded(**given: Any) -> Any:
        with _AT_ONCE:
            try:
                answer = tool(**given)
            except (UserError, RequestError, OSError, ValueError, TypeError) as error:
                bad = isinstance(error, UserError | OSError)
                sentence = sentence_of(error) if bad else str(error)
                root = "" if tools.folder is None else f"{Path(tools.folder).resolve()}/"
                raise tool_error(sentence.replace(root, "") if root else sentence) from error
        size = len(json.dumps(answer, ensure_ascii=False, allow_nan=False))
        if size > _ANSWER:
            raise tool_error(
                f"The answer has {size:,} characters, more than {_ANSWER:,}: ask with a smaller "
                "limit, or for fewer columns."
            )
        return answer

    return guarded
