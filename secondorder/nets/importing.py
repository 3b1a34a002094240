"""Networks from elsewhere: of PyTorch's modules, or of arrays and a list of kinds.

PyTorch is not imported: a module is known by its class's name and is asked for its attributes.
"""

import re
from collections.abc import Mapping

import numpy as np

from .. import checks
from .layers import (ACTIVATIONS, ELU, GELU, Activation, AvgPool2d, Conv2d, Flatten, Layer,
                     LayerNorm, LeakyReLU, Linear, MaxPool2d, ScaleShift)
from .network import Network

# -- PyTorch ---------------------------------------------------------------------------------------


def from_torch(module, input_shape=None):
    """A network with the layers and the numbers of a ``torch.nn.Sequential``.

    Parameters
    ----------
    module : torch.nn.Module
        A `Sequential`, also inside another, or a single layer: `Linear`, `Conv2d`, `LayerNorm`,
        `AvgPool2d`, `MaxPool2d`, `Flatten`, `Tanh`, `ReLU`, `LeakyReLU`, `Sigmoid`, `Softplus`,
        `GELU`, `SiLU`, `ELU`, `Identity`; in evaluation, after ``module.eval()``, also `Dropout`,
        which does nothing then, and `BatchNorm1d` to `BatchNorm3d`: a :class:`ScaleShift` with the
        fixed statistics, and another one with the weights. What it holds is copied. (PyTorch's
        `Softplus` is a straight line above 20, the one here is not: they differ by 2e-9.)
    input_shape : tuple of int, optional
        Of one sample; needed where the first layer does not state it, as a convolution.

    Returns
    -------
    Network
        Of the module's dtype, float32 or float64. A layer whose parameters need no gradient is made
        with ``trainable=False``.

    Raises
    ------
    TypeError
        A module, or an option of one, that has no layer here; the message names both.
    ValueError
        Parameters that two modules share, of several dtypes, or frozen in one half of a layer.

    Examples
    --------
    ``net = so.from_torch(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(),
    torch.nn.Linear(4, 2)))`` is a network of the same outputs, whose Hessian is ``so.exact.hessian(
    net, loss, x, y)``.
    """
    modules = list(_unfolded(module, ""))
    _refuse_sharing(modules)
    layers = [layer for name, inner in modules for layer in _layer_of(inner, name)]
    if not layers:
        raise ValueError("module: Identity alone is no layer here" if modules
                         else f"module: {type(module).__name__} holds no layers")
    dtypes = sorted({str(value.dtype).removeprefix("torch.") for _, inner in modules
                     for value in [*dict(inner.named_parameters()).values(),
                                   getattr(inner, "running_mean", None)] if value is not None})
    if len(dtypes) > 1:
        raise ValueError(f"module: its parameters are of several dtypes: {', '.join(dtypes)}")
    return Network(layers, dtype=dtypes[0] if dtypes else "float64", input_shape=input_shape)


def _unfolded(module, name):
    """(name, module) of all modules in a row; a Sequential stands for what is in it."""
    if isinstance(module, type):
        raise TypeError(f"module must be a torch.nn.Module, got the class {module.__name__}: give "
                        f"an instance, {module.__name__}(...)")
    if not hasattr(module, "named_parameters") or not hasattr(module, "named_children"):
        raise TypeError("module must be a torch.nn.Module such as Sequential, got "
                        f"{checks.shown(module)}")
    if _kind(module) != "Sequential":
        yield name or "module", module
        return
    if _hooks(module):
        raise TypeError(f"{name or 'module'}: a Sequential with hooks is no plain row of layers")
    # not named_children, which leaves out what stands there twice
    for inner_name, inner in module._modules.items():
        yield from _unfolded(inner, f"{name}.{inner_name}".lstrip("."))


def _kind(module):
    """Name of the class of a module of PyTorch itself, or None for one of somebody else's."""
    cls = type(module)
    return cls.__name__ if cls.__module__.startswith("torch.nn.modules.") else None


