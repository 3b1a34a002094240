"""Networks of PyTorch's modules and of named arrays: the same numbers, outputs and gradients."""

import re
import subprocess
import sys

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative
from harness import slow

X = np.random.default_rng(0).normal(size=(5, 3))


# -- arrays ----------------------------------------------------------------


def test_arrays_of_a_network_make_it_again():
    """Of every kind that has a name, in an order that only the numbers tell."""
    rng = np.random.default_rng(1)
    net = so.Network([so.Conv2d(1, 2, 3, rng=0), so.Activation("softplus"), so.Flatten(),
                      so.LayerNorm(8), so.Linear(8, 3, bias=False, rng=1), so.Activation("sin"),
                      so.Linear(3, 2, rng=2)], input_shape=(1, 4, 4))
    net.theta = rng.normal(size=net.size)
    arrays = {f"body.{i}.{name}": value for i, layer in enumerate(net.layers)
              for name, value in layer.parameters.items()}
    again = so.from_arrays(arrays, ["conv2d", "softplus", "flatten", "layer_norm", "linear", "sin",
                                    "linear"], input_shape=(1, 4, 4))
    x = rng.normal(size=(3, 1, 4, 4))
    assert (again.theta == net.theta).all() and (again(x) == net(x)).all()
    arrays["body.6.bias"][...] = 7  # what it holds is its own
    assert (again.layers[6].bias != 7).all()


def test_arrays_sorted_as_text_are_read_by_number():
    net = so.mlp([3] * 7)  # 0, 2, ..., 10
    arrays = {f"{i}.{name}": value for i, layer in enumerate(net.layers)
              for name, value in layer.parameters.items()}
    kinds = ["linear", "tanh"] * 5 + ["linear"]
    for prefix in ("", "fc", "body.0."):
        named = {prefix + name: arrays[name] for name in sorted(arrays)}
        assert list(named) != [prefix + name for name in arrays]
        assert (so.from_arrays(named, kinds).theta == net.theta).all()
    with pytest.raises(ValueError, match="arrays: 'a.1', 'a.10', 'a.2', 'b.3': the numbers fall"):
        so.from_arrays({f"{name}.weight": np.eye(3) for name in ("a.1", "a.10", "a.2", "b.3")},
                       ["linear"] * 4)
    both = [f"{name}{i}" for i in range(11) for name in ("a", "b")]  # in order, of two names
    own = [k * np.eye(3) for k in range(22)]
    net = so.from_arrays({f"{name}.weight": w for name, w in zip(both, own)}, ["linear"] * 22)
    assert (net.theta == np.ravel(own)).all()


def test_a_layer_stands_for_its_options():
    weight = np.arange(18.0).reshape(2, 1, 3, 3)
    template = so.Conv2d(1, 2, 3, stride=2, padding=1, bias=False, rng=0, trainable=False)
    net = so.from_arrays({"weight": weight}, [template, "flatten"], input_shape=(1, 4, 4))
    assert net.size == 0 and (net.layers[0].weight == weight).all()
    assert net.layers[0].stride == 2 and (template.weight != weight).any()


def test_single_precision_if_all_arrays_are():
    arrays = {"0.weight": np.ones((2, 3), np.float32), "0.bias": np.ones(2, np.float32)}
    assert so.from_arrays(arrays, ["linear"]).dtype == np.float32
    assert so.from_arrays(arrays | {"0.bias": np.ones(2)}, ["linear"]).dtype == np.float64


@pytest.mark.parametrize("arrays, kinds, words", [
    ({"0.weight": np.ones((2, 3))}, ["linear", "tanh", "linear"], "none left for entry 2 of kinds"),
    ({"a.bias": np.ones(2)}, ["linear"], "a for entry 0 of kinds, 'linear', has no weight"),
    ({"0.weight": np.ones((2, 3))}, [so.Linear(3, 2)], "has weight, expected weight, bias"),
    ({"0.weight": np.ones((2, 4))}, [so.Linear(3, 2, bias=False)], r"\(2, 4\), expected \(2, 3\)"),
    ({"0.weight": np.ones((2, 3)), "1.weight": np.ones((2, 3))}, ["linear", "linear"], "shape"),
    ({"0.weight": np.ones((2, 3)), "2.running_mean": np.ones(2)}, ["linear"],
     "no kind takes 2.running_mean")])
def test_arrays_that_do_not_fit(arrays, kinds, words):
    with pytest.raises(ValueError, match=words):
        so.from_arrays(arrays, kinds)


