"""The names that others rely on: each is reached as `so.name` and imported from `secondorder`, and
callables take the arguments that are promised."""

import inspect

import pytest

import secondorder as so

ROOMS = ("datasets", "eacg", "exact", "ledger", "low_rank", "nets", "optimizers", "plots",
         "residual_partitioning", "reversible_gauss_newton", "training", "verify")
NAMES = ("Activation", "ActivationFunction", "Adadelta", "Adagrad", "Adam", "AvgPool2d",
         "BoundedCriterion", "Chain", "Conv2d", "CubicRegularization", "EACG", "Flatten",
         "GaussNewton", "Layer", "LayerNorm", "Linear", "Loss", "MaxPool2d", "Momentum", "Network",
         "Recurrent", "ResidualPartitioning", "RevMLP", "SGD", "Skip", "SoftmaxCrossEntropy",
         "SquaredError", "TruncatedNewton", "TukeyBiweight", "cnn", "compare", "from_arrays",
         "from_torch", "load", "mlp", "rnn", "train")
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
    "reversible_gauss_newton.linear_cka": "a b",
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


def test_attributes_of_a_network():
    net = so.mlp([3, 4, 2], rng=0)
    for name in ("layers", "theta", "evaluate", "summary", "save", "size", "copy"):
        assert hasattr(net, name)
    assert net.layers[0].weight.shape == (4, 3) and net.layers[0].bias.shape == (4,)
    rev = so.reversible_gauss_newton.RevMLP(4, 1, 6, outputs=2, rng=0)
    for name in ("features", "inverse", "blocks"):
        assert hasattr(rev, name)
    assert rev.blocks[0].W1.shape == (2, 6) and rev.blocks[0].Va.shape == (6, 2)
