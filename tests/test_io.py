import io
import json
import os
import random
import stat
import struct
import time
import zipfile
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conditions import AttentionDataset, InvalidInput
from verifier.io import (
    fields,
    files,
    json_data,
    load_array,
    load_dataset,
    load_datasets,
    load_factored_start,
    load_npy,
    load_start,
    npz,
    save_dataset,
    write_atomically,
)

RNG = np.random.default_rng(7)
X = RNG.normal(size=(3, 4, 2))
Y = np.array([1, -1, 1])
Z = RNG.normal(size=(3, 2))
V = RNG.normal(size=2)
PLAIN = {"X": X, "Y": Y, "z": Z, "v": V}
STACK = {"X": np.stack([X, 2 * X]), "Y": np.stack([Y, -Y]), "z": np.stack([Z, 3 * Z]),
         "v": np.stack([V, -V])}
RAGGED = AttentionDataset.build([X[0], X[1][:2], X[2][:3]], Y, Z, V)
SMALL = {"X": [[[1, 0], [0, 1]]], "Y": [1], "z": [[1, 2]], "v": [1, 3]}


def npz_file(folder, arrays, name="data.npz"):
    np.savez(folder / name, **arrays)
    return folder / name


def json_file(folder, document, name="data.json"):
    text = document if isinstance(document, str | bytes) else json.dumps(document)
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