def test_no_pytorch_is_loaded():
    code = ("import sys, numpy as np, secondorder as so\n"
            "so.from_arrays({'weight': np.ones((2, 3))}, ['linear']); so.from_torch\n"
            "print('torch' in sys.modules)")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          check=True).stdout.strip() == "False"


def test_what_is_no_module():
    for module in (3, None, np.ones(3), so.Linear(2, 2), "Sequential"):
        with pytest.raises(TypeError, match="module must be a torch.nn.Module"):
            so.from_torch(module)


# -- objects with the attributes of PyTorch's modules, where it is not installed -----


class Numbers:
    """A parameter."""

    def __init__(self, *shape, dtype="float64", trained=True):
        self.array = np.random.default_rng(len(shape)).normal(size=shape).astype(dtype)
        self.dtype, self.requires_grad = f"torch.{dtype}", trained

    def detach(self):
        return self

    cpu = detach

    def numpy(self):
        return self.array


OPTIONS = {
    "Conv2d": dict(kernel_size=(3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 1), groups=1,
                   padding_mode="zeros"),
    "MaxPool2d": dict(kernel_size=2, stride=1, padding=0, dilation=1, ceil_mode=False,
                      return_indices=False),
    "AvgPool2d": dict(kernel_size=(1, 2), stride=(1, 2), padding=0, ceil_mode=False,
                      divisor_override=None),
    "LayerNorm": dict(elementwise_affine=True), "LeakyReLU": dict(negative_slope=0.2),
    "Flatten": dict(start_dim=1, end_dim=-1), "Softplus": dict(beta=1, threshold=20)}


def like(kind, inside=(), weight=None, bias=None, **options):
    """An object that has what a module of PyTorch has."""
    named = {"weight": weight, "bias": bias}
    parameters = {name: value for name, value in named.items() if value is not None}
    cls = type(kind, (), {
        "__module__": "torch.nn.modules.like",
        "named_parameters": lambda self: parameters.items(),
        "named_children": lambda self: self._modules.items()})
    module = cls()
    shape = weight.array.shape if weight else (0, 0)
    vars(module).update(named, _modules={str(k): one for k, one in enumerate(inside)},
                        out_features=shape[0], out_channels=shape[0], in_features=shape[-1],
                        in_channels=shape[1] if len(shape) > 1 else 0, normalized_shape=shape,
                        eps=1e-3, **OPTIONS.get(kind, {}) | options)
    return module


def test_what_has_the_attributes_of_a_module_becomes_its_layer():
    made = like("Sequential", [
        like("Conv2d", weight=Numbers(3, 2, 3, 2), bias=Numbers(3)), like("Tanh"),
        like("MaxPool2d"), like("Sequential", [like("AvgPool2d"), like("Identity")]),
        like("Conv2d", weight=Numbers(2, 3, 1, 1), kernel_size=1, stride=1, padding=0),
        like("LeakyReLU"), like("Flatten"), like("LayerNorm", weight=Numbers(8), bias=Numbers(8)),
        like("Linear", weight=Numbers(3, 8, trained=False)), like("Softplus"), like("ReLU"),
        like("Linear", weight=Numbers(2, 3), bias=Numbers(2)), like("Sigmoid")])
    net = so.from_torch(made, input_shape=(2, 5, 6))
    expected = so.Network([
        so.Conv2d(2, 3, (3, 2), (2, 1), (1, 0)), so.Activation("tanh"), so.MaxPool2d(2, 1),
        so.AvgPool2d((1, 2)), so.Conv2d(3, 2, 1, bias=False),
        so.Activation(so.nets.LeakyReLU(0.2)), so.Flatten(), so.LayerNorm(8, epsilon=1e-3),
        so.Linear(8, 3, bias=False, trainable=False), so.Activation("softplus"),
        so.Activation("relu"), so.Linear(3, 2), so.Activation("sigmoid")], input_shape=(2, 5, 6))
    assert [repr(layer) for layer in net.layers] == [repr(layer) for layer in expected.layers]
    numbers = [Numbers(*value.shape).array.ravel() for layer in expected.layers if layer.size
               for value in layer.parameters.values()]
    assert (net.theta == np.concatenate(numbers)).all() and net.dtype == np.float64
    assert (net.layers[8].weight == Numbers(3, 8).array).all() and not net.layers[8].trainable


OTHER = [("Conv2d", dict(groups=2)), ("Conv2d", dict(padding="same")),
         ("MaxPool2d", dict(ceil_mode=True)), ("AvgPool2d", dict(divisor_override=1)),
         ("LayerNorm", dict(elementwise_affine=False)), ("Flatten", dict(start_dim=0)),
         ("Softplus", dict(beta=2))]