def _hooks(module):
    """Whether something is run beside the module's own forward pass."""
    return any(getattr(module, name, None) for name in ("_forward_hooks", "_forward_pre_hooks")) \
        or "forward" in vars(module)


def _refuse_sharing(modules):
    owners = {}
    for name, module in modules:
        for parameter, value in module.named_parameters():
            if owners.setdefault(id(value), name) != name:
                raise ValueError(f"module: {name}.{parameter} is shared with another place; "
                                 "parameters are not shared here")


def _layer_of(module, name):
    """The layer, in a list; none for `Identity`, two for a batch normalisation with weights."""
    kind = _kind(module)
    if kind not in MODULES or _hooks(module):
        why = "has hooks, which are not known" if kind in MODULES else "has no layer here"
        raise TypeError(f"module: {name}, {type(module).__name__}, {why}; known are "
                        f"{', '.join(['Sequential', *MODULES])}")
    for option, values in OPTIONS.get(kind, {}).items():
        given = getattr(module, option)
        if given not in values:
            raise TypeError(f"module: {name}, {kind}, has {option}={given!r}; the layer here has "
                            f"{option}={values[0]!r}")
    if kind == "Conv2d" and module.padding == "same":
        raise TypeError(f"module: {name}, Conv2d, has padding='same'; give it in numbers")
    if kind == "LayerNorm" and module.bias is None:
        raise TypeError(f"module: {name}, LayerNorm, has bias=False; the layer here has a bias")
    if kind.startswith(DIFFER) and module.training and getattr(module, "p", 1) != 0:
        raise TypeError(f"module: {name}, {kind}, is in training, where what it does depends on "
                        "chance or on the batch; call module.eval() first")
    if kind.startswith("BatchNorm") and module.running_mean is None:
        raise TypeError(f"module: {name}, {kind}, has track_running_stats=False: its statistics "
                        "are those of the batch")
    layers, parameters = MODULES[kind](module), dict(module.named_parameters())
    for parameter, value in parameters.items():
        layers[-1].parameters[parameter] = _array(value, f"module: {name}.{parameter}")
    trained = {bool(value.requires_grad) for value in parameters.values()}
    if len(trained) > 1:
        raise ValueError(f"module: {name}, {kind}, has some parameters that are trained and some "
                         "that are not; a layer is trained as a whole")
    if trained == {False}:
        layers[-1].trainable = False
    return layers


def _conv2d(module):
    padding = 0 if module.padding == "valid" else module.padding
    return [Conv2d(module.in_channels, module.out_channels, module.kernel_size, module.stride,
                   padding, bias=module.bias is not None, init=0.0)]


def _batch_norm(module):
    """(x - m) / sqrt(v + epsilon), and its weights, if it has some."""
    mean, variance = (_array(value, "module: running statistics")
                      for value in (module.running_mean, module.running_var))
    fixed = ScaleShift(module.num_features, trainable=False)
    fixed.weight = 1 / np.sqrt(variance + module.eps)
    fixed.bias = -mean * fixed.weight
    return [fixed, ScaleShift(module.num_features)] if module.affine else [fixed]


def _array(value, name):
    """A parameter's numbers, a copy."""
    if str(value.dtype) not in ("torch.float32", "torch.float64"):
        raise TypeError(f"{name} must hold float32 or float64, got {value.dtype}")
    return np.array(_on_this_machine(value, name).numpy(), order="C")


def _on_this_machine(value, name):
    """A tensor in memory, apart from its gradient; ValueError where it has no numbers."""
    if getattr(value, "is_meta", False):
        raise ValueError(f"{name} is on the meta device, where tensors have no numbers")
    return value.detach().cpu()


ZERO, ONE = (0, (0, 0)), (1, (1, 1))
DIFFER = ("Dropout", "BatchNorm")  # in training they do something else

