"""Values that are made when they are first asked for, once, whichever threads ask."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from _thread import RLock as Lock

Value = TypeVar("Value")

# Beside the objects, not in them: a lock can be neither pickled nor copied.
_LOCKS: WeakKeyDictionary[object, Lock] = WeakKeyDictionary()
if hasattr(os, "register_at_fork"):  # pragma: no branch  # Windows has no fork
    # The threads that hold locks are not in the child: nobody would release them there.
    os.register_at_fork(after_in_child=_LOCKS.clear)


def lock_of(thing: object) -> Lock:
    """Return the lock of an object that is compared by identity."""
    return _LOCKS.setdefault(thing, RLock())


def fields_only(thing: Any) -> dict[str, Any]:
    """Return the state of a dataclass to pickle or copy, without what can be made again."""
    return {name: vars(thing)[name] for name in thing.__dataclass_fields__}


class once(Generic[Value]):  # noqa: N801  # used like a function
    """A property that is made when it is first asked for and kept; nobody makes it a second time.

    Once it is there it is found without any lock. ``functools.cached_property`` makes it as often
    as there are threads that ask meanwhile or, in Python 3.11, lets all objects of a class wait.

    >>> class Circle:
    ...     @once
    ...     def area(self):
    ...         print("computing")
    ...         return 3.14
    >>> circle = Circle()
    >>> circle.area, circle.area
    computing
    (3.14, 3.14)
    """

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def keep(self, thing: object, value: Value) -> None:
        """Give an object a value that need not be made."""
        vars(thing)[self._name] = value

    @overload
    def __get__(self, thing: None, owner: type) -> Self: ...
    @overload
    def __get__(self, thing: object, owner: type | None = None) -> Value: ...
    def __get__(self, thing: object | None, owner: type | None = None) -> Self | Value:
        if thing is None:
            return self
        made = vars(thing)
        with lock_of(thing):
            if self._name not in made:
                made[self._name] = self._make(thing)
        value: Value = made[self._name]
        return value