@pytest.mark.parametrize("kind, option", OTHER, ids=str)
def test_an_option_that_the_layer_does_not_have_is_refused(kind, option):
    weights = {"Conv2d": (4, 2, 3, 2), "LayerNorm": (4,)}
    weight = Numbers(*weights[kind]) if kind in weights else None
    (name, value), = option.items()
    with pytest.raises(TypeError, match=re.escape(f"{kind}, has {name}={value!r}")):
        so.from_torch(like(kind, weight=weight, bias=Numbers(4) if weight else None, **option))


def unlike():
    """What is refused whatever its options, with the words."""
    one, other = (like("Linear", weight=Numbers(3, 3)) for _ in range(2))
    tied = like("Linear", weight=one.weight)
    hooked = like("Linear", weight=Numbers(3, 3), _forward_hooks={0: print})
    patched = like("Linear", weight=Numbers(3, 3), forward=print)
    half = like("Linear", weight=Numbers(3, 3), bias=Numbers(3, trained=False))
    single = like("Linear", weight=Numbers(3, 3, dtype="float32"))
    return [(like("Softmax"), TypeError, "module, Softmax, has no layer here"),
            (hooked, TypeError, "has hooks"), (patched, TypeError, "has hooks"),
            (half, ValueError, "some that are not"),
            (like("Sequential", [one, tied]), ValueError, "1.weight is shared"),
            (like("Sequential", [other, single]), ValueError, "float32, float64"),
            (like("Linear", weight=Numbers(3, 3, dtype="float16")), TypeError, "float16"),
            (like("LayerNorm", weight=Numbers(3)), TypeError, "bias=False"),
            (like("Sequential", [one], _forward_hooks={0: print}), TypeError, "no plain row"),
            (like("Identity"), ValueError, "Identity alone is no layer here")]


@pytest.mark.parametrize("number", range(10))
def test_what_is_refused_whatever_its_options(number):
    module, error, words = unlike()[number]
    with pytest.raises(error, match=words):
        so.from_torch(module)


# -- PyTorch ---------------------------------------------------------------


def modules():
    """Name -> (module, shape of one sample)."""
    torch = pytest.importorskip("torch")
    nn = torch.nn
    torch.manual_seed(0)
    act = nn.Tanh()  # one instance in two places: it has no numbers
    return {
        "deep": (nn.Sequential(nn.Linear(3, 5), act, nn.Sequential(nn.Linear(5, 4), act),
                               nn.Identity(), nn.Linear(4, 2, bias=False)), (3,)),
        "single": (nn.Linear(3, 2), (3,)),
        "activations": (nn.Sequential(nn.Linear(3, 4), nn.Sigmoid(), nn.Linear(4, 4),
                                      nn.LeakyReLU(0.2), nn.Linear(4, 4), nn.Softplus(),
                                      nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 2)),
                        (3,)),
        "images": (nn.Sequential(nn.Conv2d(2, 3, (3, 2), stride=(2, 1), padding=(1, 0)), nn.Tanh(),
                                 nn.MaxPool2d(2, stride=1), nn.Conv2d(3, 2, 2, bias=False),
                                 nn.AvgPool2d((1, 2)), nn.Flatten(), nn.LayerNorm(4),
                                 nn.Linear(4, 3)), (2, 6, 8)),
        "gates": (nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 4), nn.SiLU(),
                                nn.Dropout(p=0.0), nn.Linear(4, 4), nn.ELU(0.7), nn.Linear(4, 4),
                                nn.GELU(approximate="tanh"), nn.Linear(4, 2)), (3,)),
        "batch norm": (settled(nn.Sequential(
            nn.Conv2d(2, 3, 3, padding="valid"), nn.BatchNorm2d(3), nn.ELU(), nn.Dropout2d(0.4),
            nn.Flatten(), nn.BatchNorm1d(12, affine=False), nn.Linear(12, 4), nn.BatchNorm1d(4),
            nn.Tanh(), nn.Dropout(0.3), nn.Linear(4, 2))), (2, 4, 4)),
    }


def settled(module):
    """In evaluation, with statistics that are no zeros and ones."""
    torch = pytest.importorskip("torch")
    for inner in module:
        if hasattr(inner, "running_mean"):
            inner.running_mean.normal_()
            inner.running_var.uniform_(0.5, 2.0)
            for value in inner.parameters():
                torch.nn.init.uniform_(value, 0.5, 1.5)
    return module.eval()


