import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpz
from hypothesis import given
from hypothesis import strategies as st
from io_samples import (
    PLAIN,
    RAGGED,
    RNG,
    SMALL,
    STACK,
    V,
    X,
    Y,
    Z,
    json_file,
    npy,
    npz_file,
    refused,
)

from conditions import AttentionDataset
from verifier.io import (
    load_array,
    load_dataset,
    load_datasets,
    load_factored_start,
    load_npy,
    load_start,
    save_dataset,
)

# Round trips ---------------------------------------------------------------------------------

exact = st.one_of(st.fractions(), st.floats(allow_nan=False, allow_infinity=False).map(Fraction),
                  st.integers(-10**30, 10**30).map(Fraction))
floats = st.floats(allow_nan=False, allow_infinity=False)


def datasets_of(entries):
    def of(d):
        vector = st.lists(entries, min_size=d, max_size=d)
        tokens = st.lists(vector, min_size=2, max_size=4)
        sample = st.tuples(tokens, st.sampled_from([1, -1]), vector)
        return st.builds(
            lambda samples, v: AttentionDataset.build(*map(list, zip(*samples, strict=True)), v),
            st.lists(sample, min_size=1, max_size=3), vector)
    return st.integers(1, 3).flatmap(of)


@given(datasets_of(exact))
def test_json_round_trip_is_exact(tmp_path_factory, dataset):
    path = tmp_path_factory.getbasetemp() / "round.json"
    save_dataset(dataset, path)
    assert load_dataset(path).fingerprint == dataset.fingerprint


@given(datasets_of(floats))
def test_npz_round_trip_is_exact(tmp_path_factory, dataset):
    path = tmp_path_factory.getbasetemp() / "round.npz"
    save_dataset(dataset, path)
    assert load_dataset(path).fingerprint == dataset.fingerprint


@pytest.mark.parametrize("suffix", ["npz", "json", "JSON"])
def test_stacks_round_trip(tmp_path, suffix):
    full = AttentionDataset.build(X, Y, Z, V)
    path = tmp_path / f"stack.{suffix}"
    save_dataset([full, RAGGED], path)
    assert [t.fingerprint for t in load_datasets(path)] == [full.fingerprint, RAGGED.fingerprint]
    assert load_dataset(path, 1).fingerprint == RAGGED.fingerprint
    save_dataset([RAGGED], path)
    assert load_dataset(path).fingerprint == RAGGED.fingerprint
    assert [t.fingerprint for t in load_datasets(path)] == [RAGGED.fingerprint]


def test_json_stacks_need_no_common_shape(tmp_path):
    trials = [RAGGED, AttentionDataset.build(**SMALL),
              AttentionDataset.build([[[1], [2]]], [1], [[3]], [4])]
    save_dataset(trials, tmp_path / "stack.json")
    assert [t.fingerprint for t in load_datasets(tmp_path / "stack.json")] == [
        t.fingerprint for t in trials]
    refused(save_dataset, trials, tmp_path / "stack.npz", name="datasets[1]", match=r"\.json")


def test_npz_holds_floats_only(tmp_path):
    thirds = AttentionDataset.build(**{**SMALL, "z": [[1, "1/3"]]})
    refused(save_dataset, thirds, tmp_path / "a.npz", name="z[0][1]", match=r"1/3.*save to \.json")
    refused(save_dataset, [thirds], tmp_path / "a.npz", name="z[0][0][1]")
    huge = AttentionDataset.build(**{**SMALL, "v": [1, "1e400"]})
    refused(save_dataset, huge, tmp_path / "a.npz", name="v[1]")
    assert not list(tmp_path.iterdir())


def test_save_refuses(tmp_path):
    refused(save_dataset, RAGGED, tmp_path / "a.txt", name="output file")
    refused(save_dataset, [], tmp_path / "a.json", name="datasets")
    endless = replace(AttentionDataset.build(**SMALL), head=(fmpq(1), fmpq(fmpz(10)**100_000)))
    refused(save_dataset, endless, tmp_path / "a.json", name="v[1]")


# What is accepted ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8", ">f8", ">f4", "<i8", ">i2", "|i1", "|u1",
                                   "<u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_real_type(tmp_path, dtype, order):
    whole = np.asarray(np.abs(X) * 9, dtype=dtype, order=order)
    path = npz_file(tmp_path, {**PLAIN, "X": whole, "Y": Y.astype(np.float16)})
    assert load_dataset(path).fingerprint == AttentionDataset.build(whole, Y, Z, V).fingerprint


