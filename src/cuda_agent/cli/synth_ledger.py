"""What a synthesis run has so far: its data set and card are there at any time, and not at the end alone."""

import importlib.metadata
import platform
import time
from collections.abc import Callable, Sequence

from cuda_agent.rundir import RunDir
from cuda_agent.synthesis.card import CARD, add_shares, list_shares, write_card
from cuda_agent.synthesis.crawl import Crawl
from cuda_agent.synthesis.fate import Fate
from cuda_agent.synthesis.output import DATASET, build_rows
from cuda_agent.synthesis.pipeline import FATES
from cuda_agent.synthesis.recipe import Recipe
from cuda_agent.tasks.dataset import write_dataset

_WRITTEN_EVERY_S = 120.0


class Ledger:
    """Hears of every fate, and writes data set and card now and then."""

    def __init__(
        self, run: RunDir, *, recipe: Recipe, found: Crawl, every_s: float = _WRITTEN_EVERY_S
    ) -> None:
        """Begin with what the run's folder holds."""
        self._run = run
        self._recipe = recipe
        self._found = found
        self._every_s = every_s
        self._fates = {fate.candidate.number: fate for fate in run.read(FATES, Fate)}
        self._written_s = time.monotonic()

    @property
    def fates(self) -> tuple[Fate, ...]:
        """All that ended so far, in the order of the candidates."""
        return tuple(fate for _, fate in sorted(self._fates.items()))

    def observe(self, show: Callable[[Fate], None]) -> Callable[[Fate], None]:
        """What is told each new fate: it is shown, noted, and written with the others when it is time."""

        def note(fate: Fate) -> None:
            show(fate)
            self._fates[fate.candidate.number] = fate
            if time.monotonic() - self._written_s >= self._every_s:
                self.write(self.fates)

        return note

    def write(self, fates: Sequence[Fate]) -> None:
        """Write data set and card, each whole or not at all.

        Raises:
            UserError: the folder cannot be written.
            InfrastructureError: the disk refuses.
        """
        write_dataset(self._run.path / DATASET, build_rows(fates))
        card = write_card(fates, recipe=self._recipe, found=self._found, versions=_list_versions())
        old = self._run.path / CARD
        shares = list_shares(old.read_text(encoding="utf-8")) if old.exists() else []
        self._run.write_text(CARD, add_shares(card, shares) if shares else card)
        self._written_s = time.monotonic()


def _list_versions() -> str:
    names = ("torch", "transformers")
    found = [f"{name} {importlib.metadata.version(name)}" for name in names if _is_installed(name)]
    return ", ".join([*found, f"Python {platform.python_version()}"])


def _is_installed(name: str) -> bool:
    return bool(list(importlib.metadata.distributions(name=name)))
