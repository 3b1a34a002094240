"""`bench`: how it measures, and that what it compares does the same work. Nothing is timed."""

import json

import numpy as np
import pytest

from harness.cases import relative
from secondorder import cli
from secondorder import bench
from secondorder.bench import (
    Effort,
    Problem,
    Setting,
    products,
    runs,
    scaling,
)

TINY = Setting("5-4-3-2", batch=6)
ONCE = Effort(blocks=2, seconds=0, pause=0)
CASES = bench.load()


def measured(name, setting=TINY, **options):
    return bench.measure(CASES[name], setting, ONCE, **options)


@pytest.fixture
def cases(monkeypatch):
    """A registry of its own, so that a test may register cases."""
    known = {}
    monkeypatch.setattr(runs, "CASES", known)
    return known


# -- time -----------------------------------------------------------------------------------------


class Watch:
    """A clock that only moves when a contender runs or somebody sleeps, and a record of who did."""

    def __init__(self):
        self.now, self.record = 0.0, []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        self.record.append("pause")

    def contender(self, name, *durations):
        """Takes these many seconds in its calls, in turn, over and over."""
        calls = []

        def run():
            self.now += durations[len(calls) % len(durations)]
            calls.append(name)
            self.record.append(name)

        return run


def test_contenders_take_turns():
    watch = Watch()
    contenders = {name: watch.contender(name, 1.0) for name in "abc"}
    bench.contest(contenders, blocks=3, seconds=0.5, pause=0.25, clock=watch, sleep=watch.sleep)
    assert [name for name in watch.record if name != "pause"] == list("abccbaabc")
    assert watch.record[1::2] == ["pause"] * 9


def test_a_turn_is_the_median_of_its_calls_without_the_first():
    watch = Watch()
    times = bench.contest(
        {"a": watch.contender("a", 0.9, 0.1, 0.5, 0.4)}, 1, 1.0, 0, watch, watch.sleep
    )
    assert times == {"a": [pytest.approx(0.4)]} and watch.record.count("a") == 4


def test_a_slow_contender_is_called_once_a_turn():
    watch = Watch()
    times = bench.contest({"a": watch.contender("a", 2.0, 3.0)}, 2, 1.0, 0, watch, watch.sleep)
    assert times == {"a": [pytest.approx(2.0), pytest.approx(3.0)]}


def test_a_ratio_is_taken_block_by_block():
    """The machine is ten times slower in the last block; the medians' ratio would be 3."""
    times = {"ours": [2.0, 3.0, 20.0], "other": [1.0, 1.0, 10.0]}
    assert bench.ratio(times, "ours", "other") == 2.0


# -- results --------------------------------------------------------------------------------------


@pytest.mark.everyday(6)
@pytest.mark.parametrize("name", sorted(CASES))
def test_every_case_runs(name):
    case = CASES[name]
    assert case.about.endswith(".") and case.settings
    result = measured(name)
    assert result["case"] == name and Setting(**result["setting"]) == TINY
    assert result["flops"] > 0 and result["peak_bytes"]["ours"] > 0
    assert set(result["seconds"]) == {"ours"} | set(result["ratios"])
    assert min(result["seconds"].values()) > 0 and "products" in result["ratios"]
    assert ("gradient" in result["ratios"]) == (name not in ("gradient", "CNN gradient"))


def test_every_optimizer_that_takes_any_network_has_a_case():
    names = {cls.__name__ for cls in bench.cases.optimizers()}
    assert names >= {*bench.cases.IN_PYTORCH, "TruncatedNewton"}
    assert {f"step of {name}" for name in names} <= set(CASES)


def test_a_table_of_eighty_columns():
    results = [measured(name) for name in ("gradient", "dense Hessian")] + [
        measured("step of Adam", Setting("3-2"))
    ]
    lines = bench.table(results).splitlines()
    assert (
        max(map(len, lines)) <= 80 and sum(line.startswith("dense Hessian") for line in lines) == 1
    )
    assert [line for line in lines if "batch" in line] == [str(TINY), str(Setting("3-2"))]
    assert "\n".join(bench.table(results[: n + 1], n) for n in range(3)) == bench.table(results)