def test_json_numbers_are_taken_as_spelled(tmp_path):
    path = json_file(tmp_path, '{"X": [[[0.1, "1/3"], ["-0x1.8p+1", 1e-3]]], "Y": [1.0], '
                               '"z": [["0.1", 12345678901234567890123]], "v": [-0, 2.50]}')
    expected = AttentionDataset.build(
        [[["1/10", "1/3"], [-3, "1/1000"]]], [1], [["1/10", 12345678901234567890123]], [0, "5/2"])
    assert load_dataset(path).fingerprint == expected.fingerprint


def test_byte_order_mark(tmp_path):
    path = json_file(tmp_path, b"\xef\xbb\xbf" + json.dumps(SMALL).encode())
    assert load_dataset(path).d == 2


def test_padding(tmp_path):
    padded = X.copy()
    padded[1, 2:] = np.nan
    padded[2, 3:] = np.inf
    path = npz_file(tmp_path, {**PLAIN, "X": padded, "lengths": np.array([4, 2, 3])})
    assert load_dataset(path).fingerprint == RAGGED.fingerprint
    path = json_file(tmp_path, {**{k: a.tolist() for k, a in PLAIN.items()}, "lengths": [4, 2, 3]})
    assert load_dataset(path).fingerprint == RAGGED.fingerprint


@pytest.mark.parametrize("index", [2, -1, [0, 1, -1]])
def test_query_index_means_self_attention(tmp_path, index):
    arrays = {"X": X, "Y": Y, "v": V, "query_index": np.array(index),
              "lengths": np.array([4, 3, 3])}
    ragged = [X[0], X[1][:3], X[2][:3]]
    expected = AttentionDataset.self_attention(ragged, Y, V, index).fingerprint
    assert load_dataset(npz_file(tmp_path, arrays)).fingerprint == expected
    document = {name: array.tolist() for name, array in arrays.items()}
    assert load_dataset(json_file(tmp_path, document)).fingerprint == expected


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("labels", [Y, np.array([[1, -1, 1, 1], [1, 1, -1, 1], [-1, 1, 1, 1]])])
def test_causal_means_that_every_position_predicts(tmp_path, causal, labels):
    arrays = {"X": X, "Y": labels, "v": V, "lengths": np.array([4, 3, 3])}
    ragged = [X[0], X[1][:3], X[2][:3]]
    build = AttentionDataset.causal if causal else AttentionDataset.every_position
    cut = [y[:len(x)] if labels.ndim > 1 else y for x, y in zip(ragged, labels, strict=True)]
    expected = build(ragged, cut, V)
    document = {name: array.tolist() for name, array in arrays.items()}
    for path in (npz_file(tmp_path, {**arrays, "causal": causal}),
                 npz_file(tmp_path, {**arrays, "causal": np.array(int(causal))}),
                 json_file(tmp_path, {**document, "causal": causal}),
                 json_file(tmp_path, {**document, "causal": int(causal)})):
        loaded = load_dataset(path)
        assert loaded.fingerprint == expected.fingerprint
        assert loaded.origins == expected.origins


def test_stacks_of_sequences(tmp_path):
    labels = np.stack([Y, -Y])[..., None] * np.ones((1, 1, 4))
    for y in (STACK["Y"], labels):
        path = npz_file(tmp_path, {"X": STACK["X"], "Y": y, "v": V, "causal": np.array(True)})
        assert [t.fingerprint for t in load_datasets(path)] == [
            AttentionDataset.causal(x, s * Y, V).fingerprint
            for x, s in zip(STACK["X"], (1, -1), strict=True)]
    bad = labels.copy()
    bad[1, 2, 3] = 0
    refused(load_datasets, npz_file(tmp_path, {"X": STACK["X"], "Y": bad, "v": V,
                                               "causal": np.array(True)}), name="Y[1][2][3]")


@pytest.mark.parametrize(("changes", "name"), [
    ({"causal": 2}, "causal"), ({"causal": "yes"}, "causal"), ({"causal": None}, "causal"),
    ({"causal": 0.5}, "causal"), ({"causal": [True]}, "causal"), ({"causual": True}, "field"),
    ({"causal": True, "query_index": 0}, "z"), ({"causal": True, "z": [[1, 2]]}, "z"),
    ({"causal": True, "origins": [[0, 1]]}, "origins"), ({"causal": True, "X": 3}, "X"),
    ({"causal": True, "Y": [[1, 1, 1]]}, "Y[0]"), ({"causal": True, "X": [[[1, 0]]]}, "X[0]"),
    ({"causal": True, "Y": [[1, 3]]}, "Y[0][1]"), ({"causal": True, "v": 1}, "v")])
