"""What `verifier.certify.certify` is asked: the setting, and the conditions to decide in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput, unknown
from conditions.selection import Selection
from conditions.setting import require, unmet
from conditions.verdict import Verdict, undecided
from verifier.descent import Head, LinearHead


@dataclass(frozen=True)
class Asked:
    """A setting, and the names of the conditions to decide, None for all that there are.

    Conditions are passed as their modules.
    """

    dataset: AttentionDataset
    head: Head
    parameterization: str
    only: frozenset[str] | None

    @classmethod
    def of(cls, dataset: AttentionDataset, head: Head, parameterization: str,
           only: Iterable[str] | None, known: Collection[str]) -> Asked:
        """Checked: raises ``InvalidInput`` for a name that is unknown, or without meaning here."""
        asked = cls(dataset, head, parameterization, None if only is None else frozenset(only))
        for name in sorted(asked.only or ()):
            if name not in known:
                raise unknown("only", name, sorted(known))
            require(name, head.name, parameterization)
        return asked

    @property
    def linear(self) -> bool:
        """Whether the head is the linear one of the dataset."""
        return isinstance(self.head, LinearHead)

    def wants(self, *names: str) -> bool:
        """Whether one of *names* is to be decided."""
        return self.only is None or not self.only.isdisjoint(names)

    def names(self, *conditions: ModuleType) -> bool:
        """Whether one of *conditions* is asked for by name."""
        return self.only is not None and self.wants(*(each.CONDITION for each in conditions))

    def require(self, condition: ModuleType) -> None:
        """Raise ``InvalidInput`` if *condition* has no meaning here."""
        require(condition.CONDITION, self.head.name, self.parameterization)

    def all_answered(self, verdicts: Iterable[Verdict]) -> None:
        """Raise ``InvalidInput`` for a condition asked for by name that has no verdict."""
        for name in sorted((self.only or frozenset()) - {v.condition for v in verdicts}):
            raise InvalidInput("only", name, "has nothing to say here: it needs a run, or one of "
                               "another parameterization, rule or limit", "drop it")

    def decided(self, condition: ModuleType, *arguments: object,
                selection: Selection | None = None, loss: str | None = None) -> Iterator[Verdict]:
        """The verdict if it is asked for; undecided, with the reason, if it has no meaning here.

        *arguments* follow the dataset in ``decide``; *selection* and *loss* are what an undecided
        verdict is about.
        """
        name = condition.CONDITION
        if not self.wants(name):
            return
        lacking = unmet(name, self.head.name, self.parameterization)
        if lacking is not None:
            yield undecided(name, f"not decided: it {lacking}", selection=selection, loss=loss)
        else:
            yield condition.decide(self.dataset, *arguments)
