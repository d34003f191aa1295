import os
import stat

import pytest
from io_samples import refused

from verifier.io import files, write_atomically


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
    for place in (tmp_path, tmp_path / "missing" / "a", tmp_path / "file" / "a", "", "a\0b",
                  "x" * 5000, f"{tmp_path}/missing/"):
        refused(write_atomically, place, "x", name="output file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


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
