"""Numbers that stand for layer kinds in a program's table, and the columns of that table.

Plain integers, so that compiled functions know them and nothing has to be compiled to make a table.
"""

from typing import NamedTuple

LINEAR, IDENTITY, LEAKY, TANH, SIGMOID, SOFTPLUS, SIN, LAYER_NORM, FORK, ADD, FIXED, RECURRENT = (
    range(12))
CONVOLUTION, AVERAGE_POOL, MAX_POOL = range(20, 23)  # what looks through windows

# kinds whose second tangents `second_order` knows, or that have none
SECOND_TANGENTS = (LINEAR, IDENTITY, LEAKY, TANH, SIGMOID, SOFTPLUS, SIN, FORK, ADD, FIXED,
                   CONVOLUTION, AVERAGE_POOL, MAX_POOL)

# A row of the table is a layer, in the order of the network. Widths count the numbers of one
# sample. Places in the work array are multiplied by the number of samples, so that one table serves
# batches of any length.
COLUMNS = ("kind",
           "n_in", "n_out",      # widths of input and output
           "W", "b",             # places of weight and bias in theta, or behind it if they are
                                 # fixed; W of a FORK and an ADD is the first column of their part
           "n_b",                # number of biases: n_out, or 0
           "x",                  # place of the input in the work array; NOWHERE in the first layer
           "y",                  # place of the output
           "slope", "curvature", # places of s' and s'' of an activation; of z and r of a LayerNorm
           "other",              # of a FORK, place of its ADD's "bar"; of an ADD, of its FORK's
                                 # "x"; of a RECURRENT, of the gradients in its arguments
           "bar")                # place of the gradient in the output
NOWHERE = -1

# A `Skip` is the rows of its layers between a FORK, y = x, and an ADD, which adds them to x.
# Where layers work on some columns of x alone, the FORK takes a part of x, the ADD changes one.
# FIXED is a linear layer that is not trained.

# A RECURRENT keeps "y", "slope", "curvature" and "other" of every step, one step behind the other;
# their places are those of the last step. In "curvature" stand the arguments, until second
# derivatives are asked for.
STEPS = ("T", "d",       # numbers of steps, and of inputs at each of them: 0 for none
         "function")     # the kind of its activation

# What looks through windows has a row of sizes, too: of an image and of the places of its windows;
# kernel, stride and padding, down and across; and how many lines of places a turn has.
SIZES = ("C", "H", "W", "P", "Q", "K_0", "K_1", "stride_0", "stride_1", "padding_0", "padding_1",
         "turn")


class Row(NamedTuple):
    """What a program is told of a layer."""

    kind: int
    n_in: int  # widths of input and output
    n_out: int
    n_W: int = 0  # numbers of weights and biases
    n_b: int = 0
    own: float = 0.0  # the slope of a leaky activation, the epsilon of a LayerNorm
    at: int = 0  # of a FORK and an ADD: the first column of the part
    fixed: bool = False  # whether weights and biases are kept out of theta
    steps: tuple = ()  # STEPS of a RECURRENT
    sizes: tuple = ()  # all of SIZES but the last, of what looks through windows
