"""Images for studies: real ones where they are, stand-ins of the same shape where not."""

import numpy as np
import pytest

from secondorder import datasets
from secondorder.studies import data, images


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("SECONDORDER_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    data.images.cache_clear()
    yield
    data.images.cache_clear()


@pytest.mark.parametrize("name, width", [("mnist", 784), ("cifar-10", 3072)])
def test_stand_ins_have_the_shape_and_say_so(nothing, name, width):
    found = images(name)
    assert found.inputs.shape == (1400, width) and found.stand_in and name in found.name
    assert data.missing((name,)) == [name]
    assert 0 <= found.inputs.min() and found.inputs.max() <= 1


def test_no_digit_is_in_both_parts():
    training, test = images("digits"), images("digits", "test")
    assert not test.stand_in and images("digits", "test", (-1.0, 1.0)).inputs.min() == -1
    assert len(training.labels) == 1400 and len(test.labels) == 397
    whole = datasets.scale(datasets.load_digits(), (0.0, 1.0))
    np.testing.assert_array_equal(np.concatenate([training.inputs, test.inputs]), whole.inputs)
    np.testing.assert_array_equal(np.concatenate([training.labels, test.labels]), whole.targets)


def test_another_set_is_refused(monkeypatch):
    monkeypatch.setattr(datasets, "load", lambda *part: datasets.load_digits())
    with pytest.raises(ValueError, match="64 values a sample; mnist has 784"):
        data.loaded("mnist", "idx:mnist", 784)


@pytest.mark.parametrize("size", [(3, 5), (28, 28)])
def test_an_enlarged_image_holds_the_whole_of_it(size):
    x = np.random.default_rng(0).random((2, 9))
    found = data.enlarged(x, size, 3).reshape(2, 3, *size)
    for channel, *place in np.ndindex(3, *size):
        row, column = (place[k] * 3 // size[k] for k in (0, 1))
        np.testing.assert_array_equal(found[:, channel, *place], x.reshape(2, 3, 3)[:, row, column])