def test_causal_is_refused_by_name(tmp_path, changes, name):
    document = {key: SMALL[key] for key in ("X", "Y", "v")}
    refused(load_dataset, json_file(tmp_path, {**document, **changes}), name=name)


def test_sequences_that_expand_too_far_are_refused(tmp_path):
    arrays = {"X": np.zeros((1, 6000, 1)), "Y": np.array([1]), "v": np.array([1])}
    for causal in (True, False):
        refused(load_dataset, npz_file(tmp_path, {**arrays, "causal": np.array(causal)}),
                name="data", match="every position")


def test_only_the_flag_may_be_a_boolean_array(tmp_path):
    refused(load_dataset, npz_file(tmp_path, {**PLAIN, "Y": np.array([True] * 3)}), name="Y")


def test_origins_ride_along(tmp_path):
    dataset = AttentionDataset.causal(X, Y, V)
    for suffix in ("npz", "json"):
        path = tmp_path / f"a.{suffix}"
        save_dataset(dataset, path)
        loaded = load_dataset(path)
        assert loaded.origins == dataset.origins and loaded.fingerprint == dataset.fingerprint
        save_dataset([dataset, dataset], path)
        assert [t.origins for t in load_datasets(path)] == [dataset.origins] * 2
        save_dataset(RAGGED, path)
        assert load_dataset(path).origins is None
    for origins, name in (([[0, 1]] * 2, "origins"), ([[0, -1]], "origins[0]"),
                          ([[0]], "origins"), ([[0, "x"]], "origins[0][1]"), (["x"], "origins"),
                          ([[0, 1, 2]], "origins[0]"), (3, "origins")):
        refused(load_dataset, json_file(tmp_path, {**SMALL, "origins": origins}),
                match=r"origins" if name == "origins" else None,
                name=None if name == "origins" else name)


def test_stacks_share_what_has_no_trial_axis(tmp_path):
    arrays = {"X": STACK["X"], "Y": Y, "z": Z, "v": V, "lengths": np.array([[4, 2, 3], [4, 4, 4]])}
    expected = [RAGGED.fingerprint, AttentionDataset.build(2 * X, Y, Z, V).fingerprint]
    paths = (npz_file(tmp_path, arrays),
             json_file(tmp_path, {name: array.tolist() for name, array in arrays.items()}))
    for path in paths:
        assert [t.fingerprint for t in load_datasets(path)] == expected
        assert load_dataset(path, np.int64(1)).fingerprint == expected[1]


def test_certificates_are_data(tmp_path):
    certificate = {"format": "attsvm-certificate", "version": 1, "dataset": SMALL, "run": None,
                   "verdicts": []}
    expected = AttentionDataset.build(**SMALL).fingerprint
    assert load_dataset(json_file(tmp_path, certificate)).fingerprint == expected
    for changes, name in (({"format": "other"}, "format"), ({"version": 2}, "version"),
                          ({"dataset": None}, "dataset"), ({"dataset": [SMALL]}, "dataset"),
                          ({"dataset": {**SMALL, "lengths": [2]}}, "dataset")):
        refused(load_dataset, json_file(tmp_path, {**certificate, **changes}), name=name)


def test_links_are_followed(tmp_path):
    (tmp_path / "link.npz").symlink_to(npz_file(tmp_path, PLAIN))
    assert load_dataset(tmp_path / "link.npz").n == 3


# Further arrays --------------------------------------------------------------------------------


