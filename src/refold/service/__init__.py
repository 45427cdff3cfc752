"""A model as a service: rows in by HTTP, verdicts out.

>>> from refold.service import Settings
>>> Settings(max_rows=1000).max_rows
1000
"""

from refold.service.application import create
from refold.service.errors import RequestError
from refold.service.example import example_row
from refold.service.log import log_lines
from refold.service.middleware import check_origin, host_name
from refold.service.models import ModelStore
from refold.service.pages import curl_command
from refold.service.server import listen, serve
from refold.service.settings import Settings
from refold.service.tls import Certificate
from refold.service.webhook import WebhookTarget

__all__ = [
    "Certificate",
    "ModelStore",
    "RequestError",
    "Settings",
    "WebhookTarget",
    "check_origin",
    "create",
    "curl_command",
    "example_row",
    "host_name",
    "listen",
    "log_lines",
    "serve",
]
