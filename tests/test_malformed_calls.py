"""Malformed calls of everything that is public: the right kind of error, with the argument's name
in it.

`CALLS` holds a call that works for every public callable, as its arguments by name. `BAD` holds,
for every name of an argument, values that no function may take under this name. Each public
callable is called with each of these in the place of the good value. What is particular to one
function stands in `OWN`, under "room.function.argument". An argument without bad values stands in
`ANYTHING`, with the reason. A public callable, or an argument, that is in none of these tables
fails a test.
"""

import dataclasses
import importlib
import inspect

import numpy as np
import pytest

import secondorder as so
from secondorder.residual_partitioning import rules

rng = np.random.default_rng(0)
X, Y, WIDE = rng.normal(size=(6, 3)), np.arange(6) % 2, rng.normal(size=(6, 4))
NET, LOSS = so.mlp([3, 4, 2], rng=0), so.SoftmaxCrossEntropy()
MATRIX = np.eye(NET.size)
NAN = X.copy()
NAN[2, 1] = np.nan


def net():
    return so.mlp([3, 4, 2], rng=0)


def reversible():
    return so.reversible_gauss_newton.RevMLP(4, 1, 3, outputs=2, rng=0)


#: (value, error, words that must stand in the message)
BAD = {
    "network": [("net", TypeError, "network"), (None, TypeError, "network")],
    "loss": [(3, TypeError, "loss"), (so.SquaredError, TypeError, "loss")],
    "x": [(X[:, :2], ValueError, "x has shape|shape"), (X[0], ValueError, "shape"),
          (X[:0], ValueError, "empty"),
          (NAN, ValueError, "NaN"), (X.astype(complex), TypeError, "real"),
          ([["a"] * 3] * 6, TypeError, "real"),
          (None, TypeError, "x"), (np.ma.masked_array(X, X > 0), TypeError, "mask"),
          ([[1.0, 2.0, 3.0], [1.0]], ValueError, "ragged")],
    "y": [(Y + 5, ValueError, "out of range"), (Y[:3], ValueError, "label|sample|target"),
          (Y * 1.0, TypeError, "integer"),
          (None, (TypeError, ValueError), "target"),
          (np.ma.masked_array(Y, Y > 0), TypeError, "mask")],
    "v": [(np.ones(3), ValueError, "v|direction"), (None, (TypeError, ValueError), ""),
          ("v", (TypeError, ValueError), "")],
    "l2": [(-1.0, ValueError, "l2"), ("a", (TypeError, ValueError), "l2"),
           (np.nan, ValueError, "l2")],
    "rng": [(-1, ValueError, "rng"), ("seed", TypeError, "rng"), (1.5, TypeError, "rng")],
    "max_bytes": [(0, ValueError, "max_bytes"), (8, MemoryError, "max_bytes")],
    "learning_rate": [(0, ValueError, "learning_rate"), (-1.0, ValueError, "learning_rate"),
                      ("fast", TypeError, "learning_rate"), (np.nan, ValueError, "learning_rate"),
                      (True, TypeError, "learning_rate"),
                      (lambda: 1.0, TypeError, "learning_rate")],
    "method": [("quick", ValueError, "method"), (3, TypeError, "method")],
    "kind": [("true", ValueError, "kind"), (None, TypeError, "kind")],
    "draws": [(0, ValueError, "draws"), (-3, ValueError, "draws"), (1.5, TypeError, "draws")],
    "activation": [("tan", ValueError, "activation"), (3, TypeError, "activation")],
    "function": [("tan", ValueError, "activation"), (3, TypeError, "activation|value"),
                 (so.nets.Tanh, TypeError, "activation|class")],
    "trainable": [("no", TypeError, "trainable"), (1, TypeError, "trainable")],
    "bias": [("no", TypeError, "bias"), (1, TypeError, "bias")],
    "init": [("xaver", ValueError, "init"), (-1.0, ValueError, "init"),
             (lambda: 1, TypeError, "init")],
    "dtype": [("float16", ValueError, "dtype"), ("int", ValueError, "dtype")],
    "sizes": [(3, TypeError, "sizes"), ([3], ValueError, "sizes"), ([3, 0], ValueError, ""),
              ([3, 2.5], TypeError, "")],
    "layers": [(3, TypeError, "layers"), ([], ValueError, "layer"), ([3], TypeError, "layers"),
               ([so.Linear(3, 2), so.Linear(3, 2)], ValueError, "")],
    "input_shape": [((0,), ValueError, "input_shape"), ((-3,), ValueError, "input_shape"),
                    ((1.5,), TypeError, "input_shape"), ("ab", TypeError, "input_shape")],
    "tolerance": [(-1, ValueError, "tolerance"), ("a", (TypeError, ValueError), "tolerance"),
                  (np.nan, ValueError, "tolerance")],
    "max_iterations": [(-1, ValueError, "max_iterations"), (1.5, TypeError, "max_iterations")],
    "samples": [(1, ValueError, "samples"), (2.5, ValueError, "samples")],
    "ax": [(3, TypeError, "ax")],
    "figure": [(3, TypeError, "figure")],
    "paper": [("low-rang", ValueError, "low-rank"), (3, (TypeError, ValueError), "")],
    "label": [("999", ValueError, ""), (["x"], (TypeError, ValueError), "")],
    "seed": [(-1, ValueError, "seed"), ("a", (TypeError, ValueError), "seed")],
    "damping": [(-1, ValueError, "damping"), ("a", TypeError, "damping")],
    "epsilon": [(0, ValueError, "epsilon"), ("a", TypeError, "epsilon")],
    "max_cg": [(0, ValueError, "max_cg"), (2.5, TypeError, "max_cg")],
    "curvature": [("curved", ValueError, "curvature"), (3, TypeError, "curvature")],
    "solver": [("solve", ValueError, "solver"), (3, TypeError, "solver")],
    "alpha": [(-1, ValueError, "alpha"), ("a", TypeError, "alpha")],
    "output": [("out", ValueError, "output"), (3, TypeError, "output")],
    "negative_curvature": [("min", ValueError, "negative_curvature"),
                           (3, TypeError, "negative_curvature")],
    "cross": [("no", TypeError, "cross"), (1, TypeError, "cross")],
    "matrix": [(np.ones((2, 3)), ValueError, "matrix"), (1j * MATRIX, TypeError, "matrix")],
    "direction": [(np.ones(3), ValueError, "direction"), ("a", (TypeError, ValueError), "")],
    "inverse": [("left", ValueError, "inverse"), (3, TypeError, "inverse")],
    "pseudo_inverse": [("inexact", ValueError, "pseudo_inverse"), (3, TypeError, "pseudo_inverse")],
    "part": [("tset", ValueError, "part"), (3, TypeError, "part")],
    "directory": [("no/such", FileNotFoundError, "no/such"), (3, TypeError, "")],
    "path": [("no/such", FileNotFoundError, "no/such"), (3, TypeError, "path")],
    "base": [("sgd", TypeError, "base"), (None, TypeError, "base"), (so.SGD, TypeError, "base")],
    "sigma": [(0, ValueError, "sigma"), ("a", TypeError, "sigma")],
    "ascent": [("down", ValueError, "ascent"), (3, TypeError, "ascent")],
}
MODEL = {"network": NET, "loss": LOSS, "x": X, "y": Y}
FULL = {"network": NET, "loss": LOSS}
#: A call that works: the arguments by name, or a function that makes them anew.
CALLS = {
    "datasets.Standardisation.fit": {"values": X},
    "datasets.find_directory": {"directory": "."},
    "datasets.load": {"name": "wine"},
    "datasets.load_idx": None,
    "datasets.load_cifar10": None,
    "datasets.load_csv": None,
    "datasets.load_digits": {},
    "datasets.load_wine": {},
    "datasets.load_diabetes": {},
    "datasets.scale": lambda: {"data": so.datasets.load_digits()},
    "datasets.split": {"data": (X, Y)},
    "exact.CurvatureOperator": None,
    "exact.GaussNewtonOperator": MODEL,
    "exact.HessianOperator": MODEL,
    "exact.FisherOperator": MODEL | {"kind": "sampled", "rng": 0},
    "exact.fisher": MODEL | {"kind": "sampled", "rng": 0},
    "exact.gauss_newton": MODEL,
    "exact.gradient": MODEL,
    "exact.hessian": MODEL,
    "exact.hessian_vector_product": MODEL | {"v": np.ones(NET.size)},
    "exact.jacobian": {"network": NET, "x": X},
    "exact.sample_gradients": MODEL,
    "exact.two_jet": MODEL | {"v": np.ones(NET.size)},
    "eacg.EACG": FULL,
    "eacg.layer_errors": {"approximate": [MATRIX], "exact": [MATRIX]},
    "eacg.total_error": {"errors": [1.0, 2.0]},
    "eacg.bias_curvatures": MODEL | {"curvature": "fisher-sampled", "rng": 0},
    "eacg.direction": MODEL | {"curvature": "fisher-sampled", "rng": 0},
    "low_rank.CubicRegularization": lambda: {"base": so.SGD(NET, LOSS)},
    "low_rank.SampleHessian": lambda: {"network": NET, "loss": LOSS, "x": X[:1], "y": Y[:1]},
    "low_rank.directional_curvature": MODEL | {"direction": np.ones(NET.size)},
    "low_rank.hessian": MODEL,
    "low_rank.step_length": {"g_dot_grad": -1.0, "g_H_g": 1.0, "g_norm": 1.0, "sigma": 1.0},
    "ledger.run": {"paper": "residual-partitioning", "label": "1"},
    "ledger.show": {"paper": "residual-partitioning", "label": "1"},
    "ledger.markdown": None,
    "nets.Activation": {"function": "tanh"},
    "nets.BoundedCriterion": {},
    "nets.Chain": lambda: {"layers": [so.Linear(3, 2)]},
    "nets.Evaluation": MODEL,
    "nets.Layer": {},
    "nets.LeakyReLU": {},
    "nets.Linear": {"in_features": 3, "out_features": 2},
    "nets.Network": lambda: {"layers": [so.Linear(3, 2)]},
    "nets.Reshape": {"input_shape": (6,), "output_shape": (2, 3)},
    "nets.Skip": lambda: {"layers": [so.Linear(3, 3)]},
    "nets.TukeyBiweight": {},
    "nets.activation_function": {"activation": "tanh"},
    "nets.mlp": {"sizes": [3, 2]},
    "optimizers.Adadelta": FULL,
    "optimizers.Adagrad": FULL,
    "optimizers.Adam": FULL,
    "optimizers.Constant": {"rate": 0.1},
    "optimizers.ExponentialDecay": {"rate": 0.1, "factor": 0.5, "every": 3},
    "optimizers.Momentum": FULL,
    "optimizers.Optimizer": FULL | {"learning_rate": 0.1},
    "optimizers.SGD": FULL,
    "optimizers.TruncatedNewton": FULL,
    "optimizers.Wrapper": lambda: {"base": so.SGD(NET, LOSS)},
    "optimizers.conjugate_gradients": {"product": lambda v: v, "b": np.ones(3), "tolerance": 0.1,
                                       "max_iterations": 5},
    "plots.bound_beside_hessian": lambda: {"bounded_hessian": MATRIX,
                                           "curvature": np.ones(NET.size), "network": NET},
    "plots.error_against_step": {"steps": [0.1, 0.2], "errors": [0.1, 0.2]},
    "plots.hessian_heat_map": {"matrix": MATRIX, "network": NET},
    "plots.learning_curves": {"histories": [{"epoch": 0, "train_loss": 1.0}]},
    "plots.matrices": {"named": {"A": MATRIX}},
    "plots.parameter_blocks": {"network": NET},
    "plots.spectrum": {"eigenvalues": [1.0, 2.0]},
    "residual_partitioning.ResidualPartitioning": FULL,
    "residual_partitioning.bound": MODEL,
    "residual_partitioning.bounded_hessian": MODEL,
    "reversible_gauss_newton.GaussNewton": lambda: {"network": NET, "loss": LOSS,
                                                    "inverse": "moore-penrose"},
    "reversible_gauss_newton.direction": MODEL | {"inverse": "moore-penrose"},
    "reversible_gauss_newton.ntk": {"network": NET, "x": X},
    "reversible_gauss_newton.ntk_product": None,
    "training.evaluate": MODEL,
    "training.read_checkpoint": None,
    "training.train": lambda: {"optimizer": so.SGD(net(), LOSS), "x": X, "y": Y, "epochs": 1},
    "verify.activation": {"function": "tanh"},
    "verify.layer": lambda: {"layer": so.Activation("tanh"), "input_shape": (3,)},
    "verify.loss": lambda: {"loss": so.SquaredError()},
    "verify.rule": None,
}
P, T = rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
#: Passes of the losses, called directly: (method's arguments after p, that the loss takes).
PASSES = {"value": ["target"], "gradient": ["target"], "hessian": ["target"],
          "hessian_diagonal": ["target"], "hessian_product": ["target", "v"],
          "fisher": [], "sample_targets": ["rng"]}
