"""ea-cg: the quadratic form of a layer's block, and its Pos-Eig correction, as gamma moves."""

import numpy as np

from ... import datasets, exact
from ...nets import SoftmaxCrossEntropy, mlp
from ...papers.eacg import bias_curvatures
from ...papers.eacg.eq_01_03_newton import newton_direction, pos_eig, quadratic_model
from ...papers.eacg.eq_09_11_ea_cg import eq_9_damped
from .drawing import Axis, Curve, Figure, Panel, Recorded, Slider, number_text

GAMMAS = np.round(np.linspace(1, -1, 21), 10)
ALPHAS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
ANGLES = np.linspace(0, 2 * np.pi, 193)
WAY = np.linspace(-1, 3, 21)
LEVEL = 0.04
SAID = {1.0: "the block as it is", 0.0: "PCH-2: what is negative is dropped",
        -1.0: "PCH-1: what is negative is turned round"}


def problem():
    """Block (2, 2) and gradient (2,) of the two hidden biases of a 13-2-3 net on the wines."""
    wine = datasets.load_wine()
    x = datasets.Standardisation.fit(wine.inputs).apply(wine.inputs)
    net, loss = mlp([13, 2, 3], activation="tanh", rng=5), SoftmaxCrossEntropy()
    g = exact.gradient(net, loss, x, wine.targets)[26:28]  # after 2 x 13 weights
    return bias_curvatures(net, loss, x, wine.targets, curvature="hessian")[0], g


def level(B):
    """The points d with d^T B d / 2 = LEVEL by `ANGLES`, (2, angles); NaN where there is none."""
    d = np.array([np.cos(ANGLES), np.sin(ANGLES)])
    form = np.sum(d * (B @ d), axis=0) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(form > 0, d * np.sqrt(LEVEL / form), np.nan)


def along(g, B, v):
    """The quadratic model along v, over `WAY`."""
    return np.array([quadratic_model(0.0, g, B, t * v) for t in WAY])


def sentence(gamma, alpha, lowest, corrected, along):
    """What is told of one pair: `lowest` is v^T A v, `corrected` v^T B v, `along` the step's v."""
    said = f" ({SAID[gamma]})" if gamma in SAID else ""
    damping = (1 - alpha) * corrected + alpha
    return (f"γ = {number_text(gamma)}{said}: the eigenvalue {number_text(lowest)} "
            f"becomes {number_text(round(corrected, 6))}, and with α = {alpha} it is damped to "
            f"{number_text(round(damping, 6))}. Along its direction the step goes "
            f"{'downhill' if along > 0 else 'uphill'}.")


def figure():
    """The figure of the book."""
    A, g = problem()
    v = np.linalg.eigh(A)[1][:, 0]
    v = -np.sign(g @ v) * v  # downhill along the eigenvector of the negative eigenvalue
    blocks = [pos_eig(A, gamma) for gamma in GAMMAS]
    systems = [[eq_9_damped(B, np.eye(2), alpha) for alpha in ALPHAS] for B in blocks]
    steps = np.array([[newton_direction(g, M) for M in row] for row in systems])
    curves = np.array([level(B) for B in blocks])
    models = np.array([[along(g, M, v) for M in row] for row in systems])
    ways = steps @ v
    ends = np.array([[quadratic_model(0.0, g, M, t * v) for M, t in zip(row, own)]
                     for row, own in zip(systems, ways)])
    still, line = level(A), np.array([-4.0, 4.0])
    plane = Panel(
        "in the plane of two biases", Axis("change of the first bias", -3, 3, (-2, 0, 2)),
        Axis("change of the second bias", -2.02, 2.02, (-2, -1, 0, 1, 2)),
        [Curve("direction of the negative eigenvalue", "faint", Recorded(line * v[0]),
               Recorded(line * v[1])),
         Curve("½ dᵀAd = 0.04, as it is", "blue", Recorded(still[0]), Recorded(still[1])),
         Curve("½ dᵀBd = 0.04, corrected", "red", Recorded(curves[:, 0], (0,)),
               Recorded(curves[:, 1], (0,))),
         Curve("step", "ink", Recorded(_from_origin(steps[..., 0]), (0, 1)),
               Recorded(_from_origin(steps[..., 1]), (0, 1))),
         Curve("", "ink", Recorded(steps[..., :1], (0, 1)), Recorded(steps[..., 1:], (0, 1)),
               dots=True)])
    slice_ = Panel(
        "along the negative eigenvalue's direction",
        Axis("way t along it", -1, 3, (-1, 0, 1, 2, 3)),
        Axis("quadratic model", -0.4, 0.3, (-0.4, -0.2, 0, 0.2)),
        [Curve("as it is, A", "blue", Recorded(WAY), Recorded(along(g, A, v))),
         Curve("corrected, B", "red", Recorded(WAY),
               Recorded(np.array([along(g, B, v) for B in blocks]), (0,))),
         Curve("and damped, (1−α)B + αI", "ink", Recorded(WAY), Recorded(models, (0, 1))),
         Curve("the step's part", "ink", Recorded(ways[..., None], (0, 1)),
               Recorded(ends[..., None], (0, 1)), dots=True)])
    words = [[sentence(gamma, alpha, v @ A @ v, v @ B @ v, way) for alpha, way in zip(ALPHAS, own)]
             for gamma, B, own in zip(GAMMAS, blocks, ways)]
    return Figure(
        title="What Pos-Eig does to a negative eigenvalue",
        look="Take γ from 1 to −1: the hyperbola opens to parallel lines at 0 and closes to an "
             "ellipse. With γ near 1 and little damping α the step goes uphill along the negative "
             "direction; from γ = 0 on it never does.",
        source="The mean Hessian block A of the two hidden biases of a 13-2-3 tanh net on the 178 "
               "wines, before training. Computed by pos_eig, eq_9_damped and newton_direction of "
               "papers/eacg.",
        labels=("pos-eig", "property-1", "8a", "9"),
        sliders=[Slider("γ, Pos-Eig's factor", "", [number_text(gamma) for gamma in GAMMAS], 20),
                 Slider("α, damping", "", [str(alpha) for alpha in ALPHAS], ALPHAS.index(0.1))],
        panels=[plane, slice_], words=Recorded(words, (0, 1)))


def _from_origin(ends):
    """(0, end) for every end."""
    return np.stack([np.zeros_like(ends), ends], axis=-1)
