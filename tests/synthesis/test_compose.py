"""Composed programs: their shapes fit, sources parse, labels are true, and a seed settles them."""

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_agent.errors import UserError
from cuda_agent.synthesis.compose import choose_operators, compose
from cuda_agent.synthesis.filters import TextFilters
from cuda_agent.synthesis.label import find_missing_operators, find_random_operator
from cuda_agent.synthesis.normal import compute_normal_form
from cuda_agent.synthesis.recipe import Precision, Recipe
from cuda_agent.synthesis.size import MACHINES, estimate_ms
from cuda_agent.synthesis.table import load_table
from cuda_agent.synthesis.trial import run_trial
from cuda_agent.tasks.source import parse_task
from cuda_agent.tasks.target import Target

OPERATORS = load_table("torch").operators


@settings(max_examples=25)
@given(
    seed=st.integers(0, 1 << 40),
    number=st.integers(0, 1 << 20),
    target=st.sampled_from(Target),
    count=st.integers(1, 5),
)
def test_every_composition_holds(seed: int, number: int, target: Target, count: int) -> None:
    shares = tuple(float(index == count - 1) for index in range(5))
    recipe = Recipe(seed=seed, target=target, operator_shares=shares, join_share=0.4)
    candidate = compose(OPERATORS, recipe, number=number)
    assert len(candidate.ops) == count
    assert candidate.data_source == f"torch#{count}"
    parse_task(candidate.code, name="composed")
    assert find_missing_operators(candidate.code, candidate.ops) == ()
    assert find_random_operator(candidate.code) == ""
    trial = run_trial(candidate.code)
    assert 1.0 <= estimate_ms(trial, MACHINES[target]) <= 100.0
    assert trial.held_bytes <= 8e9
    assert compose(OPERATORS, recipe, number=number) == candidate


def test_the_order_of_hashes_does_not_matter() -> None:
    program = (
        "from cuda_agent.synthesis.compose import compose\n"
        "from cuda_agent.synthesis.recipe import Recipe\n"
        "from cuda_agent.synthesis.table import load_table\n"
        "o = load_table('torch').operators\n"
        "print([compose(o, Recipe(seed=7), number=n).key for n in range(3)])\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert runs[0] == runs[1]
    assert len(runs[0]) > 40


def test_a_family_is_one_program_at_several_sizes_and_precisions() -> None:
    precisions = (Precision.FLOAT32, Precision.BFLOAT16)
    recipe = Recipe(seed=3, shapes=2, precisions=precisions)
    filters = TextFilters(kernelbench={}, similarity=0.9)
    for base in range(4):
        members = [compose(OPERATORS, recipe, number=4 * base + index) for index in range(4)]
        assert members[0].code == compose(OPERATORS, Recipe(seed=3), number=base).code
        assert {member.family for member in members} == {f"3-{base}"}
        assert {member.ops for member in members} == {members[0].ops}
        assert [member.precision for member in members] == ["float32", "float32", "bfloat16", "bfloat16"]
        assert [compute_normal_form(member.code) for member in members[:2]] == [
            compute_normal_form(members[0].code)
        ] * 2
        assert len({member.code for member in members}) == 4
        assert all(filters.check(member).is_kept for member in members)
        assert "dtype=torch.bfloat16" in members[2].code
        assert run_trial(members[2].code).held_bytes < 0.75 * run_trial(members[0].code).held_bytes


def test_the_papers_mix() -> None:
    counts = [len(compose(OPERATORS, Recipe(seed=5), number=number).ops) for number in range(40)]
    assert counts.count(2) >= 25


def test_only_the_operators_that_are_named_are_drawn() -> None:
    names = ("torch.sum", "torch.nn.functional.hardswish")
    chosen = choose_operators(OPERATORS, names)
    assert sorted(operator.name for operator in chosen) == sorted(names)
    assert choose_operators(OPERATORS, ()) == tuple(OPERATORS)
    with pytest.raises(UserError, match=r"no operator is called hardswish, relu: "):
        choose_operators(OPERATORS, ("relu", "torch.sum", "hardswish"))