NAMES = ("deep", "single", "activations", "images", "gates", "batch norm")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float64", *slow(["float32"])])
def test_the_same_outputs_and_gradients(name, dtype):
    torch = pytest.importorskip("torch")
    module, shape = modules()[name]
    module = module.to(getattr(torch, dtype))
    if name == "images":
        with torch.no_grad():
            module[6].weight += torch.tensor([0.3, -0.2, 0.1, 0.7])
    net = so.from_torch(module, input_shape=shape)
    rng, eps = np.random.default_rng(2), np.finfo(dtype).eps
    x, y = rng.normal(size=(6, *shape)).astype(dtype), rng.normal(size=(6, *net.output_shape))
    theirs = module(torch.tensor(x))
    assert net.dtype == dtype and relative(net(x), theirs.detach().numpy()) < 100 * eps
    loss = 0.5 * ((theirs - torch.tensor(y.astype(dtype))) ** 2).sum(dim=1).mean()
    gradients = torch.autograd.grad(loss, list(module.parameters()))
    expected = np.concatenate([g.numpy().ravel() for g in gradients])
    assert relative(so.exact.gradient(net, so.SquaredError(), x, y), expected) < 300 * eps


@pytest.mark.parametrize("name", [NAMES[0], *slow(NAMES[1:])])
def test_the_same_hessian(name):
    """By `autograd.functional`, a row at a time."""
    torch = pytest.importorskip("torch")
    module, shape = modules()[name]
    module = module.double()
    net = so.from_torch(module, input_shape=shape)
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(4, *shape)), rng.integers(0, net.output_shape[0], 4)
    sizes = [p.shape for p in module.parameters()]
    names = [key for key, _ in module.named_parameters()]

    def loss(theta):
        pieces = torch.split(theta, [s.numel() for s in sizes])
        values = {key: piece.reshape(s) for key, piece, s in zip(names, pieces, sizes)}
        outputs = torch.func.functional_call(module, values, torch.tensor(x))
        return torch.nn.functional.cross_entropy(outputs, torch.tensor(y))

    H = torch.autograd.functional.hessian(loss, torch.tensor(net.theta)).numpy()
    assert relative(so.exact.hessian(net, so.SoftmaxCrossEntropy(), x, y), H) < 1e-12


def test_a_state_dict_and_its_kinds():
    torch = pytest.importorskip("torch")
    module, _ = modules()["deep"]
    module = module.double()
    net = so.from_arrays(module.state_dict(), ["linear", "tanh", "linear", "tanh", "linear"])
    assert (net.theta == so.from_torch(module).theta).all()
    assert relative(net(X), module(torch.tensor(X)).detach().numpy()) < 1e-14


def test_numbers_are_copied_and_frozen_layers_stay_so():
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    module[0].requires_grad_(False)
    net = so.from_torch(module)
    assert not net.layers[0].trainable and net.size == 10
    before = module[2].weight.detach().clone()
    net.theta = net.theta + 1
    assert (module[2].weight == before).all()


def refused():
    """What objects that only look like modules cannot show."""
    torch = pytest.importorskip("torch")
    nn = torch.nn

    class Mine(nn.Linear):
        def forward(self, x):
            return 2 * super().forward(x)

    shared, hooked = nn.Linear(3, 3), nn.Linear(3, 3)
    hooked.register_forward_hook(lambda module, x, y: 2 * y)
    row = nn.Sequential
    return [
        (row(row(nn.Linear(3, 3), nn.Dropout())), TypeError, "0.1, Dropout, is in training"),
        (row(nn.Linear(3, 3), nn.BatchNorm1d(3)), TypeError, r"BatchNorm1d, .* module.eval\(\)"),
        (nn.BatchNorm1d(3, track_running_stats=False).eval(), TypeError, "those of the batch"),
        (nn.Conv2d(1, 1, 3, padding="same"), TypeError, "padding='same'"),
        (Mine(3, 2), TypeError, "Mine, has no layer here"),
        (torch.nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)), TypeError, "Parametrized"),
        (hooked, TypeError, "Linear, has hooks"),
        (row(shared, nn.Tanh(), shared), ValueError, "2.weight is shared"),
        (nn.Linear(3, 2).half(), TypeError, "float16"),
        (nn.LayerNorm(3, bias=False), TypeError, "bias=False"),
        (row(), ValueError, "holds no layers"),
        (row(nn.Identity()), ValueError, "Identity alone is no layer here"),
        (row, TypeError, "got the class Sequential: give an instance"),
        (row(nn.Linear(3, 2, device="meta")), ValueError, "0.weight is on the meta device"),
        (nn.Linear(3, 2).bfloat16(), TypeError, "module.weight must hold .* got torch.bfloat16")]


@pytest.mark.parametrize("number", range(15))
def test_modules_that_are_refused(number):
    module, error, words = refused()[number]
    with pytest.raises(error, match=words):
        so.from_torch(module)
