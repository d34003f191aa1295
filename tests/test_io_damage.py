"""Files that nobody vouches for: what `verifier.io` refuses, and that nothing else happens."""

import json
import os
import random
import struct
import time
import zipfile

import numpy as np
import pytest
from io_samples import (
    PLAIN,
    RAGGED,
    SMALL,
    STACK,
    V,
    X,
    Y,
    Z,
    json_file,
    npy,
    npy_with,
    npz_file,
    refused,
    zip_file,
)

from conditions import AttentionDataset, InvalidInput
from verifier.io import (
    fields,
    files,
    json_data,
    load_dataset,
    load_datasets,
    load_start,
    npz,
    save_dataset,
    write_atomically,
)

# What is refused: files ------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["npz", "json"])
def test_what_is_no_file(tmp_path, suffix):
    path = tmp_path / f"data.{suffix}"
    refused(load_dataset, path, name="data file", match=f"data.{suffix}.*No such file")
    path.write_bytes(b"")
    refused(load_dataset, path, name="data file", match="must not be empty")
    path.unlink()
    path.mkdir()
    refused(load_dataset, path, name="data file", match="regular file|directory")
    refused(load_dataset, path / "x" / f"y.{suffix}", match="No such file")
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
    deeper = path.read_text().replace("[[[[[", "[[[[[[").replace("]]]]]", "]]]]]]")
    path = json_file(tmp_path, deeper)
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
    npy_with(HEADER, X.tobytes()), npy_with(HEADER, X.tobytes(), 2),
    npy_with(HEADER, X.tobytes(), 3),
    npy_with("{ 'shape':(3,4,2),'descr' :'<f8' , 'fortran_order':False}  \n", X.tobytes()),
    npy_with(HEADER.replace("False", "True"), X.tobytes("F"))])
def test_headers_of_other_writers(tmp_path, payload):
    path = zip_file(tmp_path, {"X.npy": payload, "Y.npy": npy(Y), "z.npy": npy(Z), "v.npy": npy(V)})
    assert load_dataset(path).fingerprint == AttentionDataset.build(X, Y, Z, V).fingerprint


@pytest.mark.parametrize("payload", [
    b"", b"\x93NUMPY", npy_with("", X.tobytes()), npy_with(HEADER, X.tobytes(), 9),
    npy_with(HEADER, X.tobytes()[:-1]), npy_with(HEADER, X.tobytes() + b"\0"), npy_with(HEADER),
    npy_with(HEADER.replace("3, 4, 2", "10**9,")),
    npy_with(HEADER.replace("3, 4, 2", "999999999999,")),
    npy_with(HEADER.replace("3, 4, 2", "9" * 19 + ",")),
    npy_with(HEADER.replace("3, 4, 2", "1, " * 40)),
    npy_with(HEADER.replace("3, 4, 2", "-1, 4, 2"), X.tobytes()),
    npy_with(HEADER.replace("3, 4, 2", "0, 999999999999999")),
    npy_with(HEADER.replace("3, 4, 2", "3 4, 2"), X.tobytes()),
    npy_with(HEADER.replace("<f8", "|O"), X.tobytes()),
    npy_with(HEADER.replace("False", "0"), X.tobytes()),
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
    for content in (b"x", b"PK\x05\x06" + bytes(18), b"x" * 1000,
    npy(X), json.dumps(SMALL).encode(),
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
    arrays = {**PLAIN, "X": np.zeros((3, 400, 2))}
    path = zip_file(tmp_path, {f"{name}.npy": npy(array) for name, array in arrays.items()},
                    method=zipfile.ZIP_DEFLATED)
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
            changed[place:place + 4] = rng.choice([b"\xff" * 4, b"\0" * 4, b"]", b"9e9"])
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
