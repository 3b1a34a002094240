r"""What the commands of a text do while it is read: headings, counters, files, conditions."""

from ...formulas.tokens import written
from .macros import DEFINING
from .prose import Prose

_HEADINGS = {r"\part", r"\chapter", r"\section", r"\subsection", r"\subsubsection"}
_CITING = {r"\cite", r"\citep", r"\citet", r"\citealp", r"\parencite", r"\textcite"}
_REFERRING = {r"\ref", r"\eqref", r"\cref", r"\Cref", r"\autoref"}
_INPUTS = {r"\input", r"\include", r"\subfile"}
_NO_CONDITION = {r"\iff", r"\ifthenelse", r"\ifelse"}
_PACKAGES = {r"\usepackage", r"\RequirePackage", r"\RequirePackageWithOptions"}
_CLASSES = {r"\documentclass", r"\LoadClass", r"\LoadClassWithOptions", r"\documentstyle"}
_CHAPTERS = {"report", "book", "memoir", "scrreprt", "scrbook", "amsbook", "ctexbook", "ctexrep"}
_USUAL = {"article", "amsart", "scrartcl", "IEEEtran", "revtex4-1", "revtex4-2", "elsarticle",
          "acmart", "extarticle", "svjour3", "llncs", "siamart", "proc", "minimal", "letter"}
_WITHIN = {r"\numberwithin", r"\counterwithin", r"\@addtoreset"}
_SETTING = {r"\setcounter", r"\addtocounter"}
_NOT_EVALUATED = {r"\declaretheorem", r"\newcounter", r"\NewDocumentEnvironment"}
_ONE_ARGUMENT = {r"\vspace", r"\hspace", r"\bibliographystyle", r"\bibliography", r"\caption",
                 r"\thispagestyle", r"\pagestyle", r"\includegraphics", r"\hypersetup"}
_RAW = {r"\url", r"\href", r"\nolinkurl"}
#: What a preamble says of displays; the rest of it is passed over.
_OF_PREAMBLE = (_PACKAGES | _CLASSES | _WITHIN | _SETTING | _INPUTS | _NOT_EVALUATED
                | {*DEFINING, r"\newtheorem", r"\title", r"\else", r"\fi"})


def common(reader, token):
    """What means the same in text and in displays: macros, files, conditions, numbers."""
    text, stream = token.text, reader.stream
    if reader.macros.expand(token, stream):
        return True
    if text[:1] != "\\":
        return False
    if text in DEFINING:
        printed = reader.macros.define(token, stream)
        if printed is not None:
            reader.counters.print_as(printed[0][4:], printed[1])
    elif text in _INPUTS:
        _open(reader, token, _file_name(stream, token), ("", ".tex"), True)
    elif text.startswith(r"\if") and text not in _NO_CONDITION:
        _condition(reader, token)
    elif text in (r"\else", r"\fi") and reader.conditions:
        if text == r"\fi" or reader.conditions[-1] and _skip(reader, token):
            reader.conditions.pop()
    elif text == r"\newif":
        reader.switches[(stream.next() or token).text[3:]] = False
    elif text[-4:] == "true" and text[1:-4] in reader.switches:
        reader.switches[text[1:-4]] = True
    elif text[-5:] == "false" and text[1:-5] in reader.switches:
        reader.switches[text[1:-5]] = False
    elif text in _SETTING:
        _set_counter(reader, token)
    elif text in (r"\stepcounter", r"\refstepcounter"):
        reader.counters.step(stream.name(text))
    elif text in _NOT_EVALUATED:
        stream.option(text)
        what = f"{text}{{{stream.name(text)}}} is not evaluated"
        stream.option(text)
        reader.unread(token, what)
        reader.doubt(what)
    else:
        return False
    return True


def preamble_command(reader, token):
    """A command of the preamble: what it defines."""
    text, stream = token.text, reader.stream
    if text in (r"\AtBeginDocument", r"\AtEndPreamble"):
        stream.push(stream.argument(text))
    elif text in (r"\excludecomment", r"\specialcomment"):
        reader.passed_over.add(stream.name(text))
    elif text == r"\mathtoolsset":
        if "showonlyrefs" in stream.name(text):
            reader.doubt("mathtools numbers only displays that are referred to (showonlyrefs)")
    elif text in _OF_PREAMBLE or text.startswith((r"\if", r"\newif")) \
            or text[1:].removesuffix("true") in reader.switches:
        common(reader, token) or text_command(reader, token)
    else:
        reader.macros.expand(token, stream)


