"""What curvature and steps cost, as ratios in one run: `secondorder bench`.

Absolute seconds belong to a machine. Each piece of work is therefore timed in turn with

- the matrix products that it cannot do without, run alone in arrays that exist already;
- the same work in PyTorch, if asked for and installed.

They take turns in short blocks with pauses between, so that whatever else the machine does meets
all of them. A ratio is the median of the blocks' ratios.
"""

import math
import statistics
import time

import numpy as np

import secondorder as so
from secondorder.checks import lookup
from secondorder.papers.low_rank.figures.costs import peak

# -- networks at the papers' sizes, each with a batch ----------------------------------------------


def _dense(widths, activation, samples):
    def make(dtype):
        return so.mlp(widths, activation=activation, rng=0, dtype=dtype), (samples, widths[0])
    return make


def _images(dtype):
    rng = np.random.default_rng(0)
    layers = [so.Conv2d(1, 16, 3, rng=rng), so.Activation("relu"), so.MaxPool2d(2),
              so.Conv2d(16, 32, 3, rng=rng), so.Activation("relu"), so.MaxPool2d(2),
              so.Flatten(), so.Linear(800, 10, rng=rng)]
    return so.Network(layers, dtype=dtype, input_shape=(1, 28, 28)), (64, 1, 28, 28)


def _sequences(dtype):
    net = so.Network([so.Recurrent(16, hidden_size=64, rng=0), so.Linear(64, 10, rng=1)],
                     dtype=dtype, input_shape=(28, 16))
    return net, (32, 28, 16)


#: Name -> function of the dtype that gives a network and the shape of a batch.
NETWORKS = {
    "small": _dense([64, 40, 30, 10], "tanh", 32),
    "wide": _dense([784, 400, 100, 36, 10], "softplus", 100),
    "deep": _dense([784, *[128] * 12, 10], "relu", 32),
    "conv": _images,
    "recurrent": _sequences,
}


def problem(name, dtype="float64"):
    """Network, loss, inputs and labels of one of `NETWORKS`."""
    net, shape = lookup(NETWORKS, name, "network")(dtype)
    rng = np.random.default_rng(1)
    return (net, so.SoftmaxCrossEntropy(), rng.standard_normal(shape).astype(dtype),
            rng.integers(10, size=shape[0]))


# -- the work: function of (net, loss, x, y) that gives what is timed ------------------------------


def _vector(net, *count):
    return np.random.default_rng(2).standard_normal((net.size, *count)).astype(net.dtype)


def _gradient(net, loss, x, y):
    return lambda: so.exact.gradient(net, loss, x, y)


def _product(net, loss, x, y):
    v = _vector(net)
    return lambda: so.exact.hessian_vector_product(net, loss, x, y, v)


def _kept(operator, *count):
    def make(net, loss, x, y):
        kept, V = operator(net, loss, x, y), _vector(net, *count)
        kept @ V  # the backward pass belongs to the evaluation
        return lambda: kept @ V
    return make


def _rows(net, loss, x, y):
    return lambda: so.exact.sample_gradients(net, loss, x, y)


def _step(name, **options):
    def make(net, loss, x, y):
        method = getattr(so, name)(net, loss, **options)
        return lambda: method.step(x, y)
    return make


#: Name -> function of a problem that gives the call to be timed.
WORK = {
    "gradient": _gradient,
    "Hessian product": _product,
    "Hessian product, kept": _kept(so.exact.HessianOperator),
    "Gauss-Newton product, kept": _kept(so.exact.GaussNewtonOperator),
    "ten Hessian products, kept": _kept(so.exact.HessianOperator, 10),
    "one gradient a sample": _rows,
    "step of Adam": _step("Adam"),
    "step of ResidualPartitioning": _step("ResidualPartitioning", learning_rate=1e-3),
    "step of EACG": _step("EACG", learning_rate=1e-6),
}
#: Work that asks for a rule of every layer, and the networks that it can do.
ONLY = {"step of EACG": ("small", "wide", "deep"),
        "step of ResidualPartitioning": ("small", "wide", "deep", "conv")}


