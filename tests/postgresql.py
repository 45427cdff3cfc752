"""A PostgreSQL server of the tests' own, on a socket in a temporary folder."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.environment import die_with_parent, nothing_skipped
from tests.waiting import LIMIT, wait_until


def _program(name):
    found = shutil.which(name)
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(installed[-1]) if installed else found


def _ordinary_user():
    """initdb refuses root; anybody else will do."""
    if os.getuid() != 0:
        return None
    return pwd.getpwnam("nobody")


@contextmanager
def running():
    """A connection string; the server ends with the tests, also if they are killed."""
    initdb, server = _program("initdb"), _program("postgres")
    if not (initdb and server):
        if nothing_skipped():
            pytest.fail("PostgreSQL is not installed; it must be where CI is set")
        pytest.skip("PostgreSQL is not installed")
    user = _ordinary_user()
    # Not in pytest's folder: its path may be too long for a socket, and closed to other users.
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        if user:
            os.chown(folder, user.pw_uid, user.pw_gid)
        identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
        data = f"{folder}/data"
        create = [initdb, "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "-N"]
        create.append("--locale=C")
        done = subprocess.run(create, cwd=folder, capture_output=True, text=True, **identity)
        assert done.returncode == 0, done.stdout + done.stderr
        options = ["-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"]
        with open(f"{folder}/log", "wb") as log:
            process = subprocess.Popen(
                [server, "-D", data, *options],
                cwd=folder,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent,
                **identity,
            )
        address = f"host={folder} user=tester dbname=postgres"
        try:
            wait_until(lambda: _answers(address), running=process)
            yield address
        finally:
            process.send_signal(signal.SIGQUIT)
            process.wait(LIMIT)


def _answers(address):
    import psycopg

    with suppress(psycopg.OperationalError), psycopg.connect(address):
        return True
