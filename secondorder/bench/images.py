"""Cases of `secondorder bench` on a convolutional network.

Widths are read as pixels of a square image of one channel, output channels of one 3 x 3 convolution
after the other, classes: 784-16-32-10 is 1 x 28 x 28, two convolutions, one linear layer. An image
that is too small for its kernels is made larger.
"""

import math

import numpy as np

import secondorder as so

from . import products
from .runs import Setting, Work, case

IMAGES = (Setting("784-16-32-10", batch=128, activation="relu"),
          Setting("784-16-32-10", batch=128, activation="relu", dtype="float32"))
KERNEL = 3


class Images:
    """The network that a setting stands for, and a batch; unpacks into ``network, loss, x, y``."""

    def __init__(self, problem):
        *stages, classes = problem.setting.sizes[1:]
        side = max(math.isqrt(problem.setting.sizes[0]), (KERNEL - 1) * len(stages) + 1)
        self.shape, self.stages, self.classes = (1, side, side), stages, classes
        self.problem, self.loss, self.y = problem, problem.loss, problem.y
        self.x = problem.rng.standard_normal((len(problem.x), *self.shape)).astype(problem.x.dtype)
        self.network = self.new_network()

    def new_network(self):
        """Another network with the same weights."""
        setting = self.problem.setting
        return so.cnn(self.shape, self.stages, self.classes, KERNEL, pool=None, rng=0,
                      activation=setting.activation, dtype=setting.dtype)

    def __iter__(self):
        return iter((self.network, self.loss, self.x, self.y))

    def vector(self):
        """A random direction."""
        return self.problem.rng.standard_normal(self.network.size).astype(self.x.dtype)


# -- cases -----------------------------------------------------------------------------------------


@case("CNN gradient", *IMAGES, smallest=None)
def gradient(problem):
    """Gradient of a convolutional network's objective by back-propagation."""
    images = Images(problem)
    return Work(lambda: so.exact.gradient(*images),
                products=products.gradient(images.network, len(images.x)),
                torch=lambda twin: _Torch(twin, images).gradient(), gradient=False)


@case("CNN Hessian-vector product", *IMAGES, smallest=None)
def hessian_vector_product(problem):
    """Hessian times a vector there, evaluated before; PyTorch: double backward, its graph kept."""
    images = Images(problem)
    operator, v = so.exact.HessianOperator(*images), images.vector()
    operator.matvec(v)  # the backward pass belongs to the evaluation
    once = images.network, len(images.x)
    return Work(lambda: operator.matvec(v),
                products=products.tangent(*once) + products.backward_tangent(*once),
                rivals=_gradient(images), gradient=False,
                torch=lambda twin: _Torch(twin, images).hessian_vector_product(v))


@case("CNN step of Adam", *IMAGES, smallest=None)
def adam(problem):
    """One step of Adam on a convolutional network."""
    images = Images(problem)
    optimizer = so.Adam(images.new_network(), images.loss)
    return Work(lambda: optimizer.step(images.x, images.y),
                products=products.gradient(images.network, len(images.x)),
                rivals=_gradient(images), gradient=False,
                torch=lambda twin: _Torch(twin, images).step())


@case("CNN step of ResidualPartitioning", *IMAGES, smallest=None)
def residual_partitioning(problem):
    """One step of residual partitioning there; PyTorch: Adam, as it has no counterpart."""
    images = Images(problem)
    optimizer = so.ResidualPartitioning(images.new_network(), images.loss)
    return Work(lambda: optimizer.step(images.x, images.y),
                products=products.partitioning_step(images.network, len(images.x)),
                rivals=_gradient(images), gradient=False,
                torch=lambda twin: _Torch(twin, images).step())


@case("CNN cubic step around SGD", *IMAGES, smallest=None)
def cubic_step(problem):
    """One step of cubic regularisation around SGD on a convolutional network."""
    images = Images(problem)
    optimizer = so.CubicRegularization(so.SGD(images.new_network(), images.loss))
    once = images.network, len(images.x)
    return Work(lambda: optimizer.step(images.x, images.y),
                products=products.gradient(*once) + products.directional_curvature(*once),
                rivals=_gradient(images), gradient=False)


def _gradient(images):
    return {"gradient": lambda: so.exact.gradient(*images)}


class _Torch:
    """The same network in PyTorch, its parameters as a list."""

    def __init__(self, twin, images):
        self.torch, self.function, self.images = twin.torch, twin.activation, images
        self.value = twin.value
        self.x, self.y = self.torch.from_numpy(images.x), self.torch.from_numpy(images.y)
        self.parameters = [self.torch.from_numpy(value.copy()).requires_grad_()
                           for layer in images.network.layers
                           for value in layer.parameters.values()]

    def objective(self):
        functional, x, given = self.torch.nn.functional, self.x, iter(self.parameters)
        for _ in self.images.stages:
            x = self.function(functional.conv2d(x, next(given), next(given)))
        return self.value(functional.linear(x.flatten(1), next(given), next(given)), self.y)

    def gradient(self):
        return lambda: self.torch.autograd.grad(self.objective(), self.parameters)

    def hessian_vector_product(self, v):
        gradient = self.torch.autograd.grad(self.objective(), self.parameters, create_graph=True)
        ends = np.cumsum([p.numel() for p in self.parameters])[:-1]
        pieces = [self.torch.from_numpy(piece.copy()).view(p.shape)
                  for piece, p in zip(np.split(v, ends), self.parameters)]
        return lambda: self.torch.autograd.grad(gradient, self.parameters, pieces,
                                                retain_graph=True)

    def step(self):
        optimizer = self.torch.optim.Adam(self.parameters)

        def run():
            optimizer.zero_grad()
            loss = self.objective()
            loss.backward()
            optimizer.step()
            return float(loss.detach())

        return run
