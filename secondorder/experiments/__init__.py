"""The attic: one file a family of figures or tables. Nothing else in the package knows it but the
command line."""

import os
import platform


def environment():
    """Versions and settings that belong into every result file.

    Returns
    -------
    dict
    """
    import numpy
    import scipy

    from secondorder import __version__

    return {"secondorder": __version__, "python": platform.python_version(),
            "numpy": numpy.__version__, "scipy": scipy.__version__, "machine": platform.machine(),
            "system": platform.system(), "processors": os.cpu_count()}
