"""Displays of LaTeX papers: found with their numbers, or refused and listed by line."""

import shutil
import time
from pathlib import Path

import pytest

from secondorder.edition import ReadingError, read
from secondorder.edition.tex.numbering import Numbers, by_tex

NOTES = Path(__file__).with_name("notes")


def of(text, folder, name="paper.tex"):
    (folder / name).write_text(text, encoding="utf-8")
    return read(folder / name)


def shown(reading):
    return [(display.label, "".join(display.formula.split())) for display in reading.displays]


def test_a_note_that_uses_everything():
    found = read(NOTES / "torture.tex")
    assert found.title == "A note that uses everything" and found.unread == []
    assert [display.label for display in found.displays] == [
        "1.1", "1.2", "1.3", None, "1.4", "2.1a", "2.1b", "2.1c", "2.2", "17", "E", r"$\ast$",
        "A.1", "A.2", "A.3"]
    by_label = {display.label: display for display in found.displays}
    first = by_label["1.1"]
    assert first.formula == (r"\mathcal{L}(x) = \tfrac12\left\| x \right\|^2 + \varepsilon\, x_1.")
    assert first.names == ("eq:loss",) and first.line == 29 and first.section == "1 Definitions"
    assert first.sentence == "The loss has the value", "the citation before it is another sentence"
    assert by_label["1.2"].sentence == "As (1.1) is quadratic, its derivatives are"
    assert by_label["1.3"].formula.count(r"\\") == 1, "a line without a number belongs to the next"
    assert r"\operatorname{tr}\nabla_{\!x}^2" in by_label["1.3"].formula
    assert by_label[None].formula == (r"\langle \cdot, x \rangle = \langle x, x \rangle, \qquad "
                                      r"| x | = | -x |.")
    assert by_label["2.1a"].formula == r"\boldsymbol{u} = A \boldsymbol{v},"
    assert by_label["2.1a"].file == "sections/second.tex" and by_label["2.1a"].line == 5
    assert r"\text{if }{u_1 > 0}\text{,}" in by_label["2.1b"].formula
    assert by_label["2.2"].sentence == "By (2.1a) and (2.1) we have"
    assert by_label["2.2"].formula.startswith(r"\begin{aligned}p &= q")
    assert by_label["A.1"].formula.count(r"\\") == 2 and by_label["A.2"].formula == "y = f(x)"
    assert by_label["A.3"].formula.count("&") == 2, "eqnarray has two marks, aligned one"
    assert [str(theorem) for theorem in found.theorems] == [
        "Theorem 1.1 (Descent)", "Remark", "Lemma 1.2"]


def test_the_sentence_before(tmp_path):
    def sentence(text, end=""):
        return of(f"{text}$$x$${end}", tmp_path).displays[-1].sentence

    assert sentence("One. Two is [a]. Three, e.g. this one, is ") == \
        "Three, e.g. this one, is"
    assert sentence("We saw it.\n\n") == "We saw it."
    assert sentence(r"By \emph{Taylor}~\cite[p.~3]{T}, with $a < 1$,\footnote{Not. So. $b$}") == \
        "By Taylor [T, ...], with $a < 1$,"
    assert sentence(r"\documentclass{article} Words. \begin{document}",
                    r"\end{document}") == ""
    assert sentence(r"\section{Heading} ") == ""
    assert sentence(r"\begin{figure}[t] That is ", r"\end{figure}") == "That is"
    assert sentence("word " * 500).startswith("...") and len(sentence("word " * 500)) < 410
    found = of(r"First $$a$$ and then $$b$$ $$c$$", tmp_path)
    assert [display.sentence for display in found.displays] == ["First", "and then", ""]


