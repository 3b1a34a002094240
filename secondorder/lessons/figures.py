"""Figures of a lesson: shown where it runs as a notebook, saved where it runs as a script."""

import io
import os
import sys
import tempfile
from pathlib import Path

from .. import files

#: A figure on a projector: inches, points of its type and of its lines, dots an inch. Type of
#: this size is read from the last row.
SIZE, TYPE, LINE, DPI = (9.6, 5.4), 17, 2.5, 160


def in_notebook():
    """Whether a Jupyter kernel runs this code (a script has no IPython, a terminal no kernel)."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


class Figures:
    """Where the figures of a tutorial go.

    In a notebook `show` displays a figure and writes nothing. As a script the figure becomes
    ``NAME.png`` in the folder that stands first on the command line; without one, in a new folder
    in the place for temporary files. The folder is made with its first figure.

    Examples
    --------
    >>> figures = Figures()                      # doctest: +SKIP
    >>> figures.show(figure, "five-matrices")    # doctest: +SKIP
    """

    def __init__(self):
        # a kernel has arguments of its own ("-f", a file): they are not the reader's
        named = len(sys.argv) > 1 and not in_notebook()
        self.folder = Path(sys.argv[1]) if named else None

    def show(self, figure, name, dpi=110):
        """Display a figure, or save it as ``NAME.png`` and say where.

        Parameters
        ----------
        figure : matplotlib.figure.Figure
        name : str
            Of the file, without its ending.
        dpi : int
        """
        if in_notebook():
            from IPython.display import Image, display

            picture = io.BytesIO()
            figure.savefig(picture, format="png", dpi=dpi)
            display(Image(data=picture.getvalue()))
            return
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="secondorder-"))
        path = files.output_directory(self.folder) / f"{name}.png"
        files.write_figure(path, figure, dpi=dpi)
        print(f"figure: {os.fspath(path)}")

    def project(self, figure, name, size=TYPE):
        """Show a figure as a projector needs it: 16 by 9, in large type and with thick lines."""
        from matplotlib.lines import Line2D
        from matplotlib.text import Text

        figure.set_size_inches(SIZE)
        for text in figure.findobj(Text):
            text.set_fontsize(size)
        for line in figure.findobj(Line2D):
            line.set_linewidth(max(LINE, line.get_linewidth()))
            line.set_markersize(max(9, line.get_markersize()))
        self.show(figure, name, DPI)
