"""Policies by name."""

import pytest
from pydantic import ValidationError

from cuda_agent.errors import ConfigError
from cuda_agent.judge.policy import JudgePolicy, Tolerance, load_policy


def test_strict_and_paper_differ_where_they_must() -> None:
    strict, paper = load_policy("strict"), load_policy("paper")
    assert (strict.tolerance, strict.at_lower_bound) == (Tolerance.CALIBRATED, True)
    assert (paper.tolerance, paper.at_lower_bound) == (Tolerance.FIXED, False)
    assert (paper.atol, paper.rtol, paper.draws) == (1e-2, 1e-2, 5)


def test_an_unknown_policy_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="strict, paper"):
        load_policy("lenient")


@pytest.mark.parametrize("name", ["draws", "rounds", "max_rounds", "block_calls"])
def test_a_policy_under_which_nothing_would_run_is_no_policy(name: str) -> None:
    with pytest.raises(ValidationError, match="greater than 0"):
        JudgePolicy.model_validate({name: 0})
