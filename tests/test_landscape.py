"""Pictures of the loss over the row space."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.image import imread

from conditions import AttentionDataset
from conditions.errors import InvalidInput
from conditions.stationary.coordinates import row_space
from conditions.stationary.krawczyk import stationary_points
from verifier.report.landscape import _axes, export_landscape, loss_values

PLANE = AttentionDataset.build(
    [[[1, 0], [0, 1], [2, 2]], [[0, 0], [1, 1], [-1, 2]], [[2, 1], [0, -1], [1, 2]]],
    [1, -1, 1], [[1, -2]] * 3, [1, 2])
LINE = AttentionDataset.build([[[1, 0], [0, 0], [2, 0]], [[0, 1], [1, 1], [3, 1]]],
                              [1, -1], [[1, 0]] * 2, [1, 0])


@pytest.mark.parametrize("dataset", [PLANE, LINE], ids=["plane", "line"])
@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_equal_data_give_equal_files(dataset, suffix, tmp_path):
    points = stationary_points(dataset, "logistic", starts=30)
    paths = [tmp_path / f"{name}{suffix}" for name in ("a", "b")]
    for path in paths:
        export_landscape(dataset, "logistic", points, path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    if suffix == ".png":
        assert np.ptp(imread(paths[0])) > 0.5
    else:
        assert b"<svg" in first


def test_proved_points_are_flat_in_the_picture(tmp_path):
    points = stationary_points(PLANE, "logistic", starts=60)
    assert points
    axis = _axes(row_space(PLANE))
    assert np.allclose(axis @ axis.T, np.eye(2))
    for point in points:
        at = axis @ point.W.reshape(-1)
        assert np.allclose(axis.T @ at, point.W.reshape(-1))
        around = at + 1e-4 * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])
        values = loss_values(PLANE, "logistic", axis, around)
        slopes = (values[1::2] - values[2::2]) / 2e-4
        assert np.abs(slopes).max() < 1e-6
    plain, marked = tmp_path / "plain.svg", tmp_path / "marked.svg"
    export_landscape(PLANE, "logistic", (), plain)
    export_landscape(PLANE, "logistic", points, marked)
    assert len(marked.read_bytes()) != len(plain.read_bytes())


def test_refusals(tmp_path):
    with pytest.raises(InvalidInput, match="png"):
        export_landscape(PLANE, "logistic", (), tmp_path / "a.gif")
    wide = AttentionDataset.build([[[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [1, 0, 0]],
                                   [[0, 2, 1], [0, 0, 0]]], [1, 1, 1], np.eye(3), [1, 2, 3])
    with pytest.raises(InvalidInput, match="3 dimensions"):
        export_landscape(wide, "logistic", (), tmp_path / "a.png")
