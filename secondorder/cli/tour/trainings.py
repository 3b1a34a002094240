"""Several optimizers on the same network, data and seed."""

from dataclasses import dataclass, field

import secondorder as so


@dataclass(frozen=True)
class Method:
    """An optimizer class, its options, its batch size, for how many epochs it trains, and after how
    many of them the whole sets are looked at.
    """

    optimizer: type
    options: dict = field(default_factory=dict)
    batch_size: int = 100
    epochs: int = 30
    every: int = 1


def compare(methods, make_network, loss, training, validation, l2, seed, say):
    """Train a fresh network per method and say how each ended; name -> its records and settings.

    `make_network` makes the same initial network every time; `seed` decides the order of the
    batches.
    """
    return {name: _train(name, method, make_network(), loss, training, validation, l2, seed, say)
            for name, method in methods.items()}


def _train(name, method, network, loss, training, validation, l2, seed, say):
    optimizer = method.optimizer(network, loss, l2=l2, **method.options)
    history = so.train(optimizer, *training, epochs=method.epochs, batch_size=method.batch_size,
                       validation=validation, rng=seed, evaluate_every=method.every)
    last = history.records[-1]
    accuracy = (f"   accuracy {last.validation_accuracy:.3f}" if "validation_accuracy" in last
                else "")
    say(f"  {name:<32} train {last.train_loss:7.4f} validation "
        f"{last.validation_loss:7.4f}{accuracy}   {last.epoch:3} epochs, "
        f"{1e3 * last.seconds / last.step:5.2f} ms a step")
    return {"optimizer": history.method, "options": method.options, "batch_size": method.batch_size,
            "epochs": method.epochs, "records": history.records}


def with_work(records):
    """Records of a first-order method or truncated Newton with ``work`` added, in gradients over
    the training set.

    A gradient is three matrix products a layer, a Hessian-vector product six and a forward pass
    one; an epoch of a first-order method is therefore one unit. Truncated Newton adds its conjugate
    gradient iterations, one product for the predicted decrease, and a forward pass for every trial
    of its step length.
    """
    work, before, result = 0.0, 0, []
    for record in records:
        products = record["cg_iterations"] + 1 if "cg_iterations" in record else 0
        trials = record["halvings"] + 1 if "halvings" in record else 0
        work += (record["epoch"] - before) * (1 + 2 * products + trials / 3)
        before = record["epoch"]
        result.append(dict(record) | {"work": work})
    return result