def test_peak_memory_is_that_of_a_call(cases):
    @bench.case("an array")
    def an_array(problem):
        """Makes 8 MB."""
        return bench.Work(
            lambda: np.empty(10**6), rivals={"half of it": lambda: np.empty(10**6 // 2)}
        )

    result = bench.measure(cases["an array"], TINY, ONCE)
    assert result["peak_bytes"]["ours"] == pytest.approx(8e6, rel=0.01)
    assert result["peak_bytes"]["half of it"] == pytest.approx(4e6, rel=0.01)
    assert "of half of it (peak 3.81 MiB)" in bench.table([result])


def test_a_case_may_bring_its_own_network(cases):
    @bench.case("own", smallest=None)
    def own(problem):
        """No network of the setting is made."""
        return bench.Work(lambda: 1, gradient=False)

    result = bench.measure(cases["own"], TINY, ONCE)
    assert result["ratios"] == {} and result["parameters"] is None
    with pytest.raises(ValueError, match="'own'"):
        bench.case("own")(own)


# -- the bound ------------------------------------------------------------------------------------


def test_products_of_a_gradient_are_those_it_takes(monkeypatch):
    """Multiplications and additions as counted in the products that the gradient really makes."""
    problem = Problem(Setting("7-5-4-3", batch=6))
    counted = products.forward(problem.network, 6) + products.backward(problem.network, 6)
    sizes = [7 * 5, 5 * 4, 4 * 3]
    assert sum(p.flops for p in counted) == 2 * 6 * (3 * sum(sizes) - sizes[0])
    directional = products.tangent(problem.network, 6) + products.backward_tangent(
        problem.network, 6
    )
    # R-forward: x dW, dx W; R-backward: g W and g x, twice; the first layer only x dW and g x once
    assert sum(p.flops for p in directional) == 2 * 6 * (6 * sum(sizes) - 4 * sizes[0])


def test_products_over_patches_are_those_it_takes():
    """5 x 5 pixels, two 3 x 3 convolutions to 4 and 3 channels of 3 x 3 and 1 pixels, two
    classes."""
    images = bench.images.Images(Problem(Setting("25-4-3-2", batch=6)))
    sizes = [4 * 9 * 9, 3 * 36 * 1, 2 * 3]
    once = sum(p.flops for p in products.gradient(images.network, 6))
    assert once == 2 * 6 * (3 * sum(sizes) - sizes[0])
    twice = sum(p.flops for p in products.tangent(images.network, 6)
                + products.backward_tangent(images.network, 6))
    assert twice == 2 * 6 * (6 * sum(sizes) - 4 * sizes[0])


def test_products_of_a_dense_hessian_are_its_upper_triangle():
    problem = Problem(Setting("7-5-4-3", batch=6))
    made = sum(p.rows * p.columns for p in products.dense_hessian(problem.network, 6))
    layers = [8 * 5, 6 * 4, 5 * 3]
    triangle = sum(layers[k] * sum(layers[k:]) for k in range(3))
    assert made == triangle and triangle >= sum(layers) * (sum(layers) + 1) / 2


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_bound_computes_products(dtype):
    """Left, right or neither transposed, stacked or not, all give what the plain product gives."""
    for product in (
        products.Product(2, 3, 4),
        products.Product(2, 3, 4, "left"),
        products.Product(2, 3, 4, "right"),
        products.Product(2, 3, 4, "right", 5),
        products.Product(2, 1, 4, "", 5),
    ):
        multiply, left, right, out = products._job(
            product, np.random.default_rng(1), np.dtype(dtype)
        )
        multiply(left, right, out=out)
        assert out.dtype == dtype and out.shape == (5,) * bool(product.count) + (2, 4)
        np.testing.assert_allclose(out, np.einsum("...ij,...jk->...ik", left, right), rtol=1e-5)
        assert product.flops == 2 * left.size * 4
    assert products.bound([products.Product(2, 3, 4)], dtype)() is None


# -- PyTorch --------------------------------------------------------------------------------------


def flat(pieces):
    """What PyTorch gave, as rows over the parameters."""
    if not isinstance(pieces, (tuple, list)):
        return pieces.numpy()
    samples = pieces[0].shape[0] if pieces[0].dim() == 3 else None
    return np.concatenate(
        [np.asarray(p).reshape(samples or -1, -1) if samples else np.ravel(p) for p in pieces],
        axis=-1,
    )


@pytest.mark.everyday(1)
@pytest.mark.parametrize(
    "activation, loss", [("tanh", "cross-entropy"), ("softplus", "squared-error")]
)
@pytest.mark.parametrize(
    "name",
    [
        "gradient",
        "Hessian-vector product",
        "Gauss-Newton product",
        "per-sample gradients",
        "dense Hessian",
        "CNN gradient",
        "CNN Hessian-vector product",
    ],
)
def test_pytorch_does_the_same_work(name, activation, loss):
    pytest.importorskip("torch")
    from secondorder.bench.pytorch import Twin

    problem = Problem(Setting("5-4-3-2", 6, "float64", activation, loss))
    work = CASES[name].make(problem)
    assert relative(work.run(), flat(work.torch(Twin(problem))())) < 1e-12


def test_pytorch_starts_where_the_optimizer_does():
    pytest.importorskip("torch")
    from secondorder.bench.pytorch import Twin

    problem = Problem(TINY)
    assert Twin(problem).step("SGD", {})() == pytest.approx(
        problem.network.evaluate(*list(problem)[1:]).loss, rel=1e-12
    )


def test_pytorch_is_refused_in_words_where_it_is_missing(monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    assert cli.main(["bench", "gradient", "--against", "torch"]) == 2
    assert "PyTorch cannot be imported" in capsys.readouterr().err


# -- settings -------------------------------------------------------------------------------------


def test_widths_in_short():
    assert Setting("784-3x128-10").sizes == [784, 128, 128, 128, 10]
    assert Setting("3-2").changed(batch=7, dtype=None) == Setting("3-2", batch=7)
    for widths in ("3", "3-", "a-b", "3-0-2", "3-1.5"):
        with pytest.raises(ValueError, match="widths"):
            Setting(widths)


@pytest.mark.parametrize(
    "grow, sizes, batch",
    [
        (scaling.wider, [10, 8, 6, 2], 6),
        (scaling.deeper, [5, 4, 4, 4, 4, 2], 6),
        (scaling.larger, [5, 4, 3, 2], 12),
    ],
)
def test_axes_of_the_figure(grow, sizes, batch):
    grown = grow(TINY, 2)
    assert grown.sizes == sizes and grown.batch == batch


def test_curves_leave_out_what_does_not_fit(cases, monkeypatch):
    @bench.case("picky", smallest=TINY)
    def picky(problem):
        """Refuses wide networks."""
        if problem.network.size > 200:
            raise MemoryError("too large")
        return bench.Work(lambda: 1)

    @bench.case("not drawn", smallest=None)
    def not_drawn(problem):
        """Has no curves."""
        raise AssertionError

    curves = scaling.run(list(cases.values()), ONCE, say=lambda text: None)
    wide, deep, many = (curves[axis]["picky"] for axis in scaling.AXES)
    assert [p["place"] for p in wide] == [4, 8] and [p["place"] for p in deep] == [2, 4, 8]
    assert [p["place"] for p in many] == [6, 12, 24, 48]
    axes = scaling.draw(curves).axes
    assert [len(ax.lines) for ax in axes] == [1, 1, 1]
    assert list(axes[2].lines[0].get_xdata()) == [6, 12, 24, 48]
    assert list(axes[2].lines[0].get_ydata()) == [p["ratios"]["gradient"] for p in many]


# -- the command ----------------------------------------------------------------------------------

QUICK = "--blocks 1 --seconds 1e-9 --pause 1e-9 --widths 4-3-2 --batch 3".split()


def test_json(capsys):
    assert cli.main(["bench", "gradient", "step of SGD", *QUICK, "--json"]) == 0
    said = capsys.readouterr()
    everything = json.loads(said.out)
    assert [result["case"] for result in everything["results"]] == [
        "gradient",
        "step of SGD",
        "step of SGD",
    ]
    assert (
        everything["environment"]["threads"]
        and everything["effort"]["blocks"] == 1
        and "gradient" in said.err
    )
    assert all(result["setting"]["widths"] == "4-3-2" for result in everything["results"])


def test_what_is_left_out_is_said_and_is_no_success(capsys):
    assert cli.main(["bench", "dense Hessian", *QUICK, "--widths", "400-400-2"]) == 1
    assert "dense Hessian: left out: the Hessian of shape" in capsys.readouterr().out


def test_unknown_case(capsys):
    assert cli.main(["bench", "dens Hessian"]) == 2
    assert "did you mean 'dense Hessian'" in capsys.readouterr().err


def test_every_point_of_the_figure_has_a_tick():
    """Cases that begin at other widths than each other."""
    point = {"ratios": {"gradient": 2.0}}
    curves = {"width": {"small": [point | {"place": n} for n in (8, 16)],
                        "large": [point | {"place": n} for n in (16, 32)]}, "depth": {}}
    width, depth = scaling.draw(curves).axes
    assert [label.get_text() for label in width.get_xticklabels()] == ["8", "16", "32"]
    assert not depth.lines