def test_a_letter_in_another_manner():
    """Macros that begin and end environments, numbers by hand, plain TeX."""
    found = read(NOTES / "letter.tex")
    assert [display.label for display in found.displays] == [
        "1.1", "1.2", "1.3", None, "2.5", None, "*", None, "2.6"]
    assert found.unread == [] and len(found.numbered) == 6
    formulas = [display.formula for display in found.displays]
    assert formulas[0] == r"E = {1 \over 2}p^2 + {1 \over 2}\omega^2 q^2 ."
    assert formulas[1].startswith("\\begin{aligned}\n\\langle q \\rangle & = 0 , \\\\")
    assert formulas[4] == r"\ddot q + 2 \gamma \dot q + \omega^2 q = 0 ."
    assert formulas[5].startswith(r"\text{for }{\gamma < \omega}\text{:}")
    assert formulas[6] == r"\Omega^2 = \omega^2 - \gamma^2"
    assert formulas[8].startswith(r"\left\{ \begin{array}{ll} q(0) &= 1")
    assert found.displays[3].sentence == "From (1.2) one reads off"
    assert found.displays[4].names == ("eq:motion",)


@pytest.mark.parametrize("text, expected", [
    (r"\begin{equation}a\tag{x}\end{equation}$$b$$\begin{equation}c\end{equation}",
     [("x", "a"), (None, "b"), ("1", "c")]),
    (r"\begin{equation*}a\end{equation*}\begin{align*}b\\c\tag{2'}\end{align*}",
     [(None, "a"), ("2'", r"\begin{aligned}&b\\&c\end{aligned}")]),
    (r"\begin{align}a\nonumber\\b\notag\end{align}",
     [(None, r"\begin{aligned}&a\\&b\end{aligned}")]),
    (r"\begin{alignat}{2}a&=b\\[3pt]c&=d\nonumber\end{alignat}",
     [("1", r"\begin{aligned}a&=b\\c&=d\end{aligned}")]),
    (r"\newcommand\x[2][z]{#1+#2}\[\x{a}\x[b]c\]", [(None, "z+ab+c")]),
    (r"\def\x{\alpha}\[\x b\]", [(None, r"\alphab")]),
    (r"\renewcommand{\theequation}{\roman{equation}}\setcounter{equation}{1993}"
     r"\begin{equation}a\end{equation}", [("mcmxciv", "a")]),
    (r"\NewDocumentCommand{\x}{m m}{#2#1}\[\x{a}b\]", [(None, "ba")]),
    (r"\let\x=\beta\providecommand\x{no}\[\x\]", [(None, r"\beta")]),
    (r"\newenvironment{eq}{\begin{equation}}{\end{equation}}\begin{eq}a\end{eq}", [("1", "a")]),
    (r"\DeclarePairedDelimiter\n{\lVert}{\rVert}\[\n*{x}\n[\big]{y}\]", [(None, r"\|x\|\|y\|")]),
    ("$$a % b $$ {\n= c$$", [(None, "a=c")]),
    (r"\begin{comment}$$a$$\end{comment}$$b$$", [(None, "b")]),
    (r"\verb|$$|\lstinline!{!\url{a%b}$$b$$", [(None, "b")]),
    (r"\iffalse $$a$$ \iftrue\fi \else $$b$$\fi$$c$$", [(None, "b"), (None, "c")]),
    ("\\begin{document}$$a$$\\end{document}$$b$$", [(None, "a")]),
    (r"{\begin{itemize}\item$$a$$\end{itemize}}", [(None, "a")]),
    (r"\begin{equation}\begin{split}a&=b\\&=c\end{split}\end{equation}",
     [("1", r"\begin{aligned}a&=b\\&=c\end{aligned}")]),
    (r"\begin{IEEEeqnarray}{rCl}a&=&b\\c&\le&d\IEEEyesnumber\end{IEEEeqnarray}",
     [("1", "a=b"), ("2", r"c\led")]),
    (r"\begin{flalign}&a=b&&c=d&\end{flalign}", [("1", "a=bc=d")]),
    (r"\begin{equation}a\label{e}\end{equation}$$b\tag{\ref{e}$'$}$$",
     [("1", "a"), ("1$'$", "b")]),
    (r"\begin{align}a\\\intertext{and so} b\end{align}", [("1", "a"), ("2", "b")]),
    (r"\begin{equation}x\end{equation}\begin{align*}y\tag{\theequation$'$}\end{align*}",
     [("1", "x"), ("1$'$", "y")]),
    (r"\setcounter{equation}{4}\addtocounter{equation}{2}\begin{equation}a\end{equation}",
     [("7", "a")]),
])
def test_what_is_read(text, expected, tmp_path):
    assert shown(of(text, tmp_path)) == expected


