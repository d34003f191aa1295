"""Prediction heads in descent: gradients in high precision, engines against the reference."""

import mpmath
import numpy as np
import pytest

from conditions import AttentionDataset
from conditions.errors import InvalidInput
from verifier.descent import (
    LINEAR_HEAD,
    LOSSES,
    CallableHead,
    MulticlassHead,
    Outcome,
    QuadraticHead,
    ReluHead,
    descend,
    gradient,
    schedule,
)
from verifier.descent.engines import BlasEngine, LaneEngine
from verifier.descent.heads import head_to_json

KINDS = ["quadratic", "relu", "multiclass", "callable"]
COMPILED = KINDS[:3]


def ragged(seed, d=3, n=None):
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(1, 5))
    X = [rng.normal(size=(int(rng.integers(2, 6)), d)) for _ in range(n)]
    return AttentionDataset.build(X, rng.choice([-1, 1], n), rng.normal(size=(n, d)),
                                  rng.normal(size=d))


def softplus_head(a):
    """h(o) = Σ log(1 + e^{o_k}), and its gradient."""
    return float(np.logaddexp(0, a).sum()), 1 / (1 + np.exp(-a))


def head_of(kind, dataset, seed=0):
    rng = np.random.default_rng(500 + seed)
    d = dataset.d
    return {"quadratic": lambda: QuadraticHead.of(0.75),
            "relu": lambda: ReluHead.of(rng.normal(size=(5, d)), rng.normal(size=5)),
            "multiclass": lambda: MulticlassHead.of(rng.normal(size=(4, d)),
                                                    rng.integers(0, 4, dataset.n)),
            "callable": lambda: CallableHead(softplus_head, "softplus")}[kind]()


# The mathematics, in mpmath and straight from the definitions -------------------------------


def mp_output(kind, head, dataset, i, o):
    """The argument of the loss of sample i at the attention output o."""
    y, view = dataset.labels[i], dataset.floats
    if kind == "quadratic":
        return y * (mpmath.fdot(view.head, o) - mpmath.mpf("0.75") * mpmath.fdot(o, o))
    if kind == "relu":
        hidden = [mpmath.fdot(row, o) for row in head.V]
        return y * mpmath.fsum(a * u for a, u in zip(head.a, hidden, strict=True) if u > 0)
    if kind == "callable":
        return y * mpmath.fsum(mpmath.log(1 + mpmath.exp(x)) for x in o)
    outputs = [mpmath.fdot(row, o) for row in head.class_heads]
    own = outputs.pop(head.class_labels[i])
    return -mpmath.log(mpmath.fsum(mpmath.exp(u - own) for u in outputs))


MP_LOSS = {"logistic": lambda u: mpmath.log(1 + mpmath.exp(-u)),
           "exponential": lambda u: mpmath.exp(-u), "correlation": lambda u: -u}


def mp_outputs(dataset, W):
    """The attention outputs o_i at the mpmath matrix W, and the weights s_i."""
    for X, z in zip(dataset.floats.tokens, dataset.floats.queries, strict=True):
        pulled = W * mpmath.matrix(z)
        h = [mpmath.fdot(x, pulled) for x in X]
        e = [mpmath.exp(value - max(h)) for value in h]
        s = [value / mpmath.fsum(e) for value in e]
        yield [mpmath.fdot(s, column) for column in X.T], s


def mp_loss(kind, head, dataset, W, loss):
    return mpmath.fsum(MP_LOSS[loss](mp_output(kind, head, dataset, i, o))
                       for i, (o, _) in enumerate(mp_outputs(dataset, W))) / dataset.n


