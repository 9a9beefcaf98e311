"""A recipe says how large a family is, and refuses what makes none."""

import pytest
from pydantic import ValidationError

from cuda_agent.synthesis.recipe import Precision, Recipe


def test_the_size_of_a_family() -> None:
    assert Recipe().family_size == 1
    assert Recipe(shapes=3, precisions=(Precision.FLOAT32, Precision.FLOAT16)).family_size == 6


@pytest.mark.parametrize("wrong", [{"shapes": 0}, {"precisions": ()}, {"precisions": ("float8",)}])
def test_no_family(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Recipe.model_validate(wrong)
