"""The bound's curvature by two compiled walks over the table of a dense network.

The literal form is `fast.sums`, by the rules of the layers. Networks that have no table, or other
layers than linear ones and activations, and the option ``cross`` go by these rules, or by their
twins in :mod:`.in_place`.
"""

import numpy as np

from ...nets import Chain, programs
from ...nets.workspace import fresh
from . import rules
from .rules import OUTPUTS

_OWN = (rules.LinearRule, rules.ActivationRule, rules.ReshapeRule)


def program_for(network, options):
    """The program of a network whose bound the walks give, or None."""
    program = programs.settled(network).program
    if program is None or not program.dense or options.cross:
        return None
    single = [layer for layer in network.chain.sublayers() if not isinstance(layer, Chain)]
    return program if all(rules.rules(layer) in _OWN for layer in single) else None


def curvature_sums(evaluation, options):
    """Curvature sums (P,), as `fast.sums` has them, of an evaluation that was made compiled."""
    from . import compiled  # here, so that numba is loaded by the first pass, not by an import

    work, network = evaluation.work, evaluation.network
    new, program, dtype = evaluation.workspace or fresh, work.program, network.dtype
    work.output_gradients(network.theta)
    work.curvatures()
    carried = new("partitioned", work.array.shape, dtype)
    part = new("part", (work.rows * program.widest,), dtype)
    sizes, curvature = (new(name, (program.size,), dtype) for name in ("sizes", "curvature sums"))
    compiled.up(program.table, network.theta, work.x, work.array, sizes, carried)
    u, Z = (work._last(carried, name) for name in ("y", "bar"))
    _at_the_output(evaluation, options.output, u, Z)
    compiled.down(program.table, sizes, work.x, work.array, carried, part, options.clip, curvature)
    return curvature


def _at_the_output(evaluation, output, u, Z):
    """As `OUTPUTS`, in `Z`."""
    loss, p, y = evaluation.criterion, evaluation.outputs, evaluation.y
    if output == "diagonal":
        np.abs(loss.hessian_diagonal(p, y), out=Z)
        Z *= u
    elif output == "jensen":
        np.sqrt(loss.hessian_diagonal(p, y), out=Z)
        ru = (evaluation.workspace or fresh)("r u", Z.shape, Z.dtype)
        Z *= np.multiply(Z, u, out=ru).sum(axis=1, keepdims=True)
    else:
        Z[...] = OUTPUTS[output](loss, p, y, u)