def zip_file(folder, entries, name="data.npz", method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(folder / name, "w", method) as archive:
        for entry, payload in entries.items():
            archive.writestr(entry, payload)
    return folder / name


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npy_with(header, data=b"", version=1):
    width = "<H" if version == 1 else "<I"
    text = header.encode("latin1")
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack(width, len(text)) + text + data


def refused(call, *arguments, name=None, match=None):
    with pytest.raises(InvalidInput, match=match) as caught:
        call(*arguments)
    assert len(str(caught.value).splitlines()) == 1
    if name is not None:
        assert caught.value.name == name
    return caught.value


# Round trips ---------------------------------------------------------------------------------

exact = st.one_of(st.fractions(), st.floats(allow_nan=False, allow_infinity=False).map(Fraction),
                  st.integers(-10**30, 10**30).map(Fraction))
floats = st.floats(allow_nan=False, allow_infinity=False)


def datasets_of(entries):
    def of(d):
        vector = st.lists(entries, min_size=d, max_size=d)
        sample = st.tuples(st.lists(vector, min_size=2, max_size=4), st.sampled_from([1, -1]), vector)
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
    trials = [RAGGED, AttentionDataset.build(**SMALL), AttentionDataset.build([[[1], [2]]], [1], [[3]], [4])]
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
    endless = AttentionDataset.build(**{**SMALL, "v": [1, 10**100_000]})
    refused(save_dataset, endless, tmp_path / "a.json", name="v[1]")


# What is accepted ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8", ">f8", ">f4", "<i8", ">i2", "|i1", "|u1", "<u8"])
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
    arrays = {"X": X, "Y": Y, "v": V, "query_index": np.array(index), "lengths": np.array([4, 3, 3])}
    ragged = [X[0], X[1][:3], X[2][:3]]
    expected = AttentionDataset.self_attention(ragged, Y, V, index).fingerprint
    assert load_dataset(npz_file(tmp_path, arrays)).fingerprint == expected
    document = {name: array.tolist() for name, array in arrays.items()}
    assert load_dataset(json_file(tmp_path, document)).fingerprint == expected


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
    assert load_start(path, 0).dtype == np.float64
    assert load_array(path, "W0", 0).shape == (2, 2)


@pytest.mark.parametrize(("start", "name"), [
    ([[1, 2]], "W0"), ([[1, 2], [3]], "W0"), ([1, 2], "W0"), (3, "W0"), ([[1, 2, 3], [4, 5, 6]], "W0"),
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


def test_a_single_dataset_is_trial_0(tmp_path):
    path = npz_file(tmp_path, PLAIN)
    assert load_dataset(path, 0).fingerprint == load_dataset(path).fingerprint
    refused(load_dataset, path, 1, name="trial")


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
    ({"lengths": np.array([4, 1, 3])}, "lengths[1]"), ({"lengths": np.array([4, 5, 3])}, "lengths[1]"),
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
    ({"z": [["1/0", 1]]}, "z[0][0]"), ({"z": None}, "z"), ({"v": []}, "v"), ({"v": ["1e30000", 1]}, "v[0]"),
    ({"lengths": ["x"]}, "lengths[0]"), ({"lengths": [True]}, "lengths[0]"), ({"lengths": []}, "lengths"),
    ({"X": ["a", "b"], "lengths": [2, 2]}, "X"), ({"X": [[[1, 0], [0, 1]], 3], "lengths": [2, 2]}, "X[1]"),
    ({"query_index": 0}, "z"), ({"query_indx": 0}, "field")])
def test_json_is_refused_by_name(tmp_path, changes, name):
    refused(load_dataset, json_file(tmp_path, {**SMALL, **changes}), name=name)


# What is refused: files ------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["npz", "json"])
def test_what_is_no_file(tmp_path, suffix):
    path = tmp_path / f"data.{suffix}"
    refused(load_dataset, path, name="data file", match="must exist")
    path.write_bytes(b"")
    refused(load_dataset, path, name="data file", match="must not be empty")
    path.unlink()
    path.mkdir()
    refused(load_dataset, path, name="data file", match="regular file|directory")
    refused(load_dataset, path / "x" / f"y.{suffix}", match="must exist")
    refused(load_dataset, f"a\0b.{suffix}", match="spell")
    refused(load_dataset, f"a\ud800b.{suffix}", match="spell")
    refused(load_dataset, f"{'x' * 5000}.{suffix}", match="readable")
    loop = tmp_path / f"loop.{suffix}"
    loop.symlink_to(loop)
    refused(load_dataset, loop, match="readable")
    refused(load_dataset, tmp_path / "data.txt", match=r"\.npz or \.json")
    refused(load_dataset, tmp_path / "data", match=r"\.npz or \.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("suffix", ["npz", "json"])
def test_a_pipe_is_refused_without_waiting(tmp_path, suffix):
    os.mkfifo(tmp_path / f"pipe.{suffix}")
    refused(load_dataset, tmp_path / f"pipe.{suffix}", match="regular file")
    refused(write_atomically, tmp_path / f"pipe.{suffix}", "x", match="device or pipe")


@pytest.mark.parametrize("suffix", ["npz", "json"])
def test_permission_denied(tmp_path, monkeypatch, suffix):
    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.os, "open", denied)
    refused(load_dataset, tmp_path / f"data.{suffix}", match="Permission denied")


@pytest.mark.parametrize("text", [
    "{", "[", "", " ", "null", "3", '"x"', "[1]", "[]", "{}", '{"X": }', "{'X': 1}", '{"X": 01}',
    '{"X": 1,}', '{"X": NaN}', '{"X": -Infinity}', '{"X": 1} x', '{"X": [1], "X": [2]}',
    '{"a": {"b": 1, "b": 2}}', '{"X": "\x01"}', '{"X": "\\ud8', b"\xff\xfe{\0}\0", b'{"\xff": 1}',
    b"\0", "[" * 100_000, '{"X": ' + "[" * 50 + "]" * 50 + "}", '{"a":' * 500 + "1" + "}" * 500])
def test_damaged_json(tmp_path, text):
    refused(load_dataset, json_file(tmp_path, text or b" "))


def test_depth_is_counted(tmp_path):
    path = json_file(tmp_path, json.dumps({**SMALL, "deep": None}).replace(
        "null", "[" * 31 + "]" * 31))
    assert load_dataset(path).n == 1
    path = json_file(tmp_path, path.read_text().replace("[[[[[", "[[[[[[").replace("]]]]]", "]]]]]]"))
    refused(load_dataset, path, match="deeper than 32")


def test_enormous_numbers_are_refused_at_once(tmp_path):
    for digits in ("9" * 10**8, "0." + "9" * 10**7, f'"{"9" * 10**7}"'):
        path = json_file(tmp_path, json.dumps(SMALL).replace("3", digits))
        begin = time.perf_counter()
        refused(load_dataset, path, name="v[1]", match="100,000 characters")
        assert time.perf_counter() - begin < 10
        path.unlink()


def test_many_numbers_with_large_exponents_are_refused(tmp_path):
    path = json_file(tmp_path, {**SMALL, "v": ["1e20000"] * 20_000})
    refused(load_dataset, path, match="large exponents")
    hexadecimal = json_file(tmp_path, {**SMALL, "extra": ["0x1.e1234p+3"] * 20_000})
    assert load_dataset(hexadecimal).n == 1


def test_limits_of_size(tmp_path, monkeypatch):
    path = json_file(tmp_path, SMALL)
    monkeypatch.setattr(json_data, "MAX_VALUES", 5)
    refused(load_dataset, path, match="at most 5 values")
    monkeypatch.setattr(json_data, "MAX_BYTES", 10)
    refused(load_dataset, path, match="at most 10 bytes")
    path = npz_file(tmp_path, STACK)
    monkeypatch.setattr(fields, "MAX_NUMBERS", 24 + 3 + 6 + 2)
    assert load_dataset(path, 1).n == 3
    refused(load_datasets, path, match="70 numbers")
    monkeypatch.setattr(fields, "MAX_FIELDS", 3)
    refused(load_dataset, path, 1, name="fields")
    monkeypatch.setattr(npz, "MAX_BYTES", 600)
    refused(load_dataset, path, match="at most 600 bytes")


def test_memory_errors_are_reported(tmp_path, monkeypatch):
    def exhausted(*_):
        raise MemoryError

    monkeypatch.setattr(fields, "read_json", exhausted)
    refused(load_dataset, tmp_path / "a.json", match="fit in memory")


# What is refused: archives ---------------------------------------------------------------------


@pytest.mark.parametrize("array", [
    np.array([None]), np.array([[1, "x"]], dtype=object), np.array(["1"]), np.array([b"1"]),
    np.array([True, False]), np.array([1j]), np.array([1.0], dtype=np.longdouble),
    np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), np.array(["2020-01-01"], dtype="M8[D]"),
    np.zeros(1, dtype="V4")], ids=lambda array: str(array.dtype))
