"""The matrix products of small blocks: each in one thread, and many of them at once.

BLAS would divide every product among its own threads, which wait for each other longer than they
work: on a busy machine ten times as long. Its sums would also depend on their number.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from contextlib import ContextDecorator
from functools import cache
from threading import Lock, local
from typing import Any

from scipy.linalg import cython_blas
from threadpoolctl import ThreadpoolController

from refold._typing import Floats


class _OneThread(ContextDecorator):
    """While anyone is inside, BLAS has one thread; the last to leave gives back what it had.

    The number is the whole process's, so those inside are counted: several threads may be. Only
    where BLAS uses OpenMP does each thread have a number of its own.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._before = Lock(), 0, list[int]()
        self._own = local()

    def __enter__(self) -> None:
        shared, own = _libraries()
        vars(self._own).setdefault("before", []).append(_limit(own, [1] * len(own)))
        with self._lock:  # for microseconds
            if self._inside == 0:
                self._before = _limit(shared, [1] * len(shared))
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        shared, own = _libraries()
        _limit(own, self._own.before.pop())
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                _limit(shared, self._before)

    def after_fork(self) -> None:
        """Forget those inside: their threads are not in the child."""
        self._lock = Lock()
        if self._inside:
            self._inside = 0
            _limit(_libraries()[0], self._before)


one_thread = _OneThread()
if hasattr(os, "register_at_fork"):  # pragma: no branch  # Windows has no fork
    os.register_at_fork(after_in_child=one_thread.after_fork)


def _limit(libraries: Sequence[Any], n_threads: Sequence[int]) -> list[int]:
    """Set the threads of libraries; return how many they had."""
    before = [library.num_threads for library in libraries]
    for library, n in zip(libraries, n_threads, strict=True):
        # Newer versions of threadpoolctl heed one thread only, unless they are told to heed any.
        heed_any = getattr(library, "clear_controlling_thread", lambda *, force: None)
        heed_any(force=True)
        library.set_num_threads(n)
        heed_any(force=True)
    return before


@cache
def _libraries() -> tuple[list[Any], list[Any]]:
    """Find the BLAS libraries whose threads all share, and the others, once: it takes long."""
    found = [lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas"]
    own = [lib for lib in found if getattr(lib, "threading_layer", None) == "openmp"]
    return [lib for lib in found if lib not in own], own


def solve_lower(factor: Floats, phi: Floats) -> None:
    """Replace each row v of `phi` by L⁻¹v, in place; L is in Fortran's order."""
    n, p = phi.shape
    assert factor.shape == (p, p)
    assert factor.flags.f_contiguous
    assert phi.flags.c_contiguous
    # The transpose of a C-ordered block is what Fortran wants: nothing is copied.
    _call("dtrsm", b"L", b"L", b"N", b"N", p, n, 1.0, factor, p, phi, p)


def add_products(gram: Floats, phi: Floats) -> None:
    """Add Σ φ φᵀ to the lower triangle of `gram`, in Fortran's order, in place."""
    n, p = phi.shape
    assert gram.shape == (p, p)
    assert gram.flags.f_contiguous
    assert phi.flags.c_contiguous
    _call("dsyrk", b"L", b"N", p, n, 1.0, phi, p, 1.0, gram, p)


def _call(name: str, *arguments: bytes | int | float | Floats) -> None:
    """Call BLAS by address: SciPy's own functions let no other thread run meanwhile."""
    _function(name, len(arguments))(*map(_reference, arguments))


def _reference(value: bytes | int | float | Floats) -> Any:
    if isinstance(value, bytes):
        return value
    if isinstance(value, int):
        return ctypes.byref(ctypes.c_int(value))
    return ctypes.byref(ctypes.c_double(value)) if isinstance(value, float) else value.ctypes


@cache
def _function(name: str, n_arguments: int) -> Callable[..., None]:
    capsule = cython_blas.__pyx_capi__[name]
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)
    return prototype(pointer_of(capsule, name_of(capsule)))
