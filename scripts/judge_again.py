"""Judge a run's submissions again, several times each: does the same submission always get the same reward?

    python -m scripts.judge_again RUN --times 10 --out again.jsonl

One line for each evaluation as it ends; the evaluations, raw times included, go to `--out`.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cuda_agent.config import Record
from cuda_agent.environment.evaluate import Setting, evaluate
from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.reward import compute_reward
from cuda_agent.environment.submission import freeze_submission
from cuda_agent.judge.policy import load_policy
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Containment
from cuda_agent.tasks.kernelbench import load_task


class Again(Record):
    """One of several evaluations of one submission."""

    name: str
    reward: float
    evaluation: Evaluation


def main() -> int:
    """Judge again; 1 where a submission was not judged alike every time."""
    arguments = _parse()
    rewards: dict[str, Counter[float]] = {}
    with arguments.out.open("a", encoding="utf-8") as lines:
        for again in _judge(arguments):
            rewards.setdefault(again.name, Counter())[again.reward] += 1
            print(_tell(again), flush=True)
            lines.write(again.model_dump_json() + "\n")
    for name, seen in rewards.items():
        told = ", ".join(f"{count} x {reward:g}" for reward, count in sorted(seen.items()))
        print(f"{name:32} rewards: {told}")
    return int(any(len(seen) > 1 for seen in rewards.values()))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path, help="a run's folder")
    parser.add_argument("--times", type=int, default=10, help="evaluations of each submission (10)")
    parser.add_argument("--tasks", type=Path, default=Path("examples"), help="folder of the tasks (examples)")
    parser.add_argument("--only", nargs="*", help="names of the tasks to judge (all)")
    parser.add_argument("--out", type=Path, default=Path("again.jsonl"), help="where evaluations go")
    return parser.parse_args()


def _judge(arguments: argparse.Namespace) -> Iterator[Again]:
    policy = load_policy("strict")
    for path in sorted(arguments.run.glob("evaluations/*.json")):
        first = Evaluation.model_validate_json(path.read_text(encoding="utf-8"))
        name = first.task_id.rpartition("-")[0]
        if arguments.only and name not in arguments.only:
            continue
        setting = Setting(
            task=load_task(arguments.tasks / f"{name}.py"),
            target=first.target,
            sandbox=build_sandbox(Containment.AUTO),
            policy=policy,
        )
        submission = freeze_submission(arguments.run / "submissions" / first.submission_sha)
        with setting.open_judge() as judge:
            for _ in range(arguments.times):
                evaluation = evaluate(submission, setting=setting, judge=judge)
                reward = compute_reward(evaluation, at_lower_bound=policy.at_lower_bound)
                yield Again(name=name, reward=reward, evaluation=evaluation)


def _tell(again: Again) -> str:
    verified, profile = again.evaluation.verify, again.evaluation.profile
    told = f"{again.name:32} reward {again.reward:2g}  {sum(again.evaluation.seconds.values()):5.1f} s"
    if verified is None or profile is None:
        return f"{told}  {verified and verified.status}"
    if profile.over_compiled is None or profile.candidate is None:
        return f"{told}  {verified.status} {profile.status} {profile.reason or ''}"
    ratio = profile.over_compiled
    return (
        f"{told}  {profile.status}  {profile.candidate.median_ms:8.3f} ms"
        f"  {ratio.point:5.2f}x ({ratio.low:.2f} to {ratio.high:.2f}) of torch.compile's"
    )


if __name__ == "__main__":
    sys.exit(main())