def test_types_that_are_no_numbers(tmp_path, array):
    refused(load_dataset, npz_file(tmp_path, {**PLAIN, "v": array}), name="v")


def test_nothing_is_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "sprung"),))

    trap = np.empty((3, 4, 2), dtype=object)
    trap[:] = Trap()
    refused(load_dataset, npz_file(tmp_path, {**PLAIN, "X": trap}), name="X")
    assert not (tmp_path / "sprung").exists()


HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4, 2), }"


@pytest.mark.parametrize("payload", [
    npy_with(HEADER, X.tobytes()), npy_with(HEADER, X.tobytes(), 2), npy_with(HEADER, X.tobytes(), 3),
    npy_with("{ 'shape':(3,4,2),'descr' :'<f8' , 'fortran_order':False}  \n", X.tobytes()),
    npy_with(HEADER.replace("False", "True"), X.tobytes("F"))])
def test_headers_of_other_writers(tmp_path, payload):
    path = zip_file(tmp_path, {"X.npy": payload, "Y.npy": npy(Y), "z.npy": npy(Z), "v.npy": npy(V)})
    assert load_dataset(path).fingerprint == AttentionDataset.build(X, Y, Z, V).fingerprint


@pytest.mark.parametrize("payload", [
    b"", b"\x93NUMPY", npy_with("", X.tobytes()), npy_with(HEADER, X.tobytes(), 9),
    npy_with(HEADER, X.tobytes()[:-1]), npy_with(HEADER, X.tobytes() + b"\0"), npy_with(HEADER),
    npy_with(HEADER.replace("3, 4, 2", "10**9,")), npy_with(HEADER.replace("3, 4, 2", "999999999999,")),
    npy_with(HEADER.replace("3, 4, 2", "9" * 19 + ",")), npy_with(HEADER.replace("3, 4, 2", "1, " * 40)),
    npy_with(HEADER.replace("3, 4, 2", "-1, 4, 2"), X.tobytes()),
    npy_with(HEADER.replace("3, 4, 2", "0, 999999999999999")),
    npy_with(HEADER.replace("3, 4, 2", "3 4, 2"), X.tobytes()),
    npy_with(HEADER.replace("<f8", "|O"), X.tobytes()), npy_with(HEADER.replace("False", "0"), X.tobytes()),
    npy_with(HEADER.replace("'shape'", "'descr'"), X.tobytes()),
    npy_with(HEADER.replace("'shape': (3, 4, 2), ", ""), X.tobytes()),
    npy_with("__import__('os').abort()"), npy_with("{" * 9000), npy_with(" " * 60_000, X.tobytes()),
    npy_with("{" + " " * 9_990 + "'", X.tobytes()), npy_with(HEADER, X.tobytes())[:40]])
