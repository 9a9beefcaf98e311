"""Records are frozen, exact and survive JSON; a configuration is known by its digest."""

import math

import pytest
from pydantic import ValidationError

from cuda_agent.config import Config, Record


class Point(Record):
    """A fact."""

    x: float
    """Where."""


class Wish(Config):
    """A wish."""

    turns: int = 3
    """How many."""
    name: str = "a"
    """Which."""


def test_a_record_cannot_be_changed_or_given_more() -> None:
    point = Point(x=1.0)
    with pytest.raises(ValidationError, match="frozen"):
        point.x = 2.0
    with pytest.raises(ValidationError, match="Extra inputs"):
        Point.model_validate({"x": 1.0, "y": 2.0})


@pytest.mark.parametrize("x", [math.inf, -math.inf, 0.1])
def test_every_number_survives_json(x: float) -> None:
    assert Point.model_validate_json(Point(x=x).model_dump_json()) == Point(x=x)
    assert math.isnan(Point.model_validate_json(Point(x=math.nan).model_dump_json()).x)


def test_the_digest_follows_the_values_alone() -> None:
    assert Wish().compute_digest() == Wish(turns=3).compute_digest()
    assert Wish().compute_digest() != Wish(turns=4).compute_digest()
    assert len(Wish().compute_digest()) == 16


def test_replace_is_validated() -> None:
    assert Wish().replace(turns=5) == Wish(turns=5)
    with pytest.raises(ValidationError):
        Wish().replace(turns="many")
    with pytest.raises(ValidationError):
        Wish().replace(trains=5)
