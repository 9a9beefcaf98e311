"""Every cheat in tests/hacks/ ends as its case.toml says."""

from collections.abc import Iterator

import pytest

from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from tests.judge_cases import HACKS, PASSED, Bench, Case, Outcome, load_cases, without_static_checks

CASES = load_cases(HACKS)


def list_parameters(target: Target, *, without_static: bool = False) -> list[object]:
    """The cases of one target as pytest parameters."""
    return [
        pytest.param(case, id=case.name, marks=list_marks(case, target))
        for case in CASES
        if target in case.targets and (case.without_static or not without_static)
    ]


def list_marks(case: Case, target: Target) -> list[pytest.MarkDecorator]:
    """One worker for the cases of a task; where a reward decides, it must not be measured in a crowd."""
    marks = [pytest.mark.xdist_group(f"{target.value}-{case.task}")]
    if PASSED in case.expect:
        marks.append(pytest.mark.timing)
    return marks


@pytest.fixture(scope="module")
def bench(sandbox: Sandbox) -> Iterator[Bench]:
    """A judge that stays warm over the cases of one task."""
    with Bench(sandbox) as bench:
        yield bench


def check(outcome: Outcome, case: Case, *, expect: tuple[str, ...]) -> None:
    """The verdict is one of the right ones, and a cheat that may pass earns no more than honest work."""
    found = outcome.evaluation
    assert outcome.verdict in expect, f"{case.mechanism}\n{outcome.verdict}: {found.reason}\n{found}"
    if outcome.verdict == PASSED:
        assert outcome.reward <= case.max_reward, f"{case.mechanism}: reward {outcome.reward}"
    else:
        assert outcome.reward == -1.0


@pytest.mark.parametrize("case", list_parameters(Target.CPU))
def test_cheat_on_cpu(case: Case, bench: Bench) -> None:
    check(bench.try_case(case, Target.CPU), case, expect=case.expect)


@pytest.mark.gpu
@pytest.mark.parametrize("case", list_parameters(Target.CUDA))
def test_cheat_on_cuda(case: Case, bench: Bench) -> None:
    check(bench.try_case(case, Target.CUDA), case, expect=case.expect)


@pytest.mark.slow
@pytest.mark.parametrize("case", list_parameters(Target.CPU, without_static=True))
def test_cheat_that_no_source_check_sees(case: Case, bench: Bench) -> None:
    """What stands behind the rules on sources, symbols and instructions."""
    with without_static_checks():
        check(bench.try_case(case, Target.CPU), case, expect=case.without_static)


def test_every_case_is_described() -> None:
    for case in CASES:
        assert case.expect, case.name
        assert case.mechanism, case.name
        assert PASSED not in case.expect or case.max_reward <= 1.0, f"{case.name}: `ok` needs max_reward"