def test_damaged_arrays(tmp_path, payload):
    path = zip_file(tmp_path, {"X.npy": payload, "Y.npy": npy(Y), "z.npy": npy(Z), "v.npy": npy(V)})
    refused(load_dataset, path, name="X")


def bytes_of(folder, arrays=PLAIN):
    return npz_file(folder, arrays).read_bytes()


def test_archives_that_are_none(tmp_path):
    path = tmp_path / "data.npz"
    whole = bytes_of(tmp_path)
    for content in (b"x", b"PK\x05\x06" + bytes(18), b"x" * 1000, npy(X), json.dumps(SMALL).encode(),
                    whole[:-1], whole[:-22], whole[22:], whole + b"\0" * 30):
        path.write_bytes(content)
        refused(load_dataset, path)


def test_odd_members(tmp_path):
    entries = {f"{name}.npy": npy(array) for name, array in PLAIN.items()}
    refused(load_dataset, zip_file(tmp_path, {**entries, "README": b"x"}), match=r"\.npy entries")
    refused(load_dataset, zip_file(tmp_path, entries, method=zipfile.ZIP_BZIP2), match="deflated")
    path = zip_file(tmp_path, entries)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("X.npy", npy(2 * X))
    refused(load_dataset, path, match="not two")
    many = {f"a{i}.npy": b"" for i in range(npz.MAX_MEMBERS + 1)}
    refused(load_dataset, zip_file(tmp_path, many), match="at most 1000 arrays")


def test_encrypted_members(tmp_path):
    content = bytearray(bytes_of(tmp_path))
    content[content.find(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "data.npz").write_bytes(content)
    refused(load_dataset, tmp_path / "data.npz", match="encrypted")


def test_bombs_are_refused_before_they_expand(tmp_path):
    entries = {f"{name}.npy": npy(array) for name, array in PLAIN.items()}
    bomb = {**entries, "W0.npy": bytes(npz.BOMB_BYTES)}
    path = zip_file(tmp_path, bomb, method=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 1 << 18
    refused(load_dataset, path, match="must not expand")
    zeros = zip_file(tmp_path, {**entries, "W0.npy": npy(np.zeros((2, 2)))},
                     method=zipfile.ZIP_DEFLATED)
    assert load_start(zeros).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("declared", [200, 1 << 20, (1 << 30) + 1, 0xFFFFFFFE])
def test_declared_sizes_are_not_believed(tmp_path, declared):
    path = zip_file(tmp_path, {"X.npy": npy(np.zeros((3, 400, 2))), "Y.npy": npy(Y), "z.npy": npy(Z),
                               "v.npy": npy(V)}, method=zipfile.ZIP_DEFLATED)
    content = bytearray(path.read_bytes())
    place = content.find(b"PK\x01\x02") + 24
    content[place:place + 4] = struct.pack("<I", declared)
    path.write_bytes(content)
    refused(load_dataset, path)


def mutated(rng, content):
    """*content* with a few bytes flipped, dropped, added, or cut off."""
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 5])):
        place = rng.randrange(len(changed))
        action = rng.randrange(5)
        if action <= 1:
            changed[place] ^= 1 << rng.randrange(8)
        elif action == 2:
            del changed[place:place + rng.randrange(1, 9)]
        elif action == 3:
            changed[place:place + 4] = rng.choice([b"\xff" * 4, b"\0" * 4, b"]", b"9e9", b"\0\0\0\x80"])
        else:
            del changed[max(place, 1):]
        changed = changed or bytearray(b"x")
    return bytes(changed)


