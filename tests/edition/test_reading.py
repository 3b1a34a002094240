"""Displays of LaTeX papers: found with their numbers, or refused and listed by line."""

import time
from pathlib import Path

import pytest

from secondorder.edition import ReadingError, read
from secondorder.edition.tex.counters import Counters

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
])
def test_what_is_read(text, expected, tmp_path):
    assert shown(of(text, tmp_path)) == expected


@pytest.mark.parametrize("text, message", [
    ("a\n\\begin{equation}\n{a\n\\end{equation}", r"line 4: \end{equation} does not close { of"),
    ("\\begin{align}\na\n\\end{gather}", r"line 3: \end{gather} does not close \begin{align} of "
     "line 1"),
    ("a\n} b", "line 2: } closes nothing"),
    ("a\n{ b\n", "line 2: { is never closed"),
    ("$$ a\n\n b $$", "line 1: the display that begins in line 1 has an empty line"),
    ("\n\\begin{itemize}\n$$a$$", r"line 2: \begin{itemize} is never closed"),
    ("\\end{align}", r"\end{align} closes nothing"),
    ("cost: $5\n\nmore", "line 1: the formula that $ begins is never closed"),
    ("\\[ a $$", r"$ stands in the display that begins in line 1, which \] has to close"),
    ("$$ a $ b", "a single $ stands in"),
    ("\\begin{verbatim}\n$$a$$", r"\begin{verbatim} is never closed"),
    ("\n\\verb|a\n|", r"line 2: \verb is not closed in its line"),
    ("\\newcommand{\\a}{b", r"the brace after \newcommand is never closed"),
    ("\\def\\a{\\a}\n\\a", r"line 2: macros expand without end here (\a)"),
    ("\\def\\a{bb}\\def\\b{\\a\\b}\n$$\\b$$", r"line 2: macros expand without end here (\a)"),
    ("\\newenvironment{x}{\\begin{x}}{\\end{x}}\n\\begin{x}", "line 2: "),
    ("x\n\\input{../secret}", r"line 2: \input{../secret} leads out of the folder"),
    ("\\input{/etc/passwd}", "leads out of the folder"),
    ("\\input{link}", "leads out of the folder"),
    ("\\input paper \n", "paper.tex inputs itself"),
    ("\\iffalse $$a$$", r"\iffalse is never closed"),
    ("\\renewcommand{\\theequation}{" + "\\theequation" * 10 + "}\n"
     "\\begin{equation}a\\end{equation}", r"line 2: \theequation is defined by itself"),
    ("".join(rf"\renewcommand{{\the{a}}}{{\the{b}\the{b}}}"
             for a, b in zip(["equation", *"abcdefghij"], "abcdefghijk"))
     + "\\begin{equation}a\\end{equation}", "more than 100 counters"),
])
def test_what_is_refused_has_its_line(text, message, tmp_path):
    (tmp_path / "secret.tex").write_text("$$secret$$")
    inside = tmp_path / "paper"
    inside.mkdir()
    (inside / "link.tex").symlink_to(tmp_path / "secret.tex")
    with pytest.raises(ReadingError) as told:
        of(text, inside)
    assert str(told.value).startswith("paper.tex, line ") and message in str(told.value)


def test_a_long_macro_used_often_is_no_doubling(tmp_path, monkeypatch):
    """Twenty tokens count as one more expansion: 60 times 100 of them are 360."""
    monkeypatch.setattr("secondorder.edition.tex.macros.MOST", 400)
    found = of("\\def\\a{" + "{}" * 50 + "}" + "$$\\a$$ " * 60, tmp_path)
    assert len(found.displays) == 60


@pytest.mark.parametrize("text, told", [
    ("\n\\input{gone} $$a$$", r"paper.tex, line 2: the file of \input is not there"),
    ("\\def\\a#1.{x} $$a$$", r"\def\a with delimiters"),
    ("\\begin{empheq}{align}b\\end{empheq} $$a$$", "the environment empheq is not known"),
    ("\\ifx\\a\\b $$a$$ \\fi", r"\ifx is not evaluated"),
    ("\\begin{align} \\\\ a \\end{align}", "an empty line bears the number (1)"),
    ("$$a$$ $$" + "{" * 70 + "b" + "}" * 70 + "$$", "braces more than 60 deep"),
    ("\\begin{lemma}$$a$$\\end{lemma}", r"lemma has no \newtheorem here"),
    ("\\renewcommand{\\label}[1]{}$$a$$", r"\label is defined anew"),
])
def test_what_is_not_read_is_listed(text, told, tmp_path):
    found = of(text, tmp_path)
    assert len(found.displays) == 1 and len(found.unread) == 1
    assert told in found.unread[0]


@pytest.mark.parametrize("text", ["\\newcounter{step}[section]",
                                  "\\declaretheorem[style=plain]{lemma}[parent=section]"])
