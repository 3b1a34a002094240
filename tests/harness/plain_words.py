"""Plain words: which rules of prose a text breaks, and where the project's prose stands.

Formulas, code, tables and headings are no sentences: what splits a text into sentences leaves
code and tables out and counts a formula as one word.
"""

import ast
import inspect
import re
from functools import cache

MOST_WORDS = 25
CODE_BLOCK = re.compile(r"^```.*?^```", re.M | re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
CODE = re.compile(r"(`+)(?:(?!\1).)+\1", re.S)
FORMULA = re.compile(r"\$\$.*?\$\$|\$(?=\S)[^$\n]*\$", re.S)
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)\s]*\)")
#: What begins a paragraph of its own: an item of a list, a row of a table, a heading.
BEGINS = re.compile(r"\s*(?:[-*] |\d+\. |\||#+ |> )")
#: A dot that ends no sentence.
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|et al|[Ee]qs?|[Ff]igs?|[Ss]ec|cf|vs)\.$")
END = re.compile(r"""(?<=[.!?])["')\]*_]*\s+(?=\S)""")
WORD = re.compile(r"""[("'*]*(?:[A-Za-zÀ-ž][A-Za-zÀ-ž'’.-]+|[aAI])[)"'*,.;:!?]*$""")

#: Numbers as people write them: 0.05, 4000, 20.
NUMBERS = {
    "no zero before the point": re.compile(r"(?<![\w.)\]/])\.\d+"),
    "printf's exponent": re.compile(r"\d[eE](?:\+\d+|-0[1-4](?!\d))"),
    "a range without width": re.compile(r"(?<![\d.-])(-?\d+(?:\.\d+)?) to \1(?!\d|\.\d)"),
}
#: Words that a reader has to go back for, and words that are none of the field's.
PHRASES = re.compile(
    r"as (?:it|they) should(?: be)?\b|what (?:it|they) should be|\b(?:that|those) of\b|\btheirs\b"
    r"|\bthe ones?(?= (?:that|which|who|of|with)\b|[.,;:)])|\btold (?:as|of|by)\b|\band its kin\b"
    r"|\bwhoever\b|\bone's own\b|\bof your own\b|\bof yours\b", re.I)


def paragraphs(markdown):
    """Paragraphs and items of a Markdown text that are prose, on one line each."""
    text = COMMENT.sub("", CODE_BLOCK.sub("\n\n", markdown))
    found = [[]]
    for line in text.splitlines():
        if not line.strip() or BEGINS.match(line):
            found.append([])
        if line.strip():
            found[-1].append(line.strip())
        if line.startswith("#"):
            found.append([])
    joined = [" ".join(lines) for lines in found if lines]
    return [re.sub(r"^(?:[-*>] |\d+\. |#+ )", "", text) for text in joined
            if not text.startswith("|")]


def cells(markdown):
    """Cells of the tables of a Markdown text."""
    text = COMMENT.sub("", CODE_BLOCK.sub("\n\n", markdown))
    return [cell for line in text.splitlines() if line.startswith("|") for cell in line.split("|")]


def records(paragraph):
    """Parts of a line that a program wrote as `key (part), claim: measure: value` or as a list."""
    if re.match(r"Differs from the paper: |[\w-]+ \([^)]*\), ", paragraph):
        return re.split(r": |; ", paragraph)
    return [paragraph]


def without_formulas(text):
    """The text with code, formulas and links as the words that they stand for."""
    text = FORMULA.sub(" = ", CODE.sub(" = ", text))
    return LINK.sub(r"\1", text)


def sentences(paragraph):
    """Sentences of a paragraph, code and formulas as a sign each."""
    found = []
    for part in END.split(without_formulas(paragraph)):
        if found and ABBREVIATION.search(found[-1]):
            found[-1] += f" {part}"
        else:
            found.append(part)
    return found


def words(sentence):
    """Number of words: what stands between two of them, a formula or a number, is one."""
    # an `a` before an operator is a letter, elsewhere the article
    tokens = re.sub(r"\ba (?=[-+*/=<>@~] )", "= ", sentence).split()
    kinds = ["word" if WORD.match(token) else "sign" for token in tokens]
    return sum(kind == "word" or before == "word"
               for before, kind in zip(["word", *kinds], kinds, strict=False))


