"""``python -m verifier.kernel FILE...``: exit 0 all accepted, 1 refused, 2 unreadable or misuse."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

from . import Result, Unreadable, check_file, summary


def main(paths: Sequence[str]) -> int:
    """Check the files, print what each proves, and return the exit code.

    An unreadable file outweighs a refused one; every file is checked in either case.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Statements hold Greek letters; a terminal without them shows escapes.
        sys.stdout.reconfigure(errors="backslashreplace")
    if not paths or any(path.startswith("-") for path in paths):
        print("usage: python -m verifier.kernel FILE...", file=sys.stderr)
        return 2
    results: list[Result] = []
    unreadable = 0
    for path in paths:
        print(f"file {ascii(path)[1:-1]}")
        try:
            results.append(check_file(path))
        except Unreadable as error:
            unreadable += 1
            print(f"  unreadable: {error}")
        except MemoryError:
            unreadable += 1
            print("  unreadable: needs more memory than there is")
        else:
            print(*(f"  {line}" for line in results[-1].lines()), sep="\n")
    print(summary(results, unreadable))
    if unreadable:
        return 2
    return 0 if all(result.accepted for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
