"""The app: from a table to a model, and to new rows, in a browser.

>>> from pathlib import Path
>>> from refold.app import Workspace
>>> Workspace(Path("folder")).state.table is None
True
"""

from refold.app.application import create_app
from refold.app.session import Session
from refold.app.workspace import Workspace

__all__ = ["Session", "Workspace", "create_app"]
