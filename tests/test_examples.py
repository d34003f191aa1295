"""The shipped example data: regenerated, listed, and what they are said to be."""

import importlib.util
from pathlib import Path

import pytest
from flint import fmpq_mat

from verifier.io import load_array, load_dataset, load_datasets, load_factored_start, load_start

EXAMPLES = Path(__file__).parent.parent / "examples"
DATA = EXAMPLES / "data"


@pytest.fixture(scope="module")
def digits():
    specification = importlib.util.spec_from_file_location("digits", EXAMPLES / "digits.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def features(dataset):
    rows = []
    for tokens, scores, z in zip(dataset.tokens, dataset.scores, dataset.queries, strict=True):
        opt = scores.index(max(scores))
        rows += [[(a - b) * q for a, b in zip(tokens[opt], x, strict=True) for q in z]
                 for t, x in enumerate(tokens) if t != opt]
    return rows


def test_digits_are_regenerated(digits, tmp_path, capsys):
    digits.main(tmp_path)
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == ["digits_causal.json", "digits_patches.json", "digits_positions.json"]
    printed = capsys.readouterr().out
    for name in written:
        assert load_dataset(tmp_path / name).fingerprint == load_dataset(DATA / name).fingerprint
        assert name in printed
    # Copies of the optimal patch make Att-SVM infeasible; selected together they are no obstacle.
    patches, positions, causal = (printed[printed.index(f"digits_{kind}.json"):][:400]
                                  for kind in ("patches", "positions", "causal"))
    assert "feasibility fails (exact)" in patches.splitlines()[1]
    assert "gen_feasibility holds (exact), 56 margins ≥ 1, 4 equalities" in patches
    assert "feasibility holds (exact)" in positions.splitlines()[1]
    assert "feasibility holds (exact)" in causal.splitlines()[1]
    assert "gen_feasibility holds (enclosed)" in causal.splitlines()[2]


def test_causal_digits_are_prefixes_of_the_sequences_with_positions():
    causal = load_dataset(DATA / "digits_causal.json")
    positions = load_dataset(DATA / "digits_positions.json")
    assert causal.lengths == tuple(range(2, 17)) * 2
    assert causal.origins == tuple((i, k) for i in range(2) for k in range(1, 16))
    for m, (i, k) in enumerate(causal.origins):
        assert causal.tokens[m] == positions.tokens[2 * i][:k + 1]
        assert causal.queries[m] == positions.tokens[2 * i][k]


def test_patches_are_infeasible_by_copies_of_the_optimal_token():
    dataset = load_dataset(DATA / "digits_patches.json")
    assert (dataset.n, dataset.d, set(dataset.lengths)) == (4, 4, {16})
    assert sum(not any(row) for row in features(dataset)) == 4


def test_positions_have_full_row_rank():
    dataset = load_dataset(DATA / "digits_positions.json")
    rows = features(dataset)
    assert fmpq_mat(rows).rank() == len(rows) == 60
    patches = load_dataset(DATA / "digits_patches.json")
    assert dataset.scores == patches.scores


def test_two_samples():
    dataset = load_dataset(DATA / "two_samples.json")
    assert dataset.tokens == (((1, 0), (0, 0)), ((-2, 1), (0, 0)))
    assert dataset.scores == ((1, 0), (1, 0))


@pytest.mark.parametrize("T", [3, 5])
def test_plane(T):
    dataset = load_dataset(DATA / f"plane_{T}_tokens.npz")
    assert (dataset.n, dataset.d, dataset.lengths) == (2, 2, (T, T))


def test_local_convergence():
    path = DATA / "local_convergence.npz"
    trials = load_datasets(path)
    assert [(t.n, t.d, set(t.lengths)) for t in trials] == [(6, 10, {8})] * 50
    assert load_dataset(path, 7).fingerprint == trials[7].fingerprint
    assert load_start(path, 7).shape == (10, 10)
    assert [part.shape for part in load_factored_start(path, 7)] == [(10, 10)] * 2
    selected = load_array(path, "selected_W", 7)
    assert selected.shape == (6,) and set(selected) <= set(range(8))


def test_every_data_file_is_listed():
    listed = (DATA / "README.md").read_text(encoding="utf-8")
    files = [path.name for path in DATA.iterdir() if path.name != "README.md"]
    assert len(files) >= 6
    for name in files:
        assert f"| `{name}` |" in listed