@pytest.mark.parametrize("text, told", [
    ("a\n\\begin{equation}\n{a\n\\end{equation}", r"line 4: \end{equation} closes nothing in the"),
    ("$$ a\n\n b $$", "line 1: the display that begins in line 1 has an empty line"),
    ("cost: $5\n\nmore", "line 1: the formula that $ begins is never closed"),
    ("\\[ a $$", "$ stands in the display that begins in line 1"),
    ("\\newcommand{\\a}{b", r"the brace after \newcommand is never closed"),
    ("\\def\\a{\\a}\n\\a", r"line 2: macros expand without end here (\a)"),
    ("x\n\\input{../secret}", r"line 2: \input{../secret} leads out of the folder"),
    ("\\input{link}", "leads out of the folder"),
    ("\\input paper \n", "paper.tex inputs itself"),
    ("\\iffalse ", r"\iffalse is never closed"),
    ("\\renewcommand{\\theequation}{" + "\\theequation" * 10 + "}\n"
     "\\begin{equation}a\\end{equation}", r"line 2: \theequation is defined by itself"),
    ("\n\\input{gone}", r"line 2: the file of \input is not there"),
    ("\\begin{myequation}b\\end{myequation}", "the environment myequation is not known"),
    ("\\ifx\\a\\b \\fi", r"\ifx is not evaluated"),
    ("\\begin{align} \\\\ \\end{align}", "an empty line bears the number (1)"),
    ("$$" + "{" * 70 + "b" + "}" * 70 + "$$", "braces more than 60 deep"),
    ("\\begin{gather*} \\begin{align} y \\end{align} \\end{gather*}", "align inside gather*"),
    ("\\begin{lemma} \\end{lemma}", r"lemma has no \newtheorem here"),
    ("\\renewcommand{\\label}[1]{}", r"\label is defined anew"),
    ("\\newcounter{step}[section]", r"\newcounter{step} is not evaluated"),
])
def test_what_cannot_be_read_is_listed_with_its_line_and_the_rest_is_read(text, told, tmp_path):
    (tmp_path / "secret.tex").write_text("$$secret$$")
    inside = tmp_path / "paper"
    inside.mkdir()
    (inside / "link.tex").symlink_to(tmp_path / "secret.tex")
    found = of(text + "\n\n$$read$$", inside)
    assert shown(found)[-1] == (None, "read") and "secret" not in str(shown(found))
    assert found.unread[0].startswith("paper.tex, line ") and told in found.unread[0]


@pytest.mark.parametrize("name, content, expected", [
    ("paper.tex", b"a\0b", "no text"), ("paper.tex", b"x" * 8_000_001, "8000000 at most"),
    ("paper.pdf", b"", "must be a .tex file"), ("../none.tex", b"", "no file")])
def test_files_that_are_no_text(name, content, expected, tmp_path):
    (tmp_path / "paper.tex").write_bytes(content)
    with pytest.raises((ReadingError, FileNotFoundError), match=expected):
        read(tmp_path / name)


@pytest.mark.parametrize("text", [
    "$" * 100_000, "$$" + "x_i + " * 70_000, "\\newcommand{\\a}[1} " * 90_000,
    "\\def\\a{bb}\\def\\b{\\a\\a}\\def\\c{\\b\\b\\b\\b}" + "\\c" * 200_000])
