"""From the text of a certificate file to its outcome, verdict by verdict.

The dataset and the run are read first; an error there refuses the whole file. Then each verdict is
checked on its own, so that one refusal does not hide another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from .claim import Claim, Run
from .cubic import CUBIC, demand_fit
from .data import Dataset
from .family import FAMILY_FORMAT, FAMILY_VERSION, check_family
from .heads import check_head
from .kinds import KINDS
from .linear import dot, product, transpose
from .numbers import common_denominator, integers
from .reading import Malformed, Node, long_integers, parse, read_file
from .refusals import Code, Refusal, Unreadable, shown
from .statements import CONDITIONS, LOSSES, STATUSES, sentence, subject

FORMAT, VERSION = "attsvm-certificate", 1


@dataclass(frozen=True)
class Outcome:
    """One verdict: proved, observed, undecided, or refused with the reason."""

    kind: str
    text: str
    claimed: bool = False
    refusal: Refusal | None = None


@dataclass(frozen=True)
class Result:
    """What a file proves. ``dataset`` is its one-line summary, None if it was refused."""

    dataset: str | None
    outcomes: tuple[Outcome, ...]
    refusals: tuple[Refusal, ...]

    @property
    def accepted(self) -> bool:
        """Whether nothing was refused."""
        return not self.refusals

    @property
    def counts(self) -> Counter[str]:
        """How many verdicts were proved, observed, undecided, refused, and claimed as proved."""
        counts = Counter(outcome.kind for outcome in self.outcomes)
        counts["claimed"] = sum(outcome.claimed for outcome in self.outcomes)
        return counts

    def lines(self) -> list[str]:
        """The dataset, then one line a verdict; a file refused as a whole has its refusal alone."""
        if self.dataset is None:
            return [f"refused  {refusal}" for refusal in self.refusals]
        return [self.dataset, *(f"{o.kind:<9} {o.text}" for o in self.outcomes)]


def check_file(path: str | Path) -> Result:
    """Check one certificate file. Raises `Unreadable`."""
    return check_text(read_file(path))


def check_text(text: str) -> Result:
    """Check the text of one certificate file. Raises `Unreadable`; refusals are in the result."""
    with long_integers():
        top = parse(text)
        if isinstance(top.value, dict) and top.value.get("format") == FAMILY_FORMAT:
            return _check_family(top, len(text))
        try:
            _expect_format(top, FORMAT, VERSION)
            fields = top.object("format", "version", "dataset", "run", "verdicts")
            dataset = Dataset.read(fields["dataset"])
            run = None if fields["run"].is_null else _check_run(fields["run"], dataset)
            verdicts = fields["verdicts"].items()
        except Refusal as refusal:
            return Result(None, (), (refusal,))
        seen: set[tuple[object, ...]] = set()
        outcomes = tuple(_outcome(verdict, dataset, run, seen) for verdict in verdicts)
        refusals = tuple(o.refusal for o in outcomes if o.refusal is not None)
        return Result(str(dataset), outcomes, refusals)


def summary(results: list[Result], unreadable: int = 0) -> str:
    """The last line: what was checked, what was only observed, what was undecided."""
    total: Counter[str] = sum((result.counts for result in results), Counter())
    line = (f"accepted {total['proved']} of {total['claimed']} proved verdicts; "
            f"{total['observed']} observed, {total['undecided']} undecided, "
            f"{total['refused']} refused")
    whole = sum(result.dataset is None for result in results)
    for count, what in ((whole, "refused whole"), (unreadable, "unreadable")):
        if count:
            line += f"; {count} file{'s' if count > 1 else ''} {what}"
    return line


def _check_family(top: Node, characters: int) -> Result:
    try:
        _expect_format(top, FAMILY_FORMAT, FAMILY_VERSION)
        line, pieces = check_family(top, characters)
    except Refusal as refusal:
        return Result(None, (), (refusal,))
    return Result(line, tuple(Outcome("proved", piece, True) for piece in pieces), ())


def _expect_format(top: Node, form: str, version: int) -> None:
    """Tell a file of another kind (unreadable) from a faulty one of this kind (refused)."""
    if isinstance(top.value, Malformed) and top.value.code is Code.DUPLICATE_KEY:
        raise top.refuse(top.value.code, top.value.message)
    if not isinstance(top.value, dict):
        raise Unreadable("not a JSON object")
    for name, wanted in (("format", form), ("version", version)):
        value = top.value.get(name)
        if type(value) is not type(wanted) or value != wanted:
            raise Unreadable(f"its {name} is {shown(value)}, not {wanted!r}")


def _check_run(node: Node, data: Dataset) -> Run | None:
    """The form of a run, and its selected tokens; a run proves nothing.

    Gives the matrices of a usual run on W with the linear head: statements about descent are about
    such a run, and name no matrices of another one.
    """
    given = node.value if isinstance(node.value, dict) else {}
    unusual = [name for name in ("head", "resolution") if name in given]
    fields = node.object("parameterization", "rule", "step", "penalty", "loss", "iterations",
                         "selected", "outcome", "start", "final", *unusual)
    if "head" in unusual:
        check_head(fields["head"], data)
    if "resolution" in unusual and fields["resolution"].number() <= 0:
        raise fields["resolution"].refuse(Code.NOT_POSITIVE, "a resolution is positive where given")
    parameterization = fields["parameterization"].choice(["W", "KQ"])
    fields["rule"].choice(["normalized", "plain"])
    fields["loss"].choice(LOSSES)
    fields["outcome"].choice(["completed", "stationary", "stopped"])
    fields["iterations"].integer(0)
    if fields["step"].number() <= 0:
        raise fields["step"].refuse(Code.NOT_POSITIVE, "a step is positive")
    if fields["penalty"].number() < 0:
        raise fields["penalty"].refuse(Code.NOT_POSITIVE, "a penalty is not negative")
    run = None
    if parameterization == "W":
        start, final = (fields[name].matrix(data.d, data.d) for name in ("start", "final"))
        run, W = None if unusual else Run(start, final), _scaled(final)
    else:
        m = len(fields["start"].field("K").items(data.d)[0].items())
        if m == 0:
            raise fields["start"].refuse(Code.EMPTY, "K and Q have a column at least")
        _factors(fields["start"], data.d, m)
        K, Q = _factors(fields["final"], data.d, m)
        W = list(product(K, transpose(Q)))
    selected = fields["selected"].selection(data.lengths)
    for i, (tokens, query) in enumerate(zip(data.integer_tokens, data.integer_queries,
                                            strict=True)):
        pull = [dot(row, query) for row in W]
        logits = [dot(token, pull) for token in tokens]
        if selected[i] != logits.index(max(logits)):
            raise fields["selected"].refuse(Code.WRONG_SELECTED,
                                            f"sample {i} selects {logits.index(max(logits))}")
    return run


def _factors(node: Node, d: int, m: int) -> list[list[list[int]]]:
    """K and Q, both d × m, each times a positive integer."""
    parts = node.object("K", "Q")
    return [_scaled(parts[name].matrix(d, m)) for name in ("K", "Q")]


def _scaled(A: Sequence[Sequence[Fraction]]) -> list[list[int]]:
    """The matrix times its common denominator: the argmax of logits is the same."""
    scale = common_denominator(x for row in A for x in row)
    return [integers(row, scale) for row in A]


def _outcome(node: Node, dataset: Dataset, run: Run | None,
             seen: set[tuple[object, ...]]) -> Outcome:
    status = node.value.get("status") if isinstance(node.value, dict) else None
    claimed = status in ("holds", "fails")
    try:
        return _check_verdict(node, dataset, run, seen)
    except Refusal as refusal:
        return Outcome("refused", str(refusal), claimed, refusal)


def _check_verdict(node: Node, dataset: Dataset, run: Run | None,
                   seen: set[tuple[object, ...]]) -> Outcome:
    fields = node.object("condition", "selection", "loss", "status", "evidence", "certificate",
                         "reason")
    name = fields["condition"].choice(list(CONDITIONS))
    condition = CONDITIONS[name]
    status = fields["status"].choice(STATUSES)
    fields["reason"].text()
    for part, marked, code in (("selection", condition.about_selection, Code.SELECTION_UNFIT),
                               ("loss", condition.about_loss, Code.LOSS_UNFIT)):
        if fields[part].is_null == marked:
            raise fields[part].refuse(code, f"{name} is {'' if marked else 'not '}about a {part}")
    claim = Claim(
        dataset, name, status,
        fields["selection"].selection(dataset.lengths) if condition.about_selection else None,
        fields["loss"].choice([*LOSSES, CUBIC]) if condition.about_loss else None,
        run)
    key = name, claim.selection, claim.loss
    if key in seen:
        raise node.refuse(Code.REPEATED_VERDICT, f"{subject(claim)} has a verdict already")
    seen.add(key)
    evidence, certificate = fields["evidence"], fields["certificate"]
    given = None if evidence.is_null else evidence.choice(["exact", "enclosed", "observed"])
    if certificate.is_null != (status == "undecided"):
        raise certificate.refuse(Code.CERTIFICATE_UNFIT,
                                 f"a verdict that is {status} has "
                                 f"{'no' if status == 'undecided' else 'a'} certificate")
    if status == "undecided":
        if given not in (None, "observed"):
            raise evidence.refuse(Code.EVIDENCE_UNFIT, "undecided is observed at most")
        return Outcome("observed" if given else "undecided", subject(claim))
    kind_node = certificate.field("kind")
    kind = kind_node.choice(list(KINDS))
    if kind not in (condition.holds_by if status == "holds" else condition.fails_by):
        raise kind_node.refuse(Code.KIND_UNFIT, f"{kind} does not prove that {name} {status}")
    demand_fit(claim, kind, kind_node)
    proved = KINDS[kind](claim, certificate)
    if given != proved.evidence:
        raise evidence.refuse(Code.EVIDENCE_UNFIT, f"this {kind} is {proved.evidence}")
    text = f"{subject(claim)} {status} ({proved.evidence}, {kind}): {sentence(claim)}"
    return Outcome("proved", f"{text}; {proved.detail}" if proved.detail else text, True)
