"""What is done with tables, counted: conversions, columns parsed, rows scored."""

import sys
from collections import Counter
from contextlib import contextmanager

from refold.columns import conversion, parsing
from refold.models.detector.scorer import TableScorer


@contextmanager
def counted(monkeypatch):
    """Count while the context is open.

    ``tables`` that data were converted to, columns ``parsed`` and their ``cells``, and rows
    ``scored`` or ``explained`` by the model of a mixed table.
    """
    done = Counter()

    def parsed(arguments, column):
        if column is not arguments[0]:  # else it was what its role says already
            done.update(parsed=1, cells=len(column))

    with monkeypatch.context() as patched:
        _watch(patched, conversion.to_table, lambda _, made: done.update(tables=1))
        _watch(patched, parsing.parse, parsed)
        _watch_method(patched, "distances", lambda found: done.update(scored=len(found)))
        _watch_method(
            patched, "attribution", lambda found: done.update(explained=len(found.distances))
        )
        yield done


def _watch(patched, function, note):
    """Note each call of a function, wherever it was imported to."""

    def watched(*arguments, **options):
        result = function(*arguments, **options)
        note(arguments, result)
        return result

    for module in list(sys.modules.values()):
        if (getattr(module, "__name__", "") or "").startswith("refold."):
            for name, value in list(vars(module).items()):
                if value is function:
                    patched.setattr(module, name, watched)


def _watch_method(patched, name, note):
    method = getattr(TableScorer, name)

    def watched(self, rows):
        found = method(self, rows)
        note(found)
        return found

    patched.setattr(TableScorer, name, watched)
