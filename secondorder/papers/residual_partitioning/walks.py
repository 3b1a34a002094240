"""The bound's curvature by two compiled walks over the table of a network.

The literal form is `fast.sums`, by the rules of the layers. It runs where there is no table, for
layers of images and sequences, and for the option ``cross``.
"""


from ...compiled import kinds
from ...compiled.arrays import fresh
from ...nets import Chain
from . import rules
from .fast import sums
from .rules import OUTPUTS

_OWN = (rules.LinearRule, rules.ActivationRule, rules.ReshapeRule, rules.SkipRule)
_KINDS = {kinds.LINEAR, kinds.FIXED, *range(kinds.IDENTITY, kinds.SIN + 1), kinds.FORK, kinds.ADD}


def serve(network, program, options):
    """Whether the walks give the bound of a network with this program."""
    if options.cross:
        return False
    if "bound" not in program.notes:
        single = [layer for layer in network.chain.sublayers() if not isinstance(layer, Chain)]
        program.notes["bound"] = (_KINDS.issuperset(program.columns["kind"])
                                 and all(rules.rules(layer) in _OWN for layer in single))
    return program.notes["bound"]


def curvature_sums(evaluation, options):
    """Curvature sums (P,), as `fast.sums` has them, by the walks where they serve."""
    work = evaluation.work
    if work is None or not serve(evaluation.network, work.program, options):
        return sums(evaluation, options)[2]
    from . import compiled  # here, so that numba is loaded by the first pass, not by an import

    theta = evaluation.network.all_parameters
    new, program = evaluation.workspace or fresh, work.program
    table, dtype = program.table, program.dtype
    work.output_gradients(theta)
    work.curvatures()
    carried = new("partitioned", work.array.shape, dtype)
    part = new("part", (work.rows * program.widest,), dtype)
    sizes, curvature = new("sizes", theta.shape, dtype), new("sums", (program.size,), dtype)
    compiled.up(table, theta, work.x, work.array, sizes, carried)
    u, Z = work._last(carried, "y"), work._last(carried, "bar")
    _at_the_output(evaluation, options.output, u, Z, compiled)
    compiled.down(table, sizes, work.x, work.array, carried, part, options.clip, curvature)
    return curvature


def _at_the_output(evaluation, output, u, Z, compiled):
    """As `OUTPUTS`, in `Z`."""
    work, criterion = evaluation.work, evaluation.work.criterion
    if output == "diagonal":
        criterion.product(work.outputs, work.t, criterion.own, u, Z)
        compiled.absolute(Z.reshape(-1), Z.reshape(-1))
    elif output == "jensen" and criterion.diagonal is not None:
        criterion.diagonal(work.outputs, work.t, criterion.own, Z)
        compiled.jensen(u, Z)
    else:
        Z[...] = OUTPUTS[output](evaluation.loss_function, evaluation.outputs, evaluation.y, u)
