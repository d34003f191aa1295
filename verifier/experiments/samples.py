"""Random datasets, each a pure function of where it stands in an experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import InvalidInput

_ROUNDING = 2.0**-40
"""More than the errors of a score that is at most 1."""


def unit_sphere_dataset(n: int, T: int, d: int, coordinates: Iterable[int]) -> AttentionDataset:
    """Data of n samples of T tokens; tokens, queries and head uniform on the unit sphere of R^d.

    Labels are 1 or −1 with equal chance. *coordinates*, integers ≥ 0, are the seed: the same
    numbers give the same dataset, whatever else was drawn before. Raises ``InvalidInput``. Source:
    arXiv 2308.16898 v1, section 3.
    """
    rng = generator(coordinates)
    return AttentionDataset.build(_unit(rng, n, T, d), rng.choice([-1.0, 1.0], n),
                                  _unit(rng, n, d), _unit(rng, d))


def gapped_dataset(n: int, T: int, d: int, gap: float,
                   coordinates: Iterable[int]) -> AttentionDataset:
    """Such data in which each optimal score exceeds all others of its sample by more than *gap*.

    The tokens of a sample that does not comply are drawn again, which gives the distribution of
    `unit_sphere_dataset` on that condition: samples are independent, and a rotation of everything
    changes nothing, so that the head has no part in it. *gap*: in 0..1. Raises ``InvalidInput``.
    Source: arXiv 2308.16898 v1, Figures 2, 5 and 6.
    """
    if not 0 <= gap <= 1:
        raise InvalidInput("gap", gap, "must be in 0..1", "v1 takes 0.1")
    rng = generator(coordinates)
    head, labels, queries = _unit(rng, d), rng.choice([-1.0, 1.0], n), _unit(rng, n, d)
    tokens = np.empty((n, T, d))
    for sample, label in zip(tokens, labels, strict=True):
        accepted = False
        while not accepted:
            sample[:] = _unit(rng, T, d)
            second, first = np.sort(label * (sample @ head))[-2:]
            accepted = first - second > gap + _ROUNDING
    return AttentionDataset.build(tokens, labels, queries, head)


def uniform_start(d: int, m: int, coordinates: Iterable[int]) -> tuple[FloatArray, FloatArray]:
    """Two d × m matrices with entries uniform in ±1/√d: K(0) and Q(0), or W(0) and another.

    Source: the published code of arXiv 2308.16898 v1. Raises ``InvalidInput``.
    """
    first, second = generator(coordinates).uniform(-1, 1, (2, d, m)) / np.sqrt(d)
    return first, second


def generator(coordinates: Iterable[int]) -> np.random.Generator:
    """The random numbers that belong to *coordinates*, integers ≥ 0. Raises ``InvalidInput``."""
    seed = list(coordinates)
    if any(c < 0 for c in seed):
        raise InvalidInput("coordinates", seed, "must be integers ≥ 0", "choose another seed")
    return np.random.default_rng(seed)


def _unit(rng: np.random.Generator, *shape: int) -> FloatArray:
    x = rng.normal(size=shape)
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def _generator(coordinates: Iterable[int]) -> np.random.Generator:
    seed = list(coordinates)
    if any(c < 0 for c in seed):
        raise InvalidInput("coordinates", seed, "must be integers ≥ 0", "choose another seed")
    return np.random.default_rng(seed)


def gaussian_dataset(n: int, T: int, d: int, coordinates: Iterable[int]) -> AttentionDataset:
    """As `unit_sphere_dataset`, with all entries standard normal."""
    rng = _generator(coordinates)
    return AttentionDataset.build(rng.normal(size=(n, T, d)), rng.choice([-1.0, 1.0], n),
                                  rng.normal(size=(n, d)), rng.normal(size=d))


def integer_dataset(n: int, T: int, d: int, coordinates: Iterable[int]) -> AttentionDataset:
    """As `unit_sphere_dataset`, with all entries integers, uniform in −2..2: ties are frequent."""
    rng = _generator(coordinates)

    def small(*shape: int) -> list[Any]:
        entries: list[Any] = rng.integers(-2, 3, size=shape).tolist()
        return entries

    return AttentionDataset.build(small(n, T, d), rng.choice([-1, 1], n).tolist(), small(n, d),
                                  small(d))


SAMPLES: dict[str, Callable[[int, int, int, Iterable[int]], AttentionDataset]] = {
    "sphere": unit_sphere_dataset, "gaussian": gaussian_dataset, "integers": integer_dataset}
"""The kinds of random data by name."""
