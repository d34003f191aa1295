"""The geometric conditions of "Transformers as Support Vector Machines" (arXiv 2308.16898, v1).

Pure mathematics on exact datasets: no files, no printing. Every condition is a module with a
``decide(dataset, …) -> Verdict``; floats suggest, exact arithmetic and enclosures decide.
"""

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.verdict import Evidence, Status, Verdict

__all__ = ["AttentionDataset", "Evidence", "InvalidInput", "Status", "Verdict"]