SIDES = {"target": T, "v": T, "w": T, "rng": np.random.default_rng(0)}
LOSSES = {"SquaredError": so.SquaredError(), "TukeyBiweight": so.TukeyBiweight(),
          "SoftmaxCrossEntropy": so.SoftmaxCrossEntropy(),
          "BoundedCriterion": so.BoundedCriterion()}
SHORT = [(T[:2], ValueError, "shape"), (T[0], (TypeError, ValueError), "shape|integer"),
         (T[:, :1], ValueError, "shape"), ([T[0]], ValueError, "shape|array"),
         (None, (TypeError, ValueError), "")]
#: What one function alone refuses.
OWN = {
    "datasets.Standardisation.fit.values": [(NAN, ValueError, "values"),
                                            (np.ones(3), ValueError, "values")],
    "datasets.load.name": [("digit", ValueError, "digits"), (3, TypeError, "data set")],
    "datasets.scale.data": [(None, TypeError, "data"), (X, TypeError, "data")],
    "datasets.scale.interval": [((0, 1, 2), TypeError, "interval"),
                                ((1, 0), ValueError, "interval")],
    "datasets.split.data": [(None, TypeError, "data"), ((X, Y[:3]), ValueError, "data")],
    "datasets.split.validation": [(0, ValueError, "validation"), (1.5, ValueError, "validation"),
                                  ("a", TypeError, "validation")],
    "nets.BoundedCriterion.delta": [(0, ValueError, "delta"), ("a", TypeError, "delta")],
    "nets.BoundedCriterion.epsilon": [("a", TypeError, "epsilon"), (np.inf, ValueError, "epsilon")],
    "nets.LeakyReLU.negative_slope": [("a", TypeError, "negative_slope"),
                                      (np.nan, ValueError, "negative_slope")],
    "nets.Linear.in_features": [(0, ValueError, "in_features"), (1.5, TypeError, "in_features")],
    "nets.Linear.out_features": [(0, ValueError, "out_features"), ("a", TypeError, "out_features")],
    "nets.Reshape.output_shape": [((4,), ValueError, ""), ("ab", (TypeError, ValueError), "")],
    "nets.TukeyBiweight.c": [(0, ValueError, "c"), ("a", TypeError, "c")],
    "optimizers.Adadelta.rho": [(1.0, ValueError, "rho"), ("a", TypeError, "rho")],
    "optimizers.Adagrad.initial_accumulator": [(-1, ValueError, "initial_accumulator")],
    "optimizers.Adam.betas": [((0.9,), (TypeError, ValueError), "beta"),
                              ((0.9, 1.0), ValueError, "beta"), (0.9, TypeError, "beta")],
    "optimizers.Constant.rate": [(0, ValueError, "rate"), ("a", TypeError, "rate")],
    "optimizers.ExponentialDecay.rate": [(-1, ValueError, "rate"), ("a", TypeError, "rate")],
    "optimizers.ExponentialDecay.factor": [(0, ValueError, "factor")],
    "optimizers.ExponentialDecay.every": [(0, ValueError, "every"), (1.5, TypeError, "every")],
    "optimizers.ExponentialDecay.staircase": [("no", TypeError, "staircase")],
    "optimizers.Momentum.momentum": [(1.0, ValueError, "momentum"), ("a", TypeError, "momentum")],
    "optimizers.Momentum.nesterov": [("no", TypeError, "nesterov")],
    "optimizers.TruncatedNewton.adapt_damping": [("no", TypeError, "adapt_damping")],
    "optimizers.TruncatedNewton.smallest_damping": [(0, ValueError, "smallest_damping"),
                                                    (2.0, ValueError, "at most 1")],
    "optimizers.TruncatedNewton.max_halvings": [(-1, ValueError, "max_halvings")],
    "optimizers.conjugate_gradients.b": [(np.array([1.0, np.nan]), ValueError, "b")],
    "optimizers.conjugate_gradients.product": [(3, TypeError, "product"),
                                               (lambda v: v[:2], ValueError, "product")],
    "low_rank.CubicRegularization.base": [(3, TypeError, "base")],
    "plots.bound_beside_hessian.bounded_hessian": [(np.ones((2, 3)), ValueError,
                                                    "bounded_hessian")],
    "plots.bound_beside_hessian.curvature": [(np.ones(3), ValueError, "curvature")],
    "plots.error_against_step.steps": [(["a"], TypeError, "steps"), ([], ValueError, "steps")],
    "plots.error_against_step.errors": [([1.0], ValueError, "errors")],
    "plots.error_against_step.predicted": [([1.0], ValueError, "predicted")],
    "plots.hessian_heat_map.network": [("net", TypeError, "network"),
                                       (so.mlp([2, 2]), ValueError, "matrix")],
    "plots.matrices.network": [("net", TypeError, "network")],
    "plots.hessian_heat_map.limit": [(0, ValueError, "limit"), ("a", TypeError, "limit")],
    "plots.hessian_heat_map.orders": [(0, ValueError, "orders")],
    "plots.matrices.named": [([MATRIX], TypeError, "named"), ({}, TypeError, "named")],
    "plots.matrices.limit": [(-1, ValueError, "limit")],
    "plots.matrices.orders": [("a", TypeError, "orders")],
    "plots.learning_curves.histories": [(3, TypeError, "histories"), ({}, ValueError, "histories")],
    "plots.learning_curves.x": [("epocj", ValueError, "did you mean 'epoch'")],
    "plots.learning_curves.quantity": [("los", ValueError, "train_los")],
    "plots.spectrum.eigenvalues": [([1j], TypeError, "eigenvalues"),
                                   ([], ValueError, "eigenvalues")],
    "residual_partitioning.ResidualPartitioning.penalty": [("none", ValueError, "penalty")],
    "exact.sample_gradients.out": [(np.ones(3), ValueError, "out"),
                                   ("a", (TypeError, ValueError), "out")],
    "low_rank.SampleHessian.y": [(Y, ValueError, "label"),
                                 (None, (TypeError, ValueError), "target")],
    "eacg.layer_errors.approximate": [([], ValueError, "approximate"),
                                      (["a"], TypeError, "approximate")],
    "eacg.layer_errors.exact": [([MATRIX, MATRIX], ValueError, "exact"), (3, TypeError, "exact"),
                                ([], ValueError, "exact holds no matrix")],
    "eacg.total_error.errors": [(["a"], TypeError, "errors"),
                                ([1.0, np.nan], ValueError, "errors")],
    "low_rank.step_length.sigma": [(-1.0, ValueError, "sigma"), ("a", TypeError, "sigma")],
    "nets.Chain.layers": [(3, TypeError, "layers"), ([], ValueError, "layer"),
                          ([3], TypeError, "layers")],
    "nets.Skip.layers": [(3, TypeError, "layers"), ([], ValueError, "layer"),
                         ([3], TypeError, "layers")],
    "nets.mlp.output": [("tahn", ValueError, "did you mean 'tanh'"), (3, TypeError, "activation")],
    "plots.bound_beside_hessian.network": [("net", TypeError, "network")],
    "plots.error_against_step.label": [],
    "plots.spectrum.label": [],
    "training.train.x": [(X[0], ValueError, "3 samples"), (X[:0], ValueError, "0 samples"),
                         (NAN, ValueError, "NaN"),
                         (X[:, :2], ValueError, "shape"),
                         (np.ma.masked_array(X, X > 0), TypeError, "mask")],
    "training.evaluate.y": [(Y + 5, ValueError, "out of range"),
                            (None, (TypeError, ValueError), "")],
    "training.train.optimizer": [(3, TypeError, "optimizer")],
    "training.train.epochs": [(0, ValueError, "epochs"), (1.5, TypeError, "epochs")],
    "training.train.batch_size": [(0, ValueError, "batch_size"),
                                  ("most", ValueError, "batch_size")],
    "training.train.validation": [(X, TypeError, "validation"),
                                  ((X, Y, Y), TypeError, "validation")],
    "training.train.callback": [(3, TypeError, "callback"), (lambda: None, TypeError, "callback")],
    "training.train.progress": [("yes", TypeError, "progress")],
    "training.train.evaluate_every": [(0, ValueError, "evaluate_every")],
    "training.train.shuffle": [(1, TypeError, "shuffle")],
    "training.train.last_batch": [("join", ValueError, "last_batch")],
    "training.train.checkpoint": [(3, TypeError, "checkpoint"),
                                  ("no/such", FileNotFoundError, "no")],
    "training.train.resume": [(True, ValueError, "resume"), ("yes", TypeError, "resume")],
    "verify.activation.interval": [(3, TypeError, "interval")],
    "verify.layer.layer": [(3, TypeError, "layer"), (so.Activation, TypeError, "layer")],
    "verify.layer.sizes": [((), TypeError, "sizes"), ((0,), ValueError, "sizes")],
    "verify.loss.outputs": [(0, ValueError, "outputs")],
    "verify.loss.targets": [([[1.0]], ValueError, "targets")],
}
#: Arguments that take anything, or whose values are looked at elsewhere, with the reason.
ANYTHING = {
    "title": "a text", "label": "a text (of a plot)", "x_label": "a text", "y_label": "a text",
    "zero": "a number or None",
    "colour_bar": "true or not", "workspace": "for the package's own loops",
    "new": "for the package's own loops",
    "verbose": "true or not", "self": "the object whose method is called",
    "header": "test_datasets_trouble.py", "target": "test_datasets.py",
    "classification": "test_datasets.py",
    "options": "test_datasets_trouble.py", "joint": "test_eacg_solvers.py",
    "rates": "the room's own tests",
    "averaging": "the room's own tests", "coupled": "the room's own tests",
    "form": "the room's own tests",
    "largest": "the room's own tests", "g_dot_grad": "numbers of the inner loop",
    "g_H_g": "numbers of the inner loop",
    "g_norm": "numbers of the inner loop", "strength": "the room's own tests",
    "block_weights": "the room's own tests",
    "gamma": "the room's own tests", "initial": "the room's own tests", "kind": "test_operators.py",
    "decomposition": "the room's own tests", "recompute": "the room's own tests",
    "momentum": "the room's own tests",
    "drift_tolerance": "the room's own tests", "measure": "the room's own tests",
    "rank": "the room's own tests",
    "preconditioner": "the room's own tests", "literal": "the room's own tests",
    "adaptive": "the room's own tests",
    "smallest_sigma": "the room's own tests", "penalty": "the room's own tests",
    "adapt": "the room's own tests",
}
#: Rooms, or parts of them, that have no rows, with the reason.
WITHOUT = {
    "kernels": "loops for the package's own use, on arrays that were checked at the door",
    "checks": "the checks themselves; test_bad_input.py",
}
#: Public callables that are not called by users, or have tests of their refusals elsewhere.
ELSEWHERE = {
    "ledger.AtMost", "ledger.Case", "ledger.Condition",
    "ledger.Counterexample",
    "ledger.Equal", "ledger.Printed", "ledger.PrintedShape", "ledger.Property", "ledger.Rate",
    "ledger.Stated",
    "ledger.equation", "ledger.summary", "ledger.table", "nets.ActivationFunction",
    "nets.Workspace", "nets.ChainSaved",
    "residual_partitioning.Rule", "residual_partitioning.rules", "reversible_gauss_newton.Coupling",
    "reversible_gauss_newton.CouplingBlock", "reversible_gauss_newton.Options",
    "reversible_gauss_newton.RevMLP",
    "reversible_gauss_newton.Ridge", "reversible_gauss_newton.kernel_change",
    "reversible_gauss_newton.kernel_similarity",
    "reversible_gauss_newton.linear_cka", "reversible_gauss_newton.percent_change",
    "reversible_gauss_newton.update",
    "reversible_gauss_newton.weight_change", "training.History", "training.Record",
    "verify.describe_mismatch",
    "plots.errors_by_layer", "plots.errors_over_steps", "datasets.Dataset",
    "datasets.Standardisation",
}
HOW = (
    "add a line to CALLS in tests/test_malformed_calls.py: \"{0}\": {{its arguments in a call that "
    "works}}, and to OWN, "
    "\"{0}.argument\": [(bad value, error, word)], for arguments whose names BAD does not know (or "
    "to ANYTHING, with the "
    "reason)"
)