def test_starts_come_with_the_data(tmp_path):
    W0, K0 = RNG.normal(size=(2, 2, 2)), RNG.normal(size=(2, 1))
    path = npz_file(tmp_path, {**STACK, "W0": W0, "K0": K0, "Q0": 2 * K0,
                               "selected_W": np.array([[0, 1, 2], [3, 2, 1]])})
    assert np.array_equal(load_start(path, 1), W0[1])
    K, Q = load_factored_start(path, 0)
    assert np.array_equal(K, K0) and np.array_equal(Q, 2 * K0)
    assert load_array(path, "selected_W", 1).tolist() == [3, 2, 1]
    assert load_array(path, "selected_W").shape == (2, 3)
    refused(load_start, path, name="trial")
    refused(load_array, path, "seed", name="seed")
    path = json_file(tmp_path, {**SMALL, "W0": [[1, 0.5], ["0x1p-3", "1/4"]]})
    assert load_start(path).tolist() == [[1, 0.5], [0.125, 0.25]]
    assert load_start(path).dtype == np.float64
    assert load_array(path, "W0").shape == (2, 2)
    refused(load_start, path, 0, name="trial")
    refused(load_array, path, "W0", 0, name="trial")


@pytest.mark.parametrize(("start", "name"), [
    ([[1, 2]], "W0"), ([[1, 2], [3]], "W0"), ([1, 2], "W0"), (3, "W0"),
    ([[1, 2, 3], [4, 5, 6]], "W0"),
    ([[1, 2], [3, 0.1]], "W0[1][1]"), ([[1, 2], [3, "1/3"]], "W0[1][1]"), ([[1, 2], None], "W0[1]"),
    ([[1, 2], [3, True]], "W0[1][1]"), ("x", "W0"), ([[1, 2], ["1e400", 1]], "W0[1][0]"),
    ([[[1, 2], [3, 4]]], "W0"), ([], "W0")])
def test_starts_are_refused_by_name(tmp_path, start, name):
    refused(load_start, json_file(tmp_path, {**SMALL, "W0": start}), name=name)


def test_starts_in_arrays_are_refused_by_name(tmp_path):
    for start, name in ((np.eye(3), "W0"), (np.array([[1, np.nan], [0, 1]]), "W0[0][1]"),
                        (np.array([[1, 2**53 + 1], [0, 1]]), "W0"), (np.ones(2), "W0")):
        refused(load_start, npz_file(tmp_path, {**PLAIN, "W0": start}), name=name)
    refused(load_start, npz_file(tmp_path, PLAIN), name="W0")
    path = npz_file(tmp_path, {**PLAIN, "K0": np.ones((2, 1)), "Q0": np.ones((2, 2))})
    refused(load_factored_start, path, name="Q0")
    path = npz_file(tmp_path, {**STACK, "seed": np.arange(3), "one": np.array(1)})
    refused(load_array, path, "seed", 1, name="seed")
    refused(load_array, path, "one", 1, name="one")


def test_npy(tmp_path):
    np.save(tmp_path / "w.npy", np.eye(2, dtype=np.float32))
    assert load_npy(tmp_path / "w.npy").tolist() == [[1, 0], [0, 1]]
    for payload in (npy(np.eye(2))[:-1], npy(np.eye(2)) + b"\0", npy(np.eye(2) * 1j), b"x",
                    npy(np.array([None]))[:60]):
        (tmp_path / "w.npy").write_bytes(payload)
        refused(load_npy, tmp_path / "w.npy", "start", name="start")


# What is refused: fields -----------------------------------------------------------------------


@pytest.mark.parametrize("trial", [2, -1, True, 1.0, "0", None])
def test_trials_are_checked(tmp_path, trial):
    refused(load_dataset, npz_file(tmp_path, STACK), trial, name="trial", match="stack of 2")


def test_a_single_dataset_has_no_trials(tmp_path):
    path = npz_file(tmp_path, PLAIN)
    for trial in (0, 1, -1):
        refused(load_dataset, path, trial, name="trial", match="one dataset and no stack")
    one = npz_file(tmp_path, {name: array[:1] for name, array in STACK.items()})
    assert load_dataset(one).fingerprint == load_dataset(one, 0).fingerprint
    refused(load_dataset, one, 1, name="trial", match="stack of 1")


def nan_at(*where):
    array = X.copy()
    array[where] = np.nan
    return array


