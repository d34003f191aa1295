"""How often "no stationary point" is decided on small random integer datasets.

    python benchmarks/stationary.py [--count N] [--seed S] [--loss LOSS]

Datasets: n = 2, T = 3, d = 2, entries in {−2..2}, one shared query, labels (1, −1), nothing
skipped. Every certificate goes through the independent checker. The undecided ones are listed with
their reasons; the last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter

import numpy as np

from conditions import AttentionDataset, no_stationary_point
from verifier.certify import Report
from verifier.kernel import check_text


def draw(rng: np.random.Generator) -> AttentionDataset:
    query = rng.integers(-2, 3, size=2).tolist()
    return AttentionDataset.build(rng.integers(-2, 3, size=(2, 3, 2)).tolist(), [1, -1],
                                  [query, query], rng.integers(-2, 3, size=2).tolist())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--loss", default="logistic")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    counts: Counter[str] = Counter()
    spent, checking, accepted = [], 0.0, 0
    for k in range(options.count):
        dataset = draw(rng)
        start = time.perf_counter()
        verdict = no_stationary_point.decide(dataset, options.loss)
        spent.append(time.perf_counter() - start)
        if verdict.certificate is None:
            counts["undecided"] += 1
            print(f"dataset {k}: {verdict.reason}")
            continue
        counts[f"{verdict.status} by {verdict.certificate.kind}"] += 1
        start = time.perf_counter()
        text = Report(dataset, "", (verdict,), (), None).certificate_text()
        accepted += check_text(text).accepted
        checking += time.perf_counter() - start
    decided = options.count - counts["undecided"]
    print(json.dumps({"count": options.count, "decided": decided, "accepted": accepted,
                      "by": dict(counts.most_common()), "median seconds": statistics.median(spent),
                      "worst seconds": max(spent), "checker seconds": checking}))


if __name__ == "__main__":
    main()
