"""Loops over arrays as machine code: numba compiles them at their first call and keeps the result on the disk.

What is compiled is plain Python over numpy arrays and numbers, without objects. It releases the interpreter's lock, so
that heartbeats and other partitions go on meanwhile. What it calls stands in its own file: numba compiles anew what is
in a file that has changed, and looks at no other.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

_P = ParamSpec("_P")
_R = TypeVar("_R")


def compiled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function compiled for the types it is called with.

    The result is kept beside the source, or in the user's cache folder where that is read-only, or where
    NUMBA_CACHE_DIR says. Where none can be written each process compiles anew.
    """
    try:
        made = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba found no folder to write to
        made = numba.njit(nogil=True)(function)
    return cast("Callable[_P, _R]", made)