def text_command(reader, token):
    """A command of the text; False for one that the sentence may keep."""
    text, stream = token.text, reader.stream
    if text in _HEADINGS:
        _heading(reader, token)
    elif text == r"\appendix":
        reader.counters.appendix()
    elif text == r"\title":
        stream.option(text)
        reader.reading.title = _words(stream.argument(text))
    elif text == r"\label":
        reader.call(stream.name(text))
    elif text == r"\footnote":
        _footnote(reader, token)
    elif text in _CITING:
        options = [stream.option(text), stream.option(text)]
        reader.prose.keep(f"[{stream.name(text)}{', ...' if any(options) else ''}]")
    elif text in _REFERRING:
        reader.prose.keep(f"{text}{{{stream.name(text)}}}")
    elif text in _WITHIN:
        only_back = stream.took("*") or text == r"\@addtoreset"
        first, second = stream.name(text), stream.name(text)
        if only_back:
            reader.counters.within[first] = second
        else:
            reader.counters.number_within(first, second)
    elif text == r"\newtheorem":
        reader.theorems.declare(token, stream)
    elif text in _CLASSES:
        _class(reader, token)
    elif text in _PACKAGES:
        stream.option(text)
        for name in stream.name(text).split(","):
            _open(reader, token, name.strip(), (".sty",))
    elif text in (r"\verb", r"\lstinline"):
        reader.prose.keep(stream.verbatim(token))
    elif text in _RAW:
        stream.verbatim(token)
    elif text in _ONE_ARGUMENT:
        stream.took("*")
        stream.option(text)
        stream.argument(text)
    else:
        if text in reader.macros.commands:
            reader.doubt(f"{text} is not expanded")
        return False
    return True


def _footnote(reader, token):
    """A footnote is no part of the sentence; one with a display is read in its place."""
    reader.stream.option(token.text)
    tokens = reader.stream.argument(token.text)
    texts = [one.text for one in tokens]
    if r"\[" in texts or r"\begin" in texts or ("$", "$") in zip(texts, texts[1:]):
        reader.stream.push(tokens)


def _heading(reader, token):
    name, stream = token.text[1:], reader.stream
    starred = stream.took("*")
    stream.option(token.text)
    title = _words(stream.argument(token.text))
    if not starred:
        reader.counters.step(name)
        reader.last_number = reader.counters.the(name)
    reader.heading = title if starred else f"{reader.last_number} {title}"
    reader.prose.forget()


def _set_counter(reader, token):
    name, value = reader.stream.name(token.text), reader.stream.name(token.text)
    if not value.lstrip("-").isdigit() or len(value) > 6:
        reader.unread(token, f"{token.text} with {value!r:.40}, which is no number")
        return
    before = reader.counters.values.get(name, 0) if token.text == r"\addtocounter" else 0
    reader.counters.values[name] = before + int(value)


def _condition(reader, token):
    """`\\iffalse`, `\\iftrue` and the author's own switches are followed; of any other condition
    both branches are read.
    """
    value = {"false": False, "true": True, **reader.switches}.get(token.text[3:])
    if value is None and reader.in_body:
        reader.unread(token, f"{token.text} is not evaluated: what follows is read as it stands")
        reader.doubt(f"{token.text} is not evaluated")
    for _ in range(2 if token.text == r"\ifx" else 0):  # what it compares
        reader.stream.next()
    if value is not False:
        reader.conditions.append(value)
    elif _skip(reader, token) == r"\else":
        reader.conditions.append(False)


def _skip(reader, token):
    r"""Leave out what stands up to the `\else` or `\fi` of a condition; which of both it was."""
    depth = 1
    while (one := reader.stream.next()) is not None:
        if one.text == r"\newif":
            reader.stream.next()
        elif one.text.startswith(r"\if") and one.text not in _NO_CONDITION:
            depth += 1
        elif one.text == r"\fi" or (one.text == r"\else" and depth == 1):
            depth -= 1
        if depth == 0:
            return one.text
    raise token.error(rf"{token.text} is never closed by \fi")


def _class(reader, token):
    """How a class counts; the author's own class is read."""
    reader.stream.option(token.text)
    name = reader.stream.name(token.text)
    if _open(reader, token, name, (".cls",)):
        return
    if name in _CHAPTERS:
        reader.counters.chapters()
    elif name not in _USUAL:
        reader.doubt(f"the class {name} is not known: numbers are those of an article")


def _open(reader, token, name, endings, expected=False):
    """Read a file of the author's next; False, and listed where it is expected, if none is there.
    """
    found = reader.files.opened(token, name, endings, reader.stream.names())
    if found is not None:
        reader.stream.open(*found)
    elif expected:
        reader.unread(token, f"the file of {token.text} is not there")
    return found is not None


def _words(tokens):
    prose = Prose()
    for token in tokens:
        prose.add(token.text)
    return " ".join((prose.sentence() or written(tokens)).split())


def _file_name(stream, token):
    """`\\input{name}`, or `\\input name` as TeX has it."""
    first = stream.skip_spaces()
    if first is not None and first.text == "{":
        return stream.name(token.text)
    parts = []
    while (one := stream.next()) is not None and not one.text.isspace():
        parts.append(one.text)
    return "".join(parts)
