"""Layers of two passes, as authors write them, against torch: what a network takes from differences
is as good as what is written by hand, in float32 too.
"""

import numpy as np
import pytest

import secondorder as so

from harness.cases import relative

torch = pytest.importorskip("torch")


class RMSNorm(so.Layer):
    """y = w r x with r = 1 / sqrt(mean(x^2) + epsilon)."""

    def __init__(self, width):
        super().__init__()
        self.input_shape = (width,)
        self.declare("weight", np.ones(width))

    def forward(self, x):
        r = 1 / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6)
        return self.weight * x * r, (x, r)

    def backward(self, saved, y_bar):
        (x, r), z_bar = saved, y_bar * self.weight
        return (r * z_bar - r**3 * x * (x * z_bar).mean(axis=1, keepdims=True),
                (y_bar * x * r).sum(axis=0))


class LSTMCell(so.Layer):
    """x, h, c beside each other to h', c'."""

    def __init__(self, inputs, width):
        super().__init__()
        self.inputs, self.width, self.input_shape = inputs, width, (inputs + 2 * width,)
        self.declare("weight", np.random.default_rng(1).normal(size=(4 * width, inputs + width)))
        self.declare("bias", np.zeros(4 * width))

    def output_shape(self, input_shape):
        return (2 * self.width,)

    def forward(self, x):
        xh, c = x[:, : -self.width], x[:, -self.width :]
        i, f, g, o = np.split(xh @ self.weight.T + self.bias, 4, axis=1)
        i, f, o = (1 / (1 + np.exp(-a)) for a in (i, f, o))
        g, before = np.tanh(g), c
        c = f * c + i * g
        return np.concatenate([o * np.tanh(c), c], axis=1), (xh, before, i, f, g, o, np.tanh(c))

    def backward(self, saved, y_bar):
        xh, c, i, f, g, o, t = saved
        h_bar, c_bar = np.split(y_bar, 2, axis=1)
        c_bar = c_bar + h_bar * o * (1 - t**2)
        a_bar = np.concatenate([c_bar * g * i * (1 - i), c_bar * c * f * (1 - f),
                                c_bar * i * (1 - g**2), h_bar * t * o * (1 - o)], axis=1)
        x_bar = np.concatenate([a_bar @ self.weight, c_bar * f], axis=1)
        return x_bar, a_bar.T @ xh, a_bar.sum(axis=0)


def lstm(x, weight, bias):
    i, f, g, o = (x[:, :4] @ weight.T + bias).chunk(4, 1)
    c = torch.sigmoid(f) * x[:, 4:] + torch.sigmoid(i) * torch.tanh(g)
    return torch.cat([torch.sigmoid(o) * torch.tanh(c), c], 1)


def rms(x, w):
    return w * x * torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-6)


@pytest.mark.parametrize("dtype, allowed", [("float64", 1e-10), ("float32", 5e-6)])
@pytest.mark.parametrize("layer, function, width", [
    (RMSNorm(6), rms, 6), (LSTMCell(2, 2), lstm, 4)], ids=["RMS norm", "LSTM cell"])
def test_layers_of_two_passes_against_torch(layer, function, width, dtype, allowed):
    assert so.verify.layer(layer, input_shape=(6,)).ok
    layers = [so.Linear(3, 6, rng=0), layer.copy(), so.Linear(width, 2, rng=2)]
    net, loss, rng = so.Network(layers, dtype=dtype), so.SquaredError(), np.random.default_rng(3)
    x, y = rng.normal(size=(5, 3)).astype(dtype), rng.normal(size=(5, 2)).astype(dtype)
    shapes = [value.shape for inner in net.layers for value in inner.parameters.values()]

    def outputs(theta):
        parts = torch.split(theta, [int(np.prod(shape)) for shape in shapes])
        W, b, *own, V, c = (part.reshape(shape) for part, shape in zip(parts, shapes))
        return function(torch.tensor(x).double() @ W.T + b, *own) @ V.T + c

    def objective(theta):
        return 0.5 * ((outputs(theta) - torch.tensor(y)) ** 2).sum(1).mean()

    theta = torch.tensor(net.theta).double()
    J = torch.func.jacrev(outputs)(theta).numpy()
    H = torch.func.hessian(objective)(theta).numpy()
    residuals = outputs(theta).numpy() - y
    assert relative(so.exact.jacobian(net, x), J) < allowed
    assert relative(so.exact.sample_gradients(net, loss, x, y),
                    np.einsum("scp,sc->sp", J, residuals)) < allowed
    assert relative(so.exact.gradient(net, loss, x, y),
                    torch.func.grad(objective)(theta).numpy()) < allowed
    operator, v = so.exact.HessianOperator(net, loss, x, y), rng.normal(size=(net.size, 5))
    for K in (1, 4, 5):  # 5: as many directions as samples
        assert relative(operator @ v[:, :K].astype(dtype), H @ v[:, :K].astype(dtype)) < allowed
    assert relative(so.exact.hessian(net, loss, x, y), H) < allowed
