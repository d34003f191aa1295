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

Run ``python examples/digits.py [DIRECTORY]``; without a directory the shipped files are rewritten.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from conditions import AttentionDataset
from verifier.io import save_dataset

CLASSES = (3, 5)
IMAGES_PER_CLASS = 2


def patches(images: np.ndarray) -> np.ndarray:
    """The 2×2 patches of 8×8 images as integers, shape (images, 16, 4)."""
    grid = images.astype(np.int64).reshape(-1, 4, 2, 4, 2)
    return grid.transpose(0, 1, 3, 2, 4).reshape(-1, 16, 4)


def build() -> dict[str, AttentionDataset]:
    """Both datasets by file name."""
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
    return {
        "digits_patches.json": AttentionDataset.self_attention(X, Y, head, place),
        "digits_positions.json": AttentionDataset.self_attention(
            np.concatenate([X, positions], axis=2), Y,
            np.concatenate([head, np.zeros(16, dtype=np.int64)]), place),
    }


def main(directory: Path) -> None:
    """Write both files into *directory* and say so."""
    for name, dataset in build().items():
        save_dataset(dataset, directory / name)
        print(f"{directory / name}: {dataset}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "data")
