"""Opening what may be anything and replacing files whole."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from conditions.errors import InvalidInput

Path = str | os.PathLike[str]


def shown(path: Path) -> str:
    """*path* for an error: its end, which tells files apart, if it is long."""
    name = os.fspath(path)
    return name if len(name) <= 55 else "…" + name[-55:]


@contextmanager
def open_regular(path: Path, limit: int) -> Iterator[BinaryIO]:
    """*path* opened for reading, if it is a regular, nonempty file of at most *limit* bytes.

    Links are followed. Never waits: a pipe is refused instead of read. Raises ``InvalidInput``,
    also for a read that fails while the file is in use.
    """
    name = os.fspath(path)
    try:
        with _open(name) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InvalidInput("data file", shown(name), "must be a regular file",
                                   "give the path of a .npz or .json file")
            if status.st_size > limit:
                raise InvalidInput("data file", shown(name), f"must have at most {limit:,} bytes, "
                                   f"has {status.st_size:,}", "split the data")
            if status.st_size == 0:
                raise InvalidInput("data file", shown(name), "must not be empty", "check the path")
            yield file
    except OSError as error:
        raise InvalidInput("data file", shown(name),
                           f"must be readable ({error.strerror or error})",
                           "check the path and its permissions") from None


def _open(name: str) -> BinaryIO:
    # Without O_NONBLOCK, opening a pipe would wait for its writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    _check_path("data file", name)
    descriptor = os.open(name, flags)
    try:
        return os.fdopen(descriptor, "rb")
    except IsADirectoryError:
        os.close(descriptor)
        raise


def _check_path(role: str, name: str) -> None:
    try:
        spelled = os.fsencode(name)
    except UnicodeEncodeError:
        spelled = b"\0"
    if b"\0" in spelled:
        raise InvalidInput(role, shown(name), "must be a path that the system can spell",
                           "check the path")


def read_bytes(path: Path, limit: int) -> bytes:
    """The content of a regular file of at most *limit* bytes. Raises ``InvalidInput``."""
    with open_regular(path, limit) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise InvalidInput("data file", shown(path), f"must have at most {limit:,} bytes",
                           "split the data")
    return data


def write_atomically(path: Path, content: bytes | str | Callable[[BinaryIO], None]) -> None:
    """Write *path* whole or not at all.

    ``content`` is the bytes, the text (written as UTF-8), or a function that writes to the binary
    file it is given. A new file next to the target is filled, synchronized to disk and
    renamed; whatever fails, the target keeps its old content and the new file is removed. A link
    is written through, and an existing target keeps its permissions. Raises ``InvalidInput`` if
    the place cannot be written or is no regular file; errors of the function pass through, except
    ``OSError``.
    """
    name = os.fspath(path)
    if isinstance(content, str):
        content = content.encode()
    try:
        target, mode = _target(name)
        temporary = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.tmp")
        try:
            with open(temporary, "xb") as file:
                if isinstance(content, bytes):
                    file.write(content)
                else:
                    content(file)
                file.flush()
                os.fsync(file.fileno())
            if mode is not None:
                os.chmod(temporary, mode)
            os.replace(temporary, target)
        finally:
            # After the renaming there is nothing left to remove.
            with suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(temporary)
    except OSError as error:
        raise InvalidInput("output file", shown(name),
                           f"must be writable ({error.strerror or error})",
                           "check that the directory exists and may be written") from None


def _target(name: str) -> tuple[str, int | None]:
    """Where *name* leads, and the permissions of what is there."""
    _check_path("output file", name)
    target = os.path.realpath(name)
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        mode = None
    if not os.path.basename(name) or (mode is not None and not stat.S_ISREG(mode)):
        raise InvalidInput("output file", shown(name), "must not be a directory, device or pipe",
                           "choose another path")
    return target, None if mode is None else stat.S_IMODE(mode)
