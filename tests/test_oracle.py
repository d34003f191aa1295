"""The oracle against cases derived by hand, and against itself by second routes."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import oracle
import pytest

E1, E2, ZERO = [1, 0], [0, 1], [0, 0]


def one_sample(differences, query=E1, v=(0, 1)):
    """One sample whose token 0, when selected, has the features ``differences``·zᵀ."""
    tokens = [ZERO] + [[-entry for entry in difference] for difference in differences]
    return [tokens], [1], [query], list(v)


def pairs(differences, queries, labels=None, v=(1, 1)):
    """Samples of two tokens, ``differences[i]`` and the origin."""
    labels = labels or [1] * len(differences)
    return [[list(x), [0] * len(x)] for x in differences], labels, queries, list(v)


def sampled(count=42, ragged=True):
    for shape, seed in (((1, 3, 2), 1), ((2, 3, 2), 2), ((3, 3, 2), 3), ((2, 3, 3), 4)):
        yield from oracle.integer_datasets(*shape, count=count, seed=seed, ragged=ragged)


# --- Scores ---------------------------------------------------------------------------------------


def test_scores_ties_and_flat_samples():
    # v = (1, 2): token scores 1, 2, 2 under Y = 1; with Y = -1 the tokens give -1, -2, -1.
    # Sample 2: scores 1, 1.
    data = (
        [[E1, E2, [2, 0]], [E1, E2, [3, -1]], [E1, [-1, 1]]],
        [1, -1, 1],
        [E1, E1, E1],
        [1, 2],
    )
    assert oracle.scores(data) == [[1, 2, 2], [-1, -2, -1], [1, 1]]
    assert oracle.optimal_selection(data) == (1, 0, 0)
    assert not oracle.unique_optimum(data)
    assert oracle.equal_scores(data)
    assert oracle.flat_samples(data) == [2]


def test_two_levels_below_the_optimum_are_unequal_scores():
    # v = (0, 1): scores 0, -1, -2 and 0, -1, -1.
    assert not oracle.equal_scores(one_sample([[0, 1], [0, 2]]))
    assert oracle.equal_scores(one_sample([[0, 1], [5, 1]]))
    assert oracle.unique_optimum(one_sample([[0, 1], [0, 2]]))


# --- W^mm by hand ---------------------------------------------------------------------------------


def test_two_active_rows():
    # Differences a = (2,1), b = (1,2), z = e1: Gram matrix [[5,4],[4,5]], λ = (1/9, 1/9),
    # first column of W = (a + b)/9 = (1/3, 1/3), ‖W‖² = 2/9 = Σλ.
    W, norm_squared, support, multipliers = oracle.max_margin(one_sample([[2, 1], [1, 2]]), [0])
    assert (W, norm_squared) == ([[Fraction(1, 3), 0], [Fraction(1, 3), 0]], Fraction(2, 9))
    assert support == [(0, 1), (0, 2)]
    assert multipliers == {(0, 1): Fraction(1, 9), (0, 2): Fraction(1, 9)}
    assert oracle.all_support(one_sample([[2, 1], [1, 2]]), [0])


def test_support_row_of_zero_multiplier():
    # Differences (1,0) and (1,1): w = (1,0) has both margins 1, and (1,0) = λ_1(1,0) + λ_2(1,1)
    # forces λ = (1, 0): row 2 is a support index although nothing needs it.
    data = one_sample([[1, 0], [1, 1]])
    W, norm_squared, support, multipliers = oracle.max_margin(data, [0])
    assert (W, norm_squared) == ([[1, 0], [0, 0]], 1)
    assert support == [(0, 1), (0, 2)]
    assert multipliers == {(0, 1): 1}
    assert oracle.weak_support(data, [0]) == [(0, 2)]
    assert oracle.all_support(data, [0])


def test_zero_multiplier_row_decides_local_optimality():
    # The same margins with v = (1,-1): scores 0, -1, 0. The degenerate row ties with the selected
    # token, so α is not locally optimal; with v = (1,1) the scores are 0, -1, -2 and it is.
    assert not oracle.locally_optimal(one_sample([[1, 0], [1, 1]], v=(1, -1)), [0])
    assert oracle.locally_optimal(one_sample([[1, 0], [1, 1]], v=(1, 1)), [0])
    # One step further out, (2,1) has margin 2: the tie v = (1,-2) no longer matters.
    assert oracle.scores(one_sample([[1, 0], [2, 1]], v=(1, -2))) == [[0, -1, 0]]
    assert oracle.locally_optimal(one_sample([[1, 0], [2, 1]], v=(1, -2)), [0])


def test_dependent_support_rows_are_not_weak():
    # (1,1), (1,-1), (1,0): w = (1,0), all margins 1; λ = (½,½,0) and λ = (0,0,1) are both optimal.
    data = one_sample([[1, 1], [1, -1], [1, 0]])
    assert oracle.max_margin(data, [0]).support_rows == [(0, 1), (0, 2), (0, 3)]
    assert oracle.weak_support(data, [0]) == []
    assert len(oracle.kkt_points(data, [0])) == 4  # {3}, {1,2}, {1,3} and {2,3} with a zero
    assert not oracle.full_row_rank(data)


def test_row_inside_the_cone_is_not_support():
    # (1,0), (0,1), (1,1): w = (1,1) has margins 1, 1, 2.
    data = one_sample([[1, 0], [0, 1], [1, 1]])
    assert oracle.max_margin(data, [0]).support_rows == [(0, 1), (0, 2)]
    assert not oracle.all_support(data, [0])


def test_duplicate_of_a_rejected_token():
    # Equal rows: w = (1/2, 1/2), each of the two carries the multiplier ½ alone.
    data = one_sample([[1, 1], [1, 1]])
    assert oracle.feasible(data, [0])
    assert oracle.max_margin(data, [0]).support_rows == [(0, 1), (0, 2)]
    assert oracle.weak_support(data, [0]) == []
    assert not oracle.full_row_rank(data)
    # Selecting one of the duplicates asks for 0 >= 1.
    assert not oracle.feasible(data, [1])
    assert oracle.max_margin(data, [1]) is None


def test_zero_query_is_infeasible_and_stationary():
    # z = 0: every feature is 0 and L is constant, although the scores 0, -1 differ.
    data = one_sample([[0, 1]], query=ZERO)
    assert not oracle.feasible(data, [0])
    assert not oracle.all_support(data, [0])
    assert not oracle.locally_optimal(data, [0])
    assert oracle.solution_rank(data, [0]) is None
    assert not oracle.full_row_rank(data)
    assert not oracle.monotone_direction_exists(data)
    assert not oracle.separable_queries(data)
    assert all(oracle.gradient_is_zero_at_zero(data, loss) for loss in oracle.LOSSES)


def test_weakly_separable_is_infeasible():
    # (1,0), (-1,0), (0,1): w = (0,1) has margins 0, 0, 1, and no w has all three > 0.
    data = one_sample([[1, 0], [-1, 0], [0, 1]])
    rows = list(oracle.features(data, [0]).values())
    assert not oracle.feasible(data, [0])
    assert oracle.max_margin(data, [0]) is None
    assert oracle.weakly_solvable(rows)
    assert oracle.eliminate(rows[:2], rows[2:])
    assert not oracle.eliminate([], rows)


def test_dependency_of_mixed_signs_is_feasible():
    # (1,0), (0,1), (1,1): the only dependency is (1, 1, -1), so the subset is no obstacle.
    rows = [[1, 0], [0, 1], [1, 1]]
    assert list(oracle.positive_circuits(rows)) == []
    # (1,0), (0,1), (-1,-1) add up to 0: the whole set is the obstacle, no pair is.
    rows[2] = [-1, -1]
    assert list(oracle.positive_circuits(rows)) == [(0, 1, 2)]
    assert not oracle.strictly_solvable(rows)
    assert not oracle.weakly_solvable(rows)


def test_two_queries_and_rank():
    # z = e1, e2 decouple the columns of W: difference e1 in both gives W = [[1,1],[0,0]], rank 1;
    # differences e1, e2 give the identity, rank 2.
    data = pairs([E1, E1], [E1, E2])
    assert oracle.max_margin(data, [0, 0]).W == [[1, 1], [0, 0]]
    assert oracle.solution_rank(data, [0, 0]) == 1
    assert oracle.max_margin(pairs([E1, E2], [E1, E2]), [0, 0]).W == [[1, 0], [0, 1]]
    assert oracle.solution_rank(pairs([E1, E2], [E1, E2]), [0, 0]) == 2
    assert oracle.full_row_rank(data)
    assert all(oracle.feasible(data, alpha) for alpha in oracle.selections(data))


def test_theorem_4_example():
    # Differences (1,0), (-2,1), one query e1: Gram [[1,-2],[-2,5]], λ = (7, 3), w = (1,3).
    # Rejecting sample 2's first token instead: (1,0), (2,-1), w = (1,0), margins 1 and 2, so
    # sample 2 has no support index and α = (0, 1) is locally optimal although not optimal.
    data = pairs([E1, [-2, 1]], [E1, E1], v=(1, 3))
    assert oracle.scores(data) == [[1, 0], [1, 0]]
    best = oracle.max_margin(data, [0, 0])
    assert (best.W, best.norm_squared) == ([[1, 0], [3, 0]], 10)
    assert best.multipliers == {(0, 1): 7, (1, 1): 3}
    other = oracle.max_margin(data, [0, 1])
    assert (other.W, other.support_rows) == ([[1, 0], [0, 0]], [(0, 1)])
    assert oracle.locally_optimal(data, [0, 0])
    assert oracle.locally_optimal(data, [0, 1])
    assert not oracle.all_support(data, [0, 1])
    assert not oracle.locally_optimal(data, [1, 1])
    assert oracle.monotone_direction_exists(data)
    assert oracle.separable_queries(data)


# --- The first step -------------------------------------------------------------------------------


def test_logistic_cancellation_at_opposite_scores():
    # d = 1, v = 1, Y = 1. Two tokens a, b: f = (a+b)/2 and G gets |ℓ'(f)| z (a−b)²/4.
    # (2,0), z=1: f = 1, weight 1. (−2,0), z=1: f = −1, weight 1. (1,−1), z=−2: f = 0, weight −2.
    # Logistic: 1/(1+e) + 1/(1+1/e) − 2·½ = 0. Correlation: 1 + 1 − 2 = 0.
    # Exponential: 1/e + e − 2 > 0.
    data = ([[[2], [0]], [[-2], [0]], [[1], [-1]]], [1, 1, 1], [[1], [1], [-2]], [1])
    assert oracle.pull(data, [1]) == [(1, 1), (1, -1), (-2, 0)]
    assert oracle.gradient_is_zero_at_zero(data, "logistic")
    assert oracle.gradient_is_zero_at_zero(data, "correlation")
    assert not oracle.gradient_is_zero_at_zero(data, "exponential")
    # Optimal features: 2·1, 2·1, 2·(−2).
    assert oracle.optimal_selection(data) == (0, 1, 0)
    assert list(oracle.first_step_sign(data, (0, 1, 0), "exponential").values()) == [1, 1, -1]
    assert list(oracle.first_step_sign(data, (0, 1, 0), "logistic").values()) == [0, 0, 0]
    assert not any(oracle.first_step_separates(data, loss) for loss in oracle.LOSSES)


@pytest.mark.parametrize(
    ("terms", "zero_for"),
    [
        ([(1, 0), (-1, 0)], {"logistic", "exponential", "correlation"}),
        ([(1, 2), (-1, Fraction(4, 2))], {"logistic", "exponential", "correlation"}),
        ([(1, 1), (1, -1), (-2, 0)], {"logistic", "correlation"}),
        (
            [(1, Fraction(1, 3)), (1, Fraction(-1, 3)), (-1, 5), (-1, -5)],
            {"logistic", "correlation"},
        ),
        ([(1, 1), (-1, -1)], {"correlation"}),
        ([(1, Fraction(1, 2)), (-1, Fraction(1, 3))], {"correlation"}),
        ([(0, 7)], {"logistic", "exponential", "correlation"}),
        ([(1, 3)], set()),
    ],
)
def test_formal_zeros(terms, zero_for):
    exact = [(Fraction(q), Fraction(f)) for q, f in terms]
    assert {loss for loss in oracle.LOSSES if oracle.vanishes(exact, loss)} == zero_for
    assert {loss for loss in oracle.LOSSES if oracle.sign(exact, loss) == 0} == zero_for


@pytest.mark.parametrize(
    ("loss", "below", "above", "score"),
    [
        # e^{-1} = 0.367879441171..., e = 2.718281828459...
        ("exponential", 36787944, 36787945, 1),
        ("exponential", 271828182, 271828183, -1),
        # 1/(1+e) = 0.268941421369..., 1/(1+1/e) = 0.731058578630...; the slope at 0 is ½.
        ("logistic", 2 * 26894142, 2 * 26894143, 1),
        ("logistic", 2 * 73105857, 2 * 73105858, -1),
    ],
)
def test_sign_of_nearly_cancelling_terms(loss, below, above, score):
    for q, expected in ((below, -1), (above, 1)):
        terms = [(Fraction(q, 10**8), Fraction(0)), (Fraction(-1), Fraction(score))]
        assert oracle.sign(terms, loss) == expected


def test_unseparated_tie_is_refused():
    # e^{-x} − 1 with x = 10⁻¹²⁰ is about −10⁻¹²⁰, not formally zero.
    terms = [(Fraction(1), Fraction(1, 10**120)), (Fraction(-1), Fraction(0))]
    with pytest.raises(ArithmeticError, match="do not separate"):
        oracle.sign(terms, "exponential")
    with pytest.raises(ArithmeticError, match="too large"):
        oracle.sign([(Fraction(1), Fraction(10**7))], "logistic")


@pytest.mark.parametrize("loss", oracle.LOSSES)
def test_single_pair_always_separates(loss):
    # n = 1, T = 2: −∇L(0) is a positive multiple of (γ_0 − γ_1) φ.
    data = one_sample([[1, 1]])
    assert oracle.first_step_sign(data, [0], loss) == {(0, 1): 1}
    assert oracle.first_step_sign(data, [1], loss) == {(0, 0): -1}
    assert oracle.first_step_separates(data, loss)


def test_tied_optimum_never_separates():
    # Scores 1, 1, 0, f = 2/3, G = (1/3, 2/3)/3 in the first column: against token 0 = (1,1) the
    # differences (1,0) and (1,1) both have a margin > 0, but token 1 = (0,1) is as good.
    data = ([[[1, 1], [0, 1], [0, 0]]], [1], [E1], [0, 1])
    for loss in oracle.LOSSES:
        assert oracle.first_step_sign(data, [0], loss) == {(0, 1): 1, (0, 2): 1}
        assert not oracle.first_step_separates(data, loss)


def loss_at(data, W, loss):
    """L(W) in floating point, from its definition."""
    X, Y, z, v = data
    total = 0.0
    for tokens, label, query in zip(X, Y, z, strict=True):
        logits = [
            sum(x[a] * W[a][b] * query[b] for a in range(len(v)) for b in range(len(v)))
            for x in tokens
        ]
        weights = [math.exp(logit) for logit in logits]
        f = sum(
            w * label * sum(p * q for p, q in zip(v, x, strict=True))
            for w, x in zip(weights, tokens, strict=True)
        ) / sum(weights)
        total += {"logistic": math.log1p(math.exp(-f)), "exponential": math.exp(-f)}.get(loss, -f)
    return total / len(X)


@pytest.mark.parametrize("loss", oracle.LOSSES)
def test_first_step_signs_match_differences_of_the_loss(loss):
    step, seen = 1e-4, set()
    for data in oracle.integer_datasets(2, 3, 2, count=28, seed=5, ragged=True):
        d = len(data[3])
        slope = [[0.0] * d for _ in range(d)]
        for a, b in product(range(d), repeat=2):
            W = [[0.0] * d for _ in range(d)]
            W[a][b] = step
            ahead = loss_at(data, W, loss)
            W[a][b] = -step
            slope[a][b] = (loss_at(data, W, loss) - ahead) / (2 * step)
        flat_slope = [entry for row in slope for entry in row]
        small = max(map(abs, flat_slope)) < 1e-6
        assert small == oracle.gradient_is_zero_at_zero(data, loss)
        alpha = oracle.optimal_selection(data)
        phi = oracle.features(data, alpha)
        for row, expected in oracle.first_step_sign(data, alpha, loss).items():
            margin = sum(float(p) * g for p, g in zip(phi[row], flat_slope, strict=True))
            assert expected == (0 if abs(margin) < 1e-6 else math.copysign(1, margin))
            seen.add(expected)
    assert seen == {-1, 0, 1}


# --- Absence of stationary points -----------------------------------------------------------------


def test_opposite_queries_with_one_token_set():
    # d = 1, h = D x and h = −D x on the same tokens: D must be 0, and at W = 0 the two samples
    # cancel (f = ½ in both).
    data = ([[[1], [0]], [[1], [0]]], [1, 1], [[1], [-1]], [1])
    assert not oracle.monotone_direction_exists(data)
    assert not oracle.separable_queries(data)
    assert all(oracle.gradient_is_zero_at_zero(data, loss) for loss in oracle.LOSSES)
    # Opposite labels turn the second query round.
    turned = (data[0], [1, -1], data[2], data[3])
    assert oracle.separable_queries(turned)
    assert oracle.monotone_direction_exists(turned)


def test_monotone_direction_without_separable_queries():
    # Differences e1, e2 with queries e1, −e1: D = e1e1ᵀ − e2e1ᵀ, but u would need ±u_1 > 0.
    data = pairs([E1, E2], [E1, [-1, 0]])
    assert oracle.monotone_direction_exists(data)
    assert not oracle.separable_queries(data)


def test_monotone_direction_only_weak_on_an_opposing_pair():
    # Samples 1 and 2 force D_11 = 0; sample 3 (e2 with e2) is free to be strict. Flattened rows:
    # ±e1e1ᵀ and e2e2ᵀ. Likewise u_1 = 0 and u_2 > 0 separate the queries weakly.
    data = pairs([E1, E1, E2], [E1, [-1, 0], E2])
    assert oracle.monotone_direction_exists(data)
    assert oracle.separable_queries(data)


def test_flat_samples_do_not_count_against_separability():
    # v = (1,1): the second sample's tokens e1, e2 have equal scores.
    data = ([[E1, ZERO], [E1, E2]], [1, 1], [E1, [-1, 0]], [1, 1])
    assert oracle.flat_samples(data) == [1]
    assert oracle.separable_queries(data)
    assert oracle.monotone_direction_exists(data)
    # With v = (1,0) it pulls the other way, and its difference (1,−1) still leaves D room.
    turned = (*data[:3], [1, 0])
    assert not oracle.separable_queries(turned)
    assert oracle.monotone_direction_exists(turned)


def test_all_flat():
    data = ([[E1, E2], [ZERO, ZERO]], [1, -1], [E1, E2], [1, 1])
    assert oracle.flat_samples(data) == [0, 1]
    assert not oracle.monotone_direction_exists(data)
    assert not oracle.separable_queries(data)
    assert all(oracle.gradient_is_zero_at_zero(data, loss) for loss in oracle.LOSSES)


# --- Cross-checks ---------------------------------------------------------------------------------


def test_feasibility_three_ways():
    answers = set()
    for data in sampled(count=21):
        for alpha in oracle.selections(data)[:6]:
            feasible = oracle.feasible(data, alpha)
            assert feasible == (oracle.max_margin(data, alpha) is not None)
            assert feasible == oracle.eliminate([], list(oracle.features(data, alpha).values()))
            answers.add(feasible)
    assert answers == {True, False}


def test_stiemke_against_elimination():
    answers = set()
    for data in sampled(count=14):
        for rows in (oracle.monotone_rows(data), oracle.signed_queries(data)):
            # Identically zero rows can never be the strict one.
            strict = [row for row in rows if any(row)]
            expected = any(oracle.eliminate(rows, [row]) for row in strict)
            assert oracle.weakly_solvable(rows) == expected
            answers.add(expected)
    assert answers == {True, False}


def test_max_margin_is_the_projection_of_zero():
    # ⟨V, W⟩ >= ‖W‖² for every feasible V characterizes the projection; tried on a grid of V.
    grid = [list(V) for V in product(range(-2, 3), repeat=4)]
    compared = 0
    for data in oracle.integer_datasets(2, 3, 2, count=21, seed=6):
        alpha = oracle.optimal_selection(data)
        solution = oracle.max_margin(data, alpha)
        rows = list(oracle.features(data, alpha).values())
        for V in grid:
            if all(oracle.dot(row, V) >= 1 for row in rows):
                W = [entry for row in solution.W for entry in row]
                assert oracle.dot(V, W) >= solution.norm_squared
                compared += 1
    assert compared > 100


def test_implications():
    for data in sampled():
        n, d = len(data[0]), len(data[3])
        flat = len(oracle.flat_samples(data)) == n
        monotone = oracle.monotone_direction_exists(data)
        for alpha in oracle.selections(data)[:4]:
            solution = oracle.max_margin(data, alpha)
            if solution is None:
                assert not oracle.full_row_rank(data)
                continue
            assert solution.norm_squared == sum(solution.multipliers.values())
            assert set(solution.multipliers) <= set(solution.support_rows)
            assert oracle.solution_rank(data, alpha) <= min(n, d)  # Lemma 1
        if oracle.full_row_rank(data) and not flat:
            assert monotone  # S1
        if oracle.separable_queries(data):
            assert monotone  # S2a
        if flat or monotone:
            for loss in oracle.LOSSES:
                assert oracle.gradient_is_zero_at_zero(data, loss) == flat
        opt = oracle.optimal_selection(data)
        if oracle.feasible(data, opt) and oracle.unique_optimum(data):
            assert oracle.locally_optimal(data, opt)
            if oracle.equal_scores(data):
                assert monotone
        if any(oracle.first_step_separates(data, loss) for loss in oracle.LOSSES):
            assert oracle.feasible(data, opt)


def test_zero_gradients_are_ordered_by_loss():
    # Equal f cancel for any loss, and k against −k adds the constant 1 for the logistic one: a
    # formal zero for the exponential is one for the logistic, and that one for the correlation.
    seen = set()
    for data in oracle.integer_datasets(3, 2, 1, count=350, seed=9):
        exponential, logistic, correlation = (
            oracle.gradient_is_zero_at_zero(data, loss)
            for loss in ("exponential", "logistic", "correlation")
        )
        assert exponential <= logistic <= correlation
        seen.add((exponential, logistic, correlation))
    assert {(True, True, True), (False, False, True), (False, False, False)} <= seen


def test_sampler_is_deterministic_and_has_every_kind():
    first = list(oracle.integer_datasets(2, 3, 2, count=70, seed=7))
    assert first == list(oracle.integer_datasets(2, 3, 2, count=70, seed=7))
    assert first != list(oracle.integer_datasets(2, 3, 2, count=70, seed=8))
    for index, (X, Y, z, v) in enumerate(first):
        numbers = [c for tokens in X for x in tokens for c in x] + [c for q in z for c in q] + v
        assert set(numbers) <= {-1, 0, 1} and set(Y) <= {-1, 1}
        assert [len(tokens) for tokens in X] == [3, 3]
        kind = oracle.KINDS[index % len(oracle.KINDS)]
        data = (X, Y, z, v)
        assert {
            "plain": True,
            "duplicate tokens": any(
                x == y for t in X for x, y in zip(t, t[1:] + t[:1], strict=True)
            ),
            "zero query": [0, 0] in z,
            "shared query": z[0] == z[1],
            "opposite query": any([-c for c in p] == q for p in z for q in z),
            "flat sample": oracle.flat_samples(data) != [],
            "self-attention": all(q in tokens for q, tokens in zip(z, X, strict=True)),
        }[kind]
    lengths = {
        len(tokens)
        for X, *_ in oracle.integer_datasets(2, 3, 2, count=20, seed=7, ragged=True)
        for tokens in X
    }
    assert lengths == {2, 3}
