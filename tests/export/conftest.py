"""A PostgreSQL server of the tests' own, on a socket in a temporary folder."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest


def _program(name):
    found = shutil.which(name)
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(installed[-1]) if installed else found


def _ordinary_user():
    """initdb refuses root; anybody else will do."""
    if os.getuid() != 0:
        return None
    return pwd.getpwnam("nobody")


@pytest.fixture(scope="session")
def postgres():
    """A connection string; the server is stopped at the end."""
    initdb, server = _program("initdb"), _program("pg_ctl")
    if not (initdb and server):
        if os.environ.get("CI"):
            pytest.fail("PostgreSQL is not installed; it must be where CI is set")
        pytest.skip("PostgreSQL is not installed")
    user = _ordinary_user()
    # Not in pytest's folder: its path may be too long for a socket, and closed to other users.
    with tempfile.TemporaryDirectory(prefix="refold-pg-") as folder:
        if user:
            os.chown(folder, user.pw_uid, user.pw_gid)
        identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}

        def run(*command):
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, check=False, **identity
            )
            assert done.returncode == 0, done.stdout + done.stderr

        data, log = f"{folder}/data", f"{folder}/log"
        run(initdb, "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        options = f"-k '{folder}' -c listen_addresses='' -c fsync=off"
        # With -l the server does not hold our pipes open.
        run(server, "-D", data, "-l", log, "-o", options, "-w", "start")
        try:
            yield f"host={folder} user=tester dbname=postgres"
        finally:
            run(server, "-D", data, "-m", "immediate", "-w", "stop")


@pytest.fixture
def pg(postgres):
    """A connection whose work is undone."""
    with psycopg.connect(postgres) as connection:
        yield connection
        connection.rollback()
