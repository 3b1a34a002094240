"""The names that others rely on: each is reached as `so.name` and imported from `secondorder`, and
callables take the arguments that are promised."""

import dataclasses
import importlib
import inspect
import sys

import pytest

import secondorder as so

ROOMS = ("datasets", "eacg", "exact", "ledger", "low_rank", "nets", "optimizers", "plots",
         "residual_partitioning", "reversible_gauss_newton", "training", "verify")
NAMES = ("Activation", "ActivationFunction", "Adadelta", "Adagrad", "Adam", "AvgPool2d",
         "BoundedCriterion", "Chain", "Conv2d", "CubicRegularization", "EACG", "Flatten",
         "GaussNewton", "Layer", "LayerNorm", "Linear", "Loss", "MaxPool2d", "Momentum", "Network",
         "Recurrent", "ResidualPartitioning", "RevMLP", "SGD", "Skip", "SoftmaxCrossEntropy",
         "SquaredError", "TruncatedNewton", "TukeyBiweight", "cnn", "compare", "from_arrays",
         "from_torch", "literal", "load", "mlp", "rnn", "train")
#: Callable -> arguments that it takes by these names.
ARGUMENTS = {
    "mlp": "activation output bias init rng dtype",
    "exact.gradient": "network loss x y l2 batch_size executor",
    "exact.hessian": "network loss x y method l2 layer",
    "exact.hessian_vector_product": "network loss x y v",
    "exact.jacobian": "network x",
    "exact.gauss_newton": "network loss x y layer",
    "exact.fisher": "network loss x y kind rng layer",
    "exact.sample_gradients": "network loss x y",
    "exact.diagonal": "network loss x y kind layer",
    "exact.trace": "network loss x y layer",
    "exact.solve": "network loss x y v kind damping method tolerance l2 layer batch_size executor",
    "exact.eigenpairs": "network loss x y k which kind l2 layer batch_size executor",
    "exact.posterior": "network loss x y prior_precision kind structure",
    "eacg.posterior": "network loss x y prior_precision curvature",
    "from_torch": "module", "from_arrays": "arrays kinds",
    "exact.spectral_density": "network loss x y",
    "exact.objective": "network loss x y",
    "exact.HessianOperator": "network loss x y",
    "exact.GaussNewtonOperator": "network loss x y",
    "exact.FisherOperator": "network loss x y",
    "residual_partitioning.bound": "network loss x y output negative_curvature cross",
    "residual_partitioning.bounded_hessian": "network loss x y",
    "low_rank.hessian": "network loss x y",
    "low_rank.directional_curvature": "network loss x y direction form",
    "low_rank.step_length": "g_dot_grad g_H_g g_norm sigma",
    "eacg.bias_curvatures": "network loss x y curvature",
    "eacg.direction": "network loss x y curvature solver alpha max_cg tolerance",
    "reversible_gauss_newton.RevMLP": "d blocks bottleneck activation first_activation outputs "
                                      "readout bias rng dtype",
    "reversible_gauss_newton.ntk": "network x",
    "reversible_gauss_newton.linear_cka": "a b debiased",
    "Conv2d": "in_channels out_channels kernel_size stride padding bias rng",
    "AvgPool2d": "kernel_size stride", "MaxPool2d": "kernel_size stride",
    "SGD": "network loss learning_rate l2", "Adam": "network loss learning_rate l2",
    "ResidualPartitioning": "network loss learning_rate l2",
    "CubicRegularization": "base sigma", "EACG": "network loss curvature solver alpha",
    "GaussNewton": "network loss inverse pseudo_inverse",
    "BoundedCriterion": "delta epsilon", "TukeyBiweight": "c",
    "verify.run": "paper label seed", "verify.optimizer": "make",
    "verify.equation": "paper label function", "compare": "network loss x y",
    "datasets.load_digits": ""}

#: The number that an argument has when it is left out: one wherever the name stands,
EVERYWHERE = dict(l2=0.0, draws=1, max_bytes=2**30, bias=True, trainable=True, cross=False,
                  stride=1, padding=0, recompute=False, drift_tolerance=1e-4, noise_variance=1.0,
                  literal=False, rank=1)
