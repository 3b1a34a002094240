"""The tables of `test_malformed_calls.py`: calls that work, and values that must be refused.

A row is a value, the error, and words of the message; without words, the argument's name.

`CALLS` holds a call that works for every public callable, as its arguments by name. `BAD` holds,
for every name of an argument, values that no function may take under this name. What is particular
to one function stands in `OWN`, under "room.function.argument". An argument without bad values
stands in `ANYTHING`, a public callable without a row in `ELSEWHERE`, both with the reason.
"""


import atexit
import functools
import pathlib
import shutil
import struct
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import secondorder as so

rng = np.random.default_rng(0)
X, Y, WIDE = rng.normal(size=(6, 3)), np.arange(6) % 2, rng.normal(size=(6, 4))
NET, LOSS = so.mlp([3, 4, 2], rng=0), so.SoftmaxCrossEntropy()
MATRIX = np.eye(NET.size)
NO_CLASS = np.eye(2)[Y] * (np.arange(6) != 3)[:, None]  # a one-hot row without its 1
NAN = X.copy()
NAN[2, 1] = np.nan


class Unknown(so.Layer):
    """A layer that no room has a rule for."""


def net():
    return so.mlp([3, 4, 2], rng=0)


def reversible():
    return so.reversible_gauss_newton.RevMLP(4, 1, 3, outputs=2, rng=0)


BAD = {
    "network": [("net", TypeError), (None, TypeError)],
    "loss": [(3, TypeError), (so.SquaredError, TypeError)],
    "x": [(X[:, :2], ValueError, "x has shape|shape"), (X[0], ValueError, "shape"),
          (X[:0], ValueError, "empty"), (NAN, ValueError, "NaN"),
          (X.astype(complex), TypeError, "real"), ([["a"] * 3] * 6, TypeError, "real"),
          (None, TypeError), (np.ma.masked_array(X, X > 0), TypeError, "mask"),
          ([[1.0, 2.0, 3.0], [1.0]], ValueError, "ragged")],
    "y": [(Y + 5, ValueError, "out of range"), (Y[:3], ValueError, "label|sample|target"),
          (Y * 1.0, TypeError, "integer"), (None, (TypeError, ValueError), "target"),
          (np.ma.masked_array(Y, Y > 0), TypeError, "mask"),
          (NO_CLASS, ValueError, "sample 3 are all zero")],
    "v": [(np.ones(3), ValueError, "v|direction"), (None, (TypeError, ValueError), ""),
          ("v", (TypeError, ValueError), "")],
    "l2": [(-1.0, ValueError), ("a", (TypeError, ValueError)), (np.nan, ValueError)],
    "rng": [(True, TypeError), (-1, ValueError), ("seed", TypeError)],
    "max_bytes": [(0, ValueError), (8, MemoryError)],
    "learning_rate": [(0, ValueError), ("fast", TypeError), (np.nan, ValueError),
                      (lambda: 1.0, TypeError)],
    "function": [("tan", ValueError, "activation"), (3, TypeError, "activation|value"),
                 (so.nets.Tanh, TypeError, "activation|class")],
    "init": [("xaver", ValueError), (-1.0, ValueError), (lambda: 1, TypeError)],
    "dtype": [("float16", ValueError), ("int", ValueError)],
    "sizes": [(3, TypeError), ([3], ValueError), ([3, 0], ValueError, "")],
    "layers": [(3, TypeError), ([], ValueError, "layer"), ([3], TypeError),
               ([so.Linear(3, 2), so.Linear(3, 2)], ValueError, "")],
    "batch_size": [(0, ValueError), (-1, ValueError), (2.5, TypeError), (True, TypeError)],
    "executor": [(3, TypeError), (ThreadPoolExecutor, TypeError),
                 (ThreadPoolExecutor(1), ValueError, "batch_size")],
    "layer": [("first", ValueError), (1.5, TypeError), (slice(5, 9), ValueError), (5, ValueError),
              (1, ValueError, "trainable"), (True, TypeError),
              (so.Linear(3, 2), ValueError, "network")],
    "parameter": [("weight", ValueError, "layer")],
    "strength": [(0, ValueError), ("a", (TypeError, ValueError)), (0.1, ValueError)],
    "block_weights": [("unifrom", ValueError, "uniform"), (3, (TypeError, ValueError))],
    "input_shape": [((0,), ValueError), ((1.5,), TypeError), ("ab", TypeError)],
    "tolerance": [(-1, ValueError), ("a", (TypeError, ValueError)), (np.nan, ValueError)],
    "max_iterations": [(-1, ValueError), (1.5, TypeError)],
    "samples": [(1, ValueError), (2.5, TypeError)],
    "ax": [(3, TypeError)],
    "figure": [(3, TypeError)],
    "paper": [("low-rang", ValueError, "low-rank"), (3, (TypeError, ValueError), "")],
    "label": [("999", ValueError, ""), (["x"], (TypeError, ValueError), "")],
    "seed": [(-1, ValueError), ("a", (TypeError, ValueError))],
    "alpha": [(1e-300, ValueError, "alpha must be at least"), (-1, ValueError), ("a", TypeError)],
    "matrix": [(np.ones((2, 3)), ValueError), (1j * MATRIX, TypeError)],
    "direction": [(np.ones(3), ValueError), ("a", (TypeError, ValueError), "")],
    "directory": [("", ValueError, "empty text"), ("no/such", FileNotFoundError, "no/such"),
                  (3, TypeError, "")],
    "path": [("", ValueError, "empty text"), ("no/such", FileNotFoundError, "no/such"),
             (3, TypeError)],
    "base": [("sgd", TypeError), (None, TypeError), (so.SGD, TypeError)],
}
@functools.cache
def folder():
    """A directory with a small file of every format, until the tests end."""
    top = pathlib.Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, top)
    for name, values in (("images-idx3", np.zeros((2, 2, 2))), ("labels-idx1", np.arange(2))):
        head = struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape)
        (top / f"train-{name}-ubyte").write_bytes(head + values.astype(np.uint8).tobytes())
    for k in range(1, 6):
        (top / f"data_batch_{k}.bin").write_bytes(bytes(3073))
    (top / "table.csv").write_text("size,colour,price\n1,0,2.5\n2,1,3.5\n")
    model = net()
    so.train(so.SGD(model, LOSS), X, Y, epochs=1, checkpoint=top / "checkpoint.npz")
    return top


