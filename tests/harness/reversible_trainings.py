"""Made-up trainings of reversible networks, for the judges of the room's studies."""

import numpy as np

from harness import made_up
from secondorder.papers.reversible_gauss_newton.figures import compared, figures_5_to_9

PAPER = "reversible-gauss-newton"
LOST = {"diverged": "epoch 3"}


def judged(key, make, seeds=None):
    return made_up.judged(PAPER, key, make, seeds)


def run(loss, epochs=100, test=None, seed=0, **more):
    """A made-up run: training loss as a function of the epoch from 1, a little by the seed."""
    at = np.arange(1, epochs + 1, dtype=float)
    told = (loss(at) * (1 + 0.001 * seed) + 0 * at).tolist()
    of_tests = told if test is None else (test(at) + 0.001 * seed + 0 * at).tolist()
    return {"loss": told, "test": of_tests, "accuracy": [0.5] * epochs, "change": [-1.0] * epochs,
            "carried": [-0.5] * epochs, "size": [1.0] * epochs, "rank": [0] * epochs, "looks": []
            } | more


def lost_where(method, make):
    """The runs of a method end in epoch 3."""
    def lose(**arguments):
        found = make(**arguments)
        return found | LOST if arguments["method"] == method else found
    return lose


# -- curves ----------------------------------------------------------------------------------------


def saturating(end):
    """Falls fast to `end` and stays."""
    return lambda at: np.maximum(2.3 - 0.2 * at, end)


flat = saturating(1.8)


def slow(at):
    return 2.2 - 0.012 * at


def falling(power):
    """Loss 0.1 after 1 / power steps by exp."""
    return lambda at: np.exp(-power * at)


def to(end, epochs, seed):
    """A run whose loss comes to `end` in the last epoch."""
    return run(lambda at: 2.3 - (2.3 - end) * at / epochs, epochs, seed=seed)


# -- makers of runs --------------------------------------------------------------------------------


def ending(end):
    """Runs that come to an end, a function of their arguments."""
    return lambda seed, epochs, **told: to(end(**told), epochs, seed)


def decayed(at_best):
    return ending(lambda l2=0.0, **_: 1.5 if not l2 else at_best if l2 == 1e-3 else 2.2)


def forms(ends):
    def end(method, options=None, **_):
        form = (options or {"pseudo_inverse": "truncate"})["pseudo_inverse"]
        best = options is None or options["strength"] == 0.01
        return 1.2 if method == "adam" else ends[form] if best else 2.2
    return ending(end)


def without(ratio):
    return ending(lambda method, **_: 1.5 * (ratio if method == "exact" else 1))


def of_methods(others, **own):
    """Runs by a curve of the method's own, or by that of the others."""
    return lambda method, seed, epochs, **_: run(own.get(method, others), epochs, seed=seed)


def without_bottleneck(yes):
    def make(method, seed, epochs, samples, batch, **_):
        leads = (method == "gn") == yes
        if samples == batch:
            return run(falling(1.0 if leads else 0.2), epochs, seed=seed)
        return run(flat if leads else slow, epochs, seed=seed)
    return make


def as_in_print(method, seed, epochs, task="cifar-8", **_):
    if method == "gn":
        base = flat if task == "cifar-8" else lambda at: flat(at) - 0.7
        return run(base, epochs, test=lambda at: 2.0 + 0.01 * at, seed=seed)
    if method == "adam":
        fast = (lambda at: np.where(at <= 5, 2.2, slow(at) - 0.7)) if task == "mnist" else slow
        return run(fast, epochs, test=lambda at: 1.9 - 0.01 * at, seed=seed)
    return run(lambda at: 2.25 - 0.006 * at, epochs, seed=seed)


def the_reverse(method, seed, epochs, task="cifar-8", **_):
    if method == "gn":
        late = 0.018 if task == "cifar-8" else 0.010
        return run(lambda at: 2.25 - late * at, epochs, test=lambda at: 1.8 - 0.01 * at, seed=seed)
    if method == "adam":
        return run(flat, epochs, test=lambda at: 2.0 + 0.01 * at, seed=seed)
    return run(lambda at: 2.2 - 0.006 * at, epochs, seed=seed)


