"""Arrays from ``.npz`` and ``.npy`` files that nobody vouches for: no pickles, no surprises."""

from __future__ import annotations

import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Collection
from typing import IO, Any, BinaryIO, Literal

import numpy as np

from conditions.errors import Description, InvalidInput
from verifier.io.files import Path, open_regular, shown

Array = np.ndarray[Any, np.dtype[Any]]
Order = Literal["C", "F"]

MAX_BYTES = 1 << 30
MAX_MEMBERS = 1000
MAX_DIRECTORY = 1 << 20
MAX_HEADER = 10_000
MAX_AXES = 8
# Expansion is judged only where it costs memory: an array of zeros shrinks a thousandfold.
BOMB_BYTES, BOMB_RATIO = 1 << 26, 200

_END_OF_DIRECTORY = struct.Struct("<4s4H2LH")
# Possessive throughout, so that matching is linear in whatever the header holds.
_HEADER = re.compile(
    r"\{\s*+(?:(?:'descr'\s*+:\s*+'(?P<descr>[^'\\]*+)'"
    r"|'fortran_order'\s*+:\s*+(?P<order>True|False)"
    r"|'shape'\s*+:\s*+\(\s*+(?P<shape>(?:[0-9]++\s*+,\s*+)*+(?:[0-9]++\s*+)?+)\)"
    r")\s*+(?:,\s*+)?+){3}\}\s*+")
_NUMERIC = re.compile(r"[<>|=]?(?:f[248]|[iu][1248])")
# The one field that says yes or no.
_FLAGS = {("causal", "|b1")}

# What zipfile and zlib raise for damaged archives; ValueError covers undecodable names.
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError,
           OverflowError, ValueError)


def read_npz(path: Path, names: Collection[str]) -> tuple[dict[str, Array], list[str]]:
    """The arrays of *names* that the archive holds, and the names of all its arrays.

    Arrays are float16/32/64 or integers of native byte order, nonempty, finite or not. Nothing is
    unpickled, and nothing is expanded before its declared size is checked (1 GiB for the
    archive); what an entry expands to beyond its declaration is never read. Raises
    ``InvalidInput``.
    """
    with open_regular(path, MAX_BYTES) as file:
        name = shown(path)
        entries = _check_end(file, name)
        arrays: dict[str, Array] = {}
        try:
            with zipfile.ZipFile(file) as archive:
                members = _members(archive, entries, name)
                # Opened even if not wanted: opening compares the two spellings of the name,
                # and a damaged name must not pass for an absent array.
                for array, info in members.items():
                    with archive.open(info) as member:
                        if array in names:
                            arrays[array] = _array(member, info.file_size, array)
        except InvalidInput:
            raise
        except _DAMAGE as error:
            raise InvalidInput("data file", name,
                               f"must be an intact .npz archive ({type(error).__name__})",
                               "save it again with numpy.savez") from None
    return arrays, list(members)


def read_npy(path: Path, name: str) -> Array:
    """The array of a ``.npy`` file, under the rules of `read_npz`; *name* is for errors."""
    with open_regular(path, MAX_BYTES) as file:
        return _array(file, os.fstat(file.fileno()).st_size, name)


def _check_end(file: BinaryIO, name: str) -> int:
    """The number of entries, unless the directory alone would be a burden to parse."""
    size = file.seek(0, os.SEEK_END)
    start = max(size - _END_OF_DIRECTORY.size - 20, 0)
    file.seek(start)
    tail = file.read(_END_OF_DIRECTORY.size + 20)
    record = tail[-_END_OF_DIRECTORY.size:]
    plain = (len(record) == _END_OF_DIRECTORY.size and record[:4] == b"PK\x05\x06"
             and record[-2:] == b"\0\0")
    if not plain:
        raise InvalidInput("data file", name, "must be an intact .npz archive",
                           "save it with numpy.savez")
    _, _, _, _, entries, directory, _, _ = _END_OF_DIRECTORY.unpack(record)
    if (entries > MAX_MEMBERS or directory > MAX_DIRECTORY
            or tail[:-len(record)].startswith(b"PK\x06\x07")):
        raise InvalidInput("data file", name, f"must hold at most {MAX_MEMBERS} arrays in a "
                           f"plain zip directory, claims {entries}", "keep the arrays needed")
    return int(entries)


