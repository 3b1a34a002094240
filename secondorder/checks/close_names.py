"""Names that people guess: an AttributeError that tells the right one.

A module that wants to be kind to guesses defines ``__getattr__ = close_names.names(__name__)``, or
ends its own ``__getattr__`` with ``raise close_names.error(__name__, name)``.
"""

import sys

from .values import did_you_mean

#: Module -> guessed name -> what there is instead, as it is to be written.
INSTEAD = {
    "secondorder": {
        "hvp": "exact.hessian_vector_product", "ggn": "exact.gauss_newton",
        "hessian": "exact.hessian", "gradient": "exact.gradient", "jacobian": "exact.jacobian",
        "fisher": "exact.fisher", "grad": "exact.gradient", "MLP": "mlp", "Net": "Network",
        "Sequential": "Network (of a list of layers)", "Model": "Network",
        "CrossEntropy": "SoftmaxCrossEntropy", "CrossEntropyLoss": "SoftmaxCrossEntropy",
        "MSE": "SquaredError", "MSELoss": "SquaredError", "MeanSquaredError": "SquaredError",
        "KFAC": "EACG(network, loss, curvature='fisher', solver='kfi')",
        "kfac": "EACG(network, loss, curvature='fisher', solver='kfi')",
        "KFRA": "EACG(network, loss, curvature='gauss-newton', solver='kfi')",
        "EA_CG": "EACG", "Newton": "TruncatedNewton", "HessianFree": "TruncatedNewton",
        "load_digits": "datasets.load_digits", "ntk": "reversible_gauss_newton.ntk",
        "check": "verify.layer, verify.loss, verify.activation, verify.derivative or "
                 "verify.optimizer",
        "Laplace": "exact.posterior, or eacg.posterior with Kronecker factors",
        "laplace": "exact.posterior, or eacg.posterior with Kronecker factors",
        "solve": "exact.solve", "eigsh": "exact.eigenpairs", "from_pytorch": "from_torch",
        "from_state_dict": "from_arrays(state_dict, kinds)",
        "fit": "train", "papers": "residual_partitioning, low_rank, eacg and "
                                  "reversible_gauss_newton, one for each paper"},
    "secondorder.exact": {
        "hvp": "hessian_vector_product", "grad": "gradient", "ggn": "gauss_newton",
        "ggn_operator": "GaussNewtonOperator", "hessian_operator": "HessianOperator",
        "ggn_vector_product": "GaussNewtonOperator(network, loss, x, y) @ v",
        "gvp": "GaussNewtonOperator(network, loss, x, y) @ v",
        "gauss_newton_vector_product": "GaussNewtonOperator(network, loss, x, y) @ v",
        "fvp": "FisherOperator(network, loss, x, y) @ v",
        "hessian_diagonal": "diagonal(network, loss, x, y)",
        "eigsh": "eigenpairs", "eigenvalues": "eigenpairs", "top_eigenvalues": "eigenpairs",
        "inverse": "solve", "laplace": "posterior", "Laplace": "posterior",
        "influence": "solve, whose examples have it", "saliency": "diagonal or solve, whose "
                                                                  "examples have it",
        "diag": "diagonal", "hessian_diag": "diagonal(network, loss, x, y)",
        "ggn_diagonal": "diagonal(network, loss, x, y, kind='gauss-newton')",
        "hessian_trace": "trace(network, loss, x, y)", "jac": "jacobian",
        "empirical_fisher": "fisher(network, loss, x, y, kind='empirical')",
        "per_sample_gradients": "sample_gradients", "batch_gradients": "sample_gradients"},
    "secondorder.papers.eacg": {
        "kfac": "matrix(network, loss, x, y, curvature='fisher') for the matrix, direction(..., "
                "curvature='fisher', solver='kfi') for the step, EACG(network, loss, "
                "curvature='fisher', solver='kfi') for the method",
        "kfra": "matrix(network, loss, x, y, curvature='gauss-newton'), or EACG(network, loss, "
                "curvature='gauss-newton', solver='kfi')",
        "pch": "matrix(network, loss, x, y, curvature='pch-1'), or bias_curvatures",
        "KFAC": "EACG(network, loss, curvature='fisher', solver='kfi')",
        "KFRA": "EACG(network, loss, curvature='gauss-newton', solver='kfi')",
        "fisher": "matrix(network, loss, x, y, curvature='fisher-empirical') by layers; the whole "
                  "one is so.exact.fisher",
        "curvature": "bias_curvatures, or matrix", "curvatures_matrix": "matrix",
        "hessian": "matrix(network, loss, x, y, curvature='hessian') by layers; the whole one is "
                   "so.exact.hessian",
        "EA_CG": "EACG", "eacg": "EACG", "step": "direction"},
    "secondorder.papers.low_rank": {
        "CubicRegularisation": "CubicRegularization", "rate": "step_length",
        "learning_rate": "step_length", "curvature_along": "directional_curvature"},
    "secondorder.papers.residual_partitioning": {
        "hessian": "bounded_hessian", "diagonal": "bound(...).curvature",
        "diagonal_bound": "bound(...).curvature", "jensen": "bound(..., output='jensen')"},
    "secondorder.papers.reversible_gauss_newton": {
        "step": "direction", "jacobian": "so.exact.jacobian", "cka": "linear_cka",
        "CKA": "linear_cka", "NTK": "ntk", "tangent_kernel": "ntk", "RevNet": "RevMLP",
        **{name: f"{module}.{name}" for module, names in (
            ("diagnostics", ("kernel_change", "kernel_similarity", "percent_change",
                             "weight_change")),
            ("directions", ("update",)), ("options", ("Options",)), ("update", ("Update",)),
            ("coupling", ("CouplingBlock",))) for name in names}},
    "secondorder.nets": {
        "Conv": "Conv2d", "Dense": "Linear", "BatchNorm": "LayerNorm", "RNN": "Recurrent",
        "CrossEntropy": "SoftmaxCrossEntropy", "MSE": "SquaredError", "MLP": "mlp"},
    "secondorder.optimizers": {
        "EACG": "so.EACG", "GaussNewton": "so.GaussNewton", "LBFGS": "TruncatedNewton",
        "ResidualPartitioning": "so.ResidualPartitioning", "AdaGrad": "Adagrad",
        "CubicRegularization": "so.CubicRegularization", "Newton": "TruncatedNewton",
        "HessianFree": "TruncatedNewton", "RMSprop": "Adadelta, or Adam",
        "Schedule": "ExponentialDecay, or any function of the step"},
    "secondorder.plots": {
        "heatmap": "hessian_heat_map", "matrix": "hessian_heat_map", "heat_map": "hessian_heat_map",
        "hessian": "hessian_heat_map", "eigenvalues": "spectrum", "curves": "learning_curves",
        "loss_curve": "learning_curves", "history": "learning_curves",
        "learning_rates": "rates", "cubic": "cubic_model", "ray": "cubic_model"},
    "secondorder.verify": {
        "check_layer": "layer", "network": "layer, or run for the papers' equations",
        "gradient": "loss, layer or activation", "equations": "run", "all": "run()",
        "criterion": "loss", "Optimizer": "optimizer", "method": "optimizer"},
    "secondorder.training": {"fit": "train", "resume": "train(..., checkpoint=..., resume=True)",
                             "load_checkpoint": "read_checkpoint"},
    "secondorder.datasets": {
        "digits": "load_digits", "wine": "load_wine", "diabetes": "load_diabetes",
        "mnist": "load_idx", "load_mnist": "load_idx", "load_cifar": "load_cifar10",
        "cifar10": "load_cifar10", "standardize": "Standardisation",
        "standardise": "Standardisation", "normalize": "scale", "train_test_split": "split"},
}


def error(module, name):
    """The AttributeError for a name that a module does not have.

    Parameters
    ----------
    module : str
        As ``__name__`` has it.
    name : str
    """
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
