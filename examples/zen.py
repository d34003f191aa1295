"""The Zen of Python as next-token data: which words have priority over which?

The poem is read as one text; every word is the label of the (at most 8) words before it. Per last
word the token-priority graph has an edge from the label to every other word of the input (Li et
al., arXiv 2403.08081). Its strongly connected components are words of equal priority; Graph-SVM
asks attention to give them equal logits and all words that they beat lower ones. With one-hot
embeddings it is always feasible. With short integer embeddings it need not be, and then multipliers
prove that no attention matrix can do it. Both answers are written as certificates and checked
independently.

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

CONTEXT = 8
"""How many words an input has at most."""


def poem() -> list[str]:
    """The Zen of Python as lower-case words, the title left out."""
    # Importing the module prints it.
    with contextlib.redirect_stdout(io.StringIO()):
        module = importlib.import_module("this")
    text = codecs.decode(module.s, "rot13").partition("\n")[2]
    return re.findall(r"[a-z']*[a-z]", text.lower())


def next_word_data(text: list[str], embeddings: dict[str, list[int]]) -> NextTokenData:
    """Every word but the first as the label of the words before it."""
    index = {word: k for k, word in enumerate(embeddings)}
    tokens = [index[word] for word in text]
    inputs = [tokens[max(0, k - CONTEXT):k] for k in range(1, len(tokens))]
    return NextTokenData.build(inputs, tokens[1:], embeddings.values())


def one_hot(words: list[str]) -> dict[str, list[int]]:
    """A unit vector for every word."""
    return {word: [int(word == other) for other in words] for word in words}


def spelled(words: list[str]) -> dict[str, list[int]]:
    """Three integers for every word: its first and last letter (a = 1) and its length."""
    return {word: [ord(word[0]) - 96, ord(word[-1]) - 96, len(word)] for word in words}


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
    text = poem()
    words = sorted(set(text))
    data = next_word_data(text, one_hot(words))
    print(f"{len(text)} words, {len(words)} of them distinct; {data.labels_in_inputs} of "
          f"{len(data.inputs)} labels occur in their input")
    cyclic = [graph for graph in data.graphs if not graph.acyclic]
    print(f"{len(data.graphs)} token-priority graphs, one per last word, {len(cyclic)} cyclic:")
    for graph in cyclic:
        together = [" = ".join(words[k] for k in members)
                    for members in graph.components if len(members) > 1]
        print(f"  after {words[graph.last]!r}: {len(graph.graph)} words in "
              f"{len(graph.components)} components; {'; '.join(together)}")
    for name, embeddings in (("one-hot", one_hot(words)), ("spelled", spelled(words))):
        svm = graph_svm(next_word_data(text, embeddings))
        file, verdicts = certificate(svm)
        print(f"Graph-SVM, {name} embeddings, {svm.dataset}:")
        for verdict in verdicts:
            print(f"  {verdict.condition} {verdict.status} ({verdict.evidence}): {verdict.reason}")
        checked = check_text(file)
        print(f"  certificate of {len(file):,} characters, "
              f"{checked.counts['proved']} of {len(verdicts)} verdicts accepted by the checker")
        if directory is not None:
            (directory / f"zen_{name}.json").write_text(file, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