# -- the matrix products that work cannot do without -----------------------------------------------


def _forward_products(net, samples):
    """(stack, rows, inner, columns) of y = x W^T in every layer with weights, first to last."""
    shape = net.input_shape
    for layer in net.layers:
        before, shape = shape, layer.output_shape(shape)
        if isinstance(layer, so.Linear):
            yield 1, samples, layer.in_features, layer.out_features
        elif isinstance(layer, so.Conv2d):
            yield samples, shape[0], math.prod(layer.weight.shape[1:]), math.prod(shape[1:])
        elif isinstance(layer, so.Recurrent):
            yield 1, samples * before[0], before[1], shape[0]
            for _ in range(before[0] - 1):
                yield 1, samples, shape[0], shape[0]


def products(net, samples, work):
    """The list of products (stack, rows, inner, columns) of a piece of work; None if not known.

    y_bar W and y_bar^T x cost what x W^T costs. The first layer has no gradient in its inputs.
    """
    up = list(_forward_products(net, samples))
    inner = up[1:]
    back = tangent = up + inner
    back_tangent = up + 3 * inner  # both terms of W_bar_tangent and of x_bar_tangent
    return {
        "gradient": up + back,
        "Hessian product": up + back + tangent + back_tangent,
        "Hessian product, kept": tangent + back_tangent,
        "Gauss-Newton product, kept": tangent + back,
        "ten Hessian products, kept": 10 * (tangent + back_tangent),
        "step of Adam": up + back,
        "step of ResidualPartitioning": up + back + inner + back,
    }.get(work)


def alone(shapes, dtype):
    """A function that runs the products once, in arrays that are made here."""
    rng = np.random.default_rng(3)
    jobs = [(rng.standard_normal((s, m, k)).astype(dtype), rng.standard_normal((s, k, n))
             .astype(dtype), np.empty((s, m, n), dtype)) for s, m, k, n in shapes]

    def run():
        for left, right, out in jobs:
            np.matmul(left, right, out=out)
    return run


# -- the same in PyTorch ---------------------------------------------------------------------------


def in_torch(net, x, y, work):
    """What is timed of the same work in PyTorch; None where there is no counterpart."""
    import torch

    module, target = _module(torch, net), torch.from_numpy(y)
    inputs, parameters = torch.from_numpy(x), list(module.parameters())
    v = [torch.randn_like(p) for p in parameters]

    def loss():
        return torch.nn.functional.cross_entropy(module(inputs), target)

    def gradient(graph=False):
        return torch.autograd.grad(loss(), parameters, create_graph=graph)

    def product(g):
        return torch.autograd.grad(g, parameters, v, retain_graph=True)

    def one(p, x, y):
        out = torch.func.functional_call(module, p, (x[None],))
        return torch.nn.functional.cross_entropy(out, y[None])

    if work == "gradient":
        return gradient
    if work == "Hessian product":
        return lambda: product(gradient(True))
    if work == "Hessian product, kept":
        g = gradient(True)
        return lambda: product(g)
    if work == "ten Hessian products, kept":
        g = gradient(True)
        return lambda: [product(g) for _ in range(10)]
    if work == "one gradient a sample" and not any(
            isinstance(layer, so.Recurrent) for layer in net.layers):  # vmap does not take it
        named = {name: p.detach() for name, p in module.named_parameters()}
        gradients = torch.func.vmap(torch.func.grad(one), (None, 0, 0))
        return lambda: gradients(named, inputs, target)
    if work == "step of Adam":
        optimizer = torch.optim.Adam(parameters, lr=1e-3)

        def step():
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()
        return step
    return None


