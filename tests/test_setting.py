"""Which conditions a head or a parameterization leaves without meaning: refused by name."""

import importlib
import pkgutil
import sys

import numpy as np
import pytest
from flint import fmpq

import conditions
from conditions import AttentionDataset
from conditions.errors import InvalidInput
from conditions.setting import ABOUT_DESCENT_ON_W, ABOUT_TOKENS, require, unmet
from verifier.certify import KNOWN, certify
from verifier.cli import main
from verifier.descent import CallableHead, MulticlassHead, QuadraticHead, ReluHead
from verifier.kernel import check_text

MODULES = {module.CONDITION: module for module in (
    importlib.import_module(info.name)
    for info in pkgutil.walk_packages(conditions.__path__, "conditions."))
    if isinstance(getattr(module, "CONDITION", None), str)}

rng = np.random.default_rng(2)
X, Z, V = rng.normal(size=(3, 4, 5)), rng.normal(size=(3, 5)), rng.normal(size=(6, 5))
DATA = AttentionDataset.build(X, [1, -1, 1], Z, rng.normal(size=5))
OTHER = AttentionDataset.build(X, [-1, -1, 1], Z, rng.normal(size=5))
K0, Q0 = rng.normal(size=(2, 5, 2))

HEADS = {"relu": ReluHead.of(V), "quadratic": QuadraticHead.of("1/2"),
         "multiclass": MulticlassHead.of(V[:3], [0, 2, 1]),
         "callable": CallableHead(lambda o: (float(np.tanh(o).sum()), 1 / np.cosh(o)**2))}

NEED_SCORES = ["unique_optimum", "equal_scores", "no_flat_sample", "first_step_separates",
               "local_optimality", "no_stationary_point", "nonnegative_features", "assumption_d",
               "assumption_e", "only_local_optimum", "directions", "basin", "basin_cone",
               "limit_from_start", "low_norm_limit", "selection_trap", "large_first_step"]


def test_the_lists_name_conditions():
    assert set(NEED_SCORES) | ABOUT_TOKENS | ABOUT_DESCENT_ON_W <= set(MODULES)
    assert set(MODULES) >= KNOWN
    assert not set(NEED_SCORES) & ABOUT_TOKENS


@pytest.mark.parametrize("name", sorted(ABOUT_TOKENS))
def test_labels_and_head_have_no_part_in_conditions_about_tokens(name):
    arguments = {"dataset": (), "sets": ([[0, 1], [2], [0]],), "m": ((0, 1, 2), 2),
                 "W": ((0, 1, 2), np.eye(5), "logistic")}
    code = MODULES[name].decide.__code__
    asked = code.co_varnames[:code.co_argcount]
    given = next((arguments[key] for key in ("sets", "m", "W") if key in asked),
                 ((0, 1, 2),) if "selection" in asked else ())
    one, other = (MODULES[name].decide(data, *given) for data in (DATA, OTHER))
    assert (one.status, one.certificate) == (other.status, other.certificate)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("name", NEED_SCORES)
def test_what_needs_scores_is_refused_by_name(name, head):
    with pytest.raises(InvalidInput, match=rf"^{name} .*{head} head"):
        require(name, head)
    require(name)


@pytest.mark.parametrize("name", sorted(ABOUT_DESCENT_ON_W))
def test_limits_are_about_descent_on_W(name):
    with pytest.raises(InvalidInput, match=rf"^{name} .*not on K and Q"):
        require(name, "linear", "KQ")


def test_the_best_mixture_is_about_the_quadratic_head():
    assert unmet("simplex_support", "quadratic") is None
    for head in ("linear", "relu", "callable"):
        with pytest.raises(InvalidInput, match=r"^simplex_support"):
            require("simplex_support", head)


@pytest.mark.parametrize("name", sorted(ABOUT_TOKENS))
def test_the_geometry_is_there_for_every_setting(name):
    for head in ("linear", *HEADS):
        for parameterization in ("W", "KQ"):
            require(name, head, parameterization)


# certify ------------------------------------------------------------------------------------


@pytest.mark.parametrize("head", HEADS)
def test_a_report_decides_the_geometry_and_says_what_it_leaves(head):
    report = certify(DATA, head=HEADS[head], iterations=300)
    verdicts = {v.condition: v for v in report.verdicts}
    assert verdicts["feasibility"].holds and verdicts["full_rank"].holds
    assert verdicts["support_indices"].holds
    for name in set(NEED_SCORES) & set(verdicts) - {"basin"}:
        assert verdicts[name].undecided and verdicts[name].evidence is None
        assert f"the {head} head has none" in verdicts[name].reason
    assert f"with the {head} head" in verdicts["basin"].reason
    assert ("simplex_support" in verdicts) == (head == "quadratic")
    assert report.selections == (("selected by the run", report.run.selected),)
    result = check_text(report.certificate_text())
    assert result.accepted and result.counts["proved"] >= 5


