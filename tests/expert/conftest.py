"""The zoo; each of its modules is traced and planned once, when a test first asks for it."""

from collections.abc import Iterator, Mapping

import pytest

from tests.expert.built import Planned, plan_source
from tests.expert.zoo import ZOO
from tests.expert.zoo_linear import ZOO_LINEAR
from tests.expert.zoo_wide import ZOO_WIDE

PARTS = {"plain": ZOO, "linear": ZOO_LINEAR, "wide": ZOO_WIDE}
"""The zoo in parts, each of which is built at once."""


class PlannedZoo(Mapping[str, Planned]):
    """Modules by name."""

    def __init__(self, sources: dict[str, str]) -> None:
        self._sources = sources
        self._planned: dict[str, Planned] = {}

    def __getitem__(self, name: str) -> Planned:
        if name not in self._planned:
            self._planned[name] = plan_source(self._sources[name])
        return self._planned[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)


@pytest.fixture(scope="session")
def planned() -> Mapping[str, Planned]:
    """Every module of the zoo with its plan."""
    return PlannedZoo(ZOO | ZOO_LINEAR | ZOO_WIDE)
