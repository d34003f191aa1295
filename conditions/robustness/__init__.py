"""What stays true when every entry of X, z and v moves by at most ε, labels and sizes fixed.

Proofs in docs/theory/robustness.md. Floats suggest ε; `kkt`, `separator` and `ranks` check it
over the rationals.
"""
