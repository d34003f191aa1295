"""Attention datasets from handwritten digits: the same images without and with positions.

scikit-learn's bundled digits (8×8 images, grey values 0..16) are cut into 2×2 patches: 16 tokens
of 4 grey values, row by row. The samples are the first two images of a 3 (label 1) and of a 5
(label -1). The head is the difference of the two classes' mean images, rounded to integers,
at the patch where the classes differ most; the query of a sample is its own token there
(self-attention).

``digits_patches.json`` has the bare patches, d = 4. Its head scores ink against a 3, so a blank
patch is optimal for those samples, and blank patches repeat: no W can tell the selected one from
its copies, and Att-SVM for the optimal selection is infeasible.

``digits_positions.json`` appends to every token its position, one-hot (d = 20), which the head
ignores. Copies become distinguishable, the features of all rejected tokens are linearly
independent, and Att-SVM is feasible for every selection.

``digits_causal.json`` reads the first 3 and the first 5 with positions patch by patch: under a
causal mask every position predicts the class from the patches so far, so two sequences make thirty
samples. Prefixes begin with blank patches, and the best patch so far is often tied.

Where tokens tie, attention need not choose: Gen-SVM selects the set of all optimal tokens of a
sample together. For the bare patches it is feasible, although Att-SVM is not: the copies stay
together. The script prints both answers for each dataset.

Run ``python examples/digits.py [DIRECTORY]``; without a directory the shipped files are rewritten.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from conditions import AttentionDataset, feasibility, gen_feasibility
from conditions.selection import optimal_selection
from verifier.io import load_dataset, save_dataset, write_atomically

CLASSES = (3, 5)
IMAGES_PER_CLASS = 2


def patches(images: np.ndarray) -> np.ndarray:
    """The 2×2 patches of 8×8 images as integers, shape (images, 16, 4)."""
    grid = images.astype(np.int64).reshape(-1, 4, 2, 4, 2)
    return grid.transpose(0, 1, 3, 2, 4).reshape(-1, 16, 4)


def build() -> tuple[dict[str, AttentionDataset], dict[str, object]]:
    """The datasets of single queries by file name, and the causal data as the fields of a file."""
    digits = load_digits()
    tokens, target = patches(digits.images), digits.target
    members = [np.flatnonzero(target == digit) for digit in CLASSES]
    difference = tokens[members[0]].mean(axis=0) - tokens[members[1]].mean(axis=0)
    place = int(np.abs(difference).sum(axis=1).argmax())
    head = np.rint(difference[place]).astype(np.int64)

    chosen = np.concatenate([images[:IMAGES_PER_CLASS] for images in members])
    X = tokens[chosen]
    Y = [1] * IMAGES_PER_CLASS + [-1] * IMAGES_PER_CLASS
    positions = np.broadcast_to(np.eye(16, dtype=np.int64), (len(X), 16, 16))
    placed, long_head = (np.concatenate([X, positions], axis=2),
                         np.concatenate([head, np.zeros(16, dtype=np.int64)]))
    datasets = {
        "digits_patches.json": AttentionDataset.self_attention(X, Y, head, place),
        "digits_positions.json": AttentionDataset.self_attention(placed, Y, long_head, place),
    }
    causal: dict[str, object] = {"X": placed[::IMAGES_PER_CLASS].tolist(), "Y": [1, -1],
                                 "v": long_head.tolist(), "causal": True}
    return datasets, causal


def optimal_sets(dataset: AttentionDataset) -> list[list[int]]:
    """All tokens of largest score, per sample."""
    return [[t for t, score in enumerate(scores) if score == max(scores)]
            for scores in dataset.scores]


def main(directory: Path) -> None:
    """Write the files into *directory*; say what they are and which selections are feasible."""
    datasets, causal = build()
    for name, dataset in datasets.items():
        save_dataset(dataset, directory / name)
    write_atomically(directory / "digits_causal.json", json.dumps(causal) + "\n")
    for name in (*datasets, "digits_causal.json"):
        dataset = load_dataset(directory / name)
        one = feasibility.decide(dataset, optimal_selection(dataset))
        together = gen_feasibility.decide(dataset, optimal_sets(dataset))
        print(f"{directory / name}: {dataset}\n"
              f"  one optimal token each: feasibility {one.status} ({one.evidence})\n"
              f"  all optimal tokens: gen_feasibility {together.status} ({together.evidence}), "
              f"{together.number}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "data")