#: but here, and for arguments that stand in one place.
DEFAULTS = {
    "SGD": dict(learning_rate=1e-3), "Adagrad": dict(learning_rate=0.01, epsilon=1e-10,
                                                     initial_accumulator=0.0),
    "Momentum": dict(learning_rate=1e-3, momentum=0.9, nesterov=False),
    "Adam": dict(learning_rate=1e-3, betas=(0.9, 0.999), epsilon=1e-8),
    "Adadelta": dict(learning_rate=1.0, rho=0.9, epsilon=1e-6),
    "TruncatedNewton": dict(learning_rate=1.0, damping=1.0, max_cg=50, tolerance=0.5,
                            adapt_damping=True, max_halvings=10),
    "ResidualPartitioning": dict(damping=0.0, safeguard=False),
    "CubicRegularization": dict(sigma=100.0, adaptive=False),
    "EACG": dict(learning_rate=0.1, alpha=0.02, momentum=0.0, joint=False),
    "GaussNewton": dict(learning_rate=1.0, measure=True),
    "optimizers.ExponentialDecay": dict(staircase=False),
    "RevMLP": dict(bias=False), "reversible_gauss_newton.Coupling": dict(bias=False),
    "LayerNorm": dict(epsilon=1e-5), "nets.LeakyReLU": dict(negative_slope=0.01),
    "cnn": dict(kernel_size=3), "Chain.input_hessian_from": dict(stop=0),
    "Chain.output_gradients": dict(stop=1), "BinaryCrossEntropy": dict(pos_weight=1.0),
    "BoundedCriterion": dict(delta=5.0, epsilon=0.2), "TukeyBiweight": dict(c=4.685),
    "Huber": dict(delta=1.0), "PoissonNLL": dict(full=False),
    "exact.eigenpairs": dict(k=6, max_iterations=500, rng=0), "exact.solve": dict(damping=0.0),
    "exact.spectral_density": dict(probes=10, steps=80), "exact.trace": dict(products=99),
    "exact.Trace": dict(standard_error=0.0, margin=0.0),
    "low_rank.step_length": dict(largest=sys.float_info.max),
    "eacg.direction": dict(alpha=0.1, joint=False), "eacg.matrix": dict(alpha=0.0, joint=True),
    "eacg.posterior": dict(joint=True),
    "reversible_gauss_newton.linear_cka": dict(debiased=False)}


@pytest.mark.parametrize("name", ROOMS + NAMES)
def test_a_name_is_reached_both_ways(name):
    imported = {}
    exec(f"from secondorder import {name}", imported)
    assert getattr(so, name) is imported[name] and name in dir(so)


@pytest.mark.parametrize("place", ARGUMENTS)
def test_arguments_keep_their_names(place):
    thing = so
    for part in place.split("."):
        thing = getattr(thing, part)
    parameters = inspect.signature(thing).parameters
    assert set(ARGUMENTS[place].split()) <= set(parameters), list(parameters)


def numbers_by_default():
    """Place -> {argument: number} for all that a room of formulas exports, and its methods."""
    found = {}
    for room in ("", "nets", "exact", "optimizers", "residual_partitioning", "low_rank", "eacg",
                 "reversible_gauss_newton"):
        here = getattr(so, room) if room else so
        for name in filter(str.isidentifier, dir(here)):
            thing = getattr(here, name)
            if callable(thing) and not (room and getattr(so, name, None) is thing):
                inside = vars(thing) if inspect.isclass(thing) else {}
                methods = {method: value for method, value in inside.items()
                           if inspect.isfunction(value) and method[0] != "_"}
                for method, function in {"": thing, **methods}.items():
                    place = ".".join(filter(None, (room, name, method)))
                    if _is_formula(function):
                        found[place] = {one.name: one.default for one
                                        in inspect.signature(function).parameters.values()
                                        if isinstance(one.default, (int, float))
                                        or one.default and isinstance(one.default, tuple)}
    return found


def _is_formula(function):
    rooms = tuple(f"secondorder.{room}." for room in ("nets", "exact", "optimizers", "papers"))
    error = inspect.isclass(function) and issubclass(function, Exception)
    return not error and inspect.unwrap(function).__module__.startswith(rooms)


def test_what_an_argument_is_when_it_is_left_out():
    found = numbers_by_default()
    expected = {place: {name: DEFAULTS.get(place, {}).get(name, EVERYWHERE.get(name))
                        for name in arguments} for place, arguments in found.items()}
    assert found == expected
    assert all(found[place].keys() >= numbers.keys() for place, numbers in DEFAULTS.items())


@pytest.mark.parametrize("module", [
    "exact.spectra.densities", "papers.eacg.options", "papers.eacg.solvers.systems",
    "papers.low_rank.options", "papers.low_rank.quantities", "papers.residual_partitioning.fast",
    "papers.residual_partitioning.options", "papers.reversible_gauss_newton.options"])
def test_options_and_results_stay_as_they_were_checked(module):
    made = [value for value in vars(importlib.import_module(f"secondorder.{module}")).values()
            if dataclasses.is_dataclass(value)]
    assert made and all(one.__dataclass_params__.frozen for one in made)


def test_attributes_of_a_network():
    net = so.mlp([3, 4, 2], rng=0)
    for name in ("layers", "theta", "evaluate", "summary", "save", "size", "copy"):
        assert hasattr(net, name)
    assert net.layers[0].weight.shape == (4, 3) and net.layers[0].bias.shape == (4,)
    rev = so.reversible_gauss_newton.RevMLP(4, 1, 6, outputs=2, rng=0)
    for name in ("features", "inverse", "blocks"):
        assert hasattr(rev, name)
    assert rev.blocks[0].W1.shape == (2, 6) and rev.blocks[0].Va.shape == (6, 2)


def test_the_rooms_of_the_papers_stand_where_the_design_says():
    for room in ("eacg", "low_rank", "residual_partitioning", "reversible_gauss_newton"):
        assert getattr(so, room) is importlib.import_module(f"secondorder.papers.{room}")
