"""The Zen of Python as next-token data: which words have priority over which?

Every line of the poem is a sequence of words; every proper prefix of a line is an input, the word
after it the label. Per last word the token-priority graph has an edge from the label to every
other word of the input (Li et al., arXiv 2403.08081). Its strongly connected components are words
of equal priority; Graph-SVM asks attention to give them equal logits and all words that they beat
lower ones. With one-hot embeddings it is always feasible. With short integer embeddings it need
not be, and then multipliers prove that no attention matrix can do it. Both answers are written as
certificates and checked independently.

Run ``python examples/zen.py [DIRECTORY]``; with a directory the certificate files are kept there.
"""

from __future__ import annotations

import codecs
import contextlib
import importlib
import io
import json
import re
import sys
from pathlib import Path

from conditions import Verdict, gen_feasibility, multi_token_support
from conditions.priority_graph import GraphSVM, NextTokenData, graph_svm
from verifier.certify import dataset_to_json, verdict_to_json
from verifier.kernel import check_text


def lines() -> list[list[str]]:
    """The lines of the Zen of Python as lower-case words, the title left out."""
    with contextlib.redirect_stdout(io.StringIO()):
        module = importlib.import_module("this")
    poem = codecs.decode(module.s, "rot13").splitlines()[1:]
    return [words for line in poem if (words := re.findall(r"[a-z']*[a-z]", line.lower()))]


def one_hot(words: list[str]) -> list[list[int]]:
    """A unit vector for every word."""
    return [[int(j == k) for j in range(len(words))] for k in range(len(words))]


def spelled(words: list[str]) -> list[list[int]]:
    """Five integers for every word: 1, its length, and its counts of e, t and vowels."""
    return [[1, len(w), w.count("e"), w.count("t"), sum(c in "aeiou" for c in w)] for w in words]


def certificate(svm: GraphSVM) -> tuple[str, list[Verdict]]:
    """Graph-SVM decided: a certificate file and its verdicts."""
    verdicts = [condition.decide(svm.dataset, svm.sets)
                for condition in (gen_feasibility, multi_token_support)]
    document = {"format": "attsvm-certificate", "version": 1,
                "dataset": dataset_to_json(svm.dataset), "run": None,
                "verdicts": [verdict_to_json(v) for v in verdicts]}
    return json.dumps(document, separators=(",", ":")), verdicts


def main(directory: Path | None = None) -> None:
    """Print the components, and feasibility for both embeddings with checked certificates."""
    poem = lines()
    words = sorted({word for line in poem for word in line})
    index = {word: k for k, word in enumerate(words)}
    sequences = [[index[word] for word in line] for line in poem]
    data = NextTokenData.prefixes(sequences, one_hot(words))
    print(f"{len(poem)} lines, {len(words)} words, {len(data.inputs)} inputs; "
          f"{data.labels_in_inputs} labels occur in their input")
    cyclic = [graph for graph in data.graphs if not graph.acyclic]
    print(f"{len(data.graphs)} token-priority graphs, one per last word, {len(cyclic)} cyclic:")
    for graph in cyclic:
        together = [" = ".join(words[k] for k in members)
                    for members in graph.components if len(members) > 1]
        print(f"  after {words[graph.last]!r}: {len(graph.graph)} words in "
              f"{len(graph.components)} components; {'; '.join(together)}")
    for name, table in (("one-hot", one_hot(words)), ("spelled", spelled(words))):
        svm = graph_svm(NextTokenData.prefixes(sequences, table))
        text, verdicts = certificate(svm)
        print(f"Graph-SVM, {name} embeddings, {svm.dataset}:")
        for verdict in verdicts:
            print(f"  {verdict.condition} {verdict.status} ({verdict.evidence}): {verdict.reason}")
        checked = check_text(text)
        print(f"  certificate of {len(text):,} characters, "
              f"{checked.counts['proved']} of {len(verdicts)} verdicts accepted by the checker")
        if directory is not None:
            (directory / f"zen_{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