def changes(large, late):
    def make(method, seed, epochs, **_):
        told = [large if method == "gn" else -1.0] * epochs
        told[5:] = [late if method == "gn" else -1.0] * max(0, epochs - 5)
        return run(slow, epochs, seed=seed, change=[one * (1 + 0.01 * seed) for one in told])
    return make


def moving(kernel, cka, grams=None):
    """Runs whose similarities fall linearly to `kernel[method]`, `cka[method]` (of six blocks)."""
    def make(method, seed, epochs, **_):
        shares = np.linspace(0, 1, 11)
        looks = [{"ntk": 1 - s * (1 - kernel[method]) + 1e-4 * seed * s,
                  "step": 1 if s == 0 else 1 - 0.1 * (1 - kernel[method]) - 1e-5 * seed,
                  "cka": [1 - s * (1 - c) - 1e-4 * seed * s for c in cka[method]],
                  "added": [1.0] * 6, "weights": []} for s in shares]
        vectors = {} if grams is None else {"grams": [grams(method, seed)] * 6}
        return run(slow, epochs, seed=seed, looks=looks, **vectors)
    return make


LAZY, BUSY = {"gn": 0.97, "sgd": 0.96, "adam": 0.6}, {"gn": 0.6, "sgd": 0.7, "adam": 0.95}
HIGH = {"gn": (.99, .98, .97, .96, .95, .94), "sgd": (.98, .98, .98, .97, .96, .95),
        "adam": (.8, .7, .6, .5, .4, .3)}
LOW = {"gn": (.3, .4, .5, .6, .7, .8), "sgd": (.5, .6, .7, .8, .85, .95),
       "adam": (.91, .92, .93, .94, .95, .96)}


def near_to(near):
    """Gram matrices of which Gauss-Newton's is near to another method's."""
    def grams(method, seed):
        angle = {"gn": 0.0, near: 0.1}.get(method, 0.9) + 0.01 * seed
        scale = 1 - 0.001 * seed if method == "adam" else 1
        return [scale * np.cos(angle), scale * np.sin(angle)]
    return moving(LAZY, HIGH, grams)


def taken_over(alone, back):
    """Adam and then Gauss-Newton end at 1.5, the reverse at `back`."""
    def make(method, seed, epochs, then=None, **_):
        end = alone[method] if then is None else 1.5 if method == "adam" else back
        return run(saturating(end), epochs, seed=seed)
    return make


def sizes(ends, shape):
    by_size = dict(zip(figures_5_to_9.SIGMAS, ends))

    def make(method, seed, epochs, init=1e-3, **_):
        end = 1.2 if method == "adam" else by_size[init]
        return run(lambda at: shape(at) * end, epochs, seed=seed)
    return make


def turned(cosine, far):
    def make(method, seed, epochs, **_):
        pair = [far[method], cosine[method] + 0.001 * seed * (method == "sgd")]
        return run(slow, epochs, seed=seed, looks=[{"weights": [pair] * 12}])
    return make


def at_rates(ends, halved, goes_on=()):
    """Figure 12: Gauss-Newton saturates at every rate but those of `goes_on`."""
    def make(method, seed, epochs, rate, halve=0, **_):
        if method == "gn" and rate in goes_on and not halve:
            return run(slow, epochs, seed=seed)
        end = 1.2 if method == "adam" else halved if halve else ends
        # rule P takes 1: it is the fastest at first
        start = 2.0 if rate in (1.0, 1e-3) else 2.2
        return run(lambda at: np.maximum(start - 0.05 * at, end), epochs, seed=seed)
    return make


def regressions(yes):
    def make(method, seed, epochs, batch, samples=None, **_):
        leads = (method == "gn") == yes
        if batch == samples:
            at = np.arange(epochs)
            return {"loss": (np.exp(-(1.0 if leads else 0.2) * at) + 1e-4 * seed).tolist(),
                    "test": []}
        if leads and yes:
            return run(flat, epochs, seed=seed)
        return to(1.8 if leads else 1.2, epochs, seed)
    return make


def sharing(gn, adam):
    """What carries over to another batch, of the change of the own one."""
    def make(method, seed, epochs, rate, **_):
        own = -5.0 * (1 + compared.RATES[method].index(rate))
        share = gn + 0.01 * seed if method == "gn" else adam
        return run(slow, epochs, change=[own] * epochs, carried=[share * own] * epochs)
    return make


