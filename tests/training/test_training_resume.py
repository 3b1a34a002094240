"""Which runs may go on from a checkpoint: not fewer epochs, not another one."""


import numpy as np
import pytest

import secondorder as so

rng = np.random.default_rng(0)
x, y = rng.normal(size=(20, 3)), rng.integers(0, 2, size=20)


def make(seed=0):
    return so.SGD(so.mlp([3, 4, 2], rng=seed), so.SoftmaxCrossEntropy())


def train(path, epochs=3, x=x, **options):
    return so.train(make(), x, y, epochs=epochs, batch_size=10, rng=0, checkpoint=path, **options)


def test_fewer_epochs_than_were_done_are_refused(tmp_path):
    train(tmp_path / "c", epochs=4)
    before = (tmp_path / "c").read_bytes()
    optimizer = make()
    start = optimizer.network.theta.copy()
    with pytest.raises(ValueError, match="epochs is 3, but checkpoint .*c holds a run of 4 epochs"):
        so.train(optimizer, x, y, epochs=3, batch_size=10, rng=0, checkpoint=tmp_path / "c",
                 resume=True)
    assert (tmp_path / "c").read_bytes() == before
    assert np.array_equal(optimizer.network.theta, start)
    assert len(train(tmp_path / "c", epochs=4, resume=True)) == 5
    assert len(train(tmp_path / "c", epochs=5, resume=True)) == 6


def test_recipe_is_named_where_a_run_differs(tmp_path):
    recipe = {"data": "digits", "seed": 0, "set": [["rho", 0.5]]}
    train(tmp_path / "c", recipe=recipe)
    for change, said in (({"seed": 1}, "made with seed 0, not 1;"),
                         ({"data": "wine", "seed": 3}, "made with data 'digits', not 'wine';")):
        with pytest.raises(ValueError, match=said):
            train(tmp_path / "c", x=x + 1, recipe=recipe | change, resume=True)
    with pytest.raises(ValueError, match="made with train data's numbers other than these, not"):
        train(tmp_path / "c", x=x + 1, recipe=recipe, resume=True)
    with pytest.raises(ValueError, match=r"train data's shapes \[\[20, 3\], \[20\]\], not"):
        so.train(make(), x[:10], y[:10], batch_size=10, rng=0, checkpoint=tmp_path / "c",
                 resume=True, recipe=recipe)
