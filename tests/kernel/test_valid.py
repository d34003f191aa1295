"""Every valid case is accepted, with the statement it proves."""

import hashlib
import json
import subprocess
import sys
from fractions import Fraction

import pytest

from verifier.kernel import Unreadable, check_text, summary
from verifier.kernel.__main__ import main
from verifier.kernel.claim import number_text, rows_text
from verifier.kernel.kinds import KINDS
from verifier.kernel.statements import CONDITIONS

from .builders import CYCLIC, DIAGONAL, NARROW, RUN, document, mixed_document, text, verdict
from .cases import CASES


@pytest.mark.parametrize("name", CASES)
def test_case_is_accepted_with_its_statement(name):
    case = CASES[name]
    result = check_text(text(case.document()))
    assert result.refusals == ()
    (outcome,) = result.outcomes
    assert (outcome.kind, outcome.claimed) == ("proved", True)
    assert outcome.text.startswith(case.verdict["condition"])
    marks = f"{case.verdict['status']} ({case.verdict['evidence']}, {case.kind}): "
    assert marks in outcome.text
    assert case.says in outcome.text


def test_every_kind_and_status_has_a_case():
    shown = {(c.verdict["condition"], c.verdict["status"], c.kind) for c in CASES.values()}
    listed = {(name, status, kind) for name, condition in CONDITIONS.items()
              for status, kinds in (("holds", condition.holds_by), ("fails", condition.fails_by))
              for kind in kinds}
    assert shown == listed
    assert {kind for _, _, kind in listed} == set(KINDS)


def test_conditions_and_kinds_are_those_of_the_specification():
    with open("docs/certificates.md", encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    table = {cells[0].strip("`"): cells[1:] for line in lines if line.startswith("| `")
             for cells in [[cell.strip() for cell in line.strip("|").split("|")]]}
    described = {line.split("`")[1] for line in lines if line.startswith("**`")}
    assert set(KINDS) <= described
    for name, condition in CONDITIONS.items():
        marks, _, holds, fails = table[name]
        assert ("α" in marks, "ℓ" in marks) == (condition.about_selection, condition.about_loss)
        for cell, kinds in ((holds, condition.holds_by), (fails, condition.fails_by)):
            listed = [] if cell == "–" else cell.replace("`", "").split(", ")
            # A kind of the page that the checker does not know is refused.
            assert tuple(kind for kind in listed if kind in KINDS) == kinds


def test_counts_and_lines_of_a_mixed_file():
    document_ = mixed_document()
    result = check_text(text(document_))
    assert result.accepted
    proved = len(document_["verdicts"]) - 3
    assert summary([result]) == (f"accepted {proved} of {proved} proved verdicts; 1 observed, "
                                 "2 undecided, 0 refused")
    lines = result.lines()
    assert lines[0].startswith("dataset n=2 T=2..3 d=2 sha256=")
    assert lines[-3] == ("observed  predicted_direction for α = (0, 0) with logistic loss")
    assert lines[-2] == "undecided feasibility for α = (0, 1)"
    assert len(lines) == len(document_["verdicts"]) + 1


def test_fingerprint_is_the_specified_text():
    (line,) = check_text(text(document(NARROW))).lines()
    lines = ["2 1", "2", "1/1", "3/1", "1/1", "1/2", "2", "1/1", "3/1", "0/1", "1/1", "1/1"]
    digest = hashlib.sha256("".join(f"{x}\n" for x in lines).encode()).hexdigest()
    assert line == f"dataset n=2 T=2 d=1 sha256={digest}"


def test_long_rationals_are_rounded_in_statements_and_marked():
    assert number_text(Fraction(-7, 3)) == "-7/3"
    assert number_text(Fraction(1, 3**60)) == "2.35898248759E-29 (rounded)"
    assert number_text(Fraction(10**5000 + 1)) == "1.00000000000E+5000 (rounded)"


def test_long_lists_of_rows_are_cut_in_statements_and_counted():
    rows = [(0, t) for t in range(40)]
    assert rows_text(rows).endswith("(0, 39)")
    assert rows_text([*rows, (1, 0)]).endswith("(0, 39), … (41 in all)")


def test_run_is_read_and_proves_nothing():
    result = check_text(text(document(DIAGONAL, run=RUN)))
    assert result.accepted and result.outcomes == ()
    # At W = 0 all logits tie and the lowest index is selected.
    zero = {**RUN, "final": [[0, 0], [0, 0]], "selected": [0, 0]}
    assert check_text(text(document(CYCLIC, run=zero))).accepted


def test_one_refusal_does_not_hide_the_others():
    good = CASES["separator"].verdict
    bad = {**CASES["unique_optimum"].verdict, "status": "fails"}
    worse = {**CASES["no_flat_sample"].verdict, "evidence": "enclosed"}
    result = check_text(text(document(DIAGONAL, bad, good, worse)))
    assert [o.kind for o in result.outcomes] == ["refused", "proved", "refused"]
    assert [r.place for r in result.refusals] == ["verdicts[0].certificate.kind",
                                                  "verdicts[2].evidence"]
    assert summary([result]) == ("accepted 1 of 3 proved verdicts; 0 observed, 0 undecided, "
                                 "2 refused")


def test_command_line(tmp_path, capsys):
    good, refused, broken, whole = (tmp_path / f"{name}.json"
                                    for name in ("good", "refused", "broken", "whole"))
    good.write_text(text(mixed_document()), encoding="utf-8")
    refused.write_text(text(document(DIAGONAL, verdict("feasibility", "holds"))))
    broken.write_text("{")
    whole.write_text(text({**mixed_document(), "run": 1}))
    assert main([str(good)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("1 observed, 2 undecided, 0 refused")
    assert main([str(good), str(refused)]) == 1
    assert "refused   SELECTION_UNFIT at verdicts[0].selection" in capsys.readouterr().out
    assert main([str(whole)]) == 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  refused  WRONG_TYPE at run: 1 is not an object",
        "accepted 0 of 0 proved verdicts; 0 observed, 0 undecided, 0 refused; "
        "1 file refused whole"]
    assert main([str(broken), str(good), str(tmp_path)]) == 2
    assert capsys.readouterr().out.splitlines()[-1].endswith("; 2 files unreadable")
    assert main([]) == main(["--help"]) == 2


def test_integer_digit_limit_is_restored():
    before = sys.get_int_max_str_digits()
    big = 10**20_000 + 1
    with pytest.raises(ValueError, match="limit"):
        str(big)
    sys.set_int_max_str_digits(0)
    try:
        long = text(document({**NARROW, "v": [big]}))
    finally:
        sys.set_int_max_str_digits(before)
    assert check_text(long).accepted
    with pytest.raises(Unreadable):
        check_text("[")
    assert sys.get_int_max_str_digits() == before


def test_statements_print_on_a_terminal_without_greek(tmp_path):
    path = tmp_path / "file.json"
    path.write_text(json.dumps(CASES["separator"].document()))
    done = subprocess.run([sys.executable, "-m", "verifier.kernel", str(path)], check=False,
                          capture_output=True, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and done.stderr == b""
    assert b"\\u03b1 = (0, 0)" in done.stdout