def _module(torch, net):
    """The network as a torch module with the same weights."""
    nn, layers, shape = torch.nn, [], net.input_shape

    class Last(nn.Module):
        def forward(self, pair):
            return pair[0][:, -1]

    def with_weights(module, **values):
        for name, value in values.items():
            getattr(module, name).data = torch.from_numpy(np.array(value))
        return module

    for layer in net.layers:
        if isinstance(layer, so.Linear):
            layers.append(with_weights(nn.Linear(layer.in_features, layer.out_features),
                                       weight=layer.weight, bias=layer.bias))
        elif isinstance(layer, so.Conv2d):
            n_out, n_in, *kernel = layer.weight.shape
            layers.append(with_weights(nn.Conv2d(n_in, n_out, kernel), weight=layer.weight,
                                       bias=layer.bias))
        elif isinstance(layer, so.Recurrent):
            module = nn.RNN(shape[-1], layer.hidden_size, batch_first=True).to(
                torch.from_numpy(net.theta).dtype)
            layers += [module, Last()]  # random weights: the work is the same
        elif isinstance(layer, so.MaxPool2d):
            layers.append(nn.MaxPool2d(2))
        elif isinstance(layer, so.Flatten):
            layers.append(nn.Flatten())
        else:
            layers.append({"tanh": nn.Tanh, "relu": nn.ReLU, "softplus": nn.Softplus}[
                layer.function.name]())
        shape = layer.output_shape(shape)
    return nn.Sequential(*layers)


# -- time and memory -------------------------------------------------------------------------------


def contest(contenders, blocks=9, seconds=0.1):
    """Time functions in turn: name -> seconds of a call, one number a block.

    In every block each contender has its turn: one call that is not counted, then calls for
    `seconds`, of which the median counts, then a pause. Every other block goes the other way round.
    """
    clock = time.perf_counter
    times = {name: [] for name in contenders}
    for block in range(blocks):
        for name in list(contenders)[:: 1 if block % 2 == 0 else -1]:
            contenders[name]()
            calls, end = [], clock() + seconds
            while not calls or clock() < end:
                start = clock()
                contenders[name]()
                calls.append(clock() - start)
            times[name].append(statistics.median(calls))
            time.sleep(0.06)
    return times


def measure(network, work, dtype="float64", against=None, blocks=9, seconds=0.1):
    """Time one piece of work on one network.

    Parameters
    ----------
    network, work : str
        Names in `NETWORKS` and `WORK`.
    dtype : "float64" or "float32"
    against : None or "torch"
    blocks, seconds
        As for :func:`contest`.

    Returns
    -------
    dict
        ``seconds`` a call, ``ratios`` to ``products`` and ``torch`` where there are such, and
        ``peak_bytes``.
    """
    net, loss, x, y = problem(network, dtype)
    run = lookup(WORK, work, "work")(net, loss, x, y)
    contenders = {"ours": run}
    needed = products(net, len(x), work)
    if needed is not None:
        contenders["products"] = alone(needed, dtype)
    if against == "torch":
        twin = in_torch(net, x, y, work)
        if twin is not None:
            contenders["torch"] = twin
    times = contest(contenders, blocks, seconds)
    ratios = {name: statistics.median(a / b for a, b in zip(times["ours"], times[name]))
              for name in times if name != "ours"}
    return {"network": network, "work": work, "dtype": dtype, "parameters": net.size,
            "seconds": statistics.median(times["ours"]), "ratios": ratios, "peak_bytes": peak(run)}


def pairs(networks=None, works=None):
    """(network, work) of everything that can be measured, or of what is named."""
    networks = [name for name in networks or NETWORKS if lookup(NETWORKS, name, "network")]
    works = [name for name in works or WORK if lookup(WORK, name, "work")]
    return [(network, work) for network in networks for work in works
            if network in ONLY.get(work, NETWORKS)]


def row(result=None):
    """A line of the table; without a result its heading."""
    if result is None:
        return f"{'network':<10}{'work':<30}{'ms':>9}{'/products':>11}{'/torch':>8}{'peak MiB':>10}"
    ratios = [f"{result['ratios'][name]:.2f}" if name in result["ratios"] else "-"
              for name in ("products", "torch")]
    return (f"{result['network']:<10}{result['work']:<30}{1e3 * result['seconds']:>9.3g}"
            f"{ratios[0]:>11}{ratios[1]:>8}{result['peak_bytes'] / 2**20:>10.3g}")
