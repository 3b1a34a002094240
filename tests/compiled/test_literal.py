"""The switch between the two forms: under it no compiled function is called, and what one reads is.
"""

import concurrent.futures
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import secondorder as so
from harness.compiled_kinds import KINDS, LOSSES, QUANTITIES, batch, network
from secondorder.compiled import forms
from secondorder.nets import Activation, Chain, Linear
from secondorder.nets import evaluation as evaluations

TESTS = Path(__file__).resolve().parents[1]
WITH_HARNESS = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
EVERYTHING = """
from secondorder.compiled import compiling

def refused(function, **options):
    def call(*arguments):
        raise AssertionError(f"the compiled function {function.__name__} was called")
    return call

compiling.compiled = refused
import numpy as np
import secondorder as so
from harness import compiled_kinds as all_kinds
rng = np.random.default_rng(0)
x, labels = rng.normal(size=(90, 64)), rng.integers(0, 4, 90)
loss = so.SoftmaxCrossEntropy()

def step(method, net, inputs, **options):
    for _ in range(2):
        method(net, loss, **options).step(inputs, labels)

def asked(net, loss):
    for quantity, _ in all_kinds.QUANTITIES.values():
        quantity(net, loss, *all_kinds.batch(4, loss))

LITERAL
    for kind in all_kinds.KINDS:
        asked(all_kinds.network(kind), so.SquaredError())
    for one in all_kinds.LOSSES:
        asked(all_kinds.network("linear"), one)
    so.exact.gradient(so.mlp([64, 70, 4], rng=0), loss, x, labels, batch_size=40)
    for method in (so.SGD, so.Momentum, so.Adagrad, so.Adadelta, so.Adam, so.TruncatedNewton,
                   so.ResidualPartitioning, so.EACG):
        step(method, so.mlp([64, 70, 4], rng=0), x)
    step(so.ResidualPartitioning, so.cnn((1, 8, 8), [3], 4, rng=0), x.reshape(90, 1, 8, 8))
    so.CubicRegularization(so.SGD(so.mlp([64, 70, 4], rng=0), loss), sigma=1.0).step(x, labels)
    rev = so.RevMLP(64, 2, 16, outputs=4, rng=0)
    so.GaussNewton(rev, loss, learning_rate=0.1).step(x, labels)
    so.train(so.Adam(so.mlp([64, 70, 4], rng=0), loss), x, labels, epochs=1, batch_size=50, rng=0)
print("nothing compiled was called")
"""


@pytest.mark.everyday(1)
@pytest.mark.parametrize("way", ["with", "environment"])
def test_under_the_switch_no_compiled_function_is_called(way):
    block = "with so.literal():" if way == "with" else "if True:"
    environment = {**os.environ, "SECONDORDER_LITERAL": "1" if way == "environment" else "",
                   "PYTHONPATH": WITH_HARNESS}
    done = subprocess.run([sys.executable, "-c", EVERYTHING.replace("LITERAL", block)],
                          env=environment, capture_output=True, text=True)
    assert done.stdout == "nothing compiled was called\n", done.stderr


def test_without_it_they_are():
    """The measure sees a call: the same lines without the switch do not get far."""
    lines = EVERYTHING.replace("LITERAL", "if True:")
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True,
                          env={**os.environ, "SECONDORDER_LITERAL": "0",
                               "PYTHONPATH": WITH_HARNESS})
    assert "was called" in done.stderr and not done.stdout


# -- what is called --------------------------------------------------------------------------------


def problem(seed=0):
    rng = np.random.default_rng(seed)
    net = so.Network([Linear(6, 5, rng=rng), Chain([Activation("tanh"), Linear(5, 4, rng=rng)])])
    return net, so.SoftmaxCrossEntropy(), rng.normal(size=(7, 6)), rng.integers(0, 4, 7)


PASSES = ("forward", "input_gradient", "parameter_gradient", "parameter_gradients", "tangent",
          "backward_tangent")


def watched(cls, names, called, monkeypatch):
    """Note calls of the methods of these names that a class itself or a parent defines."""
    for name in names:
        def counted(self, *arguments, name=name, own=getattr(cls, name), **options):
            called.add(name)
            return own(self, *arguments, **options)
        monkeypatch.setattr(cls, name, counted)


