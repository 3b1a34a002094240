"""Odd data: what readers and helpers take by mistake, and what they say instead."""

import gzip
import struct

import numpy as np
import pytest

from secondorder import datasets


def csv(folder, text, **options):
    (folder / "t.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return datasets.load_csv(folder / "t.csv", **options)


# -- tables ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end(tmp_path, end):
    data = csv(tmp_path, end.join(["a,b", "1,2", "3,4", ""]))
    assert (
        data.names == ("a",)
        and data.inputs.tolist() == [[1], [3]]
        and data.targets.tolist() == [[2], [4]]
    )


@pytest.mark.parametrize("text, words", [
    ("a,a,y\n1,2,3\n", "'a'"), ("1,2\n3,cat\n", "line 2: 'cat'"),
    ("2001,2002,2003\n1.5,2,3\n", "header")])
def test_what_is_not_a_table_of_numbers(tmp_path, text, words):
    with pytest.raises(ValueError, match=rf"t\.csv.*{words}"):
        csv(tmp_path, text)


def test_a_header_may_be_declared(tmp_path):
    years = "2001,2002,2003\n1.5,2,3\n"
    assert csv(tmp_path, years, header=True).names == ("2001", "2002")
    assert csv(tmp_path, years, header=False).inputs.tolist() == [[2001, 2002], [1.5, 2]]
    assert csv(tmp_path, "2001,2002,2003\n2002,2003,2004\n").inputs.shape == (2, 2)
    assert csv(tmp_path, "3,2\n5,4\n", header=True).names == ("3",)
    with pytest.raises(TypeError, match="header"):
        csv(tmp_path, years, header="yes")


def test_a_label_far_from_the_others_is_told(tmp_path):
    rows = "".join(f"0.5,{label}\n" for label in [*range(10), 200, *range(10)])
    with pytest.warns(UserWarning, match=r"t\.csv, column 'y': the largest label, 200, makes 201 "
                      r"classes, 190 of them without a sample: 10, 11, 12 and more\. .* in sample "
                      r"11 of 21\."):
        csv(tmp_path, "x,y\n" + rows, classification=True)
    with pytest.warns(UserWarning, match=r"labels-idx1-ubyte: .* label, 3, .*: 1, 2\. .* sample 2"):
        for name, content in (("images-idx3", b"\0\0\x08\3" + struct.pack(">3I", 2, 1, 1)),
                              ("labels-idx1", b"\0\0\x08\1" + struct.pack(">I", 2))):
            (tmp_path / f"train-{name}-ubyte").write_bytes(content + b"\0\3")
        datasets.load_idx(tmp_path)


# -- CIFAR-10 --------------------------------------------------------------------------------------


def batch(label, rows=2):
    return b"".join(bytes([label]) + bytes([k] * 3072) for k in range(rows))


def test_a_gap_between_batches_is_an_error(tmp_path):
    for k in (1, 3):
        (tmp_path / f"data_batch_{k}.bin").write_bytes(batch(k))
    with pytest.raises(FileNotFoundError, match=r"no data_batch_2\.bin$"):
        datasets.load_cifar10(tmp_path)
    (tmp_path / "data_batch_2.bin.gz").write_bytes(gzip.compress(batch(2)))
    assert datasets.load_cifar10(tmp_path).targets.tolist() == [1, 1, 2, 2, 3, 3]
    with pytest.raises(FileNotFoundError, match="test_batch"):
        datasets.load_cifar10(tmp_path, "test")


# -- names -----------------------------------------------------------------------------------------


def test_unknown_data_mention_the_forms():
    with pytest.raises(ValueError, match="csv:FILE"):
        datasets.load("mnist")
    with pytest.raises(ValueError, match="part"):
        datasets.load("digits", "tset")
    with pytest.raises(TypeError, match="takes no target"):
        datasets.load("digits", target=1)
    with pytest.raises(TypeError, match="takes no colour"):
        datasets.load("csv:some.csv", colour=1)


def test_options_of_a_table_by_name(tmp_path):
    csv(tmp_path, "a,b\n0,2\n1,4\n")
    data = datasets.load(f"csv:{tmp_path / 't.csv'}", target="a", classification=True)
    assert data.targets.tolist() == [0, 1] and data.classes == 2


# -- split, scale, standardise ---------------------------------------------------------------------


def test_split_of_one_array_gives_two_arrays():
    x = np.arange(40.0).reshape(10, 4)
    training, validation = datasets.split(x, 3, rng=0)
    assert training.shape == (7, 4) and validation.shape == (3, 4)
    assert np.array_equal(np.sort(np.concatenate([training, validation]), axis=0), x)
    assert np.array_equal(training, datasets.split((x,), 3, rng=0)[0][0])


@pytest.mark.parametrize("value", [0.1, -7.3e8])
@pytest.mark.parametrize("rows", [3, 1000])
def test_rounding_is_not_taken_for_deviation(value, rows):
    rule = datasets.Standardisation.fit(np.full((rows, 1), value))
    assert rule.deviation.tolist() == [1.0] and rule.apply(np.full((1, 1),
                                                                   value)).tolist() == [[0.0]]
    assert abs(rule.apply(np.array([[2 * value]]))[0, 0]) <= 2 * abs(value)
    nearly = datasets.Standardisation.fit(np.array([[value], [np.nextafter(value, np.inf)]]))
    assert nearly.deviation.tolist() == [1.0]


@pytest.mark.parametrize("exponent", [-1060, -600, 0, 600, 1020])
def test_deviations_of_numbers_of_any_size(exponent):
    """Squares of 1e300 overflow, and a deviation of infinity makes every column zero."""
    values = np.ldexp(np.arange(1.0, 9).reshape(4, 2), exponent)
    rule = datasets.Standardisation.fit(values)
    expected = np.ldexp([[4.0, 5.0], [5**0.5, 5**0.5]], exponent)
    np.testing.assert_allclose(np.array(rule), expected, rtol=1e-15 if exponent > -1000 else 1e-3)
    assert np.allclose(rule.apply(values)[:, 0], (np.arange(4) - 1.5) * 2 / 5**0.5, atol=1e-3)


def test_small_true_deviations_stay():
    values = 1e6 + 1e-6 * np.arange(10.0)[:, None]
    rule = datasets.Standardisation.fit(values)
    assert 2e-6 < rule.deviation[0] < 4e-6 and np.allclose(rule.undo(rule.apply(values)), values,
                                                           rtol=0, atol=1e-9)


