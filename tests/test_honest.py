"""No honest kernel is rejected: every folder of tests/honest/ passes every stage of a real judge.

Run one with `pytest tests/test_honest.py -k NAME`. What a case shows, and where its like was reported as
rejected, is in its case.toml.
"""

from collections.abc import Iterator

import pytest

from cuda_agent.environment.result import Stage
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from tests.judge_cases import HONEST, PASSED, Bench, Case, Outcome, load_cases

CASES = load_cases(HONEST)
LEAST = 60
LEAST_BY_TARGET = {Target.CPU: 45, Target.CUDA: 40}


def list_parameters(target: Target) -> list[object]:
    """The cases of one target as pytest parameters."""
    return [
        pytest.param(case, id=case.name, marks=list_marks(case, target))
        for case in CASES
        if target in case.targets
    ]


def list_marks(case: Case, target: Target) -> list[pytest.MarkDecorator]:
    """One worker for the cases of a task; what takes long to build is tried on demand."""
    slow = [pytest.mark.slow] if case.is_foreign else []
    return [pytest.mark.xdist_group(f"{target.value}-{case.task}"), *slow]


@pytest.fixture(scope="module")
def bench(sandbox: Sandbox) -> Iterator[Bench]:
    """A judge that stays warm over the cases of one task."""
    with Bench(sandbox) as bench:
        yield bench


def check(outcome: Outcome, case: Case) -> None:
    """It passed, and it was timed."""
    found = outcome.evaluation
    assert outcome.verdict == PASSED, f"{case.mechanism}\n{outcome.verdict}: {found.reason}\n{found}"
    assert outcome.reward >= 1.0


@pytest.mark.parametrize("case", list_parameters(Target.CPU))
def test_honest_kernel_keeps_the_rules_and_builds(case: Case, bench: Bench) -> None:
    outcome = bench.try_case(case, Target.CPU, until=Stage.BUILD)
    assert outcome.verdict == PASSED, f"{case.mechanism}\n{outcome.verdict}: {outcome.evaluation.reason}"


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("case", list_parameters(Target.CPU))
def test_honest_kernel_passes_on_cpu(case: Case, bench: Bench) -> None:
    check(bench.try_case(case, Target.CPU), case)


@pytest.mark.gpu
@pytest.mark.timing
@pytest.mark.parametrize("case", list_parameters(Target.CUDA))
def test_honest_kernel_passes_on_cuda(case: Case, bench: Bench) -> None:
    check(bench.try_case(case, Target.CUDA), case)


def test_every_case_is_described_as_honest() -> None:
    for case in CASES:
        assert case.expect == (PASSED,), case.name
        assert case.kind.startswith("honest-"), case.name
        assert case.mechanism, case.name


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= LEAST
    for target, least in LEAST_BY_TARGET.items():
        assert sum(target in case.targets for case in CASES) >= least, target