def _members(archive: zipfile.ZipFile, entries: int, name: str) -> dict[str, zipfile.ZipInfo]:
    """The ``.npy`` entries by array name, their number and declared sizes checked."""
    members: dict[str, zipfile.ZipInfo] = {}
    if len(archive.infolist()) != entries:
        raise InvalidInput("data file", name, f"must list the {entries} entries it claims",
                           "save it again with numpy.savez")
    expanded = packed = 0
    for info in archive.infolist():
        array = info.filename.removesuffix(".npy")
        if array == info.filename:
            raise InvalidInput("data file", name, f"must hold .npy entries only, not {array!r:.40}",
                               "save it with numpy.savez")
        if array in members:
            raise InvalidInput("data file", name, f"must hold one array {array!r:.40}, not two",
                               "remove one")
        if info.flag_bits & 1:
            raise InvalidInput("data file", name, "must not be encrypted", "save it plainly")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InvalidInput("data file", name, "must be stored or deflated",
                               "save it with numpy.savez")
        expanded, packed = expanded + info.file_size, packed + info.compress_size
        members[array] = info
    if expanded > MAX_BYTES or (expanded > BOMB_BYTES and expanded > BOMB_RATIO * packed):
        raise InvalidInput("data file", name, f"must not expand to {expanded:,} bytes "
                           f"from {packed:,}", f"stay below {MAX_BYTES:,} bytes, uncompressed")
    return members


def _array(file: IO[bytes], size: int, name: str) -> Array:
    """The array in *file*, which is said to hold *size* bytes in npy format."""
    dtype, order, shape, offset = _header(file, name)
    count = math.prod(shape)
    if count == 0:
        raise InvalidInput(name, shape, "must not be empty", "correct the shape")
    if count * dtype.itemsize != size - offset:
        raise InvalidInput(name, Description(f"{size - offset} bytes of data"),
                           f"must have the {count * dtype.itemsize} bytes that its shape needs",
                           "save the array again")
    data = file.read(count * dtype.itemsize)
    if len(data) != count * dtype.itemsize:
        raise InvalidInput(name, Description(f"{len(data)} bytes of data"), "must not be cut short",
                           "save the array again")
    array = np.frombuffer(data, dtype).reshape(shape, order=order)
    return array.astype(dtype.newbyteorder("="), copy=False)


def _header(file: IO[bytes], name: str) -> tuple[np.dtype[Any], Order, tuple[int, ...], int]:
    """Dtype, order, shape and where the data begin. The header is matched, never evaluated."""
    magic = file.read(8)
    width = {b"\x93NUMPY\x01\0": 2, b"\x93NUMPY\x02\0": 4, b"\x93NUMPY\x03\0": 4}.get(magic, 0)
    length = int.from_bytes(file.read(width), "little")
    text = file.read(length).decode("latin1") if length <= MAX_HEADER else ""
    found = _HEADER.fullmatch(text)
    if found is None or None in found.groups():
        raise InvalidInput(name, text or magic, "must be a plain numeric array in npy format",
                           "save float64 or integer arrays with numpy.savez")
    if not _NUMERIC.fullmatch(found["descr"]) and (name, found["descr"]) not in _FLAGS:
        raise InvalidInput(name, found["descr"], "must be float16/32/64 or integers; "
                           "no objects, complex numbers, booleans, texts or longdoubles",
                           "convert the array, or use .json for exact fractions")
    sizes = re.findall("[0-9]+", found["shape"])
    if len(sizes) > MAX_AXES or any(len(size) > 18 for size in sizes):
        raise InvalidInput(name, found["shape"], f"must be a shape of at most {MAX_AXES} axes",
                           "save the array again")
    shape = tuple(map(int, sizes))
    order: Order = "F" if found["order"] == "True" else "C"
    return np.dtype(found["descr"]), order, shape, 8 + width + length
