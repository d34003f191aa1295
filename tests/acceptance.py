"""A single verdict in a certificate file of its own, put to the checker."""

from __future__ import annotations

from conditions import Status, no_stationary_point
from conditions.verdict import proved
from verifier.certify import Report
from verifier.kernel import check_text


def accepted(dataset, *verdicts):
    """The checker's lines, one a verdict; it must refuse nothing and prove every claim."""
    result = check_text(Report(dataset, "", verdicts, (), None).certificate_text())
    assert result.refusals == ()
    assert result.counts["proved"] == sum(not verdict.undecided for verdict in verdicts)
    return result.lines()[1:]


def stationary(dataset, certificate, status=Status.HOLDS, loss="logistic"):
    """The checker's line for *certificate* as the proof of `no_stationary_point`."""
    verdict = proved(no_stationary_point.CONDITION, status, certificate, "", loss=loss)
    return accepted(dataset, verdict)[0]
