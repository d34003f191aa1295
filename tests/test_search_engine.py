"""Searches from nothing: what they find is small after shrinking, and the checker accepts it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from flint import fmpq

import conditions
import verifier
from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from verifier.claims import Case, parse
from verifier.claims.claim import Claim, Standing, claim_of
from verifier.claims.registry import find
from verifier.kernel import check_text
from verifier.search import Counterexample, Problem, search
from verifier.search.batch import Size
from verifier.search.bundle import NAMES, bundle, write
from verifier.search.draft import Draft
from verifier.search.necessity import necessity, table
from verifier.search.shrink import again, shrink


def found(claim: Claim, *dropped: str, seconds: float = 120.0, size: Size | None = None):
    """The shrunk counterexample, its checked bundle, and its largest entry."""
    problem = Problem.of(claim, *dropped)
    result = search(problem, seconds=seconds, size=size)
    assert result.found is not None, result.coverage.lines()
    shrunk = shrink(problem, result.found, seconds=seconds, keep_size=size is not None)
    made = bundle(problem, shrunk)
    assert made.checked.accepted and made.checked.counts["proved"] == made.checked.counts["claimed"]
    case = shrunk.found.case
    entries = [abs(x) for part in (*case.dataset.tokens, case.dataset.queries, [case.dataset.head])
               for row in part for x in row]
    return shrunk, made, max(entries)


def size_of(shrunk) -> Size:
    data = shrunk.found.case.dataset
    return Size(data.n, max(data.lengths), data.d)


@pytest.mark.parametrize(("name", "size", "largest"), [
    ("thm3", Size(2, 2, 1), 1),
    ("overparameterized_implies_locally_optimal", Size(1, 2, 1), 1),
    ("small_d_feasible", Size(2, 2, 1), 1),
    ("thm4_some_selection", Size(2, 2, 2), 3),
])
def test_smallest_counterexamples(name, size, largest):
    shrunk, made, entries = found(find(name))
    assert shrunk.minimal and size_of(shrunk) == size and entries <= largest
    text = made.explanation
    assert f"A counterexample to {name}" in text and "Locally minimal" in text
    assert len(text.splitlines()) < 70


def test_theorem_4_from_a_start_in_another_basin():
    shrunk, made, entries = found(find("thm4"))
    case = shrunk.found.case
    assert size_of(shrunk) == Size(2, 2, 2) and entries <= 3
    assert not case.starts_at_zero
    certificate = {v.condition: v.certificate for v in shrunk.found.conclusion.verdicts}
    assert certificate["limit_from_start"].steps == 0
    assert "lies in a basin" in made.explanation


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), [
    ("thm4_zero", Size(2, 2, 2)), ("feasible_implies_no_stationary_point", Size(2, 3, 2))])
def test_small_counterexamples_that_take_longer(name, size):
    shrunk, _, _ = found(find(name))
    assert size_of(shrunk) == size


@pytest.mark.parametrize("size", [Size(2, 2, 1), Size(1, 3, 1), Size(3, 2, 2)], ids=str)
def test_too_few_dimensions(size):
    claim = claim_of(parse("~overparameterized_dimension >> feasible"))
    shrunk, _, _ = found(claim, size=size)
    assert size_of(shrunk) == size and shrunk.minimal
    data = shrunk.found.case.dataset
    assert all(len(set(tokens)) == size.T for tokens in data.tokens)
    assert all(any(query) for query in data.queries)


def test_a_hypothesis_is_needed():
    shrunk, made, _ = found(find("thm8_repaired"), "full_rank")
    assert size_of(shrunk) == Size(2, 2, 1)
    assert "Dropped: full_rank" in made.explanation


@pytest.mark.parametrize("name", ["thm3_repaired", "thm4_repaired", "thm8_repaired"])
def test_a_negative_slope_of_the_loss_is_needed(name):
    shrunk, made, entries = found(find(name), "decreasing_loss")
    assert size_of(shrunk) == Size(1, 2, 1) and entries == 1
    assert shrunk.found.case.loss == "cubic" and "ℓ(u) = −u³" in made.explanation


@pytest.mark.slow
def test_theorem_6_needs_a_negative_slope_of_the_loss():
    shrunk, made, _ = found(find("thm6_repaired"), "decreasing_loss")
    assert size_of(shrunk) in (Size(1, 3, 2), Size(1, 3, 3))
    (verdict,) = shrunk.found.conclusion.verdicts
    assert verdict.condition == "stalled_descent" and "it misses" in made.explanation


@pytest.mark.parametrize("name", ["thm4_repaired", "thm6_repaired", "lemma1", "lemma4",
                                  "thm3_repaired", "assumption_d_unique", "rank_m_feasible"])
def test_theorems_survive(name):
    result = search(Problem.of(find(name)), seconds=1.5, seed=3)
    assert result.found is None
    summary = result.coverage.summary()
    assert "true" not in summary and "complete" in summary
    stages = result.coverage.to_json()["stages"]
    assert stages and all(stage["datasets"] > 0 for stage in stages)
    complete = [stage for stage in stages if stage["exhaustive"]]
    assert all(stage["drawn"] == stage["places"] for stage in complete)


def test_a_search_does_not_trust_the_theorem_that_it_tests(monkeypatch):
    """Theorem 4 as printed, taken for proved by everyone else: its counterexample is found."""
    from conditions import low_norm_limit, nonnegative_features
    from conditions.certificates import NonnegativeProducts
    from conditions.verdict import Status, proved

    def believed(dataset):
        return proved(nonnegative_features.CONDITION, Status.HOLDS, NonnegativeProducts(), "")

    monkeypatch.setattr(nonnegative_features, "decide", believed)
    monkeypatch.setattr(low_norm_limit, "decide", lambda dataset, *_: believed(dataset))
    for name in ("thm4", "thm4_zero"):
        claim = replace(find(name), standing=Standing.PROVED)
        problem = Problem.of(claim)
        assert problem.skeptical and not Problem.of(claim, "equal_scores").skeptical
        result = search(problem, seconds=120, seed=1)
        assert result.found is not None, name
        assert result.found.conclusion.verdicts[0].condition in (
            "limit_from_start", "invariant_ray")


def test_a_zero_of_the_gradient_is_found_in_spite_of_a_proof_that_there_is_none(monkeypatch):
    from conditions import no_stationary_point
    from conditions.certificates import SeparableQueries
    from verifier.claims import predicates as p
    # ∇L(log 3) = 0: test_no_stationary_point has the reason.
    dataset = AttentionDataset.build([[[1], [0]], [["3/2"], ["1/2"]]], [1, 1], [[1], [-1]], [1])
    assert p.no_stationary_point.evaluate(Case(dataset)).fails
    monkeypatch.setattr(no_stationary_point.separable_queries, "proof",
                        lambda dataset: SeparableQueries(()))
    assert p.no_stationary_point.evaluate(Case(dataset)).holds
    outcome = p.no_stationary_point.evaluate(Case(dataset, skeptical=True))
    assert outcome.fails and outcome.verdicts[0].certificate.kind == "krawczyk"


def test_lemma_6_survives_all_of_its_lattices_and_needs_its_hypotheses():
    """Small lists are gone through completely, with several λ for each dataset."""
    result = search(Problem.of(find("lemma6")), seconds=10, seed=0)
    assert result.found is None
    stages = {s["name"]: s for s in result.coverage.to_json()["stages"]}
    for T in (3, 4):
        stage = stages[f"(1, {T}, {T}) tokens e₁..e_{T}, head in 0..3"]
        assert stage["exhaustive"] and stage["examined"] == stage["places"] and not stage[
            "undecided"]
    for dropped, size in (("lambda", Size(1, 2, 2)), ("orthonormal_tokens", None)):
        shrunk, made, _ = found(find("lemma6"), dropped)
        assert size is None or size_of(shrunk) == size
        assert "λ = " in made.explanation


def test_theorem_7_needs_local_optimality():
    shrunk, made, entries = found(find("thm7"), "local_optimal")
    assert size_of(shrunk) == Size(1, 2, 1) and entries == 1
    assert shrunk.found.case.selection != shrunk.found.case.opt
    assert {v.condition for v in shrunk.found.conclusion.verdicts} == {
        "nonnegative_features", "feasibility"}
    assert "every W(0)" in made.explanation


def test_a_claim_about_almost_all_datasets_has_exceptions():
    _, made, _ = found(find("thm1"))
    assert "this one is an exception" in made.explanation
    entry, *_ = necessity([find("thm1")], seconds=20)
    assert entry.text.startswith("exception, ")


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(InvalidInput, match="only observed"):
        Problem.of(find("thm2"))
    with pytest.raises(InvalidInput, match="hypothesis of thm4"):
        Problem.of(find("thm4"), "nothing")


def test_a_case_that_is_none_is_not_taken_for_one():
    problem = Problem.of(find("thm3"))
    good = AttentionDataset.build([[[1], [0]], [[1], [0]]], [1, 1], [[1], [1]], [1])
    outcome = problem.check(Case(good, loss="correlation", step=fmpq(1, 64)))
    assert not isinstance(outcome, Counterexample) and not outcome.fails
    opposed = AttentionDataset.build([[[1], [0]], [[1], [0]]], [1, 1], [[1], [-1]], [1])
    assert isinstance(problem.check(Case(opposed, loss="correlation", step=fmpq(1, 64))),
                      Counterexample)
    # The hypothesis about the step is not met.
    too_long = problem.check(Case(opposed, loss="correlation", step=fmpq(64)))
    assert not isinstance(too_long, Counterexample) and too_long.fails


def test_shrinking_keeps_every_certificate_and_says_what_it_tried():
    problem = Problem.of(find("small_d_feasible"))
    large = AttentionDataset.build(
        [[["7/3", 2], [0, 5], [1, -9]], [[4, 4], [0, 0], [2, -1]], [[3, 0], [1, 1], [0, 6]]],
        [1, -1, -1], [[2, 0], [2, 0], [2, 0]], [1, "1/2"])
    first = again(problem, Case(large, loss="logistic"))
    if first is None:
        pytest.fail("the large dataset is meant to be a counterexample")
    shrunk = shrink(problem, first, seconds=60)
    assert shrunk.minimal and shrunk.steps >= 4
    assert size_of(shrunk) == Size(2, 2, 1)
    assert {"drop a sample", "a simpler number", "canonical order"} <= set(shrunk.moves)
    measure = Draft.of(shrunk.found.case).measure
    for _, moved in Draft.of(shrunk.found.case).moves():
        if moved.measure < measure:
            assert again(problem, moved.built()) is None


def test_bundles_are_files_that_the_checker_reads(tmp_path):
    problem = Problem.of(find("overparameterized_implies_locally_optimal"))
    result = search(problem, seconds=20)
    made = bundle(problem, shrink(problem, result.found))
    write(made, tmp_path / "b")
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == sorted(NAMES)
    assert check_text((tmp_path / "b" / "certificate.json").read_text("utf-8")).accepted
    with pytest.raises(InvalidInput, match="cannot be made a directory"):
        write(made, tmp_path / "b" / "dataset.json")


def test_the_matrix_is_computed():
    claims = [find("overparameterized_implies_locally_optimal"), find("thm2"), find("thm3")]
    entries = necessity(claims, seconds=60, seed=1)
    assert [(e.claim.name, e.dropped) for e in entries[:2]] == [
        ("overparameterized_implies_locally_optimal", None),
        ("overparameterized_implies_locally_optimal", "dimension")]
    assert "thm2" not in {e.claim.name for e in entries}
    assert all(e.shrunk is not None for e in entries)
    text = table(entries)
    assert len(text.splitlines()) == len(entries) and "without unique_optimum" in text
    spelled = entries[0].to_json()
    assert spelled["counterexample"]["size"] == "(1, 2, 1)" and spelled["dropped"] is None


def test_the_cubic_loss_is_not_inherited_by_claims_that_do_not_drop_the_slope():
    claims = [find("thm3_repaired"), find("feasible_implies_no_stationary_point")]
    entries = {(e.claim.name, e.dropped): e for e in necessity(claims, seconds=40)}
    cubic = entries["thm3_repaired", "decreasing_loss"]
    assert cubic.shrunk is not None and cubic.shrunk.found.case.loss == "cubic"
    for (_, dropped), entry in entries.items():
        if dropped != "decreasing_loss" and entry.shrunk is not None:
            assert entry.shrunk.found.case.loss != "cubic"


def test_no_counterexample_ships_with_the_packages():
    for package in (conditions, verifier):
        root = Path(package.__path__[0])
        for path in root.rglob("*"):
            assert path.suffix not in (".json", ".npz", ".npy", ".csv"), path
            assert path.name not in NAMES
            if path.suffix == ".py" and "search" in path.parts:
                text = path.read_text("utf-8")
                assert "multipliers\":" not in text and '"X":' not in text, path
