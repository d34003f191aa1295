import hashlib
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.exact.numbers import rational

X = [[[1, 0], [0, 0]], [[-2, "1/3"], [0, 0.5], [3, 4]]]
Y, Z, V = [1, -1], [[1, 0], [0, 2]], [1, 3]


def build(**changes):
    return AttentionDataset.build(**{"X": X, "Y": Y, "z": Z, "v": V, **changes})


def test_build_is_exact_and_ragged():
    dataset = build()
    assert (dataset.n, dataset.d, dataset.lengths) == (2, 2, (2, 3))
    assert dataset.tokens[1][0] == (-2, fmpq(1, 3))
    assert dataset.labels == (1, -1)
    assert dataset.scores == ((1, 0), (1, fmpq(-3, 2), -15))
    assert repr(dataset) == f"AttentionDataset(n=2, T=2..3, d=2, {dataset.fingerprint[:12]})"


def test_arrays_and_lists_are_the_same_data():
    rng = np.random.default_rng(0)
    x, z, v = rng.normal(size=(3, 4, 2)), rng.normal(size=(3, 2)), rng.normal(size=2)
    labels = np.array([1.0, -1.0, 1.0])
    arrays = AttentionDataset.build(x, labels, z, v)
    lists = AttentionDataset.build(x.tolist(), labels.astype(int).tolist(), z.tolist(), v.tolist())
    assert arrays.fingerprint == lists.fingerprint
    assert arrays.floats.exact
    assert np.array_equal(np.stack(arrays.floats.tokens), x)
    assert np.array_equal(arrays.floats.queries, z)
    assert np.array_equal(arrays.floats.head, v)
    assert np.array_equal(arrays.floats.labels, labels)


def test_equality_is_identity():
    one, other = build(), build()
    assert one != other and len({one, other}) == 2
    assert one.fingerprint == other.fingerprint


def test_fingerprint_is_the_one_of_the_specification():
    lines = ["2 2", "2", "1/1", "1/1", "0/1", "0/1", "0/1", "1/1", "0/1",
             "3", "-1/1", "-2/1", "1/3", "0/1", "1/2", "3/1", "4/1", "0/1", "2/1", "1/1", "3/1"]
    text = "".join(line + "\n" for line in lines)
    assert build().fingerprint == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("changes", [
    {"X": [X[0], [*X[1][:2], [3, "4.0000000000000000000001"]]]}, {"X": [X[0], X[1][:2]]},
    {"Y": [1, 1]}, {"z": [[1, 0], [0, 3]]}, {"v": [1, 4]}, {"X": X[:1], "Y": Y[:1], "z": Z[:1]}])
def test_fingerprint_tells_data_apart(changes):
    assert build(**changes).fingerprint != build().fingerprint


def test_fingerprint_ignores_the_spelling():
    spelled = build(X=[[["2/2", 0.0], ["0x0p0", -0.0]],
                       [[np.int8(-2), Fraction(1, 3)], ["0e5", "0.50"], [3.0, "0x1p2"]]])
    assert spelled.fingerprint == build().fingerprint


def test_self_attention_takes_its_own_tokens():
    assert AttentionDataset.self_attention(X, Y, V).queries == ((1, 0), (-2, fmpq(1, 3)))
    assert AttentionDataset.self_attention(X, Y, V, -1).queries == ((0, 0), (3, 4))
    mixed = AttentionDataset.self_attention(X, Y, V, np.array([1, -2]))
    assert mixed.queries == ((0, 0), (0, fmpq(1, 2)))
    array = AttentionDataset.self_attention(np.ones((2, 3, 2)), Y, V, np.int64(2))
    assert array.queries == ((1, 1), (1, 1))


def test_causal_makes_every_prefix_a_sample():
    sequences = [[[1, 0], [2, 0], [3, 0]], [[4, 0], [5, 0]]]
    dataset = AttentionDataset.causal(sequences, [1, -1], V)
    assert dataset.lengths == (2, 3, 2)
    assert dataset.labels == (1, 1, -1)
    assert dataset.queries == ((2, 0), (3, 0), (5, 0))
    assert dataset.tokens[1] == ((1, 0), (2, 0), (3, 0))
    assert dataset.origins == ((0, 1), (0, 2), (1, 1))
    array = AttentionDataset.causal(np.arange(12).reshape(2, 3, 2), [1, 1], V)
    assert array.lengths == (2, 3, 2, 3)