def difference_quotients(kind, head, dataset, W, loss, digits):
    """∇L entry by entry, from the loss in mpmath at the given number of digits."""
    with mpmath.workdps(digits):
        A, h = mpmath.matrix(W.tolist()), mpmath.mpf(10) ** (-digits // 3)
        slope = mpmath.matrix(*W.shape)
        for r in range(W.shape[0]):
            for k in range(W.shape[1]):
                plus, minus = A.copy(), A.copy()
                plus[r, k] += h
                minus[r, k] -= h
                slope[r, k] = (mp_loss(kind, head, dataset, plus, loss)
                               - mp_loss(kind, head, dataset, minus, loss)) / (2 * h)
        return slope


def cases():
    return [(kind, loss) for kind in KINDS for loss in LOSSES
            if kind != "multiclass" or loss == "logistic"]


@pytest.mark.parametrize(("kind", "loss"), cases())
@pytest.mark.parametrize("seed", range(2))
def test_the_gradient_is_that_of_the_loss(kind, loss, seed):
    dataset = ragged(seed)
    head = head_of(kind, dataset, seed)
    W = np.random.default_rng(seed).normal(size=(3, 3))
    got = gradient(dataset, W, loss, head).value
    expected = np.array(difference_quotients(kind, head, dataset, W, loss, 60).tolist(),
                        dtype=float)
    assert np.abs(expected).max() > 1e-4
    assert np.allclose(got, expected, rtol=1e-12, atol=1e-13)


def classes_softmax_loss(head, dataset, W):
    """Cross-entropy of the class outputs, as everyone writes it."""
    with mpmath.workdps(40):
        total = mpmath.mpf(0)
        for i, (o, _) in enumerate(mp_outputs(dataset, mpmath.matrix(W.tolist()))):
            e = [mpmath.exp(mpmath.fdot(row, o)) for row in head.class_heads]
            total -= mpmath.log(e[head.class_labels[i]] / mpmath.fsum(e))
        return float(total / dataset.n)


def test_multiclass_is_the_logistic_loss_of_the_class_margin():
    dataset = ragged(3)
    head = head_of("multiclass", dataset)
    W = np.random.default_rng(3).normal(size=(3, 3))
    with mpmath.workdps(40):
        margin_form = mp_loss("multiclass", head, dataset, mpmath.matrix(W.tolist()), "logistic")
    assert float(margin_form) == pytest.approx(classes_softmax_loss(head, dataset, W), rel=1e-14)


def test_two_classes_are_a_linear_head():
    dataset = ragged(4)
    rng = np.random.default_rng(4)
    heads = rng.normal(size=(2, 3))
    two = MulticlassHead.of(heads, [int(y == 1) for y in dataset.labels])
    linear = AttentionDataset.build(dataset.tokens, dataset.labels, dataset.queries,
                                    heads[1] - heads[0])
    start = rng.normal(size=(3, 3))
    one = descend(dataset, head=two, iterations=40, start=start)
    other = descend(linear, iterations=40, start=start)
    assert np.allclose(one.final, other.final, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_the_direction_is_right_at_norm_ten_thousand(kind):
    """Softmax weights far below the smallest float; logits carry a rounding of 1e-16‖W‖."""
    for seed in range(3):
        dataset = ragged(seed + 20)
        head = head_of(kind, dataset, seed)
        W = np.random.default_rng(seed).normal(size=(3, 3))
        W *= 1e4 / np.linalg.norm(W)
        got = gradient(dataset, W, "logistic", head)
        assert got.log_norm < -50
        digits = 120 + int(-1.5 * got.log_norm / np.log(10))
        slope = difference_quotients(kind, head, dataset, W, "logistic", digits)
        with mpmath.workdps(digits):
            size = mpmath.sqrt(mpmath.fsum(x * x for x in slope))
            assert float(mpmath.log(size)) == pytest.approx(got.log_norm, rel=1e-9)
            expected = -np.array((slope / size).tolist(), dtype=float)
        assert np.allclose(got.M / np.linalg.norm(got.M), expected, atol=1e-9)


# Engines ------------------------------------------------------------------------------------


def reference(dataset, head, start, rule, loss, iterations):
    W = start
    for _ in range(iterations):
        at = gradient(dataset, W, loss, head)
        if rule == "plain":
            W = W - 0.05 * at.value
        else:
            W = W + 0.05 * at.M / (np.linalg.norm(at.M) or 1.0)
    return W


@pytest.mark.parametrize(("kind", "engine"), [*((kind, "lanes") for kind in COMPILED),
                                              *((kind, "blas") for kind in KINDS)])
@pytest.mark.parametrize("rule", ["plain", "normalized"])
def test_every_step_is_that_of_the_reference(kind, rule, engine):
    datasets = [ragged(seed) for seed in range(11)]
    heads = [head_of(kind, data, seed) for seed, data in enumerate(datasets)]
    loss = "logistic" if kind == "multiclass" else "exponential"
    starts = [np.random.default_rng(k).normal(size=(3, 3)) for k in range(11)]
    runs = descend(datasets, head=heads, rule=rule, step=0.05, loss=loss, iterations=8,
                   start=starts, engine=engine)
    for data, head, start, run in zip(datasets, heads, starts, runs, strict=True):
        assert run.head is head
        assert np.allclose(run.final, reference(data, head, start, rule, loss, 8), rtol=1e-9,
                           atol=1e-9)


@pytest.mark.parametrize("engine", ["lanes", "blas"])
@pytest.mark.parametrize("kind", COMPILED)
def test_factors_take_the_same_tangent_scores(kind, engine):
    dataset = ragged(7, n=3)
    head = head_of(kind, dataset)
    K, Q = np.random.default_rng(7).normal(size=(2, 3, 2))
    run = descend(dataset, parameterization="KQ", head=head, rule="plain", step=0.25, iterations=1,
                  start=(K, Q), engine=engine)
    G = gradient(dataset, K @ Q.T, "logistic", head).value
    assert np.allclose(run.final_K, K - 0.25 * G @ Q, atol=1e-12)
    assert np.allclose(run.final_Q, Q - 0.25 * G.T @ K, atol=1e-12)


def test_the_result_depends_neither_on_pieces_nor_on_neighbours():
    datasets = [ragged(seed) for seed in range(9)]
    heads = [head_of("relu", data, seed) for seed, data in enumerate(datasets)]
    whole = descend(datasets, head=heads, iterations=300, threads=2, engine="lanes")
    for data, head, run in zip(datasets, heads, whole, strict=True):
        alone = descend(data, head=head, iterations=120, engine="lanes")
        again = descend(data, head=head, iterations=180, start=alone.final, engine="lanes")
        assert np.array_equal(again.final, run.final)


def test_a_function_runs_in_numpy_and_heads_of_one_size_share_a_block():
    data = [ragged(k, n=2) for k in range(4)]
    heads = [head_of("relu", data[0]), head_of("relu", data[1], 1),
             ReluHead.of(np.eye(3)), head_of("callable", data[3])]
    trials = [schedule.Trial(each, (np.zeros((3, 3)),), head)
              for each, head in zip(data, heads, strict=True)]
    blocks = schedule.blocks(trials, "auto")
    assert sorted((block.engine.__name__, len(block.trials)) for block in blocks) == [
        (BlasEngine.__name__, 1), (LaneEngine.__name__, 1), (LaneEngine.__name__, 2)]
    runs = descend(data, head=heads, iterations=3)
    assert [run.head for run in runs] == heads


def test_a_relu_head_written_as_a_function_makes_the_same_run():
    dataset = ragged(9, n=4)
    head = head_of("relu", dataset)

    def function(o):
        hidden = head.V @ o
        active = np.where(hidden > 0, head.a, 0.0)
        return active @ hidden, active @ head.V

    one = descend(dataset, head=head, iterations=100)
    other = descend(dataset, head=CallableHead(function), iterations=100)
    assert np.allclose(one.final, other.final, atol=1e-9)


@pytest.mark.parametrize("engine", ["lanes", "blas"])
def test_samples_without_a_pull(engine):
    """A query of 0, and a sample whose units are all off, leave the others their scale."""
    V = [[1.0, 0.0], [1.0, 1.0]]
    X = [[[2, 1], [1, 1]], [[1, 0], [3, 2]], [[-1, -1], [-2, 0]]]
    dataset = AttentionDataset.build(X, [1, 1, -1], [[1, 0], [0, 0], [0, 1]], [1, 1])
    run = descend(dataset, head=ReluHead.of(V), iterations=4000, engine=engine)
    assert run.outcome is Outcome.COMPLETED and np.linalg.norm(run.final) > 399
    only = AttentionDataset.build(X[:1], [1], [[1, 0]], [1, 1])
    assert np.allclose(run.final, descend(only, head=ReluHead.of(V), iterations=4000).final,
                       rtol=1e-9)
    dead = AttentionDataset.build(X[2:], [-1], [[0, 1]], [1, 1])
    still = descend(dead, head=ReluHead.of(V), iterations=5, engine=engine)
    assert still.outcome is Outcome.STATIONARY and not still.final.any()


# The resolution -----------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["lanes", "blas"])
@pytest.mark.parametrize("kind", ["linear", "relu"])
def test_a_run_rests_where_its_gradient_is_below_the_resolution(engine, kind):
    dataset = AttentionDataset.build([[[1, 0], [0, 0]]], [1], [[1, 0]], [1, 3])
    head = LINEAR_HEAD if kind == "linear" else ReluHead.of([[1.0, 0.0]])
    free = descend(dataset, iterations=3000, head=head, engine=engine)
    damped = descend(dataset, iterations=3000, head=head, engine=engine, resolution=1e-6)
    at = gradient(dataset, damped.final, "logistic", head)
    assert np.linalg.norm(free.final) == pytest.approx(300)
    assert np.linalg.norm(damped.final) < 30 and at.log_norm < np.log(1e-6)
    first = descend(dataset, iterations=1, head=head, engine=engine, resolution=0.25)
    slope = np.exp(gradient(dataset, np.zeros((2, 2)), "logistic", head).log_norm)
    assert np.linalg.norm(first.final) == pytest.approx(0.1 * slope / (slope + 0.25))
    assert first.to_json()["resolution"] == (0.25).hex()
    assert "resolution" not in free.to_json()


# Values and refusals ------------------------------------------------------------------------


def test_heads_as_the_record_spells_them():
    assert head_to_json(QuadraticHead.of("1/3")) == {"name": "quadratic", "lambda": "1/3"}
    assert head_to_json(ReluHead.of([[1.5, 0]])) == {
        "name": "relu", "V": [[(1.5).hex(), (0.0).hex()]], "a": [(1.0).hex()]}
    assert head_to_json(MulticlassHead.of([[1], [2]], [1, 0]))["class_labels"] == [1, 0]
    assert head_to_json(CallableHead(softplus_head)) == {"name": "callable"}
    run = descend(ragged(1), iterations=1)
    assert run.head == LINEAR_HEAD and "head" not in run.to_json()


def test_parameters_are_copies_that_nobody_changes():
    V = np.ones((2, 3))
    head = ReluHead.of(V)
    V[0, 0] = 7
    assert head.V[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        head.a[0] = 2


@pytest.mark.parametrize(("make", "words"), [
    (lambda: QuadraticHead.of(-1), "lambda"), (lambda: QuadraticHead.of("x"), "lambda"),
    (lambda: QuadraticHead.of(float("inf")), "lambda"), (lambda: QuadraticHead.of(1e30), "lambda"),
    (lambda: ReluHead.of([1.0, 2.0]), "V"), (lambda: ReluHead.of([[np.nan]]), "V"),
    (lambda: ReluHead.of([["x"]]), "V"), (lambda: ReluHead.of(np.zeros((0, 3))), "V"),
    (lambda: ReluHead.of([[1e30]]), "V"),
    (lambda: ReluHead.of([[1.0]], [1, 2]), r"a \(2 entries\)"),
    (lambda: ReluHead.of([[1.0]], 1), r"a \(shape \(\)\): must have 1 axis"),
    (lambda: MulticlassHead.of([[1.0]], [0]), "class_heads"),
    (lambda: MulticlassHead.of([[1.0], [2.0]], [2]), r"class_labels\[0\]"),
    (lambda: MulticlassHead.of([[1.0], [2.0]], [0.5]), r"class_labels\[0\]"),
    (lambda: MulticlassHead.of([[1.0], [2.0]], [-1]), r"class_labels\[0\]"),
])
def test_bad_parameters_are_refused(make, words):
    with pytest.raises(InvalidInput, match=f"^{words}"):
        make()


@pytest.mark.parametrize(("settings", "words"), [
    ({"head": "relu"}, "head"), ({"head": [LINEAR_HEAD, LINEAR_HEAD]}, "head"),
    ({"head": []}, "head"), ({"head": ReluHead.of([[1.0, 2.0]])}, "V"),
    ({"head": MulticlassHead.of(np.eye(3), [0])}, "class_labels"),
    ({"head": MulticlassHead.of(np.eye(2), [0, 0])}, "class_heads"),
    ({"head": MulticlassHead.of(np.eye(3), [0, 1]), "loss": "correlation"}, "loss"),
    ({"head": CallableHead(softplus_head), "engine": "lanes"}, "engine"),
    ({"head": CallableHead(lambda o: (np.inf, o))}, "head"),
    ({"head": CallableHead(lambda o: (0.0, o * np.nan))}, "head"),
    ({"head": CallableHead(lambda o: (0.0, o[:2]))}, "head"),
    ({"resolution": -1.0}, "resolution"), ({"resolution": "0"}, "resolution"),
    ({"resolution": 1e-9, "rule": "plain"}, "resolution"),
])
def test_bad_settings_are_refused(settings, words):
    with pytest.raises(InvalidInput, match=f"^{words}"):
        descend(ragged(5, n=2), iterations=3, **settings)


def test_data_beyond_the_range_of_a_head_is_refused():
    huge = AttentionDataset.build([[[2.0**80], [0]]], [1], [[1]], [1])
    assert descend(huge, iterations=2).iterations == 2
    with pytest.raises(InvalidInput, match="data"):
        descend(huge, head=QuadraticHead.of(1), iterations=2)
