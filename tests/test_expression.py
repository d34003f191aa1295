"""Three-valued logic on proved statuses, its proofs, and the order of evaluation."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conditions.certificates import OptimalTokens
from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.verdict import Evidence, Status, proved, undecided
from verifier.claims import Case, Fact, Outcome, parse
from verifier.claims.expression import And, Atom, Cost, Implies, Not, Or, Predicate
from verifier.claims.outcome import arithmetic
from verifier.claims.parsing import MAX_CHARACTERS, MAX_OPERATORS
from verifier.claims.predicates import PREDICATES

H, F, U = Status.HOLDS, Status.FAILS, Status.UNDECIDED
CASE = Case(AttentionDataset.build([[[1], [0]]], [1], [[1]], [1]))


class Spy:
    """An atom that reports a status and counts how often it was asked."""

    def __init__(self, name, status, cost=Cost.EXACT):
        self.asked = 0
        self.status = status
        self.atom = Atom(Predicate(name, name, self.decide, cost))

    def decide(self, case, selection):
        self.asked += 1
        if self.status is U:
            return undecided(self.atom.predicate.name, "no idea")
        return proved(self.atom.predicate.name, self.status, OptimalTokens((0,)), "because")


def spies(*statuses):
    return [Spy(f"p{k}", status) for k, status in enumerate(statuses)]


def number(status):
    return {F: 0, U: 1, H: 2}[status]


# Truth tables ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("left", "right"), list(itertools.product((H, F, U), repeat=2)))
def test_strong_kleene_tables(left, right):
    a, b = (spy.atom for spy in spies(left, right))

    def status(expression):
        return number(expression.evaluate(CASE).status)

    x, y = number(left), number(right)
    assert status(~a) == 2 - x
    assert status(a & b) == min(x, y)
    assert status(a | b) == max(x, y)
    assert status(a >> b) == max(2 - x, y)


@pytest.mark.parametrize(("build", "statuses", "needed"), [
    (lambda a, b: a & b, (H, H), {"p0", "p1"}),
    (lambda a, b: a & b, (F, F), {"p0"}),
    (lambda a, b: a & b, (U, F), {"p1"}),
    (lambda a, b: a | b, (H, F), {"p0"}),
    (lambda a, b: a | b, (F, F), {"p0", "p1"}),
    (lambda a, b: a >> b, (F, U), {"p0"}),
    (lambda a, b: a >> b, (U, H), {"p1"}),
    (lambda a, b: a >> b, (H, F), {"p0", "p1"}),
    (lambda a, b: a & b, (H, U), set()),
    (lambda a, b: ~(a & ~a), (H, H), {"p0"}),
])
def test_an_outcome_has_exactly_the_verdicts_that_prove_it(build, statuses, needed):
    outcome = build(*(spy.atom for spy in spies(*statuses))).evaluate(CASE)
    assert {verdict.condition for verdict in outcome.verdicts} == needed
    assert len(outcome.verdicts) == len(needed)
    assert bool(outcome.reasons) is outcome.undecided


def test_cheap_parts_come_first_and_end_it():
    dear, cheap = Spy("dear", H, Cost.DESCENT), Spy("cheap", F, Cost.ARITHMETIC)
    assert (dear.atom & cheap.atom).evaluate(CASE).fails
    assert (dear.asked, cheap.asked) == (0, 1)
    assert (cheap.atom >> dear.atom).evaluate(CASE).holds
    assert dear.asked == 0
    assert (dear.atom | ~cheap.atom).evaluate(CASE).holds
    assert dear.asked == 0
    assert (dear.atom & ~cheap.atom).evaluate(CASE).holds
    assert dear.asked == 1


def test_a_predicate_is_decided_once_per_case_and_selection():
    spy = Spy("p", H)
    memo = {}
    assert (spy.atom & (spy.atom | spy.atom)).evaluate(CASE, memo).holds
    assert (~spy.atom).evaluate(CASE, memo).fails
    assert spy.asked == 1
    spy.atom.evaluate(CASE.with_rank(1), memo)
    assert spy.asked == 2


def test_alpha_is_the_default_argument_and_shares_its_outcome():
    asked = []

    def decide(case, selection):
        asked.append(selection)
        return arithmetic(True, Fact("p", "yes"))

    atom = Atom(Predicate("p", "p", decide, Cost.ARITHMETIC, "α", True))
    case = CASE.with_selection([1])
    memo = {}
    for each in (atom, atom("alpha"), atom(1), atom("opt"), atom(0)):
        assert each.evaluate(case, memo).holds
    assert asked == [(1,), (0,)]
    with pytest.raises(InvalidInput, match="selection"):
        atom(0, 0).evaluate(case)


# Values ---------------------------------------------------------------------------------------


def test_neither_expressions_nor_outcomes_have_a_truth_value():
    a, b = (spy.atom for spy in spies(H, H))
    with pytest.raises(TypeError, match="instead of and, or, not"):
        assert a and b
    with pytest.raises(TypeError, match="three statuses"):
        assert a.evaluate(CASE)
    with pytest.raises(InvalidInput, match="built from predicates"):
        a & "feasible"


def test_an_outcome_is_decided_exactly_if_it_has_a_proof():
    fact = Fact("one", "1 < 2")
    assert Outcome(H, facts=(fact,)).evidence is Evidence.EXACT
    for broken in ({"status": H}, {"status": U, "facts": (fact,)},
                   {"status": H, "verdicts": (undecided("p", "no"),)}):
        with pytest.raises(ValueError, match="has a proof"):
            Outcome(**broken)


def test_evidence_is_the_weakest():
    parts = [Fact("a", "a"), Fact("b", "b", evidence=Evidence.ENCLOSED)]
    assert Outcome(H, facts=tuple(parts)).evidence is Evidence.ENCLOSED
    assert Outcome(U, reasons=("no",)).evidence is None


@pytest.mark.parametrize("argument", [(), ("beta",), (-1,), (True,), (0, "opt"), (1.5,)])
def test_arguments_are_alpha_opt_or_indices(argument):
    with pytest.raises(InvalidInput, match="argument of feasible"):
        PREDICATES["feasible"](*argument)


def test_a_predicate_about_no_selection_takes_no_argument():
    with pytest.raises(InvalidInput, match="takes no argument"):
        PREDICATES["unique_optimum"]("opt")


# Text -----------------------------------------------------------------------------------------

ATOMS = st.sampled_from(list(PREDICATES.values())).flatmap(
    lambda atom: st.one_of(
        st.just(atom),
        *([st.sampled_from([atom("alpha"), atom("opt")]),
           st.lists(st.integers(0, 9), min_size=1, max_size=4).map(lambda a: atom(*a))]
          if atom.predicate.selective else [])))
EXPRESSIONS = st.recursive(ATOMS, lambda parts: st.one_of(
    parts.map(Not), *(st.builds(kind, parts, parts) for kind in (And, Or, Implies))),
    max_leaves=12)


@settings(max_examples=200, deadline=None)
@given(EXPRESSIONS)
def test_what_is_printed_is_read_back(expression):
    assert parse(str(expression)) == expression


@settings(max_examples=100, deadline=None)
@given(EXPRESSIONS)
def test_what_is_printed_is_the_same_to_python(expression):
    scope = dict(PREDICATES, alpha="alpha", opt="opt")
    assert eval(str(expression), {"__builtins__": {}}, scope) == expression


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=40),
                 st.lists(st.sampled_from(["feasible", "(", ")", "~", "&", "|", ">>", ">", ",",
                                           "opt", "0", " ", "__import__", "full_rank"]),
                          max_size=15).map("".join)))
def test_any_text_is_read_or_refused_in_one_line(text):
    try:
        assert parse(str(parse(text))) == parse(text)
    except InvalidInput as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(("text", "meant"), [
    ("~a & b", And(Not("a"), "b")),
    ("a & b | c", Or(And("a", "b"), "c")),
    ("a | b & c", Or("a", And("b", "c"))),
    ("a & b >> c | d", Implies(And("a", "b"), Or("c", "d"))),
    ("a >> b >> c", Implies("a", Implies("b", "c"))),
    ("a & b & c", And(And("a", "b"), "c")),
    ("~~a", Not(Not("a"))),
    (" ( (a)\t|\nb ) ", Or("a", "b")),
])
def test_precedence(text, meant):
    atoms = {name: Atom(Predicate(name, name, lambda case, _: None, Cost.EXACT))
             for name in "abcd"}

    def filled(part):
        if isinstance(part, str):
            return atoms[part]
        return type(part)(*(filled(getattr(part, name)) for name in part.__dataclass_fields__))

    assert parse(text, atoms) == filled(meant)


@pytest.mark.parametrize(("text", "said"), [
    ("", "name of a predicate"),
    ("feasible &", "name of a predicate"),
    ("feasible unique_optimum", "operator"),
    ("(feasible", r"'\)' is expected"),
    ("feasible)", "operator"),
    ("feasible(", "alpha, opt"),
    ("feasible()", "alpha, opt"),
    ("feasible(0,)", "alpha, opt"),
    ("feasible(opt, 0)", "argument of feasible"),
    ("feasible(beta)", "argument of feasible"),
    ("feasible(9999999999)", "alpha, opt"),
    ("feasible > full_rank", "is not expected at character 9"),
    ("feasible and full_rank", "operator"),
    ("feasible; full_rank", "';'.*character 8"),
    ("__import__('os')", "'"),
    ("feasible.__class__", "not expected"),
    ("lambda", "is not known"),
    ("unique_optimum(opt)", "takes no argument"),
    ("feasable", "did you mean feasible"),
    ("local_optimality", "did you mean local_optimal"),
    ("xyzzy", "known are .*all_support.*unique_optimum"),
    ("~" * (MAX_OPERATORS + 1) + "feasible", f"at most {MAX_OPERATORS}"),
    (" & ".join(["feasible"] * (MAX_OPERATORS + 2)), f"at most {MAX_OPERATORS}"),
    ("(" * (MAX_OPERATORS + 1) + "feasible", f"{MAX_OPERATORS} parentheses"),
    ("a" * (MAX_CHARACTERS + 1), "characters"),
])
def test_errors_say_what_is_wrong(text, said):
    with pytest.raises(InvalidInput, match=said) as caught:
        parse(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("join", [" & ", " | ", " >> "])
def test_the_longest_chains_are_evaluated(join):
    expression = parse(join.join(["two_tokens"] * (MAX_OPERATORS + 1)))
    assert parse(str(expression)) == expression
    assert expression.evaluate(CASE).holds
    assert parse("(" * MAX_OPERATORS + "two_tokens" + ")" * MAX_OPERATORS) == parse("two_tokens")
