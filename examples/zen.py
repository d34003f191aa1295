"""The Zen of Python as next-token data: which words have priority over which?

The poem is read as one text; every word is the label of the (at most 8) words before it, and is put
among them where it is new. Per last word the token-priority graph has an edge from the label to
every other word of the input (Li et al., arXiv 2403.08081). Its strongly connected components are
words of equal priority; Graph-SVM asks attention to give them equal logits and all words that they
beat lower ones. With one-hot embeddings it is always feasible, and a trained layer is compared with
its solution. With short integer embeddings it need not be, and then multipliers prove that no
attention matrix can do it. Both answers are written as certificates and checked independently.

Run ``python examples/zen.py [DIRECTORY]``; with a directory the certificate files and a picture are
kept there.
"""

from __future__ import annotations

import codecs
import contextlib
import importlib
import io
import sys
from dataclasses import replace
from pathlib import Path

from conditions.exact.numbers import rational
from verifier.io import write_atomically
from verifier.io.sequences import TokenSequences, words
from verifier.kernel import check_text
from verifier.priority import PriorityReport, prioritize
from verifier.report.priority import print_priority
from verifier.report.priority_picture import export_priority


def poem() -> str:
    """The Zen of Python, the title left out."""
    # Importing the module prints it.
    with contextlib.redirect_stdout(io.StringIO()):
        module = importlib.import_module("this")
    return codecs.decode(module.s, "rot13").partition("\n")[2].strip()


def spelled(tokens: TokenSequences) -> TokenSequences:
    """Three integers for every word: its first and last letter (a = 1) and its length."""
    table = tuple(tuple(map(rational, (ord(word[0]) - 96, ord(word[-1]) - 96, len(word))))
                  for word in tokens.names)
    return replace(tokens, embeddings=table)


def show(found: PriorityReport) -> str:
    """Print what was found about the cyclic graphs; the certificate, checked."""
    print_priority(found, found.cyclic)
    text = found.report.certificate_text()
    checked = check_text(text)
    print(f"certificate of {len(text):,} characters, {checked.counts['proved']} of "
          f"{len(found.verdicts)} verdicts accepted by the checker\n")
    return text


def main(directory: Path | None = None, iterations: int = 20_000) -> None:
    """Print graphs, feasibility for both embeddings, and a run against prediction."""
    tokens = words(poem())
    hot = prioritize(tokens, source="Zen of Python", iterations=iterations)
    # No matrix has the priorities of the spelled words, so there is no prediction to compare.
    short = prioritize(spelled(tokens), source="Zen of Python, spelled", iterations=0)
    for name, found in (("one-hot", hot), ("spelled", short)):
        text = show(found)
        if directory is not None:
            write_atomically(directory / f"zen_{name}.json", text)
    if directory is not None:
        export_priority(hot, directory / "zen.svg", hot.cyclic)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
