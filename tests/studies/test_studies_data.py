"""Images for studies: real ones where they are, stand-ins of the same shape where not."""

import numpy as np
import pytest

from secondorder.studies import data, images


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("SECONDORDER_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    data.images.cache_clear()
    yield
    data.images.cache_clear()


@pytest.mark.parametrize("name, width", [("mnist", 784), ("cifar-10", 3072),
                                         ("fashion-mnist", 784)])
def test_stand_ins_have_the_shape_and_say_so(nothing, name, width):
    found = images(name)
    assert found.inputs.shape == (1400, width) and found.stand_in and name in found.name
    assert data.missing((name,)) == [name]
    assert 0 <= found.inputs.min() and found.inputs.max() <= 1


def test_digits_are_themselves(nothing):
    test = images("digits", "test", (-1.0, 1.0))
    assert not test.stand_in and test.inputs.min() == -1


def test_an_unknown_set_is_named():
    with pytest.raises(ValueError, match="mnist"):
        images("minst")


def test_pooled_takes_means():
    x = np.arange(32.0).reshape(1, 32)  # two channels of 4 x 4
    assert data.pooled(x, 4, 2, 2).tolist() == [[2.5, 4.5, 10.5, 12.5, 18.5, 20.5, 26.5, 28.5]]
