"""Which compiled function stands beside a literal one; `secondorder show` names it."""

_LAYERS = "secondorder.nets.layers"
_LINEAR, _ACTIVATION = f"{_LAYERS}.linear.Linear", f"{_LAYERS}.activation.Activation"
_FUNCTIONS = f"{_LAYERS}.activation_functions"
_METHODS = "secondorder.optimizers.first_order"
_ROOMS = "secondorder.papers"

BESIDE = {
    f"{_LINEAR}.forward": "layers.dense.linear_forward",
    f"{_LINEAR}.input_gradient": "layers.dense.linear_input_gradient",
    f"{_LINEAR}.parameter_gradient": "layers.dense.linear_parameter_gradient",
    f"{_LINEAR}.parameter_gradients": "layers.dense.linear_parameter_gradients",
    f"{_LINEAR}.tangent": "layers.dense.linear_tangent",
    f"{_LINEAR}.backward_tangent": "layers.dense.linear_parameter_gradient_tangent",
    f"{_ACTIVATION}.forward": "layers.activations.activate",
    f"{_ACTIVATION}.input_gradient": "passes.times",
    f"{_ACTIVATION}.backward_tangent": "passes.activation_gradient_tangent",
    f"{_LAYERS}.chain.Skip.forward": "passes.add_part",
    f"{_ROOMS}.reversible_gauss_newton.coupling.Coupling.forward": "passes.add_part",
    f"{_ROOMS}.reversible_gauss_newton.coupling.Coupling.input_gradient": "passes.take_part",
    f"{_LINEAR}.second_tangent": "second_order.linear_second_tangent",
    f"{_ACTIVATION}.second_tangent": "second_order.activation_second_tangent",
    f"{_ROOMS}.low_rank.rules.LinearRule.along": "second_order.linear_second_tangent",
    f"{_ROOMS}.low_rank.rules.ActivationRule.along": "second_order.activation_second_tangent",
    f"{_LAYERS}.chain.Chain.forward": "passes.forward",
    f"{_LAYERS}.chain.Chain.output_gradients": "passes.output_gradients",
    f"{_LAYERS}.recurrent.Recurrent.argument_gradients": "layers.recurrent.argument_gradients",
    f"{_LAYERS}.recurrent.Recurrent.backward_tangent":
        "layers.recurrent.recurrent_gradient_tangent",
    f"{_ROOMS}.residual_partitioning.rules.LinearRule.forward":
        "residual_partitioning.compiled.linear_up",
    f"{_ROOMS}.residual_partitioning.rules.ActivationRule.forward":
        "residual_partitioning.compiled.activation_up",
    f"{_ROOMS}.residual_partitioning.rules.up": "residual_partitioning.compiled.up",
    f"{_ROOMS}.residual_partitioning.rules.down": "residual_partitioning.compiled.down",
    f"{_ROOMS}.residual_partitioning.rules.ActivationRule.backward":
        "residual_partitioning.compiled.partition_activation",
    f"{_ROOMS}.residual_partitioning.optimizer.ResidualPartitioning.direction":
        "residual_partitioning.compiled.partition_step",
    f"{_ROOMS}.eacg.solvers.systems.combined": "eacg.compiled.combined",
    f"{_ROOMS}.eacg.solvers.conjugate_gradients.damped": "eacg.compiled.damped",
}
for _method in ("forward", "input_gradient", "parameter_gradient", "parameter_gradients",
                "tangent"):
    BESIDE[f"{_LAYERS}.normalisation.LayerNorm.{_method}"] = (
        f"layers.normalisation.layer_norm_{_method}")
BESIDE[f"{_LAYERS}.normalisation.LayerNorm.backward_tangent"] = (
    "layers.normalisation.layer_norm_gradient_tangent")
for _method in ("forward", "input_gradient", "parameter_gradient", "parameter_gradients",
                "tangent"):
    BESIDE[f"{_LAYERS}.recurrent.Recurrent.{_method}"] = f"layers.recurrent.recurrent_{_method}"
for _cls, _name in {"Tanh": "tanh", "Sigmoid": "sigmoid", "Softplus": "softplus", "Sin": "sin",
                    "LeakyReLU": "leaky", "Identity": "identity"}.items():
    BESIDE |= {f"{_FUNCTIONS}.{_cls}.{method}": f"layers.activations.{_name}"
               for method in ("value", "slope", "jet")}
    if _name not in ("leaky", "identity"):  # which have none
        BESIDE[f"{_FUNCTIONS}.{_cls}.curvature"] = f"layers.activations.{_name}_curvature"
for _file, _cls, _name in [("residuals", "SquaredError", "squared_error"),
                           ("classes", "SoftmaxCrossEntropy", "softmax_cross_entropy"),
                           ("classes", "BoundedCriterion", "bounded_criterion"),
                           ("residuals", "TukeyBiweight", "tukey_biweight"),
                           ("by_output", "BinaryCrossEntropy", "binary_cross_entropy"),
                           ("by_output", "Huber", "huber"),
                           ("by_output", "PoissonNLL", "poisson")]:
    _at = "losses_by_output" if _file == "by_output" or _cls == "TukeyBiweight" else "losses"
    for _method, _ending in [("value", ""), ("gradient", ""), ("hessian_product", "_product")]:
        BESIDE[f"secondorder.nets.losses.{_file}.{_cls}.{_method}"] = f"{_at}.{_name}{_ending}"
for _cls in ("SGD", "Momentum", "Adagrad", "Adadelta", "Adam"):
    BESIDE[f"{_METHODS}.{_cls}.direction"] = f"updates.{_cls.lower()}"
for _name in ("input_gradient", "parameter_gradient", "parameter_gradients", "forward", "tangent"):
    BESIDE[f"{_LAYERS}.convolution.Conv2d.{_name}"] = f"layers.convolution.convolution_{_name}"
BESIDE |= {
    f"{_LAYERS}.convolution.Conv2d.backward_tangent":
        "layers.convolution.convolution_parameter_gradient_tangent",
    f"{_LAYERS}.pooling.MaxPool2d.forward": "layers.pooling.max_pool_forward",
    f"{_LAYERS}.pooling.MaxPool2d.tangent": "layers.pooling.max_pool_tangent",
    f"{_LAYERS}.pooling.AvgPool2d.forward": "layers.pooling.average_pool_forward",
    f"{_LAYERS}.pooling.Pooling.backward": "layers.pooling.average_pool_input_gradient",
    f"{_LAYERS}.windows.windows": "layers.windows.windows",
    f"{_LAYERS}.windows.windows_back": "layers.windows.windows_back",
}


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
