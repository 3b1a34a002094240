"""The checker for your own layer.

Two channels, neither of which shares code with what it checks: differences with a predicted error,
and identities between the passes.  The report names the pass that is wrong, the entries, and their
ratio to what they should be; a pass is compared only with passes that were right before it.
"""

import copy
from functools import partial

import numpy as np

from ... import checks
from ...checks import instance_of, positive_number, whole_number
from ...checks.randomness import generator
from ...nets import Layer
from ..recorder import Recorder
from .forward_checks import check_forward
from .identities import (check_identities, check_in_network, check_single_precision)
from .layer_checks import LayerChecks
from .layer_under_test import Subject
from .passes import PASSES, parameter_arrays, written

#: Kinds of samples that are tried where no shape is given: vectors, sequences (T, F), images (C, H,
#: W). The first number of each is tried first, then every width of the layer's parameters.
KINDS = ((5, lambda width: (width,)), (3, lambda width: (4, width)),
         (2, lambda width: (width, 5, 4)), (2, lambda width: (width, 12, 10)))


@np.errstate(all="ignore")
def layer(layer, input_shape=None, samples=4, rng=0, tolerance=1e-8, sizes=(1.0, 8.0),
          passes=None):
    """Check the passes of a layer that its author wrote.

    Parameters
    ----------
    layer : Layer
        An instance of a subclass of `secondorder.nets.Layer`. It is not changed: the checks work on
        a deep copy.
    input_shape : tuple of int, optional
        Shape of one sample; default the layer's own `input_shape`, or a vector, sequence or image
        that it takes.
    samples : int >= 2
        Rows of the batch.  A factor of 1 / samples in a finding is a mean where a sum is meant.
    rng : None, int or numpy.random.Generator
        Draws inputs, directions and new values of the parameters (biases off zero).
    tolerance : float
        Relative difference that is allowed on top of the predicted error of the differences.
    sizes : sequence of float > 0
        The inputs are standard normal numbers times each of these: a layer may have other branches
        far out. The first size gets all channels, the others the differences of every pass.
    passes : sequence of str, optional
        Only these passes are judged, and `forward`; default all that the layer's class writes.

    Returns
    -------
    Report
        True when nothing is wrong; its text names the wrong passes, causes before consequences.

    Raises
    ------
    TypeError, ValueError
        No instance of a `Layer` with a `forward`; an `input_shape` that is not the layer's own, one
        of `passes` that the layer does not write; other arguments that are not as above.
    """
    instance_of(layer, Layer, "layer")
    samples = whole_number(samples, "samples", 2)  # in one row no leak shows
    sizes, rng = _sizes(sizes), generator(rng)
    recorder = Recorder(type(layer).__name__, tolerance)
    if not _was_made(recorder, layer):
        return recorder.report
    recorder.report.subject = repr(layer)
    judged, shape = _judged(layer, passes), sample_shape(layer, input_shape)
    if input_shape is None and layer.input_shape is None:
        recorder.note(f"nobody said the shape of a sample: {shape} was tried (set another with "
                      "input_shape=)")
    subject = _prepare(layer, recorder, shape, samples, rng, sizes[0])
    if subject is None:
        return recorder.sorted_report()
    checks = LayerChecks(subject, judged)
    checks.follow_lines()
    checks.run()
    if not recorder.report.findings:  # else they would only name the wrong passes again
        _further_channels(checks)
        for size in sizes[1:]:
            _far(layer, recorder, shape, samples, rng, size, judged)
    missing = [name for name in PASSES if name not in written(layer)]
    if missing:
        recorder.note(f"not judged, as {type(layer).__name__} does not write them by hand: "
                      f"{', '.join(missing)}; a network takes them from differences of forward "
                      "and backward")
    return recorder.sorted_report()


def _judged(layer, passes):
    """The passes that are judged, `forward` first; TypeError or ValueError if there are none."""
    known = written(layer)
    if "forward" not in known:
        raise TypeError(f"layer {type(layer).__name__} does not define forward(x)")
    if passes is None:
        return known
    if isinstance(passes, str) or not all(isinstance(name, str) for name in passes):
        raise TypeError(f"passes must be a sequence of names, got {checks.shown(passes)}")
    for name in passes:
        if name not in known:
            raise ValueError(f"passes has {name!r}, which {type(layer).__name__} does not write: "
                             f"choose from {', '.join(known)}")
    return [name for name in known if name == "forward" or name in passes]


