"""The layout of the arrays that are given, which is lost on the way to another process, changes no
bit of a sum over chunks.
"""

import pickle

import numpy as np
import pytest

import secondorder as so
from harness.chunked import CALLS, Here, problem

LAYOUTS = {
    "column by column": np.asfortranarray,
    "every other column": lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
    "backwards": lambda array: array[..., ::-1].copy()[..., ::-1],
}


class Elsewhere(Here):
    """Works on what a pickle brings, as another process does."""

    def submit(self, function, /, *arguments):
        return super().submit(function, *pickle.loads(pickle.dumps(arguments)))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["gradient", "Hessian-vector product", "sample gradients",
                                  "Jacobian", "GaussNewtonOperator"])
def test_the_layout_of_the_inputs_changes_no_bit(name, layout):
    net, loss, x, y = problem(samples=70, sizes=(37, 9, 5))
    there = CALLS[name](net, loss, LAYOUTS[layout](x), y, batch_size=33, executor=Elsewhere())
    here = CALLS[name](net, loss, LAYOUTS[layout](x), y, batch_size=33)
    assert np.array_equal(there, here)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_of_a_vector_changes_no_bit(layout):
    net, loss, x, y = problem(samples=70, sizes=(37, 9, 5))
    v = LAYOUTS[layout](np.random.default_rng(0).normal(size=(1, net.size)))[0]
    for product in (so.exact.hessian_vector_product, so.exact.two_jet):
        given = net, loss, x, y, v
        there = product(*given, batch_size=33, executor=Elsewhere())
        assert np.array_equal(there, product(*given, batch_size=33))