def test_every_position_is_a_sample_of_the_whole_sequence():
    sequences = [[[1, 0], [2, 0], [3, 0]], [[4, 0], [5, 0]]]
    dataset = AttentionDataset.every_position(sequences, [1, -1], V)
    assert dataset.lengths == (3, 3, 3, 2, 2)
    assert dataset.labels == (1, 1, 1, -1, -1)
    assert dataset.queries == ((1, 0), (2, 0), (3, 0), (4, 0), (5, 0))
    assert dataset.origins == ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1))


@pytest.mark.parametrize("labels", [[[1, -1, 1], 1], [np.array([1, -1, 1]), np.int8(1)],
                                    [("1", -1.0, 1), "1"]])
def test_every_position_may_have_its_own_label(labels):
    sequences = [[[1, 0], [2, 0], [3, 0]], [[4, 0], [5, 0]]]
    assert AttentionDataset.causal(sequences, labels, V).labels == (-1, 1, 1)
    assert AttentionDataset.every_position(sequences, labels, V).labels == (1, -1, 1, 1, 1)


def test_origins_change_no_fingerprint():
    own = AttentionDataset.self_attention(X, Y, V, -1)
    assert own.origins == ((0, 1), (1, 2))
    cross = build(z=[X[0][1], X[1][2]])
    assert cross.origins is None and cross.fingerprint == own.fingerprint
    masked = AttentionDataset.causal([X[1]], Y[:1], V)
    same = build(X=[X[1][:2], X[1]], Y=[1, 1], z=X[1][1:])
    assert masked.fingerprint == same.fingerprint


@pytest.mark.parametrize(("changes", "name"), [
    ({"X": []}, "X"), ({"X": 3}, "X"), ({"X": "abc"}, "X"), ({"X": {0: 1}}, "X"),
    ({"X": None}, "X"),
    ({"X": np.array(3.0)}, "X"), ({"X": np.array([X[0], None], dtype=object)}, "X"),
    ({"X": [X[0], 5]}, "X[1]"), ({"X": [X[0], [[1, 2]]]}, "X[1]"), ({"X": [X[0], []]}, "X[1]"),
    ({"X": [X[0], [[1, 2], {3, 4}]]}, "X[1][1]"), ({"X": [X[0], [[1, 2], 3]]}, "X[1][1]"),
    ({"X": [X[0], [[1, 2], [3]]]}, "X[1][1]"), ({"X": [X[0], [[1, 2], [3, 4, 5]]]}, "X[1][1]"),
    ({"X": [X[0], [[1, 2], [3, float("nan")]]]}, "X[1][1][1]"),
    ({"X": [X[0], [[1, 2], ["x", 4]]]}, "X[1][1][0]"),
    ({"X": [X[0], [[1, 2], [3, [4]]]]}, "X[1][1][1]"),
    ({"Y": [1]}, "Y"), ({"Y": [1, 0]}, "Y[1]"), ({"Y": [True, 1]}, "Y[0]"), ({"Y": 1}, "Y"),
    ({"Y": [1, "-1.5"]}, "Y[1]"), ({"z": [[1, 0]]}, "z"), ({"z": [[1, 0], [1]]}, "z[1]"),
    ({"z": [[1, 0], [1, "1/0"]]}, "z[1][1]"), ({"z": [1, 2]}, "z[0]"), ({"v": []}, "v"),
    ({"v": 1}, "v"), ({"v": [1, np.inf]}, "v[1]"), ({"v": [[1, 2]]}, "v[0]"),
    ({"v": np.array([1, 2j])}, "v[0]"), ({"v": [1, 2, 3]}, "X[0][0]")])
