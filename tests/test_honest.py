"""No honest kernel is rejected: each folder of tests/honest/ passes every stage of a real judge.

Run one with `pytest tests/test_honest.py -k NAME`. What a case shows, and who else rejects its like, is
in its case.toml.
"""

from collections.abc import Iterator

import pytest

from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from tests.judge_cases import HONEST, PASSED, Bench, Case, load_cases

CASES = load_cases(HONEST)
MARKS = {Target.CPU: [pytest.mark.timing], Target.CUDA: [pytest.mark.gpu, pytest.mark.timing]}


def list_parameters() -> list[object]:
    return [
        pytest.param(case, target, id=f"{case.name}-{target.value}", marks=MARKS[target])
        for target in Target
        for case in CASES
        if target in case.targets
    ]


@pytest.fixture(scope="module")
def bench(sandbox: Sandbox) -> Iterator[Bench]:
    with Bench(sandbox) as bench:
        yield bench


@pytest.mark.parametrize(("case", "target"), list_parameters())
def test_honest_kernel_passes(case: Case, target: Target, bench: Bench) -> None:
    outcome = bench.try_case(case, target)
    assert outcome.verdict == PASSED, describe(outcome.evaluation.reason, case)


def test_corpus_is_large_enough() -> None:
    assert len(CASES) >= 60
    assert sum(Target.CPU in case.targets for case in CASES) >= 45
    assert sum(Target.CUDA in case.targets for case in CASES) >= 40
    assert all(case.expect == (PASSED,) and case.kind.startswith("honest-") for case in CASES)


def describe(reason: str, case: Case) -> str:
    return f"{case.name} ({case.mechanism}) was rejected: {reason}"