def saved_net():
    path = folder() / "net.npz"
    net().save(path)
    return path


SHIFT = so.datasets.Standardisation.fit(X)


def edition_of_a_test(made=False):
    """A new folder with a paper of one display in it; or the folder of its edition."""
    folder = pathlib.Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    (folder / "paper.tex").write_text("$$a = b \\tag{1}$$")
    return so.edition.new("of-a-test", folder / "paper.tex", folder).folder if made else folder


EDITION = edition_of_a_test(made=True)
EQUAL = so.ledger.Equal("a", [1.0], [2.0], tolerance=1e-9)
MODEL = {"network": NET, "loss": LOSS, "x": X, "y": Y}
FULL = {"network": NET, "loss": LOSS}
#: A call that works: the arguments by name, or a function that makes them anew.
CALLS = {
    "datasets.Standardisation.fit": {"values": X},
    "datasets.find_directory": {"directory": "."},
    "datasets.load": {"name": "wine"},
    "datasets.Standardisation.apply": {"self": SHIFT, "values": X},
    "datasets.Standardisation.undo": {"self": SHIFT, "values": X},
    "datasets.load_idx": lambda: {"directory": folder()},
    "datasets.load_cifar10": lambda: {"directory": folder()},
    "datasets.load_csv": lambda: {"path": folder() / "table.csv"},
    "datasets.scale": lambda: {"data": so.datasets.load_digits()},
    "datasets.split": {"data": (X, Y)},
    "exact.FisherOperator": MODEL | {"kind": "sampled", "rng": 0},
    "exact.fisher": MODEL | {"kind": "sampled", "rng": 0},
    "exact.diagonal": MODEL | {"kind": "fisher-sampled", "rng": 0},
    "exact.diagonal_methods": {"network": NET},
    "exact.trace": MODEL | {"kind": "fisher-sampled", "rng": 0, "products": 4,
                            "method": "hutch++"},
    "exact.solve": MODEL | {"v": np.ones(NET.size), "kind": "fisher-sampled", "damping": 0.1,
                            "rng": 0},
    "exact.eigenpairs": MODEL | {"kind": "fisher-sampled", "rng": 0, "k": 2},
    "exact.posterior": MODEL | {"prior_precision": 1.0, "kind": "fisher-sampled", "rng": 0},
    "exact.spectral_density": MODEL | {"kind": "fisher-sampled", "rng": 0, "steps": 3},
    "exact.hessian_vector_product": MODEL | {"v": np.ones(NET.size)},
    "exact.jacobian": {"network": NET, "x": X},
    "exact.two_jet": MODEL | {"v": np.ones(NET.size)},
    "eacg.layer_errors": {"approximate": [MATRIX], "exact": [MATRIX]},
    "eacg.total_error": {"errors": [1.0, 2.0]},
    "eacg.matrix": MODEL | {"curvature": "fisher-sampled", "rng": 0},
    "eacg.posterior": MODEL | {"prior_precision": 1.0, "curvature": "fisher-sampled", "rng": 0},
    "eacg.bias_curvatures": MODEL | {"curvature": "fisher-sampled", "rng": 0},
    "eacg.direction": MODEL | {"curvature": "fisher-sampled", "rng": 0},
    "low_rank.CubicRegularization": lambda: {"base": so.SGD(NET, LOSS)},
    "low_rank.SampleHessian": lambda: {"network": NET, "loss": LOSS, "x": X[:1], "y": Y[:1]},
    "low_rank.directional_curvature": MODEL | {"direction": np.ones(NET.size)},
    "low_rank.step_length": {"g_dot_grad": -1.0, "g_H_g": 1.0, "g_norm": 1.0, "sigma": 1.0},
    "edition.load": {"folder": EDITION}, "edition.printed": {"room": EDITION},
    "edition.read": {"path": EDITION.parent / "paper.tex"},
    "edition.new": lambda: {"key": "of-a-test", "source": EDITION.parent / "paper.tex",
                            "out": edition_of_a_test()},
    "ledger.Derivative": {"of": np.sin, "is_": np.cos, "at": 0.5},
    "ledger.run": {"paper": "residual-partitioning", "label": "1"},
    "ledger.show": {"paper": "residual-partitioning", "label": "1"},
    "ledger.markdown": {"paper": "residual-partitioning"},
    "ledger.Equal": {"what": "a", "left": [1.0], "right": [2.0], "tolerance": 1e-9},
    "ledger.AtMost": {"what": "a", "smaller": [1.0], "larger": [2.0]},
    "ledger.Rate": {"what": "a", "steps": [1.0, 0.5, 0.2], "remainders": [1.0, 0.25, 0.04],
                    "order": 2},
    "ledger.Property": {"what": "a", "value": True},
    "ledger.Counterexample": {"claim": EQUAL},
    "ledger.Printed": {"claim": EQUAL},
    "ledger.PrintedShape": {"what": "a", "left_shape": (2, 3), "right_shape": (3, 2)},
    "ledger.paper": {"key": "of-a-test"},
    "ledger.summary": {"results": []},
    "ledger.table": {"results": []},
    "nets.Activation": {"function": "tanh"},
    "nets.AvgPool2d": {"kernel_size": 2},
    "nets.Chain": lambda: {"layers": [so.Linear(3, 2)]},
    "nets.Conv2d": {"in_channels": 2, "out_channels": 3, "kernel_size": 3},
    "nets.load": lambda: {"path": saved_net()},
    "nets.save": lambda: {"network": net(), "path": folder() / "saved.npz"},
    "nets.LayerNorm": {"shape": 3},
    "nets.Linear": {"in_features": 3, "out_features": 2},
    "nets.MaxPool2d": {"kernel_size": 2},
    "nets.Network": lambda: {"layers": [so.Linear(3, 2)]},
    "nets.Recurrent": {"input_size": 3, "hidden_size": 2},
    "nets.Reshape": {"input_shape": (6,), "output_shape": (2, 3)},
    "nets.Skip": lambda: {"layers": [so.Linear(3, 3)]},
    "nets.activation_function": {"activation": "tanh"},
    "nets.from_arrays": {"arrays": {"0.weight": np.ones((2, 3)), "0.bias": np.ones(2)},
                         "kinds": ["linear"]},
    "nets.cnn": {"input_shape": (1, 6, 6), "channels": [2], "outputs": 3},
    "nets.mlp": {"sizes": [3, 2]},
    "nets.rnn": {"input_shape": (4, 2), "hidden_size": 3, "outputs": 1},
    "optimizers.Constant": {"rate": 0.1},
    "optimizers.ExponentialDecay": {"rate": 0.1, "factor": 0.5, "every": 3},
    "optimizers.ExponentialDecay.__call__": {
        "self": so.optimizers.ExponentialDecay(0.1, 0.5, 3), "step": 2},
    "optimizers.Optimizer": FULL | {"learning_rate": 0.1},
    "optimizers.Wrapper": lambda: {"base": so.SGD(NET, LOSS)},
    "optimizers.conjugate_gradients": {"product": lambda v: v, "b": np.ones(3), "tolerance": 0.1,
                                       "max_iterations": 5},
    "plots.cubic_model": {"steps": [0.0, 1.0], "objective": [1.0, 0.5], "slope": -1.0,
                          "curvature": 1.0, "norm": 1.0, "sigma": 1.0},
    "plots.along": MODEL | {"direction": np.ones(NET.size), "steps": [0.0, 1.0]},
    "plots.rates": {"named": {"a": [1.0, 0.0]}},
    "plots.kernels": {"weights": np.ones((2, 3, 3))},
    "plots.lines": {"named": {"a": [1.0, 0.5]}},
    "plots.plane": MODEL | {"across": np.ones(NET.size), "up": np.arange(NET.size) - 1.0,
                            "x_steps": [0.0, 1.0], "y_steps": [0.0, 1.0]},
    "plots.printed_and_corrected": {"errors": {"a": (0.5, 1e-12), "b": (None, 0.0)}},
    "plots.bound_beside_hessian": lambda: {"bounded_hessian": MATRIX,
                                           "curvature": np.ones(NET.size), "network": NET},
    "plots.error_against_step": {"steps": [0.1, 0.2], "errors": [0.1, 0.2]},
    "plots.errors_by_layer": {"errors": {"A": [1.0, 2.0]}},
    "plots.errors_over_steps": {"steps": [1, 2], "errors": {"A": [1.0, 2.0]}},
    "plots.hessian_heat_map": {"matrix": MATRIX, "network": NET},
    "plots.learning_curves": {"histories": [{"epoch": 0, "train_loss": 1.0}]},
    "plots.matrices": {"named": {"A": MATRIX}},
    "plots.parameter_blocks": {"network": NET},
    "plots.spectrum": {"eigenvalues": [1.0, 2.0]},
    "plots.spectral_density": lambda: {
        "density": so.exact.spectral_density(NET, LOSS, X, Y, steps=2, probes=2, rng=0)},
    "residual_partitioning.rules": lambda: {"layer": so.Linear(3, 2)},
    "reversible_gauss_newton.Coupling": {"width": 4, "bottleneck": 3, "moves": "first"},
    "reversible_gauss_newton.RevMLP": {"d": 4, "blocks": 1, "bottleneck": 3, "outputs": 2},
    "reversible_gauss_newton.Ridge": {"loss": LOSS, "strength": 0.1},
    **{f"reversible_gauss_newton.diagnostics.{name}": {"K": np.eye(2), "other": np.ones((2, 2))}
       for name in ("kernel_change", "kernel_similarity")},
    "reversible_gauss_newton.linear_cka": {"a": X, "b": WIDE},
    "reversible_gauss_newton.diagnostics.percent_change": {"before": 2.0, "after": 1.0},
    "reversible_gauss_newton.directions.update": lambda: MODEL | {
        "options": so.reversible_gauss_newton.options.Options("moore-penrose")},
    "reversible_gauss_newton.diagnostics.weight_change": lambda: {
        "network": NET, "start": NET.theta.copy()},
    "reversible_gauss_newton.GaussNewton": lambda: {"network": NET, "loss": LOSS,
                                                    "inverse": "moore-penrose"},
    "reversible_gauss_newton.direction": MODEL | {"inverse": "moore-penrose"},
    "reversible_gauss_newton.ntk": {"network": NET, "x": X},
    "reversible_gauss_newton.ntk_product": {"network": NET, "x": X, "v": np.ones((6, 2))},
    "training.read_checkpoint": lambda: {"path": folder() / "checkpoint.npz"},
    "training.History": {"method": "SGD"},
    "training.train": lambda: {"optimizer": so.SGD(net(), LOSS), "x": X, "y": Y, "epochs": 1},
    "verify.derivative": {"f": lambda x, *v: x @ x, "df": lambda x, v: 2 * x @ v, "at": np.ones(4),
                          "direction": np.ones(4)},
    "verify.activation": {"function": "tanh"},
    "verify.equation": {"paper": "ea-cg", "label": "4b", "seeds": 1, "function":
                        lambda W, H, g, slope, curvature: H},
    "verify.layer": lambda: {"layer": so.Activation("tanh"), "input_shape": (3,)},
    "verify.loss": lambda: {"loss": so.SquaredError()},
    "verify.optimizer": MODEL | {"make": so.SGD, "steps": 4},
    "verify.rule": lambda: {"layer": so.Linear(3, 2)},
    "verify.describe_mismatch": {"left": [1.0, 2.0], "right": [1.0, 3.0]},
}
#: Those that are called with a network, a loss and a batch, with the first two, or with nothing.
for given, names in (
    (MODEL, """
        exact.CurvatureOperator exact.GaussNewtonOperator exact.HessianOperator exact.gauss_newton
        exact.Objective exact.objective exact.gradient exact.hessian exact.sample_gradients
        low_rank.hessian nets.Evaluation residual_partitioning.bound
        residual_partitioning.bounded_hessian training.evaluate
    """),
    (FULL, """
        eacg.EACG optimizers.Adadelta optimizers.Adagrad optimizers.Adam optimizers.Momentum
        optimizers.SGD optimizers.TruncatedNewton residual_partitioning.ResidualPartitioning
    """),
    ({}, """
        datasets.load_digits datasets.load_wine datasets.load_diabetes nets.BinaryCrossEntropy
        nets.BoundedCriterion nets.Huber nets.PoissonNLL nets.Layer nets.LeakyReLU
        nets.TukeyBiweight
    """)):
    CALLS |= dict.fromkeys(names.split(), given)
