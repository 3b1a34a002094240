"""What `Network.summary` prints: every layer, the shape of its output, and its parameters."""

from .layers import Chain, Skip
from .layers.numerical import missing


def rows(layer, input_shape, depth=0):
    """(name, shape of the output, trainable parameters, fixed ones) of a layer and of those
    inside it, whose names are indented.
    """
    inner = layer.layers if isinstance(layer, (Chain, Skip)) else ()
    name = "  " * depth + (type(layer).__name__ if inner else repr(layer))
    fixed = sum(value.size for part in layer.sublayers() if not part.trainable
                for value in part.parameters.values())
    yield name, tuple(layer.output_shape(input_shape)), layer.size, fixed
    for part in inner:
        yield from rows(part, input_shape, depth + 1)
        input_shape = part.output_shape(input_shape)


def text(network):
    """The table as text: one line a layer, and the totals."""
    shape, lines = network.input_shape, [("input", str(network.input_shape), "", "")]
    for layer in network.layers:
        lines += [(name, str(output), str(size), str(fixed) if fixed else "")
                  for name, output, size, fixed in rows(layer, shape)]
        shape = layer.output_shape(shape)
    head = ("layer", "output shape", "parameters", "fixed")
    widths = [max(map(len, column)) for column in zip(head, *lines)]
    table = [f"{line[0]:{widths[0]}}  {line[1]:{widths[1]}}  {line[2]:>{widths[2]}}  "
             f"{line[3]:>{widths[3]}}".rstrip() for line in [head, *lines]]
    fixed = sum(value.size for value in network.fixed_parameters())
    ending = f"{network.size} parameters, {network.dtype}"
    ending += f"; {fixed} fixed" if fixed else ""
    notes = [f"{layer!r}: {', '.join(missing(layer))} by differences of its backward and forward"
             for layer in network.chain.sublayers() if not layer.many_directions and missing(layer)]
    return "\n".join([*table, ending, *notes])
