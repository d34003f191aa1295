"""The independent checker of certificate files, in the Python standard library alone.

docs/certificates.md is its specification. Nothing that a prover computed is believed: margins,
scores, ranks and signs are derived again from the dataset in the file, in integers.

`check_text` and `check_file` return a `Result` or raise `Unreadable`; ``python -m verifier.kernel
FILE...`` prints what was proved. Where to read: `statements` (which kind proves what), `kinds`
(how), `linear` and `numbers` (with what), `reading` and `checking` (the file), `refusals` (why).
"""

from .checking import Outcome, Result, check_file, check_text, summary
from .refusals import Code, Refusal, Unreadable

__all__ = ["Code", "Outcome", "Refusal", "Result", "Unreadable", "check_file", "check_text",
           "summary"]