def lazy(sign):
    moved = {"gn": 0.1, "sgd": 0.2, "adam": 0.5}

    def make(method, seed, epochs, rate, **_):
        first = rate == compared.RATES[method][0]
        change = moved[method] + 0.01 * (not first)
        # rule B takes the first rate, rule P the second
        told = to(1.2 if first else 1.3, epochs, seed)
        told["loss"][:3] = 2.2 if first else 2.0, 1.99, 1.99
        return told | {"looks": [{"ntk": 1.0}, {"ntk": 1 - change}],
                       "accuracy": [0.5 + sign * change] * epochs}
    return make


def apart(ratio):
    def make(method, seed, epochs, **_):
        factor = ratio if method == "mp" else 1
        return run(lambda at: factor * (2.3 - 2.2 * at / epochs), epochs, seed=seed)
    return make


def by_excess(excess, seed):
    """Training loss falls through 0.1; test loss is `excess` times 2, a little by the seed."""
    return run(falling(0.1), test=lambda at: 2 * excess + 0.01 * seed)


def generalising(excess, saturates=()):
    def make(seed, task, method, **_):
        if method in saturates and task == "noisy digits":
            return run(lambda at: np.maximum(np.exp(-at), 0.5), 40,
                       test=lambda at: 2 * excess[method])
        return by_excess(excess.get(method, 1.0), seed)
    return make


def parted(**excess):
    def make(seed, method, **_):
        return by_excess(excess[method.replace("-", "_")], seed)
    return make


EXACT, WORSE = ("exact", "gn", "mp"), {"exact": 1.5, "gn": 1.5, "mp": 1.5}
#: Study -> runs of which every claim holds, and runs of which none does.
CLEAR = {
    "figure-1": (of_methods(falling(0.2), gn=falling(1.0)),
                 of_methods(falling(0.5), gn=lambda at: 0.9 / np.maximum(at - 1, 0.5))),
    "figure-2": (as_in_print, the_reverse),
    "figure-3": (changes(-9.0, -4.0), changes(-0.5, -0.9)),
    "figure-4": (moving(LAZY, HIGH), moving(BUSY, LOW)),
    "figure-5": (without_bottleneck(True), without_bottleneck(False)),
    "figure-6": (of_methods(lambda at: 2.0 - 0.002 * at, gn=lambda at: flat(at) + 0.001 * at),
                 of_methods(lambda at: 2.0 - 0.002 * at, gn=lambda at: 2.3 - 0.004 * at)),
    "figure-7": (taken_over({"gn": 1.8, "adam": 1.2}, 1.5),
                 taken_over({"gn": 1.2, "adam": 1.8}, 1.9)),
    "figure-8": (sizes((2.0, 1.9, 1.8, 1.7, 1.6), flat), sizes((0.8, 0.9, 1.0, 1.1, 1.3), slow)),
    "figure-9": (
        turned({"gn": 0.1, "adam": 0.15, "sgd": 0.6}, {"gn": 9.0, "adam": 8.0, "sgd": 1.0}),
        turned({"gn": 0.6, "adam": 0.15, "sgd": 0.1}, {"gn": 1.0, "adam": 2.0, "sgd": 8.0})),
    "figure-10": (moving(LAZY, HIGH), moving(BUSY, LOW)),
    "figure-11": (near_to("sgd"), near_to("adam")),
    "figure-12": (at_rates(1.8, 1.5), at_rates(1.8, 1.8, goes_on=(0.2,))),
    "figure-13": (decayed(1.48), decayed(1.2)),
    "figure-14": (forms({"truncate": 1.80, "damp": 1.77, "tikhonov": 1.78, "noise": 1.9}),
                  forms({"truncate": 1.1, "damp": 1.15, "tikhonov": 1.4, "noise": 0.9})),
    "figure-15": (regressions(True), regressions(False)),
    "claim-batch-overfit": (sharing(0.2, 0.6), sharing(0.6, 0.2)),
    "claim-features-or-logits": (parted(exact=1.6, mp_features=1.3, mp=1.0),
                                 parted(exact=0.6, mp_features=1.3, mp=2.0)),
    "claim-lazy-explains": (lazy(1), lazy(-1)),
    "claim-poor-generalisation": (generalising(WORSE, EXACT),
                                  generalising(dict.fromkeys(EXACT, 0.5))),
    "claim-regularisation": (without(1.3), without(1.0)),
    "claim-theorem": (apart(1.03), apart(1.08)),
}
