"""Gen-SVM on token-priority graphs: CPU seconds of deciding, writing and checking.

    OPENBLAS_NUM_THREADS=1 python benchmarks/general.py [--exact] [--dim D]

Part 1: noisy orders of 20 tokens, 50 sequences, whose graphs have components of several tokens,
with one-hot embeddings, D signs and D Gaussian numbers a token (D = 24). Part 2: the sizes of v1's
Figure 8, random sets of three samples with four Gaussian tokens each. With --exact everything is
solved over Q as well (the Gaussian embeddings take very long). The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

import numpy as np

from conditions import AttentionDataset, gen_feasibility, multi_token_support
from conditions.priority_graph import NextTokenData, graph_svm
from conditions.separation import general
from conditions.separation.token_sets import Sets
from verifier.certify import Report
from verifier.kernel import check_text

TOKENS, SEQUENCES, LENGTH, NOISE = 20, 50, 12, 4.0


def graphs(embeddings: np.ndarray, seed: int) -> tuple[AttentionDataset, Sets]:
    """Graph-SVM of SEQUENCES noisy orders of LENGTH of the tokens each."""
    rng = np.random.default_rng(seed)
    orders = []
    for _ in range(SEQUENCES):
        chosen = rng.permutation(TOKENS)[:LENGTH]
        orders.append(chosen[np.argsort(chosen + NOISE * rng.standard_normal(LENGTH))].tolist())
    svm = graph_svm(NextTokenData.prefixes(orders, embeddings, 8).completed())
    return svm.dataset, svm.sets


def triples(d: int, seed: int) -> tuple[AttentionDataset, Sets]:
    """Three samples of four Gaussian tokens and sets of one to three of them."""
    rng = np.random.default_rng([d, seed])
    sets = tuple(tuple(sorted(rng.choice(4, rng.integers(1, 4), replace=False).tolist()))
                 for _ in range(3))
    return AttentionDataset.build(rng.standard_normal((3, 4, d)), [1, 1, -1],
                                  rng.standard_normal((3, d)), np.ones(d)), sets


def timed(work: Callable[[], object]) -> tuple[object, float]:
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def measure(dataset: AttentionDataset, sets: Sets, exact: bool) -> dict:
    """Seconds, bytes and kinds of both conditions."""
    _ = dataset.floats.moderate, dataset.integers.bits
    found: dict = {"tied": sum(len(one) - 1 for one in sets),
                   "rejected": sum(dataset.lengths) - sum(map(len, sets))}
    for module in (gen_feasibility, multi_token_support):
        general.solve.cache_clear()
        general.solve_exactly.cache_clear()
        verdict, seconds = timed(lambda decide=module.decide: decide(dataset, sets))
        text, writing = timed(Report(dataset, "", (verdict,), (), None).certificate_text)
        result, checking = timed(lambda text=text: check_text(text))
        assert result.accepted
        found[module.CONDITION] = {
            "kind": verdict.certificate.kind, "number": verdict.number, "seconds": seconds,
            "bytes": len(json.dumps(verdict.certificate.to_json())), "write": writing,
            "check": checking}
    if exact:
        outcome, found["exact seconds"] = timed(lambda: general.solve_exactly(dataset, sets))
        found["exact bytes"] = len(json.dumps(outcome.certificate.to_json()))
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--dim", type=int, default=24)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    tables = {"one-hot": np.eye(TOKENS, dtype=np.int64),
              "signs": rng.choice([-1, 1], size=(TOKENS, options.dim)),
              "Gaussian": rng.standard_normal((TOKENS, options.dim))}
    report: dict = {}
    for name, table in tables.items():
        report[name] = measure(*graphs(table, 0), options.exact)
        print(name, json.dumps(report[name]), flush=True)
    small = [measure(*triples(10, seed), True) for seed in range(20)]
    report["n=3, T=4, d=10"] = {
        "seconds": statistics.median(one["multi_token_support"]["seconds"] for one in small),
        "exact seconds": statistics.median(one["exact seconds"] for one in small),
        "kinds": sorted({one["multi_token_support"]["kind"] for one in small})}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