def test_what_is_no_paper_ends_soon(text, tmp_path):
    begin = time.process_time()
    found = of(text, tmp_path)
    assert found.displays == [] and found.unread and time.process_time() - begin < 10


def test_what_a_theorem_says_is_not_said_of_a_display_behind_it(tmp_path):
    found = of(r"""\newtheorem{thm}{Theorem} First.
\begin{thm} Every minimum is global. $$a \tag{1}$$ and so on. \end{thm} $$b \tag{2}$$
\begin{thm} It is one. \end{thm} Then $$c \tag{3}$$""", tmp_path)
    assert [one.sentence for one in found.displays] == ["Every minimum is global.", "", "Then"]


def test_equations_counted_within_subsubsections(tmp_path):
    r"""As LaTeX numbers them: a section sets back both counters below it, a subsection one."""
    one = "\\begin{equation} x \\end{equation}\n"
    text = "\n".join([
        r"\documentclass{article}\numberwithin{equation}{subsubsection}\begin{document}",
        r"\section{A}\subsection{B}\subsubsection{C}", one, one, r"\subsubsection{D}", one,
        r"\subsection{E}", one, r"\subsubsection{F}", one, r"\section{G}", one,
        r"\subsection{H}\subsubsection{I}", one, r"\appendix\section{J}\subsection{K}",
        r"\subsubsection{L}", one, r"\end{document}"])
    assert [display.label for display in of(text, tmp_path).displays] == [
        "1.1.1.1", "1.1.1.2", "1.1.2.1", "1.2.0.1", "1.2.1.1", "2.0.0.1", "2.1.1.1", "A.1.1.1"]


# -- preambles, styles, classes, pictures: pdflatex's numbers (TeX Live) stand beside each ---------

