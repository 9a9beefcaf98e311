"""The zoo, traced and planned once."""

import pytest

from tests.expert.built import Planned, plan_source
from tests.expert.zoo import ZOO
from tests.expert.zoo_linear import ZOO_LINEAR


@pytest.fixture(scope="session")
def planned() -> dict[str, Planned]:
    """Every module of the zoo with its plan."""
    return {name: plan_source(source) for name, source in (ZOO | ZOO_LINEAR).items()}