P, T = rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
#: Passes of the losses, called directly: (method's arguments after p, that the loss takes).
PASSES = {"value": ["target"], "gradient": ["target"], "hessian": ["target"],
          "hessian_diagonal": ["target"], "hessian_product": ["target", "v"],
          "fisher": [], "sample_targets": ["rng"]}
SIDES = {"target": T, "v": T, "w": T, "rng": np.random.default_rng(0)}
LOSSES = {"SquaredError": so.SquaredError(), "TukeyBiweight": so.TukeyBiweight(),
          "SoftmaxCrossEntropy": so.SoftmaxCrossEntropy(), "Huber": so.nets.Huber(),
          "BinaryCrossEntropy": so.nets.BinaryCrossEntropy(), "PoissonNLL": so.nets.PoissonNLL(),
          "BoundedCriterion": so.BoundedCriterion()}
SHORT = [(T[:2], ValueError, "shape"), (T[0], (TypeError, ValueError), "shape|integer"),
         (T[:, :1], ValueError, "shape"), ([T[0]], ValueError, "shape|array"),
         (None, (TypeError, ValueError), "")]
REFUSED = so.ledger.VerificationError
NAMED_SERIES = [(3, TypeError), ({}, ValueError), ({"A": ["a", "b"]}, TypeError),
                ({"A": [1.0, np.nan]}, ValueError), ([1.0], TypeError)]
