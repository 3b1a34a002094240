"""What belongs into every file of results: versions and the machine's kind."""

import os
import platform


def environment():
    """Versions and settings, name -> value."""
    import numpy
    import scipy

    from secondorder import __version__

    return {"secondorder": __version__, "python": platform.python_version(),
            "numpy": numpy.__version__, "scipy": scipy.__version__, "machine": platform.machine(),
            "system": platform.system(), "processors": os.cpu_count()}