def test_the_sets_that_a_run_selects_are_certified():
    rng = np.random.default_rng(0)
    data = AttentionDataset.build(rng.normal(size=(3, 4, 5)), [1, -1, 1], rng.normal(size=(3, 5)),
                                  rng.normal(size=5))
    report = certify(data, head=ReluHead.of(rng.normal(size=(6, 5))))
    verdicts = {v.condition: v for v in report.verdicts}
    assert verdicts["gen_feasibility"].holds and verdicts["multi_token_support"].holds
    assert max(map(len, verdicts["gen_feasibility"].certificate.sets)) > 1
    assert "W^fin + ρ·W^mm of the sets" in verdicts["predicted_direction"].reason
    assert check_text(report.certificate_text()).accepted


@pytest.mark.parametrize(("settings", "words"), [
    ({"head": "callable", "only": ["local_optimality"]}, "local_optimality"),
    ({"head": "relu", "only": ["feasibility", "unique_optimum"]}, "unique_optimum"),
    ({"head": "relu", "only": ["equal_scores"]}, "equal_scores"),
    ({"head": "relu", "only": ["first_step_separates"]}, "first_step_separates"),
    ({"head": "quadratic", "only": ["basin"]}, "basin"),
    ({"head": "multiclass", "only": ["no_stationary_point"]}, "no_stationary_point"),
    ({"head": "relu", "from_start": True}, "limit_from_start"),
    ({"head": "relu", "selection": "opt"}, "selection"),
    ({"head": "relu", "only": ["simplex_support"]}, "simplex_support"),
    ({"only": ["simplex_support"]}, "simplex_support"),
    ({"parameterization": "KQ", "only": ["basin"]}, "basin"),
    ({"parameterization": "KQ", "only": ["low_norm_limit"]}, "low_norm_limit"),
    ({"parameterization": "KQ", "from_start": True}, "limit_from_start"),
    ({"only": ["nuclear_margin"]}, "only"), ({"only": ["B.2"]}, "only"),
    ({"only": ["basin"], "iterations": 0}, "only"),
])
def test_bad_combinations_are_refused_by_name(settings, words):
    given = {"iterations": 50, "start": (K0, Q0) if "parameterization" in settings else None,
             **settings}
    if "head" in given:
        given["head"] = HEADS[given["head"]]
    with pytest.raises(InvalidInput, match=f"^{words}"):
        certify(DATA, **given)


def test_only_what_is_asked_for_is_decided():
    report = certify(DATA, only=["feasibility", "rank_bound", "gen_feasibility"], iterations=2000)
    assert {v.condition for v in report.verdicts} <= {"feasibility", "rank_bound",
                                                      "gen_feasibility"}
    report = certify(DATA, head=HEADS["relu"], only=["full_rank"], iterations=20)
    assert [v.condition for v in report.verdicts] == ["full_rank"]
    report = certify(DATA, head=HEADS["quadratic"], only=["simplex_support"], iterations=20)
    (verdict,) = report.verdicts
    assert verdict.holds and verdict.certificate.lam == fmpq(1, 2)


# The command --------------------------------------------------------------------------------


@pytest.mark.parametrize(("arguments", "words"), [
    (["certify", "--only", "local_optimality"], "local_optimality"),
    (["certify", "--only", "nothing"], "only"),
    (["certify", "--selection", "opt"], "selection"),
    (["certify", "--from-start"], "limit_from_start"),
    (["certify", "--plots", "plots"], "--plots"),
    (["certify", "--head", "quadratic"], "lambda"),
    (["directions"], "directions"),
    (["graph"], "selection graph"),
])
def test_commands_refuse_a_head_without_scores(arguments, words, capsys, monkeypatch, tmp_path):
    np.savez(tmp_path / "data.npz", X=X, Y=[1, -1, 1], z=Z, v=DATA.floats.head, V=V)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["attsvm", arguments[0], "data.npz", *arguments[1:]])
    with pytest.raises(SystemExit, match="2"):
        main()
    err = capsys.readouterr().err
    assert len(err.strip().splitlines()) == 1 and err.startswith(f"attsvm: {words}")
    assert [p.name for p in tmp_path.iterdir()] == ["data.npz"]


def test_the_linear_head_can_be_asked_for(capsys, monkeypatch, tmp_path):
    np.savez(tmp_path / "data.npz", X=X, Y=[1, -1, 1], z=Z, v=DATA.floats.head, V=V)
    monkeypatch.setattr(sys, "argv", ["attsvm", "certify", str(tmp_path / "data.npz"), "--head",
                                      "linear", "--only", "local_optimality"])
    with pytest.raises(SystemExit, match="0"):
        main()
    assert "local_optimality" in capsys.readouterr().out
