"""A file is the old one or the new one, whatever fails; what is no file is written as it is."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from refold.base.files import replacing
from tests.environment import default_signals


@pytest.fixture(params=["unnamed", "named"])
def way(request, monkeypatch):
    """Both ways to create a file; not every system has the first."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system cannot create a file without a name (O_TMPFILE)")


def write(out, content=b"new", **how):
    with replacing(out, **how) as file:
        file.write(content)


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("way")
class TestRegularFiles:
    def test_nothing_is_seen_before_the_end(self, tmp_path):
        out = tmp_path / "out"
        out.write_text("old")
        with replacing(out) as file:
            file.write(b"new")
            file.flush()
            assert out.read_text() == "old"
        assert out.read_text() == "new"
        assert list(tmp_path.iterdir()) == [out]

    def test_a_new_file_has_the_mode_of_any_new_file(self, tmp_path):
        before = os.umask(0o027)
        try:
            write(tmp_path / "out")
            write(tmp_path / "mine", private=True)
        finally:
            os.umask(before)
        assert mode_of(tmp_path / "out") == 0o640
        assert mode_of(tmp_path / "mine") == 0o600

    @pytest.mark.parametrize("mode", [0o600, 0o644, 0o666, 0o640, 0o755])
    def test_an_old_file_keeps_its_mode(self, mode, tmp_path):
        out = tmp_path / "out"
        out.touch()
        out.chmod(mode)
        write(out, private=mode == 0o644)
        assert (out.read_bytes(), mode_of(out)) == (b"new", mode)

    @pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
    def test_an_old_file_keeps_its_owner(self, tmp_path):
        out = tmp_path / "out"
        out.touch(0o640)
        os.chown(out, 12345, 23456)
        write(out)
        found = out.stat()
        assert (found.st_uid, found.st_gid, mode_of(out)) == (12345, 23456, 0o640)

    def test_an_owner_that_cannot_be_kept_is_no_error(self, tmp_path, monkeypatch):
        def refuse(*_):
            raise PermissionError(errno.EPERM, "not permitted")

        monkeypatch.setattr(os, "fchown", refuse)
        (tmp_path / "out").touch(0o600)
        write(tmp_path / "out")
        assert mode_of(tmp_path / "out") == 0o600

    def test_a_link_stays_and_the_file_behind_it_is_replaced(self, tmp_path):
        (tmp_path / "deep").mkdir()
        (tmp_path / "deep" / "file").write_text("old")
        (tmp_path / "link").symlink_to("deep/again")
        (tmp_path / "deep" / "again").symlink_to("file")
        write(tmp_path / "link")
        assert (tmp_path / "deep" / "file").read_text() == "new"
        assert os.readlink(tmp_path / "link") == "deep/again"
        assert os.readlink(tmp_path / "deep" / "again") == "file"

    def test_a_link_to_nothing_makes_a_file(self, tmp_path):
        (tmp_path / "link").symlink_to("file")
        write(tmp_path / "link")
        assert (tmp_path / "file").read_text() == "new"
        assert (tmp_path / "link").is_symlink()

    def test_links_in_a_circle_are_an_error(self, tmp_path):
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")
        with pytest.raises(OSError, match=str(tmp_path / "a")):
            write(tmp_path / "a")

    def test_another_name_of_the_old_file_keeps_the_old_content(self, tmp_path):
        (tmp_path / "out").write_text("old")
        os.link(tmp_path / "out", tmp_path / "hard")
        write(tmp_path / "out")
        assert (tmp_path / "out").read_text() == "new"
        assert (tmp_path / "hard").read_text() == "old"

    def test_the_longest_names_fit(self, tmp_path):
        write(tmp_path / ("x" * 255))
        write(tmp_path / ("é" * 127))
        assert len(list(tmp_path.iterdir())) == 2

    @pytest.mark.parametrize("step", ["open", "write", "fchmod", "fsync", "link", "replace"])
    @pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
    def test_a_failure_at_any_step_leaves_the_old_file_alone(
        self, step, code, tmp_path, monkeypatch, request
    ):
        out = tmp_path / "out"
        out.write_text("old")
        named = "named" in request.node.callspec.id.split("-")

        def fail(*_, **__):
            raise OSError(code, os.strerror(code))

        def work():
            with replacing(out) as file:
                file.write(b"new")
                if step == "write":
                    fail()

        if step == "link" and named:
            pytest.skip("only a file created without a name is given one by os.link")
        with monkeypatch.context() as patch:
            if step != "write":
                patch.setattr(os, step, fail)
            with pytest.raises(OSError, match=os.strerror(code)) as caught:
                work()
        assert (caught.value.errno, caught.value.filename) == (code, str(out))
        assert out.read_text() == "old"
        assert list(tmp_path.iterdir()) == [out]

    def test_an_error_of_another_file_keeps_its_name(self, tmp_path):
        with pytest.raises(FileNotFoundError) as caught, replacing(tmp_path / "out"):
            (tmp_path / "table.csv").open()
        assert caught.value.filename == str(tmp_path / "table.csv")
        assert not list(tmp_path.iterdir())

    def test_a_folder_that_is_not_there_is_named_by_the_output(self, tmp_path):
        with pytest.raises(FileNotFoundError) as caught:
            write(tmp_path / "no" / "out")
        assert caught.value.filename == str(tmp_path / "no" / "out")


def test_signals_are_handled_only_while_needed_and_never_against_other_plans(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)

    def planned(*_):
        raise AssertionError("nobody has sent one")

    with default_signals():
        signal.signal(signal.SIGTERM, planned)
        with replacing(tmp_path / "out"):
            assert signal.getsignal(signal.SIGTERM) is planned
            assert signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
        with replacing(tmp_path / "out"), pytest.raises(SystemExit) as left:
            os.kill(os.getpid(), signal.SIGTERM)
        assert left.value.code == 143
    work = threading.Thread(target=write, args=(tmp_path / "out",))  # no handlers can be set there
    work.start()
    work.join()
    assert (tmp_path / "out").read_bytes() == b"new"


# ---- what is no regular file -----------------------------------------------------------------


def test_a_pipe_stays_a_pipe(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    found = []
    reader = threading.Thread(target=lambda: found.append(fifo.read_bytes()))
    reader.start()
    write(fifo)
    reader.join(timeout=60)
    assert found == [b"new"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert list(tmp_path.iterdir()) == [fifo]


def test_a_device_stays_a_device(tmp_path):
    (tmp_path / "link").symlink_to("/dev/null")
    before = os.stat("/dev/null")
    write(tmp_path / "link")
    write(tmp_path / "link", private=True)
    after = os.stat("/dev/null")
    assert (after.st_mode, after.st_rdev) == (before.st_mode, before.st_rdev)
    assert stat.S_ISCHR(after.st_mode)
    with pytest.raises(OSError, match="No space left") as caught:
        write(Path("/dev/full"))
    assert caught.value.filename == "/dev/full"


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_written_where_it_is(name, tmp_path):
    program = (
        "import sys; from pathlib import Path; from refold.base.files import replacing\n"
        "print('before', flush=True)\n"
        f"with replacing(Path({name!r})) as file: file.write(b'new\\n')\n"
        "print('after')"
    )
    out = tmp_path / "out"
    with out.open("wb") as file:  # a regular file, yet not one to be replaced
        subprocess.run([sys.executable, "-c", program], stdout=file, check=True)
        assert os.fstat(file.fileno()).st_ino == out.stat().st_ino
    assert out.read_text() == "before\nnew\nafter\n"
    piped = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
    assert piped.stdout == b"before\nnew\nafter\n"
    assert list(tmp_path.iterdir()) == [out]
