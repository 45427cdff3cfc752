"""A model as a service: rows in by HTTP, verdicts out.

>>> from refold.service import Settings
>>> Settings(max_rows=1000).max_rows
1000
"""

from refold.service._application import create
from refold.service._errors import RequestError
from refold.service._log import log_lines
from refold.service._middleware import check_origin, host_name
from refold.service._models import ModelStore
from refold.service._pages import curl_command
from refold.service._server import listen, run
from refold.service._settings import Settings

__all__ = [
    "ModelStore",
    "RequestError",
    "Settings",
    "check_origin",
    "create",
    "curl_command",
    "host_name",
    "listen",
    "log_lines",
    "run",
]