for one, loss in LOSSES.items():
    for name, sides in PASSES.items():
        if one in ("TukeyBiweight", "BoundedCriterion") and name in ("fisher", "sample_targets"):
            continue  # no model of the targets
        sides = ["w" if (one, side) == ("BoundedCriterion", "v") else side for side in sides]
        key = f"nets.{one}.{name}"
        CALLS[key] = {"self": loss, "p": P} | {
            side: abs(T) if isinstance(loss, so.nets.losses._ClassTargets) and side == "target"
            else SIDES[side] for side in sides}
        OWN[f"{key}.p"] = [(P[0], ValueError, "p must be|shape"), (P.tolist(), ValueError, "p"),
                           (None, ValueError, "p")]
        OWN |= {f"{key}.{side}": SHORT for side in sides if side != "rng"}


def public():
    """Every public callable of the package as (room.name, object); what is public in two rooms
    counts once."""
    found, seen = {}, set()
    for room in so._ROOMS:
        if room in WITHOUT:
            continue
        module = importlib.import_module(f"secondorder.{room}")
        for name in getattr(module, "__all__", None) or [name for name in vars(module)
                                                         if name[0] != "_"]:
            thing = getattr(module, name)
            record = inspect.isclass(thing) and (issubclass(thing, (tuple, BaseException))
                                                 or dataclasses.is_dataclass(thing))
            ours = getattr(thing, "__module__", "").startswith("secondorder")
            if callable(thing) and ours and not record and id(thing) not in seen:
                seen.add(id(thing))
                found[f"{room}.{name}"] = thing
    return found