#: Options of a kind of module, each with the values that the layer here stands for.
OPTIONS = {
    "Conv2d": {"groups": (1,), "dilation": ONE, "padding_mode": ("zeros",)},
    "AvgPool2d": {"padding": ZERO, "ceil_mode": (False,), "divisor_override": (None,)},
    "MaxPool2d": {"padding": ZERO, "dilation": ONE, "ceil_mode": (False,),
                  "return_indices": (False,)},
    "LayerNorm": {"elementwise_affine": (True,)},
    "Flatten": {"start_dim": (1,), "end_dim": (-1,)},
    "Softplus": {"beta": (1,), "threshold": (20,)}}

MODULES = {
    "Linear": lambda module: [Linear(module.in_features, module.out_features,
                                     bias=module.bias is not None, init=0.0)],
    "Conv2d": _conv2d,
    "LayerNorm": lambda module: [LayerNorm(tuple(module.normalized_shape), epsilon=module.eps)],
    **dict.fromkeys(["BatchNorm1d", "BatchNorm2d", "BatchNorm3d"], _batch_norm),
    "AvgPool2d": lambda module: [AvgPool2d(module.kernel_size, module.stride)],
    "MaxPool2d": lambda module: [MaxPool2d(module.kernel_size, module.stride)],
    "Flatten": lambda module: [Flatten()],
    **{name: lambda module, name=name: [Activation(name.lower())]
       for name in ("Tanh", "ReLU", "Sigmoid", "Softplus", "SiLU")},
    "GELU": lambda module: [Activation(GELU(module.approximate))],
    "ELU": lambda module: [Activation(ELU(module.alpha))],
    "LeakyReLU": lambda module: [Activation(LeakyReLU(module.negative_slope))],
    **dict.fromkeys(["Identity", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d"],
                    lambda module: [])}

# -- arrays ----------------------------------------------------------------------------------------


def from_arrays(arrays, kinds, input_shape=None):
    """A network of named arrays, such as a ``state_dict``, and a list of what its layers are.

    Parameters
    ----------
    arrays : mapping of str to array
        Names end in ``.weight``, ``.bias``, ...; the part before it names the layer, as in
        ``"0.weight"``, ``"0.bias"``, ``"2.weight"``. Layers are taken in the order of the mapping;
        names that differ only in a number are sorted by that number. The arrays are copied.
    kinds : sequence of str or Layer
        Every layer in order: ``"linear"``, ``"conv2d"`` (of stride 1, without padding),
        ``"layer_norm"``, ``"flatten"``, or the name of an activation. For all other layers and for
        options, give a layer of this package. It is copied, and its parameters get the numbers.
    input_shape : tuple of int, optional
        As for `Network`.

    Returns
    -------
    Network
        Of float32 if all arrays are float32, else of float64.

    Raises
    ------
    ValueError, TypeError
        Arrays that are missing, left over, or of another shape than the layer's; unknown kinds;
        names of several kinds whose numbers decrease, as after sorting them as text.

    Examples
    --------
    >>> import numpy as np, secondorder as so
    >>> arrays = {"0.weight": np.ones((4, 3)), "0.bias": np.zeros(4), "2.weight": np.ones((1, 4))}
    >>> so.from_arrays(arrays, ["linear", "tanh", "linear"])(np.zeros((1, 3))).tolist()
    [[0.0]]
    """
    groups = _grouped(arrays)
    if isinstance(kinds, str) or not hasattr(kinds, "__iter__"):
        raise TypeError(f"kinds must be a sequence of names and layers, got {checks.shown(kinds)}")
    layers = [_layer(kind, number, groups) for number, kind in enumerate(kinds)]
    if groups:
        left = [f"{place}.{name}".lstrip(".") for place, own in groups for name in own]
        raise ValueError(f"arrays: no kind takes {', '.join(left)}")
    single = [array.dtype == np.float32 for layer in layers
              for array in layer.parameters.values()]
    return Network(layers, dtype="float32" if single and all(single) else "float64",
                   input_shape=input_shape)


def _grouped(arrays):
    """[(what stands before the last dot, {parameter: array})], in order."""
    if not isinstance(arrays, Mapping):
        raise TypeError("arrays must be a mapping of names to arrays, got "
                        f"{type(arrays).__name__}")
    groups = {}
    for name, value in arrays.items():
        if not isinstance(name, str):
            raise TypeError(f"arrays: names must be texts, got {checks.shown(name)}")
        place, _, parameter = name.rpartition(".")
        value = _on_this_machine(value, f"arrays: {name}") if hasattr(value, "detach") else value
        array = np.array(checks.real_array(value, f"arrays: {name}"))
        groups.setdefault(place, {})[parameter] = array
    return [(place, groups[place]) for place in _by_number(list(groups))]


def _by_number(places):
    """Names of layers in the order of their numbers: sorted as text, 10 stands before 2."""
    numbers = {}  # of each name without its numbers: those of all that bear it
    for place in places:
        numbers.setdefault(re.sub(r"\d+", "#", place), []).append(_numbers(place))
    if all(own == sorted(own) for own in numbers.values()):
        return places
    if len(numbers) > 1:
        raise ValueError(f"arrays: {', '.join(map(checks.shown, places))}: the numbers fall, as in "
                         "names sorted as text; give the arrays in the order of the layers")
    return sorted(places, key=_numbers)


def _numbers(place):
    return [int(number) for number in re.findall(r"\d+", place)]


def _layer(kind, number, groups):
    """The layer of one kind; if it has parameters, with the next group of arrays."""
    layer = make = None
    if isinstance(kind, Layer):
        layer = kind.copy()
        if any(inner.parameters for inner in layer.sublayers() if inner is not layer):
            raise TypeError(f"kinds: entry {number}, {layer!r}, has layers inside; list these "
                            "instead")
    elif not isinstance(kind, str):
        raise TypeError(f"kinds: entry {number} must be a name or a Layer, got "
                        f"{checks.shown(kind)}")
    elif kind == "flatten":
        layer = Flatten()
    elif kind in ACTIVATIONS:
        layer = Activation(kind)
    else:
        make = checks.lookup(KINDS, kind, f"kind (entry {number} of kinds)")
    if layer is not None and not layer.parameters:
        return layer
    if not groups:
        raise ValueError(f"arrays: there are none left for entry {number} of kinds, {kind!r}")
    place, own = groups.pop(0)
    where = f"arrays: {place} for entry {number} of kinds, {kind!r},"
    if layer is None:
        if "weight" not in own:
            raise ValueError(f"{where} has no weight, only {', '.join(own)}")
        layer = make(own, where)
    if set(own) != set(layer.parameters):
        raise ValueError(f"{where} has {', '.join(own)}, expected {', '.join(layer.parameters)}")
    for name, value in layer.parameters.items():
        if own[name].shape != value.shape:
            raise ValueError(f"{where} has a {name} of shape {own[name].shape}, expected "
                             f"{value.shape}")
        layer.parameters[name] = own[name]
    return layer


def _axes(own, where, count):
    """Shape of the weight; ValueError unless it has so many axes."""
    shape = own["weight"].shape
    if len(shape) != count:
        raise ValueError(f"{where} has a weight of shape {shape}, expected {count} axes")
    return shape


def _linear_of(own, where):
    n_out, n_in = _axes(own, where, 2)
    return Linear(n_in, n_out, bias="bias" in own, init=0.0)


def _conv2d_of(own, where):
    n_out, n_in, *kernel = _axes(own, where, 4)
    return Conv2d(n_in, n_out, tuple(kernel), bias="bias" in own, init=0.0)


KINDS = {"linear": _linear_of, "conv2d": _conv2d_of,
         "layer_norm": lambda own, where: LayerNorm(own["weight"].shape),
         **{name: None for name in (*ACTIVATIONS, "flatten")}}  # the last for the list of choices
