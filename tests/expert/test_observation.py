from cuda_agent.expert.observation import parse_outcome

GOOD = """rules: ok
build: ok (1.9 s)
verify: ok (5 draws, worst error 0.31 of tolerance)
profile: ok
  candidate 4.021 ms
  eager 14.900 ms, 3.71x (3.60x to 3.80x)
  torch.compile 5.500 ms, 1.37x (1.33x to 1.40x)
reward if submitted: 3"""


def test_times_and_reward_are_read() -> None:
    outcome = parse_outcome(GOOD)
    assert (outcome.is_ok, outcome.over_eager, outcome.over_compiled, outcome.reward) == (True, 3.71, 1.37, 3)


def test_torch_compile_may_not_run_the_reference() -> None:
    text = GOOD.replace(
        "  torch.compile 5.500 ms, 1.37x (1.33x to 1.40x)", "  torch.compile does not run this task"
    )
    outcome = parse_outcome(text)
    assert (outcome.is_ok, outcome.over_compiled, outcome.score) == (True, None, 3.71)


def test_the_failed_stage_is_kept() -> None:
    text = "rules: ok\nbuild: ok (1.0 s)\nverify: mismatch: 3 elements differ\n  first: out\nreward: -1"
    outcome = parse_outcome(text)
    assert (outcome.is_ok, outcome.failure) == (False, "verify: mismatch: 3 elements differ")


def test_anything_else_is_a_failure_with_its_last_line() -> None:
    assert (
        parse_outcome("bash: cuda-agent: command not found\n[exit status 127]").failure == "[exit status 127]"
    )
    assert parse_outcome("").failure == "no output"


def test_the_environment_s_own_rendering_is_understood() -> None:
    from cuda_agent.environment.render import RewardLine, render_evaluation
    from cuda_agent.environment.result import BuildResult, BuildStatus, Evaluation, RulesResult, RulesStatus
    from cuda_agent.judge.result import (
        ProfileResult,
        ProfileStatus,
        Ratio,
        Timing,
        VerifyResult,
        VerifyStatus,
    )
    from cuda_agent.tasks.target import Target

    timing = Timing(median_ms=1234.5, calls_ms=(1234.5,))
    profile = ProfileResult(
        status=ProfileStatus.OK, candidate=timing, eager=timing, compiled=timing,
        over_eager=Ratio(point=2.5, low=2.4, high=2.6), over_compiled=Ratio(point=1.5, low=1.4, high=1.6),
    )  # fmt: skip
    evaluation = Evaluation(
        task_id="t", submission_sha="0", target=Target.CPU, policy="strict",
        rules=RulesResult(status=RulesStatus.OK), build=BuildResult(status=BuildStatus.OK, duration_s=1.0),
        verify=VerifyResult(status=VerifyStatus.OK, draws=5), profile=profile,
    )  # fmt: skip
    outcome = parse_outcome(render_evaluation(evaluation, reward_line=RewardLine.PREVIEW))
    assert (outcome.over_eager, outcome.over_compiled, outcome.reward) == (2.5, 1.5, 3)
