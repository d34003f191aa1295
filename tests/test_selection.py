import numpy as np
import pytest

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.selection import check_selection

DATASET = AttentionDataset.build([[[1], [0]], [[2], [0], [1]]], [1, 1], [[1], [1]], [1])


@pytest.mark.parametrize("selection", [
    [1, 2], (1, 2), np.array([1, 2]), np.array([1, 2], dtype=np.uint8), iter([1, 2])],
    ids=lambda value: type(value).__name__)
def test_selections_become_tuples_of_integers(selection):
    checked = check_selection(DATASET, selection)
    assert checked == (1, 2)
    assert [type(a) for a in checked] == [int, int]


@pytest.mark.parametrize(("selection", "name"), [
    ([1], "selection"), ([1, 2, 0], "selection"), ([], "selection"), (None, "selection"),
    (3, "selection"), ("12", "selection"), ([2, 0], "selection[0]"), ([0, 3], "selection[1]"),
    ([-1, 0], "selection[0]"), ([True, 0], "selection[0]"), ([0, 1.0], "selection[1]"),
    ([0, "1"], "selection[1]"), ([0, None], "selection[1]"), (np.eye(2), "selection[0]")])
def test_selections_are_refused_by_name(selection, name):
    with pytest.raises(InvalidInput) as caught:
        check_selection(DATASET, selection)
    assert caught.value.name == name
    assert len(str(caught.value).splitlines()) == 1
