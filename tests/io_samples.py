"""Small data and the files, whole or damaged, that the tests of `verifier.io` read."""

import io
import json
import struct
import zipfile

import numpy as np
import pytest

from conditions import AttentionDataset, InvalidInput

RNG = np.random.default_rng(7)
# Eighths, so that the decimals which JSON writes spell the same numbers.
X = RNG.integers(-99, 100, size=(3, 4, 2)) / 8
Y = np.array([1, -1, 1])
Z = RNG.integers(-99, 100, size=(3, 2)) / 8
V = RNG.integers(-99, 100, size=2) / 8
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
