r"""Numbers as TeX itself prints them: the paper is run, and tells each number where it is typeset.

The run is kept apart: a temporary copy of the paper's folder, no shell, no reading or writing
outside, a limit of time. LuaLaTeX is not used, since it runs programs that
stand in a paper.
"""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ENGINES = ("pdflatex", "xelatex")
SECONDS = 60
MOST_BYTES = 64_000_000  # of a folder that is copied

# A number is written when its box is shipped out: what is only measured never is. `\eqref` sets
# numbers by the same command, which is kept silent there.
HOOK = r"""\makeatletter
\newwrite\so@out \immediate\openout\so@out=secondorder.numbers
\def\so@file{\csname g_file_curr_name_str\endcsname}
\def\so@note#1{\begingroup\protected@edef\so@tag{#1}%
  \edef\so@write{\write\so@out{\number\inputlineno|\so@file|\detokenize\expandafter{\so@tag}}}%
  \so@write\endgroup}
\def\so@hook{%
  \let\so@eqnnum\@eqnnum \def\@eqnnum{\so@note{\theequation}{\def\so@note####1{}\so@eqnnum}}%
  \ifx\theequationdis\undefined\else
    \let\so@dis\theequationdis \def\theequationdis{\so@note{\theequation}%
      {\def\so@note####1{}\so@dis}}\fi
  \ifx\maketag@@@\undefined\else
    \let\so@maketag\maketag@@@ \def\maketag@@@##1{\so@maketag{\so@note{##1}##1}}%
    \let\so@eqref\eqref
    \protected\def\eqref##1{\begingroup\def\so@note####1{}\so@eqref{##1}\endgroup}\fi}
\ifx\AddToHook\undefined \AtBeginDocument{\AtBeginDocument{\so@hook}}%
\else \AddToHook{begindocument/end}{\so@hook}\fi
\makeatother
"""


@dataclass
class Numbers:
    """What TeX printed: the engine, whether it set all of the paper, numbers by file as
    (line, number), labels of the text by name, and what hindered it ("" for nothing).
    """

    engine: str
    finished: bool = True
    records: dict = field(default_factory=dict)
    names: dict = field(default_factory=dict)
    error: str = ""

    def take(self, file, first, last, most):
        """The numbers printed between two lines of a file, in their order, `most` at the most where
        the lines are one; each is taken once.
        """
        records = self.records.get(file, [])
        found = [one for one in records if first <= one[0] <= last]
        found = found[:most] if first == last else found
        for one in found:
            records.remove(one)
        return [number for _, number in found]

    @property
    def left(self):
        """(file, line, number) of what nobody took."""
        return [(file, *one) for file, records in self.records.items() for one in records]


def by_tex(path, seconds=SECONDS):
    """`Numbers` of a paper by its main file, in so many seconds; None where no TeX is installed."""
    path = Path(path)
    if path.suffix.lower() not in (".tex", ".ltx") or not path.is_file() \
            or rb"\begin{document}" not in path.read_bytes():
        return None
    engines = [one for one in ENGINES if shutil.which(one)]
    if re.search(rb"fontspec|unicode-math|xelatex", path.read_bytes()):
        engines.reverse()
    if not engines:
        return None
    with tempfile.TemporaryDirectory(prefix="secondorder-tex-") as folder:
        place = Path(folder)
        _copy(path.resolve().parent, place)
        job = path.stem if re.fullmatch(r"[\w.-]+", path.stem, re.ASCII) else "paper"
        (place / f"{job}.tex").write_bytes(path.read_bytes())
        (place / "secondorder-hook.tex").write_text(HOOK)
        return _numbers(place, job, engines[0], path.name, seconds)


def _numbers(place, job, engine, name, seconds):
    words = [engine, "-no-shell-escape", "-interaction=nonstopmode", f"-jobname={job}",
             rf"\input{{secondorder-hook}}\input{{{job}.tex}}"]
    given = os.environ | {"openin_any": "p", "openout_any": "p", "shell_escape": "f",
                          "MKTEXPK": "0", "MKTEXTFM": "0", "MKTEXMF": "0", "max_print_line": "1000"}
    before = None
    with contextlib.suppress(subprocess.TimeoutExpired):
        for _ in range(3):  # until references stand
            subprocess.run(words, cwd=place, env=given, stdin=subprocess.DEVNULL, check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           timeout=seconds / 3)
            auxiliary = _text(place / f"{job}.aux")
            if auxiliary == before:
                break
            before = auxiliary
    log = _text(place / f"{job}.log")
    # a picture that is not there changes no number
    complaint = re.search(r"^! (?!LaTeX Error: File `[^']*' not found\.$(?!\n\nType X)"
                          r"|Package \S+ Error: File `[^']*' not found).*", log, re.M)
    numbers = Numbers(engine, "Output written on" in log and complaint is None)
    if not numbers.finished:
        numbers.error = complaint[0][2:] if complaint else "it did not come to an end"
    numbers.names = dict(re.findall(r"\\newlabel\{([^{}]*)\}\{\{([^{}]+)\}",
                                    "".join(map(_text, sorted(place.rglob("*.aux"))))))
    for line in _text(place / "secondorder.numbers").splitlines():
        at, _, rest = line.partition("|")
        file, _, number = rest.partition("|")
        if at.isdigit():
            file = name if file in ("", job, f"{job}.tex") else file.removeprefix("./")
            file = file if "." in file.rpartition("/")[2] else f"{file}.tex"
            if r"\usebox" not in number:  # a box that has other numbers in it
                numbers.records.setdefault(file, []).append(
                    (int(at), _plain(number, numbers.names)))
    for records in numbers.records.values():
        records.sort(key=lambda one: one[0])
    return numbers


def _plain(number, names):
    """A number without the parentheses and what TeX sets around it."""
    number = re.sub(r"\\(ignorespaces|unskip|@@italiccorr|protect|hbox|relax|normalfont|"
                    r"normalcolor|text|mathrm|upshape) *", "", number)
    number = re.sub(r"\\ref *\{([^{}]*)\}", lambda name: names.get(name[1], "?"), number)
    number = number.strip()
    while number[:1] + number[-1:] in ("()", "[]", "{}"):
        number = number[1:-1].strip()
    return re.sub(r"(?<=\\[A-Za-z]) (?=[^A-Za-z])|(?<=[A-Za-z]) (?=\$)", "", number)


def _copy(source, target):
    """The files of a paper's folder, no hidden ones, nothing from outside, up to a limit."""
    size = 0
    for folder, names, files in os.walk(source):
        names[:] = sorted(name for name in names if name[0] != ".")
        for name in sorted(files):
            path = Path(folder, name)
            if name[0] == "." or path.is_symlink() or not path.is_file():
                continue
            size += path.stat().st_size
            if size > MOST_BYTES:
                return
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)


def _text(path):
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