def resolve(name):
    thing = so
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


def arguments(thing):
    """Names of the arguments of a callable, or none where Python cannot tell."""
    try:
        return [p.name for p in inspect.signature(thing).parameters.values()
                if p.kind is not p.VAR_POSITIONAL]
    except ValueError:
        return []


def rows():
    """Everything that is tried: name, argument, bad value, error, words."""
    for name in CALLS:
        for argument in arguments(resolve(name)):
            known = OWN.get(f"{name}.{argument}", BAD.get(argument, []))
            if CALLS[name] is None and argument not in ("directory", "path"):
                continue
            for position, (value, error, words) in enumerate(known):
                yield pytest.param(name, argument, value, error, words,
                                   id=f"{name}-{argument}-{position}")


@pytest.mark.parametrize("name", sorted(public()))
def test_every_public_callable_has_rows(name):
    thing = public()[name]
    if name in ELSEWHERE:
        return
    assert name in CALLS or not arguments(thing), f"{name} has no row: " + HOW.format(name)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_every_argument_has_rows(name):
    if CALLS[name] is None:
        return
    missing = [argument for argument in arguments(resolve(name))
               if not (f"{name}.{argument}" in OWN or argument in BAD or argument in ANYTHING)]
    assert not missing, f"{name}: no rows for {', '.join(missing)}: " + HOW.format(name)


