"""An Evaluation as the lines that an agent reads.

The grammar is stable, because programs read it too: one stage a line, `stage: ok` or
`stage: status: reason`, indented lines that belong to the stage, later stages absent after a failure,
and last the reward, where one was asked for.
"""

from collections.abc import Iterator
from enum import StrEnum

from cuda_agent.environment.result import (
    BuildResult,
    BuildStatus,
    Evaluation,
    RulesResult,
    RulesStatus,
    Violation,
)
from cuda_agent.environment.reward import MARGIN, compute_reward
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.result import (
    Mismatch,
    ProfileResult,
    ProfileStatus,
    Ratio,
    TaskResult,
    VerifyResult,
    VerifyStatus,
)
from cuda_agent.printable import make_printable

MAX_VIOLATIONS = 12
MAX_DETAIL_LINES = 30
MAX_LINE_CHARS = 400


class RewardLine(StrEnum):
    """How the reward is announced."""

    NONE = "none"
    """Not at all: the evaluation did not go as far as times."""
    PREVIEW = "reward if submitted"
    """As what this would bring."""
    FINAL = "reward"
    """As what it brought."""


def render_evaluation(evaluation: Evaluation, *, reward_line: RewardLine) -> str:
    """The whole evaluation, without a newline at its end; reasons may be the submission's own words."""
    lines = [*_render_rules(evaluation.rules)]
    if evaluation.build is not None:
        lines += _render_build(evaluation.build)
    if evaluation.task is not None:
        lines += render_task(evaluation.task)
    if evaluation.verify is not None and not evaluation.is_task_at_fault:
        lines += _render_verify(evaluation.verify)
    if evaluation.profile is not None:
        lines += _render_profile(evaluation.profile, at_lower_bound=_is_at_lower_bound(evaluation))
        lines += _render_cheaper(evaluation)
    has_failed = evaluation.failed_stage is not None
    if reward_line is not RewardLine.NONE:
        reward = compute_reward(evaluation, at_lower_bound=_is_at_lower_bound(evaluation))
        name = RewardLine.FINAL if has_failed else reward_line
        lines.append(f"{name.value}: {reward:g}")
    return "\n".join(map(make_printable, lines))


def _is_at_lower_bound(evaluation: Evaluation) -> bool:
    return load_policy(evaluation.policy).at_lower_bound


def render_task(task: TaskResult) -> Iterator[str]:
    """What the gate says of a task: nothing, if it is an ordinary one."""
    if not task.is_judged:
        yield f"task: {task.status.value}: {task.reason}: the task is at fault, not the submission"
        yield from _indent(task.detail)
    yield from (f"task: {task.status.value}: {flag}" for flag in task.flags)


def _render_cheaper(evaluation: Evaluation) -> Iterator[str]:
    """The speed-up that is left over a cheaper form of the reference."""
    profile, task = evaluation.profile, evaluation.task
    if task is not None and task.cheaper_form and profile is not None and profile.over_eager is not None:
        left = profile.over_eager.point / task.cheaper_gain
        yield f"  over the cheaper form in eager {left:.2f}x ({task.cheaper_form})"


def _render_rules(rules: RulesResult) -> Iterator[str]:
    if rules.status is RulesStatus.OK:
        yield "rules: ok"
        return
    yield f"rules: {rules.status.value}: {rules.reason}"
    yield from _render_violations(rules.violations)


def _render_build(build: BuildResult) -> Iterator[str]:
    if build.status is BuildStatus.OK:
        yield f"build: ok ({build.duration_s:.1f} s)"
        return
    yield f"build: {build.status.value}: {build.reason}"
    yield from _indent(build.error_lines)
    # The first one is the reason already.
    yield from _render_violations(build.violations[1:])


def _render_verify(verify: VerifyResult) -> Iterator[str]:
    if verify.status is VerifyStatus.OK:
        draws = f"{verify.draws} draw{'' if verify.draws == 1 else 's'}"
        yield f"verify: ok ({draws}, worst error {verify.max_error:.2f} of tolerance)"
        return
    yield f"verify: {verify.status.value}: {verify.reason}"
    if verify.mismatch is not None:
        yield from _render_mismatch(verify.mismatch)
    yield from _indent(verify.detail)


