"""Names that people guess: an AttributeError that tells the right one.

A module that wants to be kind to guesses defines ``__getattr__ = close_names.names(__name__)``, or
ends its own ``__getattr__`` with ``raise close_names.error(__name__, name)``.
"""

import sys

from .values import did_you_mean

#: Names of other libraries and of the papers, in whatever module they are looked for -> what there
#: is instead, as it is to be written. Close spellings are found without.
INSTEAD = {
    **{name: f'so.Activation("{name.lower()}")' for name in
       ("ReLU", "Tanh", "Sigmoid", "Softplus", "Identity", "GELU", "SiLU", "ELU")},
    "Dense": "so.Linear", "BatchNorm": "so.ScaleShift, of fixed statistics, or so.LayerNorm",
    "Softmax": "so.SoftmaxCrossEntropy, of logits", "RNN": "so.Recurrent, or so.rnn for a network",
    "Sequential": "so.Network (of a list of layers)", "MSELoss": "so.SquaredError",
    "CrossEntropyLoss": "so.SoftmaxCrossEntropy", "BCELoss": "so.BinaryCrossEntropy, of logits",
    "BCEWithLogitsLoss": "so.BinaryCrossEntropy", "HuberLoss": "so.Huber",
    "PoissonNLLLoss": "so.PoissonNLL", "fit": "so.train", "Newton": "so.TruncatedNewton",
    "HessianFree": "so.TruncatedNewton", "LBFGS": "so.TruncatedNewton",
    "hvp": "so.exact.hessian_vector_product", "ggn": "so.exact.gauss_newton",
    "hessian": "so.exact.hessian", "gradient": "so.exact.gradient", "grad": "so.exact.gradient",
    "jacobian": "so.exact.jacobian", "fisher": "so.exact.fisher", "solve": "so.exact.solve",
    "hessian_diagonal": "so.exact.diagonal", "hessian_trace": "so.exact.trace",
    "empirical_fisher": "so.exact.fisher(network, loss, x, y, kind='empirical')",
    "influence": "so.exact.solve, whose examples have it", "eigsh": "so.exact.eigenpairs",
    "Laplace": "so.exact.posterior, or so.eacg.posterior with Kronecker factors",
    "ntk": "so.reversible_gauss_newton.ntk", "cka": "so.reversible_gauss_newton.linear_cka",
    "kfac": "so.eacg.matrix(network, loss, x, y, curvature='fisher-sampled') for the matrix, "
            "so.EACG(network, loss, curvature='fisher-sampled', solver='kfi') for the method",
    "KFAC": "so.EACG(network, loss, curvature='fisher-sampled', solver='kfi')",
    "kfra": "so.eacg.matrix(network, loss, x, y, curvature='gauss-newton')",
    "KFRA": "so.EACG(network, loss, curvature='gauss-newton', solver='kfi')",
    "train_test_split": "so.datasets.split"}


def error(module, name):
    """The AttributeError for a name that a module, named as in ``__name__``, does not have."""
    text, here = f"module {module!r} has no attribute {name!r}", sys.modules.get(module)
    if name.startswith("_"):
        return AttributeError(text, name=name, obj=here)
    if name in INSTEAD:
        return AttributeError(f"{text}: use {INSTEAD[name]}")
    public = [known for known in (getattr(here, "__all__", None) or ()) if known != name]
    plain = {known.lower().replace("_", ""): known for known in public}
    alike = plain.get(name.lower().replace("_", ""))
    hint = did_you_mean(name, [alike] if alike else public)
    return AttributeError(f"{text}{': ' + hint.strip() if hint else ''}")


def names(module):
    """A module's ``__getattr__``, which raises `error`."""
    def __getattr__(name):
        raise error(module, name)

    return __getattr__
