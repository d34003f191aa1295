"""What a search that finds nothing has looked at; never more than that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Stage:
    """One lattice, or one kind of random data.

    ``places``: of the list, with those that name a dataset that another place names too, or None
    for random data; ``drawn``: how many of them were gone through in order; ``datasets``: looked
    at, in order or at random; ``screened``: those that passed the screens; ``examined``: those
    decided exactly; ``undecided``: examined ones on which some case was neither a counterexample
    nor shown to be none.
    """

    name: str
    places: int | None
    drawn: int = 0
    datasets: int = 0
    screened: int = 0
    examined: int = 0
    undecided: int = 0

    @property
    def exhaustive(self) -> bool:
        """Whether every dataset of the lattice was looked at, and all that passed were examined."""
        return self.places == self.drawn and self.screened == self.examined

    def to_json(self) -> dict[str, Any]:
        """The stage as a JSON-able dict."""
        return {"name": self.name, "places": self.places, "drawn": self.drawn,
                "datasets": self.datasets, "screened": self.screened, "examined": self.examined,
                "undecided": self.undecided, "exhaustive": self.exhaustive}


@dataclass
class Coverage:
    """All stages of a search, by name, in the order of their first visit."""

    stages: dict[str, Stage] = field(default_factory=dict)
    screens: tuple[str, ...] = ()

    def stage(self, name: str, places: int | None) -> Stage:
        """The stage *name*, new on its first visit."""
        return self.stages.setdefault(name, Stage(name, places))

    def restart(self, stage: Stage) -> Stage:
        """The stage anew: of a lattice that is now listed from its beginning."""
        self.stages[stage.name] = Stage(stage.name, stage.places)
        return self.stages[stage.name]

    @property
    def examined(self) -> int:
        """Datasets decided exactly."""
        return sum(stage.examined for stage in self.stages.values())

    def lines(self, most: int = 12) -> list[str]:
        """For people: the complete lattices, then the sampled ones, then how much is left out."""
        stages = [stage for stage in self.stages.values() if stage.datasets]
        complete = [stage for stage in stages if stage.exhaustive]
        sampled = [stage for stage in stages if not stage.exhaustive]
        lines = []
        for what, part in (("complete", complete), ("sampled", sampled)):
            shown = part[-most:] if what == "complete" else part[:most]
            lines += [f"{what}: {stage.name}: {stage.datasets:,} datasets, {stage.examined:,} "
                      f"examined exactly" + (f", {stage.undecided:,} left open"
                                             if stage.undecided else "") for stage in shown]
            if len(part) > len(shown):
                lines.append(f"{what}: {len(part) - len(shown)} more, "
                             f"{sum(s.datasets for s in part):,} datasets in all {len(part)}")
        if self.screens:
            lines.append(f"screened in floats before: {', '.join(self.screens)}")
        return lines

    def summary(self) -> str:
        """One line."""
        complete = [stage for stage in self.stages.values() if stage.exhaustive and stage.datasets]
        datasets = sum(stage.datasets for stage in self.stages.values())
        return (f"{datasets:,} datasets in {len(self.stages)} families, {len(complete)} of them "
                f"complete; {self.examined:,} examined exactly")

    def to_json(self) -> dict[str, Any]:
        """The coverage as a JSON-able dict."""
        return {"stages": [stage.to_json() for stage in self.stages.values() if stage.datasets],
                "screens": list(self.screens)}
