"""A whole run: made in order, recorded, resumed, the same again."""

from dataclasses import replace
from pathlib import Path

import pytest

from cuda_agent.errors import ConfigError, UserError
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.synthesis.compose import build_composer
from cuda_agent.synthesis.fate import Fate, Filter
from cuda_agent.synthesis.operator import Operator
from cuda_agent.synthesis.pipeline import FATES, Synthesis, Workshop, build_job, run_synthesis
from cuda_agent.synthesis.recipe import Recipe
from cuda_agent.synthesis.similarity import compute_print
from tests.synthesis.conftest import GOOD, make_candidate

RECIPE = Recipe(seed=11, operator_shares=(1.0,), memory_gb=0.2, shortest_ms=0.01, longest_ms=50.0)


def make_shop(sandbox: Sandbox, operators: tuple[Operator, ...], *, recipe: Recipe = RECIPE) -> Workshop:
    names = {
        "torch.nn.Softmax",
        "torch.nn.MSELoss",
        "torch.clamp",
        "torch.cumsum",
        "torch.hypot",
        "torch.sort",
    }
    chosen = tuple(operator for operator in operators if operator.name in names)
    job = build_job(recipe, chosen, kernelbench=None)
    return Workshop(
        job=job, compose=build_composer(chosen, recipe), kernelbench={}, sandbox=sandbox, workers=2
    )


def test_the_job_follows_the_operators(operators: tuple[Operator, ...]) -> None:
    one, other = (build_job(Recipe(), operators[start:], kernelbench=Path("kb")) for start in (0, 1))
    assert one.operators_digest != other.operators_digest
    assert one == Synthesis(recipe=Recipe(), kernelbench="kb", operators_digest=one.operators_digest)


@pytest.mark.slow
def test_a_run_is_resumed_where_it_stopped(
    tmp_path: Path, sandbox: Sandbox, operators: tuple[Operator, ...]
) -> None:
    shop = make_shop(sandbox, operators)
    seen: list[Fate] = []
    with RunDir.create(tmp_path / "run", shop.job) as run:
        first = run_synthesis(shop, run, count=2, observe=seen.append)
    assert sum(fate.is_kept for fate in first) == 2
    assert [fate.candidate.number for fate in first] == list(range(len(first)))
    assert set(map(str, first)) <= set(map(str, seen))
    with RunDir.resume(tmp_path / "run", shop.job) as run:
        more = run_synthesis(shop, run, count=3, observe=seen.append)
        recorded = run.read(FATES, Fate)
    assert recorded == tuple(seen)
    numbers = [fate.candidate.number for fate in recorded]
    assert len(set(numbers)) == len(numbers)
    assert [fate.candidate.number for fate in more] == list(range(len(more)))
    assert set(map(str, more)) <= set(map(str, recorded))
    assert more[: len(first)] == first
    other = make_shop(sandbox, operators, recipe=RECIPE.replace(seed=12))
    with pytest.raises(ConfigError, match="seed: 11, now 12"):
        RunDir.resume(tmp_path / "run", other.job)


def test_a_run_ends_at_its_time_limit_with_what_it_holds(
    tmp_path: Path, sandbox: Sandbox, operators: tuple[Operator, ...]
) -> None:
    shop = make_shop(sandbox, operators)
    fate = Fate(candidate=make_candidate(number=2), dropped_by=Filter.GATE, reason="as recorded")
    with RunDir.create(tmp_path / "run", shop.job) as run:
        run.append(FATES, fate)
        assert run_synthesis(shop, run, count=1000, observe=lambda _: None, limit_s=0.0) == (fate,)


@pytest.mark.slow  # a process that is ready for torch.compile takes a quarter of a minute
def test_what_counts_is_the_order_of_the_candidates_not_that_of_their_ends(
    tmp_path: Path, sandbox: Sandbox, operators: tuple[Operator, ...]
) -> None:
    """Candidate 0 is tried, and ends, after 1 and 2 are known to be kept; only one is wished."""
    shop = make_shop(sandbox, operators)

    def compose(number: int) -> Fate:
        code = GOOD.replace("torch.tanh(x)", f"torch.tanh(x) @ x + {number}")
        return Fate(candidate=make_candidate(code, number=number))

    shop = replace(shop, compose=compose)
    with RunDir.create(tmp_path / "run", shop.job) as run:
        for number in (2, 1):
            run.append(FATES, Fate(candidate=make_candidate(number=number)))
        fates = run_synthesis(shop, run, count=1, observe=lambda _: None)
    assert [(fate.candidate.number, fate.dropped_by) for fate in fates] == [(0, Filter.EAGER), (1, None)]


def test_a_hopeless_recipe_is_given_up(
    tmp_path: Path, sandbox: Sandbox, operators: tuple[Operator, ...]
) -> None:
    shop = make_shop(sandbox, operators, recipe=RECIPE.replace(similarity=-1.0))
    shop = replace(shop, kernelbench={"level1/1_good.py": compute_print(GOOD)})
    with RunDir.create(tmp_path / "run", shop.job) as run, pytest.raises(UserError, match="only 0 of 50"):
        run_synthesis(shop, run, count=1, observe=lambda fate: None)