def test_the_name_of_what_is_not_read_is_no_sentence(text, tmp_path):
    found = of(text + "$$a$$", tmp_path)
    assert found.displays[0].sentence == "" and "is not evaluated" in found.unread[0]


@pytest.mark.parametrize("content, expected", [
    (b"a\0b", "no text"), (b"one\n\xe9", "paper.tex, line 2: no UTF-8"),
    (b"x" * 8_000_001, "8000000 at most")])
def test_files_that_are_no_text(content, expected, tmp_path):
    (tmp_path / "paper.tex").write_bytes(content)
    with pytest.raises(ReadingError, match=expected):
        read(tmp_path / "paper.tex")


def test_other_things_than_papers(tmp_path):
    with pytest.raises(ReadingError, match="must be a .tex or .md file"):
        read(tmp_path / "paper.pdf")
    with pytest.raises(FileNotFoundError, match="no file"):
        read(tmp_path / "paper.tex")
    (tmp_path / "a.tex").mkdir()
    with pytest.raises(IsADirectoryError):
        read(tmp_path / "a.tex")
    for wrong in (None, 3, "", "a\0.tex"):
        with pytest.raises(TypeError, match="path must be"):
            read(wrong)


@pytest.mark.everyday(1)
@pytest.mark.parametrize("piece", [
    "Some text with $a_i$ and \\emph{words}.\n\n", "{}", "\\verb|a| ", "One. Two! ", "a% b\n"])
def test_time_grows_as_the_text_does(piece, tmp_path):
    """Twice the text takes about twice the time, not four times: the best of several."""
    def seconds(size):
        took = []
        for _ in range(3):
            begin = time.process_time()
            of(piece * (size // len(piece)) + "$$x$$", tmp_path)
            took.append(time.process_time() - begin)
        return min(took)

    assert seconds(300_000) < 3 * seconds(150_000) + 0.05


@pytest.mark.everyday(1)
@pytest.mark.parametrize("text", [
    "{" * 400_000, "$" * 400_000, "$$" + "x_i + " * 70_000, "\\[a\\]" * 6000,
    "\\begin{align}" + "a\\\\" * 100_000, "\\begin{quote}" * 30_000,
    "\\def\\a{bb}\\def\\b{\\a\\a}\\def\\c{\\b\\b\\b\\b}" + "\\c" * 200_000])
def test_hostile_texts_end_soon(text, tmp_path):
    begin = time.process_time()
    with pytest.raises(ReadingError, match="line"):
        of(text, tmp_path)
    assert time.process_time() - begin < 10


def test_what_a_theorem_says_is_not_said_of_a_display_behind_it(tmp_path):
    found = of(r"""\newtheorem{thm}{Theorem} First.
\begin{thm} Every minimum is global. $$a \tag{1}$$ and so on. \end{thm} $$b \tag{2}$$
\begin{thm} It is one. \end{thm} Then $$c \tag{3}$$""", tmp_path)
    assert [one.sentence for one in found.displays] == ["Every minimum is global.", "", "Then"]


# -- what a paper by other hands has taught --------------------------------------------------------


def test_mathematics_of_a_text_may_hold_environments(tmp_path):
    """An \\end inside \\begin{math} closes what was begun inside."""
    found = of(r"""Here \begin{math}\bigl(\begin{smallmatrix} a & b \\ c & d
\end{smallmatrix}\bigr)\end{math} stands in a line, and then
\begin{equation} x = y \end{equation}""", tmp_path)
    assert [one.label for one in found.numbered] == ["1"]
    assert "smallmatrix" in found.numbered[0].sentence


def test_what_ifx_compares_is_not_carried_out(tmp_path):
    found = of("\\ifx\\undefined\\url\n\\fi\n\\begin{equation} x \\end{equation}", tmp_path)
    assert len(found.numbered) == 1 and len(found.unread) == 1


def test_a_counter_in_a_tag_is_a_number(tmp_path):
    found = of(r"\begin{equation} x \end{equation}"
               r"\begin{align*} y \tag{\theequation$'$} \end{align*}", tmp_path)
    assert [one.label for one in found.numbered] == ["1", "1$'$"]


def test_lines_numbered_inside_a_display_are_told(tmp_path):
    found = of(r"\begin{gather*} x \\ \begin{align} y \end{align} \end{gather*}", tmp_path)
    assert "align inside gather*" in found.unread[0]


def test_a_counter_is_set_and_added_to(tmp_path):
    found = of(r"\documentclass{article}\begin{document}\setcounter{equation}{4}"
               r"\addtocounter{equation}{2}\begin{equation} a = b \end{equation}\end{document}",
               tmp_path)
    assert shown(found) == [("7", "a=b")] and found.unread == []


@pytest.mark.parametrize("number, roman", [(4, "iv"), (9, "ix"), (14, "xiv"), (1994, "mcmxciv")])
def test_a_roman_numeral(number, roman):
    counters = Counters()
    counters.printed["equation"], counters.values["equation"] = [("roman", "equation")], number
    assert counters.the("equation") == roman