def long_sentences(paragraph):
    return [sentence for sentence in sentences(paragraph) if words(sentence) > MOST_WORDS]


def numbers(paragraph):
    return [match[0] for rule in NUMBERS.values()
            for match in rule.finditer(without_formulas(paragraph))]


def phrases(paragraph):
    return [match[0] for match in PHRASES.finditer(without_formulas(paragraph))]


def faults(texts):
    """All that the texts break, with the words that break it."""
    return [fault for text in texts for rule in (long_sentences, numbers, phrases)
            for fault in rule(text)]


def prose_of_docstring(text):
    """Paragraphs of a numpydoc docstring: no formulas, examples, names of arguments."""
    found, section, example = [[]], "", False
    lines = inspect.cleandoc(text).splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        underlined = bool(re.fullmatch(r"[-=]{3,}", after)) and len(after) <= len(line) + 4
        if underlined:
            section = line.strip()
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        indented = line.startswith(" ")
        named = section and section not in ("Notes", "Examples", "References", "See Also")
        if (not line.strip() or example or underlined or re.fullmatch(r"[-=]{3,}", line)
                or indented != bool(named)):
            found.append([])
        else:
            if BEGINS.match(line):
                found.append([])
            found[-1].append(line.strip())
    return [re.sub(r"^[-*] ", "", " ".join(lines)) for lines in found if lines]


@cache
def nodes(source):
    """All nodes of a source's syntax tree, breadth first: the first is the root."""
    return [*ast.walk(ast.parse(source))]


def texts_of(node):
    """String constants below a node of a syntax tree but docstrings; what an f-string puts in is a
    sign."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else "=" for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from texts_of(child)


def messages(source):
    """Texts of a file's code that may be sentences: errors, warnings, what is printed or shown.

    Names of one to three words are left out, and so are LaTeX, HTML and patterns. Lines that begin
    with two spaces are examples or tables.
    """
    for text in texts_of(nodes(source)[0]):
        if len(text.split()) > 3 and "\\" not in text and "<" not in text:
            yield from paragraphs(re.sub(r"^  .*", "", text, flags=re.M))


def titles(source):
    """Texts that a file gives as titles and captions."""
    for node in nodes(source):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg in ("title", "caption", "states", "xlabel", "ylabel"):
                    yield from texts_of(keyword.value)
            if isinstance(node.func, ast.Attribute) and node.func.attr in (
                    "set_title", "suptitle", "set_xlabel", "set_ylabel", "figcaption"):
                yield from texts_of(node)


def parsers(parser):
    """A parser of arguments and those of its commands."""
    yield parser
    for action in parser._actions:
        if hasattr(action.choices, "values"):
            for below in action.choices.values():
                yield from parsers(below)


def prose_of_help(parser):
    """What a command's help says in sentences: its examples and their remarks are lines."""
    for text in (parser.description or "", parser.epilog or ""):
        lines = ["" if line.startswith("  ") else line for line in text.splitlines()]
        yield from paragraphs("\n".join(lines))
    for action in parser._actions:
        if action.help:
            yield action.help


def docstrings(thing):
    """Docstrings of a public callable; of a class, those of its public methods too."""
    if thing.__doc__:
        yield thing.__doc__
    if inspect.isclass(thing):
        for name, below in vars(thing).items():
            if isinstance(below, property):
                below = below.fget
            below = getattr(below, "__func__", below)
            if not name.startswith("_") and inspect.isfunction(below) and below.__doc__:
                yield below.__doc__


def surface(package):
    """Public callables of a package's names, as pairs of the room they are reached by and the
    callable."""
    for name in package.__all__:
        thing = getattr(package, name)
        if not inspect.ismodule(thing):
            yield thing.__module__.split(".")[1], thing
            continue
        for below in getattr(thing, "__all__", [n for n in dir(thing) if n[0] != "_"]):
            if callable(getattr(thing, below)) and not inspect.ismodule(getattr(thing, below)):
                yield name, getattr(thing, below)
