"""Beyond the paper's text: convolutions and pooling, in its notation, with Z = Y_ddot u."""

import numpy as np

from ....ledger import Equal, equation
from ....nets import Activation, AvgPool2d, Conv2d, Flatten, Linear, Network, Skip
from .. import PAPER
from ..fast import bound_at
from ..shaped_layers import ConvolutionRule, PoolingRule
from . import cases, reference
from .claims import claims_of_a_bound


def image_case(rng, activation, loss):
    """Convolutions with padding, stride 2, a fixed one, one inside a skip connection; pooling
    between them; two samples.
    """
    def conv(n_in, n_out, kernel, **options):
        return Conv2d(n_in, n_out, kernel, init=1.5 / np.sqrt(n_in * np.size(kernel)), rng=rng,
                      **options)

    net = Network([
        conv(2, 2, 2, padding=1), Activation(activation),
        Skip([conv(2, 2, (1, 3), padding=(0, 1), bias=False), Activation("tanh")]),
        AvgPool2d((2, 2), (1, 2)), conv(2, 2, 1, trainable=False),
        conv(2, 2, 2, stride=2, padding=(1, 0)), Activation(activation), Flatten(),
        Linear(4, 3, init=1.5, rng=rng)], input_shape=(2, 2, 3))
    return net.evaluate(cases.LOSSES[loss](), *cases.batch(rng, net, loss, samples=2))


def tight(rng):
    """With positive weights and images, one output and all changes equal, bound and model agree."""
    net = Network([Conv2d(1, 2, 2, padding=1, rng=rng), Activation("relu"), AvgPool2d(2, 1),
                   Conv2d(2, 1, 2, stride=2, rng=rng), Flatten(), Linear(1, 1, rng=rng)],
                  input_shape=(1, 2, 2))
    net.theta = np.abs(net.theta)
    x, y = cases.batch(rng, net, samples=3, positive=True)
    at, c = net.evaluate(cases.LOSSES["squared"](), x, y), rng.uniform(0.2, 2.0)
    p = at.outputs + c * reference.slope_along_ones(at)
    return Equal("positive network, equal changes: the bound against the model",
                 bound_at(at).value(np.full(net.size, c)),
                 float(np.mean(np.sum((p - y) ** 2, axis=1)) / 2), 1e-12)


@equation(PAPER, "extension-convolution",
          statement="A weight that is used at many places has fractions of its own at each: the "
                    "sum over places joins the sum over samples.",
          formula=r"""\begin{aligned}
                  u_{s o p}^{(\ell+1)} &= 1 + \sum_{c k} |y_{s c \pi(p,k)}^{(\ell)}| + \sum_{c k}
                  |w_{o c k}| \, u_{s c \pi(p,k)}^{(\ell)}, \qquad \pi(p, k) = t p + k - q \\
                  \ddot{W}_{o c k} &= \sum_s \sum_p Z_{s o p}^{(\ell+1)} \, |y_{s c
                  \pi(p,k)}^{(\ell)}|, \qquad Z_{s c m}^{(\ell)} = \sum_{o, p, k \, : \, \pi(p,k) =
                  m} Z_{s o p}^{(\ell+1)} \, |w_{o c k}|
                  \end{aligned}""",
          kind="inequality", verdict="holds", ours=True,
          implements=(ConvolutionRule.forward, ConvolutionRule.backward))
def extension_convolution(rng):
    return [*claims_of_a_bound(rng, image_case, crossed=("sigmoid",)), tight(rng)]


def pooling_case(rng, activation, loss):
    """Overlapping windows, windows that leave a row out, and one around the whole image."""
    net = Network([
        Conv2d(1, 2, 2, init=0.8, rng=rng), Activation(activation), AvgPool2d(2, 1),
        Conv2d(2, 2, 2, padding=1, init=0.8, rng=rng), AvgPool2d((1, 2), (2, 2)),
        Activation("tanh"), AvgPool2d((2, 1)), Flatten(), Linear(4, 3, init=1.0, rng=rng)],
        input_shape=(1, 4, 5))
    return net.evaluate(cases.LOSSES[loss](), *cases.batch(rng, net, loss, samples=2))


@equation(PAPER, "extension-pooling",
          statement="An average over K entries pools total gradients like values and spreads Z "
                    "like gradients.",
          formula=r"""\begin{aligned}
                  y_{s p}^{(\ell+1)} &= \frac{1}{K} \sum_k y_{s \pi(p,k)}^{(\ell)}: \\
                  u_{s p}^{(\ell+1)} &= \frac{1}{K} \sum_k u_{s \pi(p,k)}^{(\ell)}, \\
                  Z_{s m}^{(\ell)} &= \frac{1}{K} \sum_{p, k \, : \, \pi(p,k) = m}
                  Z_{s p}^{(\ell+1)} \end{aligned}""",
          kind="inequality", verdict="holds", ours=True,
          implements=(PoolingRule.forward, PoolingRule.backward))
def extension_pooling(rng):
    return [*claims_of_a_bound(rng, pooling_case, crossed=("sigmoid",)), tight(rng)]
