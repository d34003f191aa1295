"""Tables of who chose what when: found, ordered, refused."""

from __future__ import annotations

import random

import pytest
from io_samples import refused

from verifier.io.interactions import histories, read_histories

TABLE = "user,item,time\nu,a,3\nw,c,1\nu,b,1\nw,a,2\nu,c,2\n"


def of(text, columns=None):
    return histories(text.encode(), "table", columns)


def test_each_history_is_in_order_of_time():
    found = of(TABLE)
    # w and u both start at time 1; the row of w comes first.
    assert found.users == ("w", "u")
    assert found.sequences == (("c", "a"), ("b", "c", "a"))
    assert found.notes == ()


def test_order_is_that_of_a_plain_sort():
    rng = random.Random(1)
    for _ in range(20):
        rows = [(rng.choice("uvw"), rng.choice("abcde"), rng.randint(-3, 3)) for _ in range(30)]
        unique = list(dict.fromkeys(rows))
        found = of("user,item,time\n" + "".join(f"{u},{i},{t}\n" for u, i, t in rows))
        expected = {u: [i for _, _, i in sorted((t, k, i) for k, (o, i, t) in enumerate(unique)
                                                if o == u)]
                    for u in {u for u, _, _ in unique}}
        assert dict(zip(found.users, map(list, found.sequences), strict=True)) == expected
        assert len(rows) == len(unique) or f"{len(rows) - len(unique)} rows repeat" in (
            found.notes[-1])


def test_columns_may_have_any_place_company_type_and_case():
    text = ("rating:float\tTimestamp:float\tItem_ID:token\tuser_id:token\n"
            '5\t8.5e1\ta "b\tu\n\n1\t-3\tc,d\tu\n')
    found = of("\ufeff" + text)
    assert found.sequences == (("c,d", 'a "b'),)
    assert of(text.replace("\n", "\r\n")).sequences == found.sequences
    named = of("who;a,what,when,user\n1,x,2,9\n1,y,1,9\n", ("user", "what", "when"))
    assert named.users == ("9",) and named.sequences == (("y", "x"),)


def test_quoted_cells():
    assert of('user,item,time\n"a, b","c ""d""",1\n').sequences == (('c "d"',),)


def test_equal_times_keep_the_order_of_the_file_and_are_counted():
    found = of("user,item,time\nu,b,1\nu,a,1.0\nu,c,1e0\nu,d,0\nw,e,1\n")
    assert found.sequences[0] == ("d", "b", "a", "c")
    assert found.notes == ("3 of 5 rows share their time with another row of their user; these "
                           "keep the order of the file.",)


def test_times_beyond_floats_are_told_apart():
    found = of("user,item,time\nu,b,10000000000000000000001\nu,a,10000000000000000000000\n")
    assert found.sequences == (("a", "b"),) and not found.notes


def test_equal_rows_count_once_but_repeated_choices_stay():
    found = of("user,item,time\nu,a,1\nu,a,1\nu,a,2\nu,a,1\n")
    assert found.sequences == (("a", "a"),)
    assert found.notes == ("2 rows repeat another row and were left out.",)


@pytest.mark.parametrize(("text", "name", "match"), [
    ("", "data file", "header"), ("\n\n", "data file", "header"),
    ("user,item,time\n", "data file", "rows below"), ("user,item\nu,a\n", "header", "time"),
    ("user,item,when\nu,a,1\n", "header", "--columns"), ("1,2,3\n4,5,6\n", "header", "user"),
    ("user,user_id,item,time\nu,u,a,1\n", "header", "not 2"),
    ("user,item,time\nu,a\n", "line 2", "3 cells"),
    ("user,item,time\nu,a,1,2\n", "line 2", "cells"),
    ("user,item,time\nu,a,1\n,a,2\n", "line 3", "empty"),
    ("user,item,time\nu, ,2\n", "line 2", "empty"),
    ("user,item,time\nu,a,yesterday\n", "time in line 2", "spell a number"),
    ("user,item,time\nu,a,1\nu,a,nan\n", "time in line 3", "number"),
    ("user,item,time\nu,a,\n", "time in line 2", "number"),
    ("user,item,time\nu,a,2024-01-01\n", "time in line 2", "number"),
    ('user,item,time\n"u,a,1\n', "data file", "table"),
    ('user,item,time\n"u"x,a,1\n', "data file", "table")])
def test_bad_tables_are_refused(text, name, match):
    refused(of, text, name=name, match=match)


@pytest.mark.parametrize(("columns", "name"), [
    (("user", "item", "item"), "--columns"), (("user", "item", "Time"), "header"),
    (("nobody", "item", "time"), "header")])
def test_bad_columns_are_refused(columns, name):
    refused(of, TABLE, columns, name=name)


def test_bad_files_are_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes("user,item,time\nü,a,1\n".encode("latin1"))
    refused(read_histories, path, name="data file", match="UTF-8")
    path.write_bytes(b"user,item,time\n" + b"x" * 200_000 + b",a,1\n")
    refused(read_histories, path, name="data file", match="table")
    refused(read_histories, tmp_path / "none.csv", name="data file")
    path.write_text(TABLE)
    assert read_histories(path).sequences == of(TABLE).sequences