#: Kinds of arguments: what they take, values that none of them takes, names of arguments (of any
#: function, or of one).
KINDS = [
    ("a whole number from 1", [(0, ValueError), (1.5, TypeError)], """
        draws max_cg eacg.EACG.rank eacg.direction.rank exact.eigenpairs.max_iterations
        exact.solve.max_iterations nets.Conv2d.in_channels nets.Conv2d.out_channels
        nets.Linear.in_features nets.Linear.out_features nets.Recurrent.hidden_size
        nets.Recurrent.input_size nets.cnn.outputs nets.rnn.hidden_size nets.rnn.outputs
        optimizers.ExponentialDecay.every
        plots.matrices.columns reversible_gauss_newton.RevMLP.blocks
        reversible_gauss_newton.RevMLP.d training.train.epochs training.train.evaluate_every
        verify.equation.seeds verify.rule.samples
    """),
    ("a number above 0", [(0, ValueError), ("a", TypeError)], """
        drift_tolerance epsilon sigma eacg.posterior.prior_precision
        exact.posterior.prior_precision exact.spectral_density.width low_rank.step_length.largest
        nets.BoundedCriterion.delta nets.Huber.delta nets.TukeyBiweight.c optimizers.Constant.rate
        optimizers.ExponentialDecay.factor plots.hessian_heat_map.limit
        reversible_gauss_newton.Ridge.strength verify.derivative.tolerance
    """),
    ("a number from 0", [(-1.0, ValueError), ("a", TypeError)], """
        damping low_rank.step_length.g_norm low_rank.step_length.sigma
        optimizers.ExponentialDecay.rate plots.spectrum.zero verify.describe_mismatch.error
    """),
    ("a number below 1", [(1.0, ValueError), ("a", TypeError)], """
        eacg.EACG.momentum eacg.matrix.alpha optimizers.Adadelta.rho optimizers.Momentum.momentum
    """),
    ("any finite number", [("a", TypeError), (np.nan, ValueError)], """
        nets.BoundedCriterion.epsilon nets.LeakyReLU.negative_slope plots.cubic_model.curvature
        plots.cubic_model.slope reversible_gauss_newton.diagnostics.percent_change.after
    """),
    ("True or False", [("no", TypeError), (1, TypeError)], """
        adaptive bias cross debiased joint literal measure progress recompute safeguard trainable
        datasets.load_csv.classification datasets.load_csv.header ledger.show.more ledger.show.tex
        optimizers.ExponentialDecay.staircase optimizers.Momentum.nesterov
        optimizers.TruncatedNewton.adapt_damping plots.hessian_heat_map.colour_bar
        plots.learning_curves.show_legend
    """),
    ("one of a few words", [("nothing", ValueError), (3, TypeError)], """
        activation ascent curvature decomposition inverse kind method negative_curvature output
        part preconditioner pseudo_inverse solver eacg.matrix.form
        low_rank.CubicRegularization.averaging low_rank.CubicRegularization.rates nets.cnn.pool
        plots.matrices.scale reversible_gauss_newton.Coupling.moves
    """),
    ("anything but a number", [(3, TypeError)], """
        datasets.load.options low_rank.CubicRegularization.base training.History.method
        training.History.stopped training.train.optimizer verify.equation.function
    """),
    ("a list of results", [(3, TypeError), ([3], TypeError)], """
        ledger.summary.results ledger.table.results training.History.records verify.equation.hints
    """),
    ("a whole number from 1, or two", [
        (0, ValueError), ((2, 0), ValueError), ((1, 2, 3), TypeError), ("33", TypeError)], """
        kernel_size stride
    """),
    ("a text", [("", REFUSED, "say what"), (3, REFUSED, "say what")], """
        case what
    """),
    ("a square matrix beside another", [
        (np.ones((3, 3)), ValueError, "shape"), (np.full((2, 2), np.nan), ValueError, "NaN"),
        ("a", TypeError, "real"), (np.zeros((2, 2)), ValueError, "zero")], """
        K other
    """),
    ("a network", [("net", TypeError)], """
        plots.bound_beside_hessian.network plots.matrices.network verify.optimizer.network
    """),
]
#: What one function alone refuses.
OWN = {
    "datasets.Standardisation.fit.values": [(NAN, ValueError), (np.ones(3), ValueError)],
    "datasets.load.name": [("digit", ValueError, "digits"), (3, TypeError, "data set")],
    "datasets.scale.data": [(None, TypeError), (X, TypeError)],
    "datasets.scale.interval": [((0, 1, 2), TypeError), ((1, 0), ValueError)],
    "datasets.split.data": [(None, TypeError), ((X, Y[:3]), ValueError)],
    "datasets.split.validation": [(0, ValueError), (1.5, ValueError), ("a", TypeError)],
    "nets.load.path": [(3, TypeError), ("", ValueError),
                       ("/nowhere/net.npz", FileNotFoundError, "no such file"),
                       (__file__, ValueError, "not a network that was saved")],
    "nets.save.path": [(3, TypeError), ("", ValueError),
                       ("/nowhere/net.npz", FileNotFoundError, "no such directory")],
    "nets.load.classes": [(3, TypeError), ([3], TypeError), (so.Linear, TypeError)],
    "nets.BinaryCrossEntropy.pos_weight": [(0, ValueError), ("a", TypeError),
                                           ([1.0, -1.0], ValueError)],
    "nets.LayerNorm.shape": [((0,), ValueError), ("ab", TypeError), ((), ValueError),
                             (2.5, TypeError)],
    "nets.Recurrent.steps": [(3, ValueError, "steps is the length")],
    "nets.cnn.channels": [([], ValueError), (3, TypeError), ([2, 0], ValueError),
                          ([2, 2], ValueError, "larger than")],
    "nets.cnn.input_shape": [((6, 6), ValueError, "takes images"), ("ab", TypeError),
                             ((1, 2, 6), ValueError, "larger than the image")],
    "nets.rnn.input_shape": [((3,), ValueError), ((0, 2), ValueError), ("ab", TypeError)],
    "nets.Reshape.output_shape": [((4,), ValueError, ""), ("ab", (TypeError, ValueError), "")],
    "optimizers.Adagrad.initial_accumulator": [(-1, ValueError)],
    "optimizers.Adam.betas": [((0.9,), (TypeError, ValueError), "beta"),
                              ((0.9, 1.0), ValueError, "beta"), (0.9, TypeError, "beta")],
    "optimizers.TruncatedNewton.smallest_damping": [
        (0, ValueError), (2.0, ValueError, "at most 1")],
    "optimizers.TruncatedNewton.max_halvings": [(-1, ValueError)],
    "optimizers.ExponentialDecay.__call__.step": [("a", TypeError), (-1, ValueError)],
    "optimizers.conjugate_gradients.b": [(np.full(3, 1e200), FloatingPointError, "b overflows"),
                                         (np.ones((2, 2)), ValueError, "b has shape"),
                                         (np.array([1.0, np.nan]), ValueError)],
    "optimizers.conjugate_gradients.product": [(3, TypeError), (lambda v: v[:2], ValueError)],
    "plots.bound_beside_hessian.bounded_hessian": [(np.ones((2, 3)), ValueError)],
    "plots.bound_beside_hessian.curvature": [(np.ones(3), ValueError)],
    "plots.error_against_step.steps": [([0.0, 0.1], ValueError, "steps must be above 0"),
                                       (["a"], TypeError), ([], ValueError)],
    "plots.error_against_step.errors": [([1.0], ValueError)],
    "plots.error_against_step.predicted": [([1.0], ValueError)],
    "plots.hessian_heat_map.network": [("net", TypeError), (so.mlp([2, 2]), ValueError, "matrix")],
    "plots.matrices.named": [([MATRIX], TypeError), ({}, TypeError)],
    "plots.learning_curves.histories": [(3, TypeError), ({}, ValueError)],
    "plots.learning_curves.x": [("epocj", ValueError, "did you mean 'epoch'")],
    "plots.learning_curves.quantity": [("los", ValueError, "train_los")],
    "plots.spectrum.eigenvalues": [([1j], TypeError), ([], ValueError)],
    "residual_partitioning.ResidualPartitioning.penalty": [("none", ValueError)],
    "exact.trace.products": [(3, ValueError), (9.0, TypeError)],
    "exact.spectral_density.probes": [(1, ValueError), ("9", TypeError)],
    "exact.spectral_density.steps": [(1, ValueError), (9.0, TypeError)],
    "exact.spectral_density.points": [([1.0], ValueError), ("a", TypeError),
                                      ([2.0, 1.0], ValueError)],
    "exact.sample_gradients.out": [(np.ones(3), ValueError), ("a", (TypeError, ValueError))],
    "low_rank.SampleHessian.y": [(Y, ValueError, "label"),
                                 (None, (TypeError, ValueError), "target")],
    "eacg.layer_errors.approximate": [([], ValueError), (["a"], TypeError)],
    "eacg.layer_errors.exact": [([MATRIX, MATRIX], ValueError), (3, TypeError),
                                ([], ValueError, "exact holds no matrix"),
                                ([np.triu(np.ones((3, 3)))], ValueError, "not symmetric")],
    "eacg.total_error.errors": [([], ValueError, "axis of layers"), (["a"], TypeError),
                                ([1.0, np.nan], ValueError)],
    "nets.Chain.layers nets.Skip.layers": [(3, TypeError), ([], ValueError, "layer"),
                                           ([3], TypeError)],
    "plots.spectral_density.density": [([1.0], TypeError)],
    "plots.spectral_density.eigenvalues": [([[1.0]], ValueError), (["a"], TypeError)],
    "plots.errors_by_layer.errors": NAMED_SERIES,
    "plots.errors_over_steps.errors": [*NAMED_SERIES, ({"A": [1.0]}, ValueError)],
    "plots.errors_over_steps.steps": [(["a", "b"], TypeError), (3, ValueError),
                                      ([1, 2, 3], ValueError, "errors")],
    "plots.errors_over_steps.norm": [([1.0], ValueError), ("a", TypeError)],
    "datasets.load_csv.target": [("colur", ValueError, "colur.*columns are"), (7, ValueError, "7"),
                                 (1.5, TypeError)],
    "exact.posterior.structure": [("kronecker", ValueError, "so.eacg.posterior"),
                                  ("banded", ValueError), (3, TypeError)],
    "exact.eigenpairs.k": [(0, ValueError), (1.5, TypeError), (99, ValueError)],
    "exact.eigenpairs.which": [("BE", ValueError), (3, TypeError)],
    "nets.from_arrays.arrays": [
        (3, TypeError), ({3: np.ones((2, 3))}, TypeError), ({}, ValueError),
        ({"0.weight": np.ones(3)}, ValueError, "2 axes"),
        ({"0.weight": np.ones((2, 3)), "0.scale": np.ones(2)}, ValueError, "scale"),
        ({"0.weight": np.ones((2, 3)), "0.bias": np.ones(3)}, ValueError, "bias"),
        ({"0.weight": np.full((2, 3), np.nan)}, ValueError, "NaN"),
        ({"0.weight": np.ones((2, 3)), "1.weight": np.ones((2, 2))}, ValueError, "1.weight")],
    "nets.from_arrays.kinds": [(3, TypeError), (["linaer"], ValueError, "did you mean 'linear'"),
                               ([so.Skip([so.Linear(3, 3)])], TypeError, "layers inside")],
    "eacg.matrix.rank": [(2, ValueError, "rank-one"), (0, ValueError), (1.5, TypeError)],
    "plots.cubic_model.steps": [([1.0], ValueError), ([0.0, 2.0, 1.0], ValueError, "increasing"),
                                ([1.0, 2.0], ValueError, "reach"), ("a", TypeError)],
    "plots.cubic_model.objective": [([1.0], ValueError), ([np.nan, 1.0], ValueError),
                                    (["a", "b"], TypeError)],
    "plots.cubic_model.norm": [(-1.0, ValueError)],
    "plots.along.steps": [([2.0, 1.0], ValueError), ("a", TypeError), ([0.0, np.nan], ValueError)],
    "plots.along.direction": [({}, ValueError), ({"a": np.ones(2)}, ValueError, "direction: 'a'")],
    "plots.kernels.weights": [(np.ones((3, 3)), ValueError), ("a", TypeError),
                              (np.ones((0, 3, 3)), ValueError)],
    "plots.lines.named": [(3, TypeError), ({}, ValueError), ({"a": ["b"]}, TypeError, "named: 'a'"),
                          ({"a": ([1.0, 2.0], [1.0])}, ValueError, "named: 'a'")],
    "plots.lines.references": [([1.0], TypeError),
                               ({"r": []}, (TypeError, ValueError), "references: 'r'")],
    "plots.lines.logarithmic": [("z", ValueError)],
    "plots.lines.show_legend": [("left", ValueError)],
    "plots.lines.x_limits": [((1.0,), ValueError), ("ab", TypeError)],
    "plots.lines.y_limits": [((1.0, np.nan), ValueError)],
    "plots.errors_by_layer.show_legend": [("left", ValueError)],
    "plots.plane.across": [(np.zeros(NET.size), ValueError), (np.ones(2), ValueError)],
    "plots.plane.up": [(np.ones(NET.size), ValueError, "parallel"), (np.ones(2), ValueError)],
    "plots.plane.points": [(3, TypeError), ({"a": [1.0]}, ValueError, "points: 'a'")],
    "plots.plane.x_steps": [([1.0], ValueError)],
    "plots.plane.y_steps": [([2.0, 1.0], ValueError)],
    "plots.printed_and_corrected.errors": [(3, TypeError), ({"a": 1.0}, TypeError, "be a pair"),
                                           ({"a": (1.0, -1.0)}, ValueError, "from 0"),
                                           ({"a": (np.nan, 1.0)}, ValueError, "NaN")],
    "plots.along.models": [(3, TypeError), ({"a": lambda: 1.0}, TypeError),
                           ({"a": lambda d: d}, TypeError, "must return a number")],
    "plots.rates.named": [([1.0], TypeError), ({"a": [0.0]}, ValueError, "nothing to draw"),
                          ({"a": ["b"]}, TypeError), ({"a": [np.inf]}, ValueError),
                          ({"a": [-1.0]}, ValueError)],
    "edition.load.folder": [(3, TypeError), ("no/such", FileNotFoundError, "no edition")],
    "edition.printed.room": [(3, TypeError), ("no/such/room.py", ValueError, "displays.tex")],
    "edition.read.path edition.new.source": [
        (3, TypeError, "path"), ("paper.pdf", ValueError, ".tex or .md"),
        ("no.tex", FileNotFoundError, "no file")],
    "edition.new.key": [("a/b", ValueError, "letters"), (3, TypeError),
                        ("low-rank", ValueError, "own papers")],
    "edition.new.out": [(3, TypeError), ("", TypeError), ("no/such", FileNotFoundError, "folder")],
    "ledger.Equal.left ledger.Equal.right ledger.AtMost.smaller ledger.AtMost.larger": [
        ([], REFUSED, "empty"), ([1.0, 2.0], REFUSED, "shape"), (["a"], REFUSED, "numeric"),
        ([np.nan], REFUSED, "finite"), (None, REFUSED, "numeric")],
    "ledger.Derivative.of": [(3, REFUSED, "of must be a function"),
                             (lambda x: "a", REFUSED, "real numbers"),
                             (lambda x: np.inf, REFUSED, "finite")],
    "ledger.Derivative.is_": [([1.0, 2.0], REFUSED, "shape"), ("a", REFUSED, "numeric"),
                              (np.nan, REFUSED, "finite")],
    "ledger.Derivative.at": [("a", REFUSED, "at must be"), (np.nan, REFUSED, "at must be")],
    "ledger.Rate.steps": [([1.0, 0.5], REFUSED, "three"), ("abc", REFUSED, "numeric|steps"),
                          ([1.0, 0.5, np.nan], REFUSED, "finite")],
    "ledger.Rate.remainders": [([1.0, 0.0, 1.0], REFUSED, "> 0"), (None, REFUSED, "numeric")],
    "ledger.Rate.order": [("a", REFUSED), (np.nan, REFUSED)],
    "ledger.Property.value": [(np.ones(2), REFUSED, "one fact")],
    "ledger.Counterexample.claim": [(3, REFUSED, "wraps"), (None, REFUSED, "wraps")],
    "ledger.Printed.claim": [(3, REFUSED, "wraps"),
                             (so.ledger.Property("a", True), REFUSED, "wraps")],
    "ledger.paper.key": [("", REFUSED), (3, REFUSED), ("a b", REFUSED),
                         ("ea-cg", REFUSED, "own papers")],
    "ledger.paper.title": [(3, REFUSED)],
    "ledger.paper.symbols": [(3, REFUSED), ({"x": 3}, REFUSED)],
    "ledger.PrintedShape.left_shape": [(3, REFUSED, "shape"), ("ab", REFUSED, "shape")],
    "ledger.PrintedShape.right_shape": [(None, REFUSED, "shape")],
    "ledger.table.width": [("a", TypeError), (0, ValueError)],
    "low_rank.CubicRegularization.coupled": [("no", TypeError),
                                             (True, ValueError, "coupled.*rates='layer'")],
    "low_rank.CubicRegularization.smallest_sigma": [
        (1.0, ValueError, "adaptive=True"), (0, ValueError), (1e9, ValueError)],
    "low_rank.directional_curvature.form": [("eaxct", ValueError, "exact"), (3, TypeError)],
    "low_rank.step_length.g_dot_grad": [("a", TypeError), (1j, TypeError)],
    "low_rank.step_length.g_H_g": [(None, TypeError), ("a", TypeError)],
    "residual_partitioning.rules.layer": [(3, TypeError, "does not support"),
                                          (Unknown(), TypeError, "does not support")],
    "reversible_gauss_newton.Coupling.width": [(3, ValueError, "even"), (2.5, TypeError)],
    "reversible_gauss_newton.Coupling.fixed_init": [
        ("xaver", ValueError, "init"), (-1.0, ValueError, "init")],
    "reversible_gauss_newton.RevMLP.first_activation": [("rleu", ValueError, "relu")],
    "reversible_gauss_newton.RevMLP.outputs": [(0, ValueError), (9, ValueError)],
    "reversible_gauss_newton.RevMLP.readout": [("last", ValueError), (np.ones((2, 3)), ValueError)],
    "reversible_gauss_newton.linear_cka.a reversible_gauss_newton.linear_cka.b": [
        (np.ones(6), ValueError, "a and b"), (NAN, ValueError, "NaN"),
        (np.ones((6, 2)), ValueError, "same for all"), (None, TypeError, "real")],
    "reversible_gauss_newton.diagnostics.percent_change.before": [
        ("a", TypeError), (0.0, ValueError)],
    "reversible_gauss_newton.directions.update.options": [("right", TypeError), (None, TypeError)],
    "reversible_gauss_newton.diagnostics.weight_change.start": [
        (np.ones(3), ValueError), ("a", (TypeError, ValueError))],
    "reversible_gauss_newton.ntk_product.v": [(np.ones((6, 3)), ValueError, "v has shape"),
                                              ("a", TypeError, "v must")],
    "verify.derivative.f": [(3, TypeError, "f must be"), (lambda: 1.0, TypeError, "f must be"),
                            (lambda x: np.nan, ValueError, "finite")],
    "verify.derivative.df": [(lambda x: x, TypeError, "df must be"), (1j, TypeError, "real")],
    "verify.derivative.at": [("a", TypeError, "at must"), (np.nan, ValueError, "at holds"),
                             (np.ones(2), ValueError, "direction has shape")],
    "verify.derivative.kind": [("slope", ValueError), (3, TypeError),
                               ("hessian", ValueError, "direction is for")],
    "verify.equation.paper": [("ea", ValueError), (3, (TypeError, ValueError))],
    "verify.equation.label": [("nowhere", ValueError)],
    "verify.equation.implementation": [("nothing", ValueError)],
    "verify.rule.layer": [(3, TypeError), (so.Linear, TypeError),
                          (Unknown(), TypeError, "does not support")],
    "verify.describe_mismatch.left": [("a", TypeError)],
    "verify.describe_mismatch.right": [(None, TypeError)],
    "verify.describe_mismatch.names": [("ab", TypeError), (("a",), TypeError)],
    "verify.describe_mismatch.limit": [(-1, ValueError), (1.5, TypeError)],
    "training.train.x": [(X[0], ValueError, "3 samples"), (X[:0], ValueError, "0 samples"),
                         (NAN, ValueError, "NaN"), (X[:, :2], ValueError, "shape"),
                         (np.ma.masked_array(X, X > 0), TypeError, "mask")],
    "training.evaluate.y": [(Y + 5, ValueError, "out of range"),
                            (None, (TypeError, ValueError), "")],
    "training.train.batch_size": [(0, ValueError), ("most", ValueError)],
    "training.train.validation": [(X, TypeError), ((X, Y, Y), TypeError)],
    "training.train.callback": [(3, TypeError), (lambda: None, TypeError)],
    "training.train.shuffle": [(1, TypeError)],
    "training.train.last_batch": [("join", ValueError)],
    "training.train.checkpoint": [(3, TypeError), ("no/such", FileNotFoundError, "no")],
    "training.train.recipe": [(3, TypeError), ("seed 0", TypeError)],
    "training.train.resume": [(True, ValueError), ("yes", TypeError)],
    "verify.activation.interval": [((1.0, 0.0), ValueError), (3, TypeError)],
    "verify.optimizer.make": [(3, TypeError), (so.SGD(NET, LOSS), TypeError),
                              (lambda network: None, TypeError),
                              (lambda network, loss: None, TypeError)],
    "verify.optimizer.steps": [(3, ValueError), (4.5, TypeError)],
    "verify.layer.layer": [(3, TypeError), (so.Activation, TypeError)],
    "verify.layer.sizes": [((), TypeError), ((0,), ValueError)],
    "verify.loss.outputs": [(0, ValueError)],
    "verify.loss.targets": [([[1.0]], ValueError)],
    "nets.Conv2d.padding nets.cnn.padding": [
        (-1, ValueError), ((1, 2, 3), TypeError), ("33", TypeError)],
    "nets.cnn.output nets.rnn.output nets.mlp.output": [
        ("tahn", ValueError, "did you mean 'tanh'"), (3, TypeError, "activation")],
    "datasets.Standardisation.apply.values datasets.Standardisation.undo.values": [
        (WIDE, ValueError), (None, TypeError), (NAN, ValueError, "NaN")],
    "exact.posterior.noise_variance eacg.posterior.noise_variance": [
        (0, ValueError), (2.0, ValueError, "SquaredError"), ("a", TypeError)],
    "exact.solve.tolerance exact.eigenpairs.tolerance": [
        (-1, ValueError), ("a", TypeError), (1.0, ValueError)],
    "ledger.Equal.tolerance ledger.AtMost.tolerance ledger.Rate.tolerance ledger.Equal.scale"
    " ledger.AtMost.scale ledger.Derivative.tolerance": [
        (0, REFUSED), ("a", REFUSED), (np.nan, REFUSED)],
    "reversible_gauss_newton.Coupling.bottleneck reversible_gauss_newton.RevMLP.bottleneck": [
        (0, ValueError, "bottleneck|features"), ("a", TypeError, "bottleneck|features")],
    **{f"verify.optimizer.{side}": [(None, ValueError, "x and y go together")]
       + [row for row in BAD[side] if row[0] is not None] for side in ("x", "y")},
}
for _, rows, names in KINDS:
    for name in names.split():
        (OWN if "." in name else BAD)[name] = rows
