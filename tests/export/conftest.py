"""The databases that SQL is run in."""

import pytest


@pytest.fixture(
    scope="session", params=["libraries", pytest.param("server", marks=pytest.mark.slow)]
)
def server(request):
    """None for the databases that are libraries, which need no server; or PostgreSQL's address."""
    return None if request.param == "libraries" else request.getfixturevalue("postgres")
