"""Any spelling of a label, of several at once and of a paper: `Theorem 1`, `eqs. 5-7`, `EA-CG`."""

import re

_SHORT = {"thm": "theorem", "alg": "algorithm", "algo": "algorithm", "lem": "lemma", "tab": "table",
          "prop": "proposition", "app": "appendix", "ext": "extension", "fig": "figure",
          "figs": "figure", "figures": "figure", "tables": "table", "theorems": "theorem"}
_OF_NUMBERS = {"eq", "eqs", "eqn", "eqns", "equation", "equations", "formula", "formulas", "no"}
_RANGE = re.compile(r"\s*(?:\bto\b|\.\.+|–|—|(?<=[\w)])\s*-\s*(?=[\w(]))\s*")


def canonical(label):
    """A label in lower case, hyphens between its words, without what says that it is one.

    >>> [canonical(label) for label in ("Theorem 1", "eq. 10", "ALGORITHM-1", "(39)", 39)]
    ['theorem-1', '10', 'algorithm-1', '39', '39']
    """
    text = re.sub(r"[()\[\],:]|\.(?!\d)", " ", str(label).lower())
    text = re.sub(r"(?<=[a-z]{2})(?=\d)", " ", text)  # theorem1
    words = [_SHORT.get(word, word) for word in re.split(r"[\s_-]+", text) if word]
    if len(words) > 1 and words[0] in _OF_NUMBERS:
        words = words[1:]
    return "-".join(words)


def asked_for(text, known):
    """Those of the known labels that a text asks for, in their order; none where it names another.

    Understood are single labels, lists (`6, 7`, `10, theorem-2`, `8a and 8b`) and ranges (`33 to
    39`, `33-39`, `eqs. 5-7`, `12 to claim-rate`). A number is the display that bears it, or all its
    parts: `4` is (4a), (4b), (4c), and never Table 4. A range of numbers has all numbers in
    between, any other one all labels that stand between its ends.
    """
    known, text = list(known), " ".join(str(text).split())
    if whole := _labels_of(text, known):
        return whole
    wanted = []
    for part in re.split(r"\s*(?:[,;&]|\band\b)\s*", text):
        if not canonical(part):
            continue
        mine = _labels_of(part, known) or _between(part, known)
        if not mine:
            return []
        wanted += mine
    return [label for label in known if label in wanted]


def _labels_of(name, known):
    """The label of that name; without one, the parts of the display of that number."""
    wanted = canonical(name)
    is_it = [label for label in known if canonical(label) == wanted]
    if is_it or not is_number(wanted.upper()):
        return is_it
    return [label for label in known if re.fullmatch(re.escape(wanted) + "[a-z]", canonical(label))]


def _between(text, known):
    """The labels of one range, both ends included."""
    for match in _RANGE.finditer(text):
        ends = [_labels_of(end, known) for end in (text[:match.start()], text[match.end():])]
        if [] in ends:
            continue
        first, last = ends[0][0], ends[1][-1]
        if number(first) and number(last):
            return [label for label in known
                    if number(label) and number(first) <= number(label) <= number(last)]
        first, last = known.index(first), known.index(last)
        return known[min(first, last):max(first, last) + 1]
    return []


def number(label):
    """`8a` as (8, "a"), so that numbers sort as the paper has them; None for names."""
    match = re.fullmatch(r"(\d+)([a-z]?)", label)
    return (int(match[1]), match[2]) if match else None


def in_order(groups):
    """Groups of labels, one a check in the order of registration, as indices in the paper's order.

    Numbers stand in their order; what bears a name stays behind the number that it was registered
    after, and what goes beyond the paper (`extension-...`) stands last.
    """
    keys, before = [], (0, "")
    for place, labels in enumerate(groups):
        numbers = [number(label) for label in labels if number(label)]
        if numbers:
            before = min(numbers)
        extension = all(label.startswith("extension-") for label in labels)
        keys.append((extension, before if not extension else (0, ""), not numbers, place))
    return sorted(range(len(groups)), key=keys.__getitem__)


def is_number(label):
    """Whether a label is what stands in parentheses behind a display: `8a`, `2.1`, `A.3`."""
    return re.fullmatch(r"(\d+|[A-Z]\.\d+)(\.\d+)*[a-z]?", label) is not None


def heading(labels):
    """`Equations (8a), (8b)` for numbers, the label itself for theorems, algorithms and claims."""
    numbers = [label for label in labels if is_number(label)]
    if len(numbers) < len(labels):
        return ", ".join(labels)
    numbers = ", ".join(f"({label})" for label in labels)
    return f"Equation {numbers}" if len(labels) == 1 else f"Equations {numbers}"


def short(labels):
    """`(8a), (8b)`, `theorem-1`, `(33) to (39)`: of more than four numbers in a row the ends."""
    names = [f"({label})" if is_number(label) else label for label in labels]
    first = number(labels[0]) or (0, "")
    in_a_row = [str(first[0] + k) for k in range(len(labels))] == list(labels)
    return f"{names[0]} to {names[-1]}" if in_a_row and len(names) > 4 else ", ".join(names)


def plain(text):
    """Letters and digits only, in lower case: `EA-CG` and `eacg` are one name."""
    return re.sub(r"[^a-z0-9]", "", str(text).lower())


def papers_named(name, titles):
    """Keys of the papers that a name may mean: the key in any spelling, or at least three letters
    of the key or of its title. `titles` has the title and other names by key.
    """
    wanted = plain(name)
    exact = [key for key in titles if plain(key) == wanted]
    if exact or len(wanted) < 3:
        return exact
    in_key = [key for key in titles if wanted in plain(key)]
    return in_key or [key for key, title in titles.items() if wanted in plain(title)]


def topic_pattern(text):
    """What to search for where a text is no label: its words in a row; None without any."""
    words = re.findall(r"[a-z0-9]+", str(text).lower())
    if not words or not re.fullmatch("[a-z]{3,}", max(words, key=len)):
        return None
    return re.compile(r"(?<![a-z0-9])" + r"[\s_-]*".join(words) + r"(?:s|es)?(?![a-z])", re.I)