EQUATION = r"\begin{equation}%s\end{equation}"
X = EQUATION % "x"
DOCUMENTS = {
    "a meaning kept by let": (r"\documentclass{article}\usepackage{amsmath}"
        r"\let\oldvec\vec\renewcommand{\vec}[1]{\oldvec{\mathbf{#1}}}"
        r"\begin{document}" + EQUATION % r"\vec{a}" + r"\end{document}",
        [("1", r"\vec{\mathbf{a}}")]),
    "a picture": (r"\documentclass{article}\usepackage{tikz}\begin{document}Here is"
        r"\begin{figure}\begin{tikzpicture}\path (0,0) -- (1,1) $;\end{tikzpicture}"
        r"\caption{Not. It}"
        r"\end{figure}" + X + r"\end{document}", [("1", "x")]),
    "headings": (r"\documentclass{article}\usepackage{titlesec,etoolbox}"
        r"\titleformat{\section}{\large}{\thesection}{1em}{}\pretocmd{\section}{\clearpage}{}{}"
        r"\newcommand{\unclosed}[1}\begin{document}\section{One}" + X + r"\end{document}",
        [("1", "x")]),
    "report": (r"\documentclass{report}\begin{document}" + X + r"\chapter{A}\section{B}" + X
        + r"\chapter{C}" + X + r"\appendix\chapter{D}" + X + r"\end{document}",
        [("1", "x"), ("1.1", "x"), ("2.1", "x"), ("A.1", "x")]),
    "only set back": (r"\documentclass{article}\counterwithin*{equation}{section}\begin{document}"
        r"\section{A}" + X + r"\section{B}" + X + r"\end{document}", [("1", "x"), ("1", "x")]),
    "memoir": (r"\documentclass{memoir}\begin{document}" + X + r"\chapter{A}" + X
        + r"\chapter*{B}" + X + r"\end{document}", [("1", "x"), ("1.1", "x"), ("1.2", "x")]),
    "intertext": (r"\documentclass{article}\usepackage{amsmath}\begin{document}"
        r"\begin{align}a\intertext{and}b\end{align}\end{document}", [("1", "a"), ("2", "b")]),
    "switches": (r"\documentclass{article}\newif\iflong\longfalse\begin{document}"
        r"\iflong " + X + r"\else " + EQUATION % "y" + r"\fi\longtrue\iflong " + X + r"\else "
        + X + X + r"\fi" + X + r"\end{document}", [("1", "y"), ("2", "x"), ("3", "x")]),
    "what is left out": (r"\documentclass{article}\usepackage{comment}\excludecomment{long}"
        r"\begin{document}\begin{long}" + X + "\n\\end{long}\n" + EQUATION % "y"
        + r"\end{document}", [("1", "y")]),
    "empheq": (r"\documentclass{article}\usepackage{empheq}\begin{document}"
        r"\begin{empheq}[left=\empheqlbrace]{align}a&=b\\c&=d\end{empheq}\end{document}",
        [("1", "a=b"), ("2", "c=d")]),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_of_many_kinds(name, tmp_path):
    text, expected = DOCUMENTS[name]
    assert shown(of(text, tmp_path)) == expected
    found = by_tex(tmp_path / "paper.tex")
    if found is not None and found.finished:  # a style may not be installed
        assert [number for _, number in found.records["paper.tex"]] == [
            number for number, _ in expected]


HEAD = "\\documentclass{article}\n\\usepackage{amsmath,ifthen}\n"
#: text; what TeX prints, by line; the displays that are read, with TeX's numbers
BY_TEX = {
    "only what is referred to": (
        HEAD.replace("ifthen", "mathtools") + "\\mathtoolsset{showonlyrefs}\n\\begin{document}\n"
        "\\begin{equation}\\label{a}a\\end{equation}\n\\begin{equation}\\label{b}b\\end{equation}\n"
        "\\begin{align}c\\label{c}\\\\\nd\\label{d}\\end{align}\nSee \\eqref{b}, \\eqref{d}.\n"
        "\\end{document}", [(6, "1"), (8, "2")], {"b": "1", "d": "2"}, [None, "1", "2"]),
    "tags of every kind": (
        HEAD + "\\begin{document}\n\\begin{subequations}\n\\begin{align}a\\\\b\\tag{$\\ast$}\\\\"
        "c\\label{c}\\end{align}\n\\end{subequations}\n\\begin{equation}x\\tag{\\ref{c}'}"
        "\\end{equation}\n\\[y\\tag*{[E]}\\] \\eqref{c}\n\\begin{multline}a\\\\b\\end{multline}\n"
        "\\begin{eqnarray}a&=&b\\nonumber\\\\ &=&c\\end{eqnarray}\n\\end{document}",
        [(5, "1a"), (5, r"$\ast$"), (5, "1b"), (7, "1b'"), (8, "E"), (9, "2"), (10, "3")],
        {"c": "1b"}, ["1a", r"$\ast$", "1b", "1b'", "E", "2", "3"]),
    "what only TeX evaluates": (
        HEAD + "\\newboolean{long}\n\\begin{document}\n\\ifthenelse{\\boolean{long}}{\n"
        "\\begin{equation}a\\end{equation}\n}{\n\\begin{equation}b\\end{equation}\n}\n\\makeatletter"
        "\\@for\\x:=1,2\\do{\\stepcounter{equation}}\n\\begin{equation}c\\end{equation}\n"
        "\\end{document}", [(9, "1"), (11, "4")], {}, [None, None, "4"]),
    "in the argument of a macro": (
        HEAD + "\\begin{document}\nx\\footnote{Here\n"
        "\\begin{equation}a\\end{equation}\nends}\n\\end{document}", [(6, "1")], {}, ["1"]),
}


@pytest.mark.parametrize("name", BY_TEX)
def test_the_numbers_of_tex(name, tmp_path):
    text, records, names, labels = BY_TEX[name]
    (tmp_path / "paper.tex").write_text(text)
    found = by_tex(tmp_path / "paper.tex")
    if found is not None and "mathtools.sty' not found" not in found.error:
        assert (found.records, found.names, found.error) == ({"paper.tex": records}, names, "")
    told = Numbers("pdflatex", True, {"paper.tex": [*records]}, names)
    read_so = read(tmp_path / "paper.tex", told)
    assert [display.label for display in read_so.displays] == labels and read_so.doubts == []


def test_what_tex_prints_and_nobody_reads_is_listed(tmp_path):
    (tmp_path / "paper.tex").write_text("\\begin{document}\n$$a$$\n\\end{document}")
    found = read(tmp_path / "paper.tex", Numbers("pdflatex", True, {"paper.tex": [(2, "7")]}))
    assert found.unread == ["paper.tex, line 2: TeX prints (7) here, and no display of it was read"]
    found = read(tmp_path / "paper.tex", Numbers("pdflatex", False, error="no style"))
    assert found.doubts == ["pdflatex could not set the paper: no style"]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX here")
def test_a_paper_reads_and_writes_nothing_outside_and_ends(tmp_path):
    (tmp_path / "secret.tex").write_text(EQUATION % r"s\tag{secret}")
    folder = tmp_path / "paper"
    folder.mkdir()
    (folder / "link.tex").symlink_to(tmp_path / "secret.tex")
    begin = r"\documentclass{article}\usepackage{amsmath}\begin{document}" + X
    for body in (rf"\input{{{tmp_path / 'secret'}}}", r"\input{../secret}", r"\input{link}",
                 rf"\immediate\write18{{touch {tmp_path / 'made'}}}",
                 rf"\newwrite\o\immediate\openout\o={tmp_path / 'made'} \immediate\write\o{{x}}"):
        (folder / "a b.tex").write_text(begin + body + r"\end{document}")
        found = by_tex(folder / "a b.tex")
        assert "secret" not in str(found.records) and not (tmp_path / "made.tex").exists()
        assert sorted(path.name for path in folder.iterdir()) == ["a b.tex", "link.tex"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["paper", "secret.tex"]
    (folder / "a b.tex").write_text(begin + r"\def\a{\a}\a\end{document}")
    assert not by_tex(folder / "a b.tex", seconds=1.5).finished


def test_a_class_and_a_style_beside_the_paper(tmp_path):
    (tmp_path / "own.cls").write_text(
        r"\LoadClass{article}\renewcommand{\title}[1]{\gdef\@title{#1}}\def\section{\@startsection}"
        r"\RequirePackage{amsmath}\numberwithin{equation}{section}")
    (tmp_path / "conf.sty").write_text("\\def\\@a#1{\\expandafter\\@b\\csname #1\\endcsname}{{{$\n")
    found = of(r"\documentclass{own}\usepackage{conf}\title{T}\begin{document}\section{A}" + X
               + r"\end{document}", tmp_path)
    assert shown(found) == [("1.1", "x")] and found.title == "T" and found.doubts == []


def test_control_characters_of_a_paper_become_blanks(tmp_path):
    found = of("\\title{A\x1b[2J}\n\nSo\x07\t\\[ a\x1b = \x9bb \\tag{1\x7f} \\]\r\n$$c$$", tmp_path)
    assert found.title == "A [2J" and shown(found) == [("1", "a=b"), (None, "c")]
    assert [display.line for display in found.displays] == [3, 4]


@pytest.mark.parametrize("defined", [
    r"\newcommand{\odd}[1]{\ifx#1a b\else c\fi}", r"\def\odd#1.{#1}",
    r"\NewDocumentCommand{\odd}{O{x}m}{#1#2}"])
def test_what_only_tex_can_carry_out_stays_and_is_listed_by_name(defined, tmp_path):
    found = of(defined + r"$$\odd{a}$$ $$\odd{b}$$", tmp_path)
    assert shown(found) == [(None, r"\odd{a}"), (None, r"\odd{b}")]
    assert len(found.unread) == 1 and r"\odd stays as it stands" in found.unread[0]
