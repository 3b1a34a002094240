r"""Numbers beside formulas: what stands in `\tag`, and how numbers are told."""

from .latex import Leaf, is_space


def told(numbers):
    """`(8a)`, `(4), (35)`."""
    return ", ".join(f"({number})" for number in numbers)


def untagged(nodes):
    r"""The nodes without what stands in `\tag`, and the numbers that stand there."""
    tags = tuple(node.tag for node in nodes if isinstance(node, Leaf) and node.tag)
    nodes = [node for node in nodes if not (isinstance(node, Leaf) and node.tag)]
    while tags and nodes and is_space(nodes[-1]):
        nodes.pop()
    return nodes, tags
