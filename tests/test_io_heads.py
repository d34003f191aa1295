"""The prediction head of a data file: read, chosen, refused; and what descend records of it."""

import json
import sys

import numpy as np
import pytest
from flint import fmpq

from conditions.errors import InvalidInput
from verifier import io
from verifier.cli import main
from verifier.descent import LINEAR_HEAD, MulticlassHead, QuadraticHead, ReluHead

rng = np.random.default_rng(0)
DATA = {"X": rng.normal(size=(2, 3, 2)), "Y": np.array([1, -1]), "z": rng.normal(size=(2, 2)),
        "v": rng.normal(size=2)}
FIELDS = {
    "quadratic": {"lambda": np.array(0.5)},
    "relu": {"V": np.array([[1.0, 2.0], [3.0, 4.0], [0.0, -1.0]]), "a": np.array([1.0, -1.0, 2.0])},
    "multiclass": {"class_heads": np.eye(2), "class_labels": np.array([1, 0])},
}


def saved(path, *names, **more):
    fields = {key: value for name in names for key, value in FIELDS[name].items()}
    np.savez(path, **{**DATA, **fields, **more})
    return path


def test_each_head_from_npz(tmp_path):
    path = tmp_path / "data.npz"
    head = io.load_head(saved(path, "quadratic"))
    assert isinstance(head, QuadraticHead) and head.lam == fmpq(1, 2)
    head = io.load_head(saved(path, "relu"))
    assert isinstance(head, ReluHead)
    assert np.array_equal(head.V, FIELDS["relu"]["V"]) and np.array_equal(head.a, [1, -1, 2])
    head = io.load_head(saved(path, "multiclass"))
    assert isinstance(head, MulticlassHead) and head.class_labels == (1, 0)
    assert io.load_head(saved(path)) == LINEAR_HEAD
    np.savez(path, **DATA, V=np.eye(2))
    assert np.array_equal(io.load_head(path).a, [1, 1])


def test_numbers_of_json_keep_their_digits_where_they_matter(tmp_path):
    path = tmp_path / "data.json"
    plain = {name: value.tolist() for name, value in DATA.items()}
    path.write_text(json.dumps({**plain, "lambda": "1/10"}))
    assert io.load_head(path).lam == fmpq(1, 10)
    path.write_text(json.dumps({**plain, "lambda": 0.1}))
    assert io.load_head(path).lam == fmpq(1, 10)
    path.write_text(json.dumps({**plain, "V": [["1/3", 0.1]]}))
    assert io.load_head(path).V.tolist() == [[1 / 3, 0.1]]


def test_a_stack_has_one_head_a_trial_or_shares_one(tmp_path):
    path = tmp_path / "stack.npz"
    stacked = {name: np.stack([value, value]) for name, value in DATA.items()}
    np.savez(path, **stacked, **{"lambda": np.array([1.0, 2.0])})
    assert [io.load_head(path, trial=k).lam for k in (0, 1)] == [1, 2]
    np.savez(path, **stacked, **{"lambda": np.array(3.0)})
    assert [io.load_head(path, trial=k).lam for k in (0, 1)] == [3, 3]
    np.savez(path, **stacked, V=np.array([[[1.0, 0.0]], [[2.0, 0.0]]]), a=np.array([5.0]))
    assert io.load_head(path, trial=1).V.tolist() == [[2, 0]]
    np.savez(path, **stacked, V=np.ones((3, 1, 2)))
    with pytest.raises(InvalidInput, match="V"):
        io.load_head(path, trial=1)


def test_the_head_is_named_where_the_file_carries_several(tmp_path):
    path = saved(tmp_path / "data.npz", "quadratic", "relu")
    with pytest.raises(InvalidInput, match="quadratic and relu"):
        io.load_head(path)
    assert isinstance(io.load_head(path, "relu"), ReluHead)
    assert io.load_head(path, "linear") == LINEAR_HEAD


@pytest.mark.parametrize(("more", "name", "words"), [
    ({}, "quadratic", "lambda"), ({}, "relu", "V"), ({}, "multiclass", "class_heads"),
    ({"class_heads": np.eye(2)}, None, "class_labels"), ({}, "mlp", "head"),
    ({}, "callable", "head"), ({"lambda": np.array(-1.0)}, None, "lambda"),
    ({"lambda": np.ones((1, 1))}, None, "lambda"), ({"V": np.ones(2)}, None, "V"),
    ({"V": np.ones((3, 2)), "a": np.ones(2)}, None, r"a \(2 entries\)"),
    ({"V": np.array([[np.nan, 0.0]])}, None, "V"),
    ({"class_heads": np.eye(2), "class_labels": np.array([0, 2])}, None, r"class_labels\[1\]"),
])
def test_what_is_missing_or_does_not_fit_is_refused(tmp_path, more, name, words):
    path = tmp_path / "data.npz"
    np.savez(path, **DATA, **more)
    with pytest.raises(InvalidInput, match=f"^{words}"):
        io.load_head(path, name)


# The command --------------------------------------------------------------------------------


@pytest.fixture
def attsvm(capsys, monkeypatch):
    """Run the command in this process: (exit code, stdout, stderr)."""
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["attsvm", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err
    return run


@pytest.mark.parametrize("name", FIELDS)
def test_descend_records_the_head(attsvm, tmp_path, name):
    path, out = saved(tmp_path / "data.npz", name), tmp_path / "run.npz"
    code, text, _ = attsvm("descend", path, "--out", out, "--iterations", "20")
    assert code == 0 and f"{name} head" in text
    with np.load(out) as file:
        assert file["head"] == name
        for field, value in FIELDS[name].items():
            assert np.array_equal(file[field], value)
    code, text, _ = attsvm("descend", path, "--out", out, "--head", "linear")
    assert code == 0 and "head," not in text


@pytest.mark.parametrize(("arguments", "words"), [
    (["--head", "relu"], "V is not given"), (["--head", "mlp"], "head = 'mlp'"),
    (["--loss", "exponential", "--head", "multiclass"], "loss"),
])
def test_bad_input_is_one_line_and_exit_2(attsvm, tmp_path, arguments, words):
    path = saved(tmp_path / "data.npz", "multiclass")
    code, _, err = attsvm("descend", path, "--out", tmp_path / "run.npz", *arguments)
    assert code == 2 and len(err.strip().splitlines()) == 1 and words in err
    assert not (tmp_path / "run.npz").exists()
