"""Arrays that count multiplications, against what the shapes say."""

import numpy as np
import pytest

from secondorder.ledger.multiplication_counter import Counted, counted, multiplications


def test_products_are_counted_whoever_takes_part():
    log, entries = [], []
    A, B, v = np.ones((2, 3)), np.ones((3, 5)), np.ones(3)
    result = counted(A, log, entries) @ B
    assert log == [2 * 3 * 5] and isinstance(result, Counted) and result.shape == (2, 5)
    assert np.array_equal(result, A @ B)
    B @ (2.0 * result).T
    assert log[1:] == [3 * 5 * 2] and entries == [10]
    counted(A, log) @ v
    np.ones((4, 2, 3)) @ counted(B, log)
    np.matmul(counted(A, log), B, out=np.empty((2, 5)))
    assert log[2:] == [2 * 3, 4 * 2 * 3 * 5, 2 * 3 * 5]
    total = counted(v, log) @ v
    assert total == 3.0 and log[-1] == 3 and not isinstance(total, np.ndarray)


def test_multiplications():
    def work(A, B):
        return (A @ B) * 3.0

    assert multiplications(work, (2, 3), (3, 5)) == 30
    assert multiplications(work, (2, 3), (3, 5), entry_by_entry=True) == 40


@pytest.mark.parametrize("function", [np.dot, np.outer, lambda a, b: np.einsum("i,i", a, b)])
def test_what_would_not_be_seen_is_refused(function):
    v = counted(np.ones(3), [])
    with pytest.raises(TypeError, match="is not counted"):
        function(v, v)


def test_only_products_with_the_array_itself_where_nothing_is_followed():
    log = []
    result = counted(np.ones((2, 3)), log, follow=False) @ np.ones((3, 5))
    assert log == [30] and type(result) is np.ndarray
    result @ np.ones((5, 4))
    np.ones((4, 2)) @ counted(np.ones((3, 2)), log, follow=False).T
    assert log == [30, 4 * 2 * 3]
