"""Material of pages: what this repository recorded, and what somebody hostile might have written."""

import json
import math
from pathlib import Path

import pytest

from cuda_agent.agent.trajectory import StopReason, SubmissionRecord, Trajectory, Turn
from cuda_agent.bench.record import BenchRecord, build_record
from cuda_agent.environment.submission import Submission
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall
from cuda_agent.report.load import load_material
from cuda_agent.report.material import BenchFound, EpisodeFound, EvaluationFound, Material, Training
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from tests.evaluations import build_passed

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
RUN = RESULTS / "2026-11-30-epyc2-run"
FATES = RESULTS / "2026-11-30-epyc2-synth.jsonl"
HOSTILE = (
    "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
    "\x1b[31m\x00\u202egnp.exe\u2028 \u05e9\u05dc\u05d5\u05dd {{ 7 * 7 }} " + "w" * 20_000
)
"""Markup, control characters, a turn of direction, right-to-left text, a template, a very long word."""


@pytest.fixture(scope="session")
def recorded() -> Material:
    """What docs/results holds."""
    return load_material([RESULTS])


@pytest.fixture(scope="session")
def run_found() -> EpisodeFound:
    """The recorded episode on rotary: three turns by the expert."""
    return next(
        each for each in load_material([RUN]).episodes if each.trajectory.task_id.startswith("rotary")
    )


@pytest.fixture(scope="session")
def hostile() -> Material:
    """An episode, a try and an evaluation of which every text is hostile."""
    evaluation = build_passed(Task(name="t", source="x = 1"), Submission({"model_new.py": b""}))
    assert evaluation.profile is not None
    profile = evaluation.profile.model_copy(update={"device": HOSTILE, "method": HOSTILE})
    evaluation = evaluation.model_copy(update={"task_id": HOSTILE, "profile": profile})
    turn = build_hostile_turn()
    trajectory = Trajectory(
        task_id=HOSTILE,
        target=Target.CPU,
        policy=HOSTILE,
        prompt=(Message(role=Role.USER, content=HOSTILE),),
        tools=(),
        turns=(turn,),
        stop_reason=StopReason.POLICY_ERROR,
        stop_detail=HOSTILE,
        submissions=(SubmissionRecord(turn=0, sha=HOSTILE, evaluation=evaluation, reward=3.0),),
        final=evaluation,
        reward=3.0,
    )
    files = {HOSTILE: HOSTILE, "kernels/fused.cpp": f"// {HOSTILE}\nint x;"}
    record = build_record(evaluation, place=HOSTILE, policy=HOSTILE).model_copy(update={"reason": HOSTILE})
    return Material(
        episodes=(EpisodeFound(run=HOSTILE, trajectory=trajectory, files=files),),
        evaluations=(EvaluationFound(run=HOSTILE, evaluation=evaluation),),
        benches=(BenchFound(run=f"{HOSTILE}b", records=(record,)),),
        trainings=(
            Training(
                run=HOSTILE,
                steps=({"step": 1.0, HOSTILE: 2.0}, {"step": 2.0, HOSTILE: 3.0}),
                stages=("", HOSTILE),
            ),
        ),
        left_out=(HOSTILE,),
    )


def build_hostile_turn() -> Turn:
    """A reply with three calls, one of which cannot be read, and what came of them."""
    calls = (
        ToolCall(id="1", name=HOSTILE, arguments={"command": HOSTILE, HOSTILE: HOSTILE}),
        ToolCall(id="2", name="bash", arguments=None, raw_arguments=HOSTILE),
        ToolCall(id="3", name="edit", arguments={"command": "create", "path": HOSTILE, "file_text": HOSTILE}),
    )
    answers = tuple(
        Message(role=Role.TOOL, content="wrote it" if call.id == "3" else HOSTILE, tool_call_id=call.id)
        for call in calls
    )
    reply = Reply(message=Message(role=Role.ASSISTANT, content=HOSTILE, tool_calls=calls))
    return Turn(reply=reply, observations=answers, seconds_model=1, seconds_tools=1)


@pytest.fixture
def training_log(tmp_path: Path) -> Path:
    """A run's folder below which a thousand steps lie in verl's names."""
    return write_training(tmp_path / "full", steps=1000)


def write_training(folder: Path, *, steps: int) -> Path:
    """Figures of a run of two stages, the second from the middle on."""
    folder.mkdir()
    lines = []
    for step in range(1, steps + 1):
        done = step / steps
        lines.append(
            {
                "step": step,
                "stage": "rft" if done <= 0.5 else "ppo",
                "critic": {"rewards/mean": 0.7 + 1.2 * done},
                "critic/vf_explained_var": math.nan if step == 1 else 0.3 + 0.2 * done,
                "actor/entropy": 0.07 - 0.01 * done,
                "actor/ppo_kl": 0.001 * done,
                "actor/pg_clipfrac": 0.02,
                "actor/ratio_max": 1.5 + done,
                "actor/ratio_min": 0.6,
                "response_length/mean": 900 + 100 * done,
                "num_turns/mean": 4 + done,
                "rollout_corr/kl": 0.002,
                "timing_s/gen": 30.0,
                "timing_s/update_actor": 12.0,
                "perf/mfu": 0.3,
            }
        )
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "metrics.jsonl").write_text(text + '{"step": torn')
    return folder


def build_tries(count: int) -> tuple[BenchRecord, ...]:
    """As many tries at as many tasks, each with its own speed-up."""
    evaluation = build_passed(Task(name="t", source="x = 1"), Submission({"model_new.py": b""}))
    pattern = build_record(evaluation, policy="p")
    tries = []
    for number in range(count):
        ms = 0.1 + (number * 7919 % count) / count
        changed = {"task_id": f"t-{number}", "place": f"level1/{number}_t", "level": 1, "candidate_ms": ms}
        tries.append(pattern.model_copy(update={**changed, "problem": number}))
    return tuple(tries)