OWN = {name: rows for names, rows in OWN.items() for name in names.split()}
#: Arguments that take anything, with the reason.
ANYTHING = {
    "title": "a text", "label": "a text (of a plot)", "x_label": "a text", "y_label": "a text",
    "workspace": "for the package's own loops", "new": "for the package's own loops",
    "self": "the object whose method is called", "expected": "any fact",
}
#: Public callables without rows, with the reason; the tests named there see malformed calls
#: refused.
ELSEWHERE = {
    "ledger.equation": "a decorator: test_ledger.py::test_registration_refuses",
    "ledger.Stated": "looked at where it is registered: test_ledger.py::test_registration_refuses",
    "ledger.Case": "takes anything by name, for the reader",
    "datasets.download": "needs a server: test_downloads.py",
    "exact.Posterior": "made by exact.posterior and eacg.posterior",
    "exact.Trace": "a number that is returned, with its error",
    "nets.from_torch": "needs PyTorch: test_importing.py::test_modules_that_are_refused",
    "nets.Workspace": "takes no argument", "nets.ActivationFunction": "takes no argument",
    "nets.ChainSaved": "a list of what layers saved, made by the package's own passes",
    "plots.row": "takes pictures: test_lines_and_planes.py::test_a_row_refuses",
    "residual_partitioning.Rule": "takes no argument",
    "training.Record": "a dict, made as any other",
    "datasets.Dataset": "what the readers return, made by them",
}
WITHOUT_MODEL = ("TukeyBiweight", "BoundedCriterion", "Huber")  # of the targets
for one, loss in LOSSES.items():
    for name, sides in PASSES.items():
        if one in WITHOUT_MODEL and name in ("fisher", "sample_targets"):
            continue
        sides = ["w" if (one, side) == ("BoundedCriterion", "v") else side for side in sides]
        key = f"nets.{one}.{name}"
        CALLS[key] = {"self": loss, "p": P} | {
            side: abs(T) if side == "target" and isinstance(
                loss, so.nets.losses.classes._ClassTargets) else SIDES[side] for side in sides}
        OWN[f"{key}.p"] = [(np.ones((3, 2), int), TypeError, "p must hold floating"),
                           (P[0], ValueError, "p must be|shape"), (P.tolist(), ValueError, "p"),
                           (None, ValueError, "p")]
        OWN |= {f"{key}.{side}": SHORT for side in sides if side != "rng"}
