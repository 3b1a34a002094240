"""Passes make every array anew; glibc would give large ones back to the system each time.

Every page of them is then filled with zeros at its first touch: half the time of a wide network.
"""

import ctypes
import functools
import os
import platform

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
KEPT, ALONE = 2**27, 2**25  # bytes that stay with the process; arrays from here on are never kept


@functools.cache
def keep_freed_memory():
    """Let malloc keep up to 128 MB of what was freed; elsewhere than under glibc do nothing.

    It holds for the process. Thresholds in the environment (MALLOC_TRIM_THRESHOLD_, ...) go first.
    """
    asked = {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"} & set(os.environ)
    if platform.libc_ver()[0] != "glibc" or asked:
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(MMAP_THRESHOLD, ALONE) and mallopt(TRIM_THRESHOLD, KEPT))
