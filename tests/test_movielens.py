"""The example of MovieLens, on a small archive made here: nothing is downloaded."""

from __future__ import annotations

import importlib.util
import random
import zipfile
from pathlib import Path

import pytest
from io_samples import refused

from verifier.kernel import check_file

EXAMPLE = Path(__file__).parent.parent / "examples" / "movielens.py"


@pytest.fixture(scope="module")
def movielens():
    specification = importlib.util.spec_from_file_location("movielens", EXAMPLE)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def wheel(movielens, tmp_path):
    rng = random.Random(0)
    rows = [f"{rng.randrange(8)}\t{film}\t{rng.randint(1, 5)}\t{time}"
            for time, film in enumerate(rng.choices(range(1, 9), k=90))]
    films = ["1\tUp\t2000\tDrama", '2\t"10"\t2000\tDrama', "3\tTwin\t1999\tComedy",
             "4\tTwin\t2001\tComedy", *(f"{k}\tFilm {k}\t2000\tDrama" for k in range(5, 9))]
    path = tmp_path / "recbole-0.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(movielens.FOLDER + "ml-100k.inter",
                         "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
                         + "\n".join(rows) + "\n")
        archive.writestr(movielens.FOLDER + "ml-100k.item",
                         "item_id:token\tmovie_title:token_seq\trelease_year:token\t"
                         "class:token_seq\n" + "\n".join(films) + "\n")
    return path


def test_films_have_their_titles(movielens, wheel):
    films = movielens.read(wheel)
    assert films.kind == "items" and len(films.sequences) == 8
    assert sorted(films.names) == sorted(
        ["Up", '"10"', "Twin (3)", "Twin (4)", *(f"Film {k}" for k in range(5, 9))])
    assert sum(map(len, films.sequences)) == 90


def test_wheels_of_something_else_are_refused(movielens, wheel, tmp_path):
    (tmp_path / "text.whl").write_text("not a zip archive")
    with zipfile.ZipFile(tmp_path / "empty.whl", "w"):
        pass
    for path in (tmp_path / "text.whl", tmp_path / "empty.whl", tmp_path / "none.whl"):
        refused(movielens.read, path, name="--wheel")


def test_output_and_certificates(movielens, wheel, tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    movielens.main(["--wheel", str(wheel), "--out", str(out), "--top", "5", "--users", "3",
                    "--iterations", "40"])
    printed = capsys.readouterr().out
    assert "MovieLens-100k, 3 users" in printed and "MovieLens-100k, 8 users" in printed
    assert printed.count("2 of 2 verdicts accepted") == 2
    assert printed.count("trained layer (observed)") == 2
    assert sorted(path.name for path in out.iterdir()) == [
        "movielens.json", "movielens.svg", "movielens_first.json", "movielens_first.svg"]
    for name in ("movielens", "movielens_first"):
        assert check_file(out / f"{name}.json").accepted
