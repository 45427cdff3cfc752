"""The same surroundings for every run: what a shell or a CI runner passes on changes no test."""

import ctypes
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import psutil

_SET = {
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "TERM": "dumb",
    "SCIPY_ARRAY_API": "1",  # lets scikit-learn check array-API input
    "GX_ANALYTICS_ENABLED": "false",  # they would report their use
    "DAGSTER_DISABLE_TELEMETRY": "1",
    "PYARROW_IGNORE_TIMEZONE": "1",  # pandera sets this and the next, with pyspark
    "SPARK_LOCAL_IP": "127.0.0.1",
}
_UNSET = ("CI", "COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "PYTHONWARNINGS", "LANGUAGE")
_XDG = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")

_PREFIX = "refold-tests-"
_folder = None


def prepare():
    """Set what tests and the commands they start inherit; workers have it from who starts them."""
    global _folder
    os.umask(0o022)
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    for name in (*_UNSET, *_XDG):
        os.environ.pop(name, None)
    # A home and a folder for temporary files of its own: the user's home may be read-only, and
    # nothing is to be left behind. What pytest keeps of failed tests stays where it always is.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    _remove_abandoned()
    _folder = tempfile.TemporaryDirectory(
        prefix=f"{_PREFIX}{os.getpid()}-", ignore_cleanup_errors=True
    )
    os.chmod(_folder.name, 0o711)  # a database server runs as another user
    home, temporary = Path(_folder.name, "home"), Path(_folder.name, "tmp")
    home.mkdir()
    temporary.mkdir()
    temporary.chmod(0o1777)
    os.environ |= {**_SET, "HOME": str(home), "TMPDIR": str(temporary)}
    tempfile.tempdir = None  # it is looked up anew
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if hasattr(time, "tzset"):
        time.tzset()


def _remove_abandoned():
    """Remove the folders of runs that were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = path.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(path, ignore_errors=True)


def nothing_skipped():
    """Return whether a missing browser, server or Java is a failure, as it is for .ci/run."""
    return "REFOLD_NOTHING_SKIPPED" in os.environ


@contextmanager
def default_signals():
    """Let a command that is started within meet signals as from a terminal.

    Under nohup SIGHUP is ignored, and behind an ampersand SIGINT; commands would inherit that.
    """
    numbers = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    ours = {signal.SIGINT: signal.default_int_handler}
    for number in numbers:
        signal.signal(number, ours.get(number, signal.SIG_DFL))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def die_with_parent():
    """Give a process that is about to start its end together with ours, even if we are killed."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