@pytest.mark.parametrize("kind", KINDS)
def test_under_the_switch_every_pass_of_every_kind_is_called(kind, monkeypatch):
    """Of the layer under test, by the quantities that need it; without the switch none is."""
    net, called = network(kind), set()
    layer = next((one for one in net.layers[2:-2]
                  if not isinstance(one, (so.Flatten, so.nets.Reshape))), net.layers[2])
    watched(type(layer), PASSES, called, monkeypatch)
    names = ("gradient", "sample gradients", "hessian product", "gauss-newton product")
    wanted = {*PASSES} if layer.size else {*PASSES} - {"parameter_gradient", "parameter_gradients"}
    for literal in (True, False):
        called.clear()
        with so.literal(literal):
            for name in names:
                QUANTITIES[name][0](net, so.SquaredError(), *batch(4))
        assert called >= wanted if literal else not called


@pytest.mark.parametrize("kind", [so.Adam, so.ResidualPartitioning])
def test_under_the_switch_the_formula_of_a_method_is_called(kind, monkeypatch):
    (net, loss, *given), called = problem(), set()
    watched(kind, ["direction"], called, monkeypatch)
    method = kind(net, loss)
    method.step(*given)
    assert not called
    with so.literal():
        method.step(*given)
    assert called


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_under_the_switch_every_formula_of_every_loss_is_called(loss, monkeypatch):
    net, called, names = network("linear"), set(), ("value", "gradient", "hessian_product")
    watched(type(loss), names, called, monkeypatch)
    for literal in (True, False):
        called.clear()
        with so.literal(literal):
            QUANTITIES["hessian product"][0](net, loss, *batch(4, loss))
        assert called == ({*names} if literal else set())


# -- how far it reaches ----------------------------------------------------------------------------


def test_it_holds_for_the_block_and_can_be_taken_back_inside():
    assert not forms.is_literal()
    with so.literal():
        assert forms.is_literal()
        with so.literal(False):
            assert not forms.is_literal()
        assert forms.is_literal()
    with pytest.raises(KeyError), so.literal():
        raise KeyError
    assert not forms.is_literal()


@pytest.mark.parametrize("value, expected", [("1", True), ("0", False), ("", False)])
def test_the_environment_says_what_runs_outside_of_blocks(value, expected):
    code = ("import secondorder as so; from secondorder.compiled import forms\n"
            "print(forms.is_literal())\n"
            f"with so.literal({not expected}): print(forms.is_literal())")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, forms.VARIABLE: value})
    assert done.stdout.split() == [str(expected), str(not expected)]


def test_another_thread_is_left_alone():
    found = []
    with so.literal():
        thread = threading.Thread(target=lambda: found.append(forms.is_literal()))
        thread.start()
        thread.join()
    assert found == [False]


@pytest.mark.parametrize("pool", [concurrent.futures.ThreadPoolExecutor,
                                  concurrent.futures.ProcessPoolExecutor])
def test_it_travels_with_tasks(pool):
    """Chunks worked out elsewhere have the bits of the form that was asked for here."""
    given = problem()
    with pool(2) as executor:
        for literal in (True, False):
            with so.literal(literal):
                alone = so.exact.gradient(*given, batch_size=3)
                found = so.exact.gradient(*given, batch_size=3, executor=executor)
                assert np.array_equal(found, alone)
                task = executor.submit(evaluations.form, given[0])
                told = {"literal passes run, as asked", "compiled passes run"}
                assert task.result() in told


def test_a_checkpoint_goes_on_with_the_form_that_made_it(tmp_path):
    net, loss, x, y = problem()
    path = tmp_path / "run.npz"

    def run(epochs):
        return so.train(so.SGD(net.copy(), loss, learning_rate=0.1), x, y, epochs=epochs,
                        batch_size=3, rng=0, checkpoint=path, resume=True)

    with so.literal():
        run(1)
    with pytest.raises(ValueError, match="made with form 'literal', not 'compiled'"):
        run(2)
    with so.literal():
        run(2)