@pytest.mark.parametrize("kind", ["stored", "deflated", "directory", "header", "json"])
def test_damage_is_refused_or_harmless(tmp_path, kind):
    rng = random.Random(kind)
    save_dataset([RAGGED, RAGGED], tmp_path / "good.npz")
    save_dataset([RAGGED, RAGGED], tmp_path / "good.json")
    with zipfile.ZipFile(tmp_path / "good.npz") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    deflated = (tmp_path / "good.npz").read_bytes()
    stored = zip_file(tmp_path, entries).read_bytes()
    text = (tmp_path / "good.json").read_bytes()
    path = tmp_path / ("data.json" if kind == "json" else "data.npz")
    directory = stored.find(b"PK\x01\x02")
    outcomes = {"refused": 0, "same": 0, "other": 0}
    for _ in range(800):
        if kind == "header":
            header = mutated(rng, entries["X.npy"][:128]) + entries["X.npy"][128:]
            zip_file(tmp_path, {**entries, "X.npy": header})
        else:
            path.write_bytes({
                "stored": lambda: mutated(rng, stored), "deflated": lambda: mutated(rng, deflated),
                "directory": lambda: stored[:directory] + mutated(rng, stored[directory:]),
                "json": lambda: mutated(rng, text)}[kind]())
        try:
            trials = load_datasets(path)
        except InvalidInput as error:
            assert len(str(error).splitlines()) == 1
            outcomes["refused"] += 1
        else:
            same = [t.fingerprint for t in trials] == [RAGGED.fingerprint] * 2
            outcomes["same" if same else "other"] += 1
    assert outcomes["refused"] > 400
    # The checksums of an archive leave no room for other data.
    if kind in ("stored", "deflated", "directory"):
        assert outcomes["other"] == 0


# Writing ---------------------------------------------------------------------------------------


def test_content_of_three_kinds(tmp_path):
    for content in ("ü", "ü".encode(), lambda file: file.write("ü".encode())):
        write_atomically(tmp_path / "a", content)
        assert (tmp_path / "a").read_text(encoding="utf-8") == "ü"
        assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_text("old")

    def broken(file):
        file.write(b"half")
        raise KeyError("mine")

    def full(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(KeyError, match="mine"):
        write_atomically(path, broken)
    refused(write_atomically, path, full, name="output file", match="No space left")
    monkeypatch.setattr(files.os, "replace", full_replace)
    refused(write_atomically, path, "new", match="Permission denied")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def full_replace(*_):
    raise PermissionError(13, "Permission denied")


def test_places_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("x")
    for place in (tmp_path, tmp_path / "missing" / "a", tmp_path / "file" / "a", "", "a\0b", "/dev/null",
                  "x" * 5000, f"{tmp_path}/missing/"):
        refused(write_atomically, place, "x", name="output file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_links_are_written_through_and_permissions_kept(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o640)
    (tmp_path / "link").symlink_to("a")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    write_atomically(tmp_path / "b", "new")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o666 & ~umask
