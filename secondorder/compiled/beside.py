"""Which compiled function stands beside a literal one; `secondorder show` names it."""

_LAYERS, _FUNCTIONS = "secondorder.nets.layers", "secondorder.nets.activations"
_METHODS = "secondorder.optimizers.first_order"
_ROOMS = "secondorder.papers"

BESIDE = {
    f"{_LAYERS}.Linear.forward": "dense.linear_forward",
    f"{_LAYERS}.Linear.input_gradient": "dense.linear_input_gradient",
    f"{_LAYERS}.Linear.parameter_gradient": "dense.linear_parameter_gradient",
    f"{_LAYERS}.Linear.parameter_gradients": "dense.linear_parameter_gradients",
    f"{_LAYERS}.Linear.tangent": "dense.linear_tangent",
    f"{_LAYERS}.Linear.backward_tangent": "dense.linear_parameter_gradient_tangent",
    f"{_LAYERS}.Activation.forward": "activations.activate",
    f"{_LAYERS}.Activation.input_gradient": "passes.times",
    f"{_LAYERS}.Activation.backward_tangent": "passes.activation_gradient_tangent",
    "secondorder.nets.chain.Skip.forward": "passes.add_part",
    f"{_ROOMS}.reversible_gauss_newton.coupling.Coupling.forward": "passes.add_part",
    f"{_ROOMS}.reversible_gauss_newton.coupling.Coupling.input_gradient": "passes.take_part",
    "secondorder.nets.chain.Chain.forward": "passes.forward",
    "secondorder.nets.chain.Chain.output_gradients": "passes.output_gradients",
    f"{_ROOMS}.residual_partitioning.rules.LinearRule.forward":
        "residual_partitioning.compiled.linear_up",
    f"{_ROOMS}.residual_partitioning.rules.ActivationRule.forward":
        "residual_partitioning.compiled.activation_up",
    f"{_ROOMS}.residual_partitioning.rules.up": "residual_partitioning.compiled.up",
    f"{_ROOMS}.residual_partitioning.rules.down": "residual_partitioning.compiled.down",
    f"{_ROOMS}.residual_partitioning.rules.ActivationRule.backward":
        "residual_partitioning.compiled.partition_activation",
    f"{_ROOMS}.residual_partitioning.optimizer.ResidualPartitioning._direction":
        "residual_partitioning.compiled.partition_step",
    f"{_ROOMS}.eacg.systems.combined": "eacg.compiled.combined",
}
for _method in ("forward", "input_gradient", "parameter_gradient", "parameter_gradients",
                "tangent"):
    BESIDE[f"secondorder.nets.normalisation.LayerNorm.{_method}"] = (
        f"normalisation.layer_norm_{_method}")
BESIDE["secondorder.nets.normalisation.LayerNorm.backward_tangent"] = (
    "normalisation.layer_norm_gradient_tangent")
for _cls, _name in {"Tanh": "tanh", "Sigmoid": "sigmoid", "Softplus": "softplus", "Sin": "sin",
                    "LeakyReLU": "leaky", "Identity": "identity"}.items():
    BESIDE |= {f"{_FUNCTIONS}.{_cls}.{method}": f"activations.{_name}"
               for method in ("value", "slope", "jet")}
    if _name not in ("leaky", "identity"):  # which have none
        BESIDE[f"{_FUNCTIONS}.{_cls}.curvature"] = f"activations.{_name}_curvature"
for _file, _cls, _name in [("losses", "SquaredError", "squared_error"),
                           ("losses", "SoftmaxCrossEntropy", "softmax_cross_entropy"),
                           ("losses", "BoundedCriterion", "bounded_criterion"),
                           ("losses", "TukeyBiweight", "tukey_biweight"),
                           ("losses_by_output", "BinaryCrossEntropy", "binary_cross_entropy"),
                           ("losses_by_output", "Huber", "huber"),
                           ("losses_by_output", "PoissonNLL", "poisson")]:
    _at = "losses_by_output" if _cls == "TukeyBiweight" else _file
    for _method, _ending in [("value", ""), ("gradient", ""), ("hessian_product", "_product")]:
        BESIDE[f"secondorder.nets.{_file}.{_cls}.{_method}"] = f"{_at}.{_name}{_ending}"
for _cls in ("SGD", "Momentum", "Adagrad", "Adadelta", "Adam"):
    BESIDE[f"{_METHODS}.{_cls}._direction"] = f"updates.{_cls.lower()}"


def beside(name):
    """The qualified name of the compiled function beside a literal one, or None.

    Parameters
    ----------
    name : str
        Qualified name of the literal one, module and all.
    """
    compiled = BESIDE.get(name)
    if compiled is None:
        return None
    return f"{_ROOMS if '.compiled.' in compiled else 'secondorder.compiled'}.{compiled}"
