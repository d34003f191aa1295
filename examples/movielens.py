"""MovieLens-100k as next-item data: which films have priority over which, and does attention agree?

The ratings of MovieLens-100k, as they lie inside the wheel of the package `recbole`, say who rated
which film when. Cut to the most frequent films, the history of every user becomes next-item data:
the history is the input, its last film the query, the next film the label. Nobody rates a film
twice, so the label is never in its history and is put before it as a candidate. The token-priority
graphs, one per last film, show which films the data put into one component and which order between
components is left; Graph-SVM is decided with certificates, which are checked independently, and a
layer trained with the log-loss is compared with its solution.

The wheel is downloaded with pip into a temporary directory, read as a zip archive, and never
installed. Run ``python examples/movielens.py [--wheel FILE] [--out DIRECTORY]``; with a directory
the certificate files and pictures are kept there.
"""

from __future__ import annotations

import argparse
import csv
import io
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

from conditions.errors import InvalidInput
from verifier.io import write_atomically
from verifier.io.interactions import histories
from verifier.io.sequences import TokenSequences, from_histories
from verifier.kernel import check_text
from verifier.priority import PriorityReport, prioritize
from verifier.report.priority import print_priority
from verifier.report.priority_picture import DRAWN_GRAPHS, export_priority

PACKAGE = "recbole==1.2.1"
FOLDER = "recbole/dataset_example/ml-100k/"


def download(directory: str) -> Path:
    """The wheel, fetched from the package index into *directory*."""
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                    "--only-binary", ":all:", "--dest", directory, PACKAGE], check=True)
    return next(Path(directory).glob("*.whl"))


def read(wheel: Path) -> TokenSequences:
    """The films that every user rated, in order of time, under their titles."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            rows, films = (archive.read(FOLDER + name) for name in ("ml-100k.inter",
                                                                    "ml-100k.item"))
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise InvalidInput("--wheel", str(wheel), f"must be a wheel of recbole ({error})",
                           "leave it out to download one") from None
    return from_histories(histories(rows, "ml-100k.inter")).renamed(titles(films.decode()))


def titles(text: str) -> dict[str, str]:
    """The title of every film; where several share one, with the number of the film."""
    rows = csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    next(rows)
    named = {row[0]: row[1] for row in rows}
    counts = Counter(named.values())
    return {film: title if counts[title] == 1 else f"{title} ({film})"
            for film, title in named.items()}


def show(found: PriorityReport, stem: str, directory: Path | None) -> None:
    """Print what was found, check its certificate, and keep both if wanted."""
    print_priority(found)
    text = found.report.certificate_text()
    checked = check_text(text)
    print(f"certificate of {len(text):,} characters, {checked.counts['proved']} of "
          f"{len(found.verdicts)} verdicts accepted by the checker\n")
    if directory is not None:
        write_atomically(directory / f"{stem}.json", text)
        export_priority(found, directory / f"{stem}.svg", found.of_interest(DRAWN_GRAPHS))


def main(arguments: list[str] | None = None) -> None:
    """Print graphs, Graph-SVM and the run for the first users and for all of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--wheel", type=Path, help="a wheel of recbole; else it is downloaded")
    parser.add_argument("--out", type=Path, help="keep certificates and pictures here")
    parser.add_argument("--top", type=int, default=20, help="how many films")
    parser.add_argument("--users", type=int, default=50, help="how many users come first")
    parser.add_argument("--iterations", type=int, default=2000, help="steps of the runs")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        films = read(options.wheel or download(directory))
    for stem, tokens in (("movielens_first", films.first(options.users)), ("movielens", films)):
        found = prioritize(tokens.most_frequent(options.top), iterations=options.iterations,
                           source=f"MovieLens-100k, {len(tokens.sequences)} users")
        show(found, stem, options.out)


if __name__ == "__main__":
    try:
        main()
    except InvalidInput as error:
        sys.exit(f"movielens.py: {error}")
