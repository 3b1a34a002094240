"""Which compiled function stands beside a literal one; `secondorder show` names it."""

_LAYERS, _LOSSES = "secondorder.nets.layers", "secondorder.nets.losses"
_FUNCTIONS, _METHODS = f"{_LAYERS}.activation_functions", "secondorder.optimizers.first_order"
_ROOMS = "secondorder.papers"
_PASSES = ("forward", "input_gradient", "parameter_gradient", "parameter_gradients", "tangent")

BESIDE = {
    f"{_LAYERS}.linear.Linear.backward_tangent": "layers.dense.linear_parameter_gradient_tangent",
    f"{_LAYERS}.linear.Linear.second_tangent": "second_order.linear_second_tangent",
    f"{_LAYERS}.activation.Activation.forward": "layers.activations.activate",
    f"{_LAYERS}.activation.Activation.input_gradient": "passes.times",
    f"{_LAYERS}.activation.Activation.backward_tangent": "passes.activation_gradient_tangent",
    f"{_LAYERS}.activation.Activation.second_tangent": "second_order.activation_second_tangent",
    f"{_LAYERS}.chain.Chain.forward": "passes.forward",
    f"{_LAYERS}.chain.Chain.output_gradients": "passes.output_gradients",
    f"{_LAYERS}.chain.Skip.forward": "passes.add_part",
    f"{_LAYERS}.convolution.Conv2d.backward_tangent":
        "layers.convolution.convolution_parameter_gradient_tangent",
    f"{_LAYERS}.normalisation.LayerNorm.backward_tangent":
        "layers.normalisation.layer_norm_gradient_tangent",
    f"{_LAYERS}.pooling.MaxPool2d.forward": "layers.pooling.max_pool_forward",
    f"{_LAYERS}.pooling.MaxPool2d.tangent": "layers.pooling.max_pool_tangent",
    f"{_LAYERS}.pooling.AvgPool2d.forward": "layers.pooling.average_pool_forward",
    f"{_LAYERS}.pooling.Pooling.backward": "layers.pooling.average_pool_input_gradient",
    f"{_LAYERS}.recurrent.Recurrent.argument_gradients": "layers.recurrent.argument_gradients",
    f"{_LAYERS}.recurrent.Recurrent.backward_tangent":
        "layers.recurrent.recurrent_gradient_tangent",
    f"{_LAYERS}.windows.windows": "layers.windows.windows",
    f"{_LAYERS}.windows.windows_back": "layers.windows.windows_back",
    f"{_ROOMS}.reversible_gauss_newton.coupling.Coupling.forward": "passes.add_part",
    f"{_ROOMS}.reversible_gauss_newton.coupling.Coupling.input_gradient": "passes.take_part",
    f"{_ROOMS}.low_rank.rules.LinearRule.along": "second_order.linear_second_tangent",
    f"{_ROOMS}.low_rank.rules.ActivationRule.along": "second_order.activation_second_tangent",
    f"{_ROOMS}.eacg.solvers.systems.combined": "eacg.compiled.combined",
    f"{_ROOMS}.eacg.solvers.conjugate_gradients.damped": "eacg.compiled.damped",
}
for _layer, _compiled in {"linear.Linear": "dense.linear",
                          "convolution.Conv2d": "convolution.convolution",
                          "normalisation.LayerNorm": "normalisation.layer_norm",
                          "recurrent.Recurrent": "recurrent.recurrent"}.items():
    BESIDE |= {f"{_LAYERS}.{_layer}.{name}": f"layers.{_compiled}_{name}" for name in _PASSES}
for _cls, _name in {"Tanh": "tanh", "Sigmoid": "sigmoid", "Softplus": "softplus", "Sin": "sin",
                    "LeakyReLU": "leaky", "Identity": "identity"}.items():
    BESIDE |= {f"{_FUNCTIONS}.{_cls}.{method}": f"layers.activations.{_name}"
               for method in ("value", "slope", "jet")}
    if _name not in ("leaky", "identity"):  # which have none
        BESIDE[f"{_FUNCTIONS}.{_cls}.curvature"] = f"layers.activations.{_name}_curvature"
for _loss, _compiled in {"residuals.SquaredError": "losses.squared_error",
                         "classes.SoftmaxCrossEntropy": "losses.softmax_cross_entropy",
                         "classes.BoundedCriterion": "losses.bounded_criterion",
                         "residuals.TukeyBiweight": "losses_by_output.tukey_biweight",
                         "by_output.BinaryCrossEntropy": "losses_by_output.binary_cross_entropy",
                         "by_output.Huber": "losses_by_output.huber",
                         "by_output.PoissonNLL": "losses_by_output.poisson"}.items():
    BESIDE |= {f"{_LOSSES}.{_loss}.value": _compiled, f"{_LOSSES}.{_loss}.gradient": _compiled,
               f"{_LOSSES}.{_loss}.hessian_product": f"{_compiled}_product"}
for _cls in ("SGD", "Momentum", "Adagrad", "Adadelta", "Adam"):
    BESIDE[f"{_METHODS}.{_cls}.direction"] = f"updates.{_cls.lower()}"


def beside(name):
    """The qualified name of the compiled function beside a literal one, or None."""
    compiled = BESIDE.get(name)
    if compiled is None:
        return None
    return f"{_ROOMS if '.compiled.' in compiled else 'secondorder.compiled'}.{compiled}"
