"""An answer leaves in one write, whole and in order, also when the connection is closed."""

import asyncio

import pytest

from refold.service._writing import _Gathered


class Transport:
    """Remembers what it is told."""

    def __init__(self):
        self.told, self.closing = [], False

    def writelines(self, parts):
        self.told.append(b"".join(parts))

    def close(self):
        self.told.append("closed")
        self.closing = True

    def is_closing(self):
        return self.closing

    def get_extra_info(self, name):
        return f"its {name}"


@pytest.fixture
def loop():
    made = asyncio.new_event_loop()
    yield made
    made.close()


def turn(loop):
    loop.run_until_complete(asyncio.sleep(0))


def test_what_is_written_in_one_turn_goes_together(loop):
    transport = Transport()
    gathered = _Gathered(transport, loop)
    for parts in ([b"head", b"body"], [b"next"]):
        for part in parts:
            gathered.write(part)
        turn(loop)
    assert transport.told == [b"headbody", b"next"]


def test_closing_writes_what_is_there_first_and_nothing_after(loop):
    transport = Transport()
    gathered = _Gathered(transport, loop)
    gathered.write(b"answer")
    gathered.close()
    gathered.write(b"too late")
    turn(loop)
    assert transport.told == [b"answer", "closed"]


def test_all_else_is_the_transports_own(loop):
    assert _Gathered(Transport(), loop).get_extra_info("socket") == "its socket"