def good(name):
    given = CALLS[name]
    return dict(given() if callable(given) else given or {})


@pytest.mark.parametrize("name", sorted(name for name in CALLS if CALLS[name] is not None))
def test_the_good_call_works(name):
    resolve(name)(**good(name))


@pytest.mark.parametrize("name, argument, value, error, words", list(rows()))
def test_malformed_call(name, argument, value, error, words):
    with pytest.raises(error, match=words or None) as caught:
        resolve(name)(**good(name) | {argument: value})
    assert len(str(caught.value)) < 1000


def test_a_new_public_function_without_rows_is_noticed(monkeypatch):
    def fresh(network):
        return network

    fresh.__module__ = "secondorder.exact"
    monkeypatch.setattr(so.exact, "fresh", fresh, raising=False)
    monkeypatch.setattr(so.exact, "__all__", [*so.exact.__all__, "fresh"], raising=False)
    assert "exact.fresh" in public() and "exact.fresh" not in CALLS


def test_tables_are_about_what_exists():
    known = public()
    assert not [name for name in ELSEWHERE if name not in known
                and not hasattr(resolve(name.rpartition(".")[0]), name.rpartition(".")[2])]
    for name in OWN:
        call, _, argument = name.rpartition(".")
        assert call in CALLS and argument in arguments(resolve(call)), name
    assert rules is not None