@pytest.mark.parametrize(("changes", "name"), [
    ({"X": None}, "X"), ({"Y": None}, "Y"), ({"v": None}, "v"), ({"z": None}, "z"),
    ({"query_index": np.array(0)}, "z"), ({"lenghts": np.array([4, 2, 3])}, "field"),
    ({"length": np.array([4, 2, 3])}, "field"), ({"Lengths": np.array([4, 2, 3])}, "field"),
    ({"X": X[0]}, "X"), ({"X": X[None, None]}, "X"), ({"X": X[:, :1]}, "X[0]"),
    ({"X": X[:2]}, "Y"), ({"X": np.concatenate([X, X], 2)}, "X[0][0]"),
    ({"X": nan_at(2, 3, 1)}, "X[2][3][1]"), ({"X": np.zeros((3, 0, 2))}, "X"),
    ({"Y": np.array([1, 0, 1])}, "Y[1]"), ({"Y": np.array([1, -1, 0.5])}, "Y[2]"),
    ({"Y": np.array(1)}, "Y"), ({"Y": Y[:, None]}, "Y"), ({"Y": Y[:2]}, "Y"),
    ({"Y": np.array([1, np.inf, 1])}, "Y[1]"),
    ({"z": Z[0]}, "z"), ({"z": Z[:, :1]}, "z[0]"), ({"z": Z[:2]}, "z"), ({"z": Z[None]}, "z"),
    ({"v": V[:1]}, "X[0][0]"), ({"v": V[None]}, "v"), ({"v": np.array(1.0)}, "v"),
    ({"lengths": np.array([4, 1, 3])}, "lengths[1]"),
    ({"lengths": np.array([4, 5, 3])}, "lengths[1]"),
    ({"lengths": np.array([4, 2])}, "lengths"), ({"lengths": np.array([4, 2.5, 3])}, "lengths[1]"),
    ({"lengths": np.array([4, np.nan, 3])}, "lengths[1]"), ({"lengths": np.array(4)}, "lengths"),
    ({"z": None, "query_index": np.array([0, 4, 0])}, "query_index[1]"),
    ({"z": None, "query_index": np.array([0, 0])}, "query_index"),
    ({"z": None, "query_index": np.array(0.5)}, "query_index")])
def test_fields_are_refused_by_name(tmp_path, changes, name):
    arrays = {key: a for key, a in {**PLAIN, **changes}.items() if a is not None}
    refused(load_dataset, npz_file(tmp_path, arrays), name=name)


@pytest.mark.parametrize(("changes", "name"), [
    ({"Y": STACK["Y"][:1]}, "Y"), ({"z": np.stack([Z] * 3)}, "z"),
    ({"X": np.stack([X, nan_at(0, 1, 0)])}, "X[1][0][1][0]"),
    ({"Y": np.array([[1, 1, 1], [1, 2, 1]])}, "Y[1][1]"), ({"Y": np.array([1, 2, 1])}, "Y[1]"),
    ({"v": np.array([[1.0, 1], [1, np.nan]])}, "v[1][1]"), ({"v": np.ones((2, 3))}, "X[0][0][0]")])
def test_stacks_are_refused_by_name(tmp_path, changes, name):
    refused(load_datasets, npz_file(tmp_path, {**STACK, **changes}), name=name)


@pytest.mark.parametrize(("changes", "name"), [
    ({"X": []}, "X"), ({"X": [[[1, 0], [0]]]}, "X[0][1]"), ({"X": [[[1, 0], 3]]}, "X[0][1]"),
    ({"X": [[[1, 0], [0, "x"]]]}, "X[0][1][1]"), ({"X": [[[1, 0], [0, None]]]}, "X[0][1][1]"),
    ({"X": [[[1, 0], [0, True]]]}, "X[0][1][1]"), ({"X": [[[1, 0], [0, {}]]]}, "X[0][1][1]"),
    ({"X": [[[1, 0], [0, [1]]]]}, "X[0][1][1]"), ({"X": [[[1, 0]]]}, "X[0]"), ({"X": "x"}, "X"),
    ({"X": {"0": 1}}, "X"), ({"Y": ["1/2"]}, "Y[0]"), ({"Y": [None]}, "Y[0]"), ({"Y": 1}, "Y"),
    ({"z": [["1/0", 1]]}, "z[0][0]"), ({"z": None}, "z"), ({"v": []}, "v"),
    ({"v": ["1e30000", 1]}, "v[0]"),
    ({"lengths": ["x"]}, "lengths[0]"), ({"lengths": [True]}, "lengths[0]"),
    ({"lengths": []}, "lengths"),
    ({"X": ["a", "b"], "lengths": [2, 2]}, "X"),
    ({"X": [[[1, 0], [0, 1]], 3], "lengths": [2, 2]}, "X[1]"),
    ({"query_index": 0}, "z"), ({"query_indx": 0}, "field")])
def test_json_is_refused_by_name(tmp_path, changes, name):
    refused(load_dataset, json_file(tmp_path, {**SMALL, **changes}), name=name)