def _far(layer, recorder, shape, samples, rng, size, judged):
    """Every pass at inputs of another size; findings join the report."""
    again = Recorder("", recorder.tolerance, lenient=True)
    subject = Subject(copy.deepcopy(layer), again, shape, samples, rng, size)
    where = f" at inputs of size {size:g}"
    try:
        subject.move_parameters()
        if not np.isfinite(subject.forward()).all():
            recorder.note(f"not judged{where}: the outputs are too large for float64")
            return
        checks = LayerChecks(subject, judged)
        if not recorder.wrong("forward"):
            checks.follow_lines()
        checks.run()
    except Exception as problem:  # whatever a user's layer raises is the finding
        again.raised("forward", problem)
    recorder.report.checks += again.report.checks
    for finding in again.report.findings:
        recorder.find(finding.pass_name, finding.compared + where, finding.entries, finding.hint,
                      finding.kind)


def _prepare(layer, recorder, shape, samples, rng, size):
    """The layer with moved parameters, or None if `forward` is too wrong to judge the rest."""
    subject = Subject(copy.deepcopy(layer), recorder, shape, samples, rng, size)
    try:
        subject.move_parameters()
        judged = check_forward(subject)
    except Exception as problem:  # whatever a user's forward raises is the finding
        judged = recorder.raised("forward", problem, case=f" for x of shape {subject.shape}",
                                 hint=next((told for said, told in INSTEAD.items()
                                            if said in str(problem)), "is input_shape right?"))
    if not judged:
        recorder.report.notes.append("the other passes were not judged: they are compared with "
                                     "forward")
        return None
    return subject


#: What an exception of `forward` says where the layer does what no layer can, and what to do.
EMBEDDING = ("inputs are real numbers: give an embedding one-hot rows, x @ table, or look its "
             "vectors up before the network")
INSTEAD = {"required positional argument": "a layer has one input: put the others beside it "
           "(np.concatenate) and cut x inside forward",
           "arrays used as indices must be of integer": EMBEDDING, "only integer": EMBEDDING}


def _was_made(recorder, layer):
    """Whether `Layer.__init__` ran for the layer and for the layers inside it."""
    name = type(layer).__name__
    try:
        for inner in layer.sublayers():
            name = type(inner).__name__
            inner.parameters, inner.trainable, inner.owner()
    except AttributeError as problem:
        return recorder.fact("__init__", "Layer.__init__", False,
                             f"Layer.__init__ was not called: begin {name}.__init__ with "
                             "super().__init__()", hint=f"without it: {problem}")
    return True


def _further_channels(checks):
    """Identities, float32, and the layer in a network; of fewer passes what these allow."""
    channels, judged = {"float32": check_single_precision}, {*checks.judged, "forward"}
    if judged == {*PASSES}:
        channels = {"identities": check_identities, **channels, "network": check_in_network}
    elif judged == {*written(checks.subject.layer)} and "backward" in judged:
        channels["network"] = partial(check_in_network, by_hand=False)
    for name, channel in channels.items():
        try:
            channel(checks)
        # a pass that does not stand this use is a finding, whatever it raises
        except Exception as problem:
            checks.recorder.raised(name, problem)


def first_taken(layer):
    """The first shape that the layer takes, best with its `output_shape`; else a vector's."""
    widths = dict.fromkeys(width for _, array in parameter_arrays(layer)
                           for width in np.shape(array))
    shapes = [shape_of(width) for usual, shape_of in KINDS for width in (usual, *widths)]
    for stated in (True, False):
        for shape in shapes:
            try:  # `output_shape` first: loops of the package's own layers are behind its door
                said = tuple(layer.output_shape(shape)) if stated or layer.many_directions else None
                y = np.asarray(copy.deepcopy(layer).forward(np.ones((2, *shape)))[0])
                if not stated or said == y.shape[1:]:
                    return shape
            except Exception:  # whatever a user's layer raises: the next one
                continue
    return shapes[0]


def sample_shape(layer, input_shape):
    """Shape of one sample: as given, as the layer states it, or the first that it takes."""
    own = getattr(layer, "input_shape", None)
    shape = own if input_shape is None else input_shape
    shape = checks.shape(first_taken(layer) if shape is None else shape, "input_shape")
    if own is not None and tuple(own) != shape:
        raise ValueError(f"input_shape is {shape}, but {layer!r} takes inputs of shape "
                         f"{tuple(own)}")
    return shape


def _sizes(sizes):
    if isinstance(sizes, str) or not hasattr(sizes, "__len__") or len(sizes) == 0:
        raise TypeError(f"sizes must be a sequence of positive numbers, got {checks.shown(sizes)}")
    return tuple(positive_number(size, "sizes") for size in sizes)
