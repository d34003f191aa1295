"""Tampered twins of certificates for Coq: the checkers reject every one."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict

import formal_cases
import pytest
from formal_instances import HEADER, Instance, coq, instances, needs_coq

from conditions import AttentionDataset
from verifier.formal.spelling import dataset_literal, integer

_INTEGER = re.compile(r"(?<![\w%-])-?(?:0x[0-9a-f]+|[0-9]+)(?![\w%])")


def changed_list(rng, text):
    """A vector or a matrix with an entry or a row too many or too few."""
    inner = [found.span() for found in re.finditer(r"\[[^\[\]]*\]", text)]
    start, end = rng.choice(inner)
    entries = text[start + 1:end - 1].split(";")
    shorter = entries[:-1] if len(entries) > 1 and rng.random() < 0.5 else [*entries, entries[0]]
    return f"{text[:start]}[{';'.join(shorter)}]{text[end:]}"


def changed_integer(rng, text, change):
    """The text with one integer, not 0, replaced."""
    found = [entry for entry in _INTEGER.finditer(text) if int(entry[0], 0)]
    if not found:
        return None
    chosen = rng.choice(found)
    return text[:chosen.start()] + integer(change(int(chosen[0], 0))) + text[chosen.end():]


def negated(text):
    return _INTEGER.sub(lambda entry: integer(-int(entry[0], 0)), text)


class Twin(Instance):
    """A copy of an instance that one tampering has made wrong."""

    def __init__(self, instance, rng):
        self.__dict__ |= instance.__dict__
        self.definitions, self.arguments = list(self.definitions), list(self.arguments)
        self.how = rng.choice([self.other_selection, self.other_dataset, self.other_shape,
                               self.other_sign, self.other_number])
        while not self.how(rng):
            self.how = rng.choice([self.other_selection, self.other_dataset, self.other_shape,
                                   self.other_sign, self.other_number])

    def other_selection(self, rng):
        """Another token of a sample, of one that matters; or a selection too short or too long."""
        if self.alpha is None:
            return False
        if rng.random() < 0.3:
            self.alpha = rng.choice([self.alpha[:-1], (*self.alpha, 0),
                                     (self.dataset.lengths[0], *self.alpha[1:])])
            return True
        i = rng.randrange(self.dataset.n)
        if self.verdict.certificate.kind in ("farkas", "query_cycle"):
            i = 0
        other = [t for t in range(self.dataset.lengths[i]) if t != self.alpha[i]
                 and self.dataset.tokens[i][t] != self.dataset.tokens[i][self.alpha[i]]]
        self.alpha = (*self.alpha[:i], rng.choice(other), *self.alpha[i + 1:])
        return True

    def other_dataset(self, rng):
        """The dataset with a shape that is wrong, or the numbers of another one."""
        if rng.random() < 0.4:
            self.data = changed_list(rng, self.data)
            return True
        name = "generic" if "scores" not in self.kind[0] else "levels"
        other = formal_cases.Drawn(
            (self.dataset.n, self.dataset.lengths[0], self.dataset.d), False, rng.randrange(10**6)
        ).build(name)
        if self.claim.module == "Monotone":
            other = AttentionDataset.build(self.dataset.tokens, [-y for y in self.dataset.labels],
                                           self.dataset.queries, self.dataset.head)
        elif self.claim.module == "Scores":
            # Turned upside down: what was largest is smallest, and no sample is flat any more.
            other = AttentionDataset.build(other.tokens, [-y for y in self.dataset.labels],
                                           other.queries, other.head)
            if self.still_true(other):
                return False
        self.data = dataset_literal(other)
        return True

    def still_true(self, other):
        """Whether the certificate fits the scores of another dataset too."""
        scores, arguments = other.scores, re.findall(r"(\d+)%nat", " ".join(self.arguments))
        numbers = list(map(int, arguments))
        lists = [list(map(int, re.findall(r"\d+", literal)))
                 for *_, literal in self.definitions]
        match self.claim.theorem:
            case "optimal_sound":
                return all(row.count(max(row)) == 1 and row[t] == max(row)
                           for row, t in zip(scores, lists[0], strict=True))
            case "tie_sound":
                row = scores[numbers[0]]
                return row[numbers[1]] == row[numbers[2]] == max(row)
            case "equal_scores_sound":
                return all(row[h] == max(row) and set(row) <= {row[h], row[low]}
                           for row, h, low in zip(scores, *lists, strict=True))
            case "unequal_scores_sound":
                row = scores[numbers[0]]
                t, s, u = (row[k] for k in numbers[1:])
                return t != s and max(t, s) < u
            case "gaps_sound":
                return all(row[a] > row[b] for row, a, b in zip(scores, *lists, strict=True))
        return len(set(scores[numbers[0]])) == 1

    def other_shape(self, rng):
        """A list of the certificate with an entry too many or too few."""
        lists = [k for k, (_, _, literal) in enumerate(self.definitions)
                 if literal.startswith("[") and any(map(str.isdigit, literal))]
        if not lists:
            return False
        k = rng.choice(lists)
        name, type_, literal = self.definitions[k]
        self.definitions[k] = name, type_, changed_list(rng, literal)
        return True

    def other_sign(self, rng):
        """The certificate negated."""
        k = next((k for k, (name, type_, _) in enumerate(self.definitions)
                  if name[0] in "WKlVE" and ("Z" in type_ or type_ == "enclosure")), None)
        if k is None:
            return False
        name, type_, literal = self.definitions[k]
        self.definitions[k] = name, type_, negated(literal)
        return True

    def other_number(self, rng):
        """One number that must be exact, or one index, replaced."""
        equalities = [k for k, (name, *_) in enumerate(self.definitions)
                      if (name == "lambda" and "pair" not in self.claim.theorem) or name == "c"]
        if equalities:
            name, type_, literal = self.definitions[equalities[0]]
            other = changed_integer(rng, literal, lambda x: x + rng.choice([-1, 1, x]))
            self.definitions[equalities[0]] = name, type_, other
            return True
        inverses = [k for k, (_, type_, _) in enumerate(self.definitions) if type_ == "inverse"]
        if inverses:
            # The bound is the least that is one, and no row may reach `over`.
            k = rng.choice(inverses)
            name, type_, literal = self.definitions[k]
            head, last = literal.rsplit(" ", 1)
            if int(last, 0) == 0:
                return False
            self.definitions[k] = name, type_, f"{head} {integer(int(last, 0) - 1)}"
            return True
        return False


@needs_coq
@pytest.mark.parametrize("floats", [False, True], ids=["integers", "floats"])
def test_tampered_certificates_are_rejected(tmp_path, floats):
    rng = random.Random(20230831 + floats)
    by_kind = defaultdict(list)
    for instance in instances(formal_cases.SMALL, floats):
        by_kind[instance.claim.theorem].append(instance)
    twins = [Twin(rng.choice(found), rng) for found in by_kind.values() for _ in range(25)]
    terms = [instance.check() for found in by_kind.values() for instance in found]
    genuine = len(terms)
    terms += [twin.check() for twin in twins]
    text = HEADER + "".join(f"Definition c{k} : bool := {term}.\n" for k, term in enumerate(terms))
    printed = coq(tmp_path, f"{text}Eval vm_compute in "
                            f"[{'; '.join(f'c{k}' for k in range(len(terms)))}].")
    answers = [word == "true" for word in re.findall(r"\b(true|false)\b", printed)]
    assert len(answers) == len(terms) and all(answers[:genuine])
    accepted = Counter((twin.claim.theorem, twin.how.__name__) for twin, answer in
                       zip(twins, answers[genuine:], strict=True) if answer)
    assert not accepted
