"""Names that people guess: an AttributeError that tells the right one.

A module that wants to be kind to guesses defines ``__getattr__ = close_names.names(__name__)``, or
ends its own ``__getattr__`` with ``raise close_names.error(__name__, name)``.
"""

import sys

from .values import did_you_mean

# as PyTorch and Keras call them
ACTIVATIONS = {name: f'Activation("{name.lower()}")'
               for name in ("ReLU", "Tanh", "Sigmoid", "Softplus", "Identity", "GELU", "SiLU",
                            "ELU")}
LAYERS_AND_LOSSES = {
    "Dense": "Linear", "BatchNorm": "ScaleShift, of fixed statistics, or LayerNorm",
    "Softmax": "SoftmaxCrossEntropy, of logits",
    "RNN": "Recurrent, or rnn(...) for a network", "MSE": "SquaredError",
    "MSELoss": "SquaredError", "CrossEntropyLoss": "SoftmaxCrossEntropy",
    "BCELoss": "BinaryCrossEntropy, of logits", "BCEWithLogitsLoss": "BinaryCrossEntropy",
    "HuberLoss": "Huber", "PoissonNLLLoss": "PoissonNLL"}

#: Module -> guessed name -> what there is instead, as it is to be written. Here stand names from
#: other libraries and from the papers, and a name that is elsewhere; close spellings are found.
INSTEAD = {
    "secondorder": {
        **ACTIVATIONS, **LAYERS_AND_LOSSES,
        "hvp": "exact.hessian_vector_product", "ggn": "exact.gauss_newton",
        "hessian": "exact.hessian", "gradient": "exact.gradient", "grad": "exact.gradient",
        "jacobian": "exact.jacobian", "fisher": "exact.fisher", "solve": "exact.solve",
        "eigsh": "exact.eigenpairs", "ntk": "reversible_gauss_newton.ntk",
        "Laplace": "exact.posterior, or eacg.posterior with Kronecker factors",
        "Sequential": "Network (of a list of layers)", "fit": "train",
        "KFAC": "EACG(network, loss, curvature='fisher-sampled', solver='kfi')",
        "KFRA": "EACG(network, loss, curvature='gauss-newton', solver='kfi')",
        "Newton": "TruncatedNewton", "HessianFree": "TruncatedNewton"},
    "secondorder.exact": {
        "hvp": "hessian_vector_product", "ggn": "gauss_newton",
        "ggn_vector_product": "gauss_newton_vector_product",
        "fvp": "FisherOperator(network, loss, x, y) @ v",
        "hessian_diagonal": "diagonal(network, loss, x, y)",
        "hessian_trace": "trace(network, loss, x, y)", "eigsh": "eigenpairs",
        "inverse": "solve", "Laplace": "posterior",
        "influence": "solve, whose examples have it",
        "saliency": "diagonal or solve, whose examples have it",
        "empirical_fisher": "fisher(network, loss, x, y, kind='empirical')"},
    "secondorder.papers.eacg": {
        "kfac": "matrix(network, loss, x, y, curvature='fisher-sampled') for the matrix, "
                "direction(..., curvature='fisher-sampled', solver='kfi') for the step, "
                "EACG(network, loss, curvature='fisher-sampled', solver='kfi') for the method",
        "kfra": "matrix(network, loss, x, y, curvature='gauss-newton'), or EACG(network, loss, "
                "curvature='gauss-newton', solver='kfi')",
        "pch": "matrix(network, loss, x, y, curvature='pch-1'), or bias_curvatures",
        "fisher": "matrix(network, loss, x, y, curvature='fisher-empirical') by layers; the whole "
                  "one is so.exact.fisher",
        "hessian": "matrix(network, loss, x, y, curvature='hessian') by layers; the whole one is "
                   "so.exact.hessian"},
    "secondorder.papers.low_rank": {"learning_rate": "step_length"},
    "secondorder.papers.residual_partitioning": {
        "diagonal": "bound(...).curvature", "jensen": "bound(..., output='jensen')"},
    "secondorder.papers.reversible_gauss_newton": {
        "jacobian": "so.exact.jacobian", "cka": "linear_cka", "RevNet": "RevMLP",
        "kernel_similarity": "section_5_kernel_and_cka.kernel_similarity",
        "weight_change": "section_5_kernel_and_cka.weight_change"},
    "secondorder.nets": LAYERS_AND_LOSSES,
    "secondorder.optimizers": {
        "EACG": "so.EACG", "GaussNewton": "so.GaussNewton", "LBFGS": "TruncatedNewton",
        "ResidualPartitioning": "so.ResidualPartitioning",
        "CubicRegularization": "so.CubicRegularization", "HessianFree": "TruncatedNewton",
        "RMSprop": "Adadelta, or Adam"},
    "secondorder.plots": {"eigenvalues": "spectrum", "loss_curve": "learning_curves"},
    "secondorder.training": {"fit": "train", "resume": "train(..., checkpoint=..., resume=True)"},
    "secondorder.datasets": {"mnist": "load_idx", "train_test_split": "split"},
}


def error(module, name):
    """The AttributeError for a name that a module, named as in ``__name__``, does not have."""
    text = f"module {module!r} has no attribute {name!r}"
    if name.startswith("_"):
        return AttributeError(text, name=name, obj=sys.modules.get(module))
    instead = INSTEAD.get(module, {}).get(name)
    if instead is not None:
        return AttributeError(f"{text}: use {instead}")
    here = sys.modules.get(module)
    public = [known for known in (getattr(here, "__all__", None) or ()) if known != name]
    lower = {known.lower().replace("_", ""): known for known in public}
    alike = lower.get(name.lower().replace("_", ""))
    hint = f"did you mean {alike!r}? " if alike else did_you_mean(name, public)
    return AttributeError(f"{text}{': ' + hint.strip() if hint else ''}")


def names(module):
    """A module's ``__getattr__``, which raises `error`."""
    def __getattr__(name):
        raise error(module, name)

    return __getattr__
