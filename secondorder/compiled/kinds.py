"""Numbers that stand for layer kinds in a program's table, and the columns of that table.

Plain integers, so that compiled functions know them and nothing has to be compiled to make a table.
"""

LINEAR, IDENTITY, LEAKY, TANH, SIGMOID, SOFTPLUS, SIN, LAYER_NORM, FORK, ADD = range(10)

# kinds whose second tangents `second_order` knows, or that have none
SECOND_TANGENTS = (LINEAR, IDENTITY, LEAKY, TANH, SIGMOID, SOFTPLUS, SIN, FORK, ADD)

# A row of the table is a layer, in the order of the network. Widths count the numbers of one
# sample. Places in the work array are multiplied by the number of samples, so that one table serves
# batches of any length.
COLUMNS = ("kind",
           "n_in", "n_out",      # widths of input and output
           "W", "b",             # places of weight and bias in theta
           "n_b",                # number of biases: n_out, or 0
           "x",                  # place of the input in the work array; NOWHERE in the first layer
           "y",                  # place of the output
           "slope", "curvature", # places of s' and s'' of an activation; of z and r of a LayerNorm
           "other",              # of a FORK, place of its ADD's "bar"; of an ADD, of its FORK's "y"
           "bar")                # place of the gradient in the output
NOWHERE = -1

# A `Skip` is the rows of its layers between a FORK, y = x, and an ADD, y = x + y of the FORK.