def test_refused_by_name(changes, name):
    with pytest.raises(InvalidInput) as caught:
        build(**changes)
    assert caught.value.name == name
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(("index", "name"), [
    (2, "query_index[0]"), (-3, "query_index[0]"), ([0, 3], "query_index[1]"), ([0], "query_index"),
    (True, "query_index[0]"), ([0, 1.0], "query_index[1]"), (None, "query_index"),
    ("0", "query_index")])
def test_self_attention_refuses(index, name):
    with pytest.raises(InvalidInput) as caught:
        AttentionDataset.self_attention(X, Y, V, index)
    assert caught.value.name == name


@pytest.mark.parametrize(("sequences", "labels", "name"), [
    ([[[1, 0]]], [1], "X[0]"), ([[[1, 0], [1, 1]]], [1, 1], "Y"), ([], [], "X"),
    ([3], [1], "X[0]"), (3, [1], "X"), ([[[1, 0], [1, 1]]], 1, "Y"),
    ([[[1, 0], [1, 1]]], [[1]], "Y[0]"), ([[[1, 0], [1, 1]]], [[1, 1, 1]], "Y[0]"),
    ([[[1, 0], [1, 1]]], [[1, 2]], "Y[0][1]"), ([[[1, 0], [1, 1]]], [[1, [1]]], "Y[0][1]"),
    ([[[1, 0], [1, 1]], [[1, 0], [1, "x"]]], [1, 1], "X[1][1][1]"),
    ([[[1, 0], [1, 1]]], [np.array(3)], "Y[0]")])
@pytest.mark.parametrize("build", [AttentionDataset.causal, AttentionDataset.every_position])
def test_positions_refuse(build, sequences, labels, name):
    with pytest.raises(InvalidInput) as caught:
        build(sequences, labels, V)
    assert caught.value.name == name
    assert len(str(caught.value).splitlines()) == 1


def test_entries_that_no_certificate_can_hold_are_refused():
    # 60,000 digits over 59,998: 119,999 characters.
    longest = Fraction(10**59_999 + 1, 3 * 10**59_997)
    for changes, name in (({"X": [X[0], [[1, 2], [3, longest]]]}, "X[1][1][1]"),
                          ({"z": [[1, 0], [longest, 0]]}, "z[1][0]"),
                          ({"v": [rational(longest), 1]}, "v[0]")):
        with pytest.raises(InvalidInput, match="119,999 characters") as caught:
            build(**changes)
        assert caught.value.name == name


def test_floats_say_when_they_round():
    view = build().floats
    assert not view.exact
    assert view.tokens[1][0, 1] == 1 / 3
    assert [tokens.shape for tokens in view.tokens] == [(2, 2), (3, 2)]
    huge = build(v=[1, "1e400"]).floats
    assert huge.head[1] == np.inf and not huge.exact


entries = st.one_of(st.fractions(max_denominator=50),
                    st.floats(-1e6, 1e6).map(Fraction)).filter(lambda x: abs(x) < 10**9)


@given(st.integers(1, 3).flatmap(lambda d: st.tuples(
    st.lists(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=2, max_size=4),
             min_size=1, max_size=3), st.lists(entries, min_size=d, max_size=d))))
def test_views_and_scores_are_exact(data):
    tokens, head = data
    labels = [(-1) ** i for i in range(len(tokens))]
    dataset = AttentionDataset.self_attention(tokens, labels, head, 1)
    view = dataset.integers
    for i, sample in enumerate(tokens):
        assert [[fmpq(x, view.token_scale) for x in row] for row in view.tokens[i].tolist()] == [
            list(row) for row in dataset.tokens[i]]
        for t, x in enumerate(sample):
            score = labels[i] * sum(a * b for a, b in zip(x, head, strict=True))
            assert Fraction(str(dataset.scores[i][t])) == score
    assert [[fmpq(x, view.query_scale) for x in row] for row in view.queries.tolist()] == [
        list(row) for row in dataset.queries]
    floats = [float(x) for sample in tokens for row in sample for x in row]
    assert np.concatenate([t.ravel() for t in dataset.floats.tokens]).tolist() == floats
    rounded = [x for sample in tokens for row in sample for x in row] + head
    assert dataset.floats.exact == all(Fraction(float(x)) == x for x in rounded)