def _render_mismatch(mismatch: Mismatch) -> Iterator[str]:
    place = ", ".join(map(str, mismatch.index))
    yield f"  first: {mismatch.output} at ({place}): got {mismatch.got:.9g}, expected {mismatch.expected:.9g}"
    yield f"  allowed difference there: {mismatch.tolerance:.3g}"
    share = mismatch.differing / mismatch.total if mismatch.total else 1.0
    yield f"  differing: {mismatch.differing:,} of {mismatch.total:,} elements ({share:.2%})"


def _render_profile(profile: ProfileResult, *, at_lower_bound: bool) -> Iterator[str]:
    if profile.status is not ProfileStatus.OK:
        yield f"profile: {profile.status.value}: {profile.reason}"
        yield from _indent(profile.detail)
        return
    assert profile.candidate is not None
    assert profile.eager is not None
    assert profile.over_eager is not None
    yield "profile: ok"
    yield f"  candidate {profile.candidate.median_ms:.3f} ms"
    yield f"  eager {profile.eager.median_ms:.3f} ms, {_render_ratio(profile.over_eager)}"
    if profile.compiled is not None and profile.over_compiled is not None:
        yield f"  torch.compile {profile.compiled.median_ms:.3f} ms, {_render_ratio(profile.over_compiled)}"
    else:
        yield f"  torch.compile does not run this task ({_first_line(profile.compile_error)}); eager decides"
    yield from _render_next(profile, at_lower_bound=at_lower_bound)
    if profile.floor_ms > 0.0:
        times = profile.candidate.median_ms / profile.floor_ms
        yield f"  floor {profile.floor_ms:.3f} ms, all bytes moved once; candidate takes {times:.1f}x that"


def _render_next(profile: ProfileResult, *, at_lower_bound: bool) -> Iterator[str]:
    """Which time the next milestone asks for, unless all are reached."""
    baselines = (
        ("eager", profile.eager, profile.over_eager),
        ("torch.compile", profile.compiled, profile.over_compiled),
    )
    for name, timing, ratio in baselines:
        if timing is None or ratio is None:
            continue
        reached = ratio.low if at_lower_bound else ratio.point
        if 1.0 - 1.0 / reached <= MARGIN:
            needed_ms = timing.median_ms * (1.0 - MARGIN)
            assert profile.candidate is not None
            saved = 1.0 - needed_ms / profile.candidate.median_ms
            faster = f"at least {saved:.0%} less than now" if saved > 0.005 else "and more steadily than now"
            yield f"  next: stay safely below {needed_ms:.3f} ms, {MARGIN:.0%} under {name}: {faster}"
            return


def _render_ratio(ratio: Ratio) -> str:
    return f"{ratio.point:.2f}x ({ratio.low:.2f}x to {ratio.high:.2f}x)"


def _render_violations(violations: tuple[Violation, ...]) -> Iterator[str]:
    for violation in violations[:MAX_VIOLATIONS]:
        place = f"{violation.file}:{violation.line}" if violation.line else violation.file
        yield _clip(f"  {place} {violation.rule}: {violation.reason}")
    if len(violations) > MAX_VIOLATIONS:
        yield f"  and {len(violations) - MAX_VIOLATIONS} more"


def _indent(text: str) -> Iterator[str]:
    lines = text.rstrip().splitlines()
    if len(lines) > MAX_DETAIL_LINES:
        half = MAX_DETAIL_LINES // 2
        lines = [*lines[:half], f"[{len(lines) - 2 * half} lines left out]", *lines[-half:]]
    yield from (_clip(f"  {line}") for line in lines)


def _first_line(text: str) -> str:
    return _clip(text.strip().splitlines()[0]) if text.strip() else "no reason given"


def _clip(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else line[:MAX_LINE_CHARS] + " ..."
