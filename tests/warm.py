"""The command ``refold``, run by a process that has imported everything already.

Nearly all of a short command's time is imports. Here a server imports them once; each command is a
process that it forks: with arguments, folder, environment and streams of its own, and an exit code.
What a start itself does (signals, limits, imports, the installed script) is tested by `REFOLD`.
"""

import atexit
import contextlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

REFOLD = Path(sys.executable).with_name("refold")

# Starts at once: it only hands on what it was given, and exits as the command does.
_CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    given = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(given).to_bytes(8, "little")], [0, 1, 2])
    server.sendall(given)
    sys.exit(int(server.recv(16) or b"70"))
"""
# Adapters of libraries that start threads of their own, or need Java.
_NOT_IMPORTED = ("refold.integrations", "refold.scale.spark", "refold.scale.dask")


@cache
def command():
    """Return the path of a command that does what ``refold`` does; its server ends with us."""
    from tests.environment import die_with_parent

    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    address, client = folder / "socket", folder / "refold"
    client.write_text(_CLIENT.format(python=sys.executable, address=str(address)))
    client.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.warm", str(address)],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        preexec_fn=die_with_parent,
    )
    assert process.stdout.readline() == b"ready\n"
    atexit.register(process.kill)
    return client


def _serve(address):
    import refold

    for module in pkgutil.walk_packages(refold.__path__, "refold."):
        if not module.name.startswith(_NOT_IMPORTED):
            __import__(module.name)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that answer
        while True:
            client, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _answer(client)
            client.close()


def _answer(client):
    """Run one command in a process of its own, and send its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, streams, _, _ = socket.recv_fds(client, 8, 3)
    with client.makefile("rb") as received:
        given = json.loads(received.read(int.from_bytes(size, "little")))
    pid = os.fork()
    if pid == 0:
        client.close()
        _run(*given, streams)
    _, status = os.waitpid(pid, 0)
    client.sendall(b"%d" % (os.waitstatus_to_exitcode(status) % 256))
    os._exit(0)


def _run(arguments, folder, environment, streams):
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace")
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["refold", *arguments]
    from refold.cli import app

    code = 1
    try:
        app()
    except SystemExit as end:
        code = end.code or 0
    finally:
        atexit._run_exitfuncs()
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve(sys.argv[1])
