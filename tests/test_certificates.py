"""Certificates of every kind, made by the conditions, to JSON text and back."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, fields

import numpy as np
import oracle
import pytest
from basin_cases import TWO
from flint import fmpq
from nuclear_cases import TWISTED, UNITS, of_differences, sphere

from conditions import (
    AttentionDataset,
    feasibility,
    full_rank,
    gen_feasibility,
    invariant_ray,
    large_first_step,
    local_optimality,
    low_norm_limit,
    low_rank_feasibility,
    multi_token_support,
    nonnegative_features,
    nuclear_margin,
    rank_bound,
    robust_feasibility,
    robust_full_rank,
    robust_support,
    selection_trap,
    simplex_support,
    stalled_descent,
    unique_nuclear_optimum,
    verified_run,
)
from conditions.basin import cone
from conditions.basin import decide as basin
from conditions.certificates import (
    BasinIsotropic,
    Certificate,
    ExactKKT,
    Farkas,
    Inertia,
    KKTEnclosure,
    Krawczyk,
    Obstruction,
    OptimumTie,
    Separator,
)
from conditions.certificates.base import DECODERS
from conditions.directions import enumerate_directions, verdict
from conditions.exact.numbers import number_to_json
from conditions.graphs import order_certificate
from conditions.selection import optimal_selection
from conditions.stationary import decision_tree, krawczyk, simplex_cover
from verifier.certify import certify
from verifier.directions import explore


def floats(n, T, d, seed):
    """Generic data, whose solutions are enclosed."""
    rng = np.random.default_rng(seed)
    return AttentionDataset.build(rng.normal(size=(n, T, d)), rng.choice([-1, 1], n),
                                  rng.normal(size=(n, d)), rng.normal(size=d))


def random_shared(rng, n, T, d, labels):
    """Small integers with one query for all samples."""
    query = rng.integers(-2, 3, d).tolist()
    return AttentionDataset.build(rng.integers(-2, 3, (n, T, d)).tolist(), labels, [query] * n,
                                  rng.integers(-2, 3, d).tolist())


def of_reports():
    for dataset in (TWO, floats(4, 5, 8, 0), floats(3, 4, 4, 1)):
        yield from certify(dataset, iterations=0).verdicts
    yield from explore(TWO).report.verdicts
    for data in oracle.integer_datasets(2, 3, 2, count=40, seed=1):
        yield from certify(AttentionDataset.build(*data), iterations=0).verdicts
    for seed in range(6):
        yield verdict(enumerate_directions(floats(3, 4, 4, seed)))


def of_selections():
    for seed in range(4):
        dataset = floats(5, 5, 8, seed)
        alpha = optimal_selection(dataset)
        yield local_optimality.decide(dataset, alpha)
        yield rank_bound.decide(dataset, alpha)
    sample = sphere(3, 3, 4, 0)
    alpha = optimal_selection(sample)
    yield nuclear_margin.decide(sample, alpha)
    yield unique_nuclear_optimum.decide(sample, alpha)
    yield unique_nuclear_optimum.decide(UNITS, (0, 0))
    yield low_rank_feasibility.decide(sample, alpha, 2)
    yield low_rank_feasibility.decide(TWISTED, (0, 0), 1)
    opposite = of_differences([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [[1, 0], [-1, 0]])
    yield low_rank_feasibility.decide(opposite, (0, 0), 1)


def of_sets():
    dataset = AttentionDataset.build([[[1, 0], [1, 1], [0, 0]]], [1], [[1, 0]], [1, 0])
    yield gen_feasibility.decide(dataset, [[0, 1]])
    yield multi_token_support.decide(dataset, [[0, 1]])
    rng = np.random.default_rng(0)
    larger = AttentionDataset.build(rng.normal(size=(2, 3, 3)), [1, 1], rng.normal(size=(2, 3)),
                                    [1, 0, 0])
    yield multi_token_support.decide(larger, [[0, 1], [2]])
    # The token between two others cannot beat both.
    line = AttentionDataset.build([[[1], [0], [-1]]], [1], [[1]], [1])
    yield gen_feasibility.decide(line, [[1]])
    yield full_rank.decide(line)
    yield simplex_support.decide(line, "1/2")
    flat = AttentionDataset.build([[[1], [0], [-1]]], [1], [[1]], [0])
    yield simplex_support.decide(flat, "1/2")


def of_rays():
    for X, v in (([[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [3, 7]),
                 ([[[1, 0], [0, 0]], [[1, 1], [0, 0]]], [1, -1]),
                 ([[[1, 1], [0, 0]], [[1, -1], [0, 0]], [[0, 1], [0, 0]]], [1, 0])):
        yield invariant_ray.decide(AttentionDataset.build(X, [1] * len(X), [[1, 0]] * len(X), v),
                                   "correlation")


def of_balls():
    for decide in (robust_feasibility.decide, robust_support.decide):
        yield decide(UNITS, (0, 0))
    yield robust_full_rank.decide(UNITS)
    yield robust_full_rank.decide(of_differences([[[1, 0]], [[0, 1]]], [[1, 0], [1, 0]]))


def of_limits():
    line = AttentionDataset.build([[[2], [1], [0]]], [1], [[1]], [1])
    yield large_first_step.decide(line, 10, "1/10", "correlation")
    yield low_norm_limit.decide(line, [[30]], "flow", 0, "logistic")
    yield selection_trap.decide(line, [[30]], "flow", 0, "logistic")
    yield nonnegative_features.decide(
        AttentionDataset.build([[[1, 0], [0, 0], [0, 0]]], [1], [[0, 1]], [1, 0]))
    yield nonnegative_features.decide(
        AttentionDataset.build([[[1, 0], [0, 0]]], [1], [[0, 0]], [1, 0]))
    yield basin(TWO, (0, 1), [[20, 0], [0, 0]], "plain", "1/91", "logistic")
    yield cone.decide(TWO, (0, 0), "normalized", "1/10", "logistic")
    yield stalled_descent.decide(AttentionDataset.build(
        [[[1, 0], [-4, 1], [-4, 0]]], [1], [[1, 0]], [1, 0]), "37/8192", "1/2048", "cubic")
    for start in ([[0, 0], [0, 0]], [[20, 0], [0, 0]]):
        yield verified_run.decide(TWO, start, "normalized", "1/10", "logistic")


def of_searches():
    rng = np.random.default_rng(0)
    for _ in range(40):
        plane, space = (random_shared(rng, 2, 3, d, [1, -1]) for d in (2, 3))
        if all(len(set(scores)) == 1 for scores in plane.scores):
            continue
        for proof in (decision_tree.proof(space), simplex_cover.proof(plane, "logistic", 60)):
            if isinstance(proof, Certificate):
                yield proof
    for _ in range(12):
        data = random_shared(rng, 2, 3, 2, [1, -1])
        yield from (point.certificate
                    for point in krawczyk.stationary_points(data, "logistic", starts=20))
    one_hot = AttentionDataset.build([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], [1, 1],
                                     [[1, 0], [0, 1]], [1, 1])
    yield order_certificate(one_hot, (0, 0))
    yield feasibility.decide(one_hot, (0, 0)).certificate


def gathered():
    sources = (of_reports, of_selections, of_sets, of_balls, of_rays, of_limits)
    verdicts = (v for source in sources for v in source())
    found = [v.certificate for v in verdicts if v.certificate is not None]
    found += of_searches()
    by_kind: dict[str, list[Certificate]] = {}
    for each in found:
        by_kind.setdefault(each.kind, []).append(each)
    # Parts of others that are certificates themselves.
    for each in found:
        for part in [getattr(each, f.name) for f in fields(each)]:
            for one in part if isinstance(part, tuple) else (part,):
                if isinstance(one, Certificate):
                    by_kind.setdefault(one.kind, []).append(one)
    return by_kind


FOUND = gathered()
KINDS = sorted(set(Certificate.registry) - {""})


@pytest.mark.parametrize("kind", KINDS)
def test_round_trip_through_text(kind):
    for certificate in FOUND[kind][:20]:
        spelled = certificate.to_json()
        assert spelled["kind"] == kind
        assert list(spelled)[1:] == [f.name for f in fields(certificate)]
        again = Certificate.from_json(json.loads(json.dumps(spelled)))
        assert type(again) is Certificate.registry[kind]
        assert again == certificate
        assert again.to_json() == spelled


@pytest.mark.parametrize("kind", KINDS)
def test_evidence_is_exact_or_enclosed(kind):
    cls = Certificate.registry[kind]
    assert cls.kind == kind
    assert cls.evidence in ("exact", "enclosed")
    assert all(str(f.type) in DECODERS for f in fields(cls))


def test_numbers_are_spelled_by_hand():
    separator = Separator(((fmpq(1), fmpq(1, 3)), (fmpq(-3, 4), fmpq(0))))
    assert separator.to_json() == {
        "kind": "separator", "W": [[1, "1/3"], ["-0x1.8000000000000p-1", 0]]}
    assert Farkas(((0, 2, fmpq(5)),)).to_json() == {"kind": "farkas", "multipliers": [[0, 2, 5]]}
    assert OptimumTie(1, (0, 2)).to_json() == {"kind": "optimum_tie", "sample": 1,
                                               "tokens": [0, 2]}


@pytest.mark.parametrize("number", ["1/3", "-7", "123456789012345678901234567890", "1/1024",
                                    "-5/10000000000000000000000000000000001", "0"])
def test_every_size_of_number_survives(number):
    p, _, q = number.partition("/")
    value = fmpq(int(p), int(q or 1))
    certificate = Farkas(((3, 1, value),))
    text = json.dumps(certificate.to_json())
    assert Certificate.from_json(json.loads(text)) == certificate
    assert number_to_json(value) == json.loads(text)["multipliers"][0][2]


def test_parts_are_decoded_by_their_kind():
    exact = ExactKKT(((0, 1, fmpq(1)),), ((0, 1),), fmpq(1))
    basin_ = BasinIsotropic(exact, ((fmpq(2),),), fmpq(0), "flow", fmpq(0), fmpq(2), fmpq(1, 2),
                            160)
    again = Certificate.from_json(basin_.to_json())
    assert isinstance(again.solution, ExactKKT)
    assert again == basin_
    part = Obstruction(((0, 1, fmpq(2)),))
    assert part.to_json() == {"kind": "obstruction", "multipliers": [[0, 1, 2]]}
    assert Obstruction.from_json(part.to_json()) == part
    assert "obstruction" not in Certificate.registry


def test_inertia_may_be_absent():
    inertia = Inertia(((fmpq(1),),), 0)
    for given in (None, inertia):
        certificate = Krawczyk(((0, 1),), (fmpq(1, 3),), fmpq(1, 8), ((fmpq(2),),), 64, given)
        assert Certificate.from_json(certificate.to_json()) == certificate


def test_both_forms_of_a_solution_occur_within_others():
    nested = [each.solution for kind in ("basin_isotropic", "basin_residual", "basin_cone")
              for each in FOUND[kind]]
    assert any(isinstance(each, ExactKKT) for each in nested)
    assert all(isinstance(each, ExactKKT | KKTEnclosure) for each in nested)


@pytest.mark.parametrize("data", [{"kind": "no_such_kind"}, {"kind": "separator"}, {}])
def test_unknown_kinds_and_missing_fields_are_refused(data):
    with pytest.raises(KeyError):
        Certificate.from_json(data)


def test_certificates_are_frozen_and_compare_by_value():
    first, second = (Farkas(((0, 1, fmpq(2, 4)),)) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert first != Farkas(((0, 1, fmpq(1)),))
    with pytest.raises(FrozenInstanceError):
        first.multipliers = ()
