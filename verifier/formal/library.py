"""The theories that come with the package, and what depends on what."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files

AXIOMS = {
    "ClassicalDedekindReals.sig_not_dec": "forall P : Prop, {~ ~ P} + {~ P}",
    "ClassicalDedekindReals.sig_forall_dec":
        "forall P : nat -> Prop, (forall n : nat, {P n} + {~ P n}) -> "
        "{n : nat | ~ P n} + {forall n : nat, P n}",
    "FunctionalExtensionality.functional_extensionality_dep":
        "forall (A : Type) (B : A -> Type) (f g : forall x : A, B x), "
        "(forall x : A, f x = g x) -> f = g",
    "Classical_Prop.classic": "forall P : Prop, P \\/ ~ P",
}
"""The axioms that Coq's standard library of real numbers rests on, as Coq prints them."""

_REQUIRE = re.compile(r"From AttSVM Require (?:Import |Export )?([\w\s]+)\.")


@cache
def theories() -> dict[str, str]:
    """The text of every theory by its name."""
    folder = files("verifier.formal") / "theories"
    return {file.name.removesuffix(".v"): file.read_text(encoding="utf-8")
            for file in sorted(folder.iterdir(), key=lambda file: file.name)
            if file.name.endswith(".v")}


def requirements(text: str) -> set[str]:
    """The theories that a file requires directly."""
    return {name for found in _REQUIRE.finditer(text) for name in found[1].split()}


def dependencies(names: Iterable[str]) -> dict[str, set[str]]:
    """The theories *names* and all that they rest on, each with its direct requirements."""
    graph: dict[str, set[str]] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in graph:
            graph[name] = requirements(theories()[name])
            waiting += graph[name]
    return graph


def compilation_order(names: Iterable[str]) -> list[str]:
    """The theories *names* and all that they rest on, in an order that compiles."""
    graph = dependencies(names)
    return list(TopologicalSorter({name: sorted(graph[name]) for name in sorted(graph)})
                .static_order())
