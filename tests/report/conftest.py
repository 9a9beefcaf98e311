"""Material of pages: what this repository recorded, and what somebody hostile might have written."""

import json
import math
from pathlib import Path

import pytest

from cuda_agent.agent.trajectory import StopReason, SubmissionRecord, Trajectory, Turn
from cuda_agent.bench.record import BenchRecord, build_record
from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.submission import Submission
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall
from cuda_agent.report.judged import CaseResult
from cuda_agent.report.load import load_material
from cuda_agent.report.material import (
    BenchFound,
    EpisodeFound,
    EpisodeUnderWay,
    EvaluationFound,
    Material,
    SavedRun,
    Synthesis,
    Training,
)
from cuda_agent.synthesis.candidate import Candidate
from cuda_agent.synthesis.fate import Fate, Filter, Measured
from cuda_agent.synthesis.similarity import Nearest
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from tests.evaluations import build_passed

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
RUN = RESULTS / "2026-11-30-epyc2-run"
FATES = RESULTS / "2026-11-30-epyc2-synth.jsonl"
KINDS = {
    "markup": "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>`<b>`",
    "control": "\x1b[31m\x00\x07\x9b1m\u2028",
    "direction": "\u202egnp.exe\u202c \u2066\u05e9\u05dc\u05d5\u05dd",
    "template": "{{ 7 * 7 }}{% raw %}",
    "long": "w" * 20_000,
}
"""What somebody hostile writes, by what it would break."""
HOSTILE = " ".join(KINDS.values())
"""All of it in one text."""


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
    """One of everything that a page is made of, of which every text is hostile."""
    return build_hostile(HOSTILE)


def build_hostile(text: str) -> Material:
    """One of everything, of which every text is `text`."""
    evaluation = build_passed(Task(name="t", source="x = 1"), Submission({"model_new.py": b""}))
    assert evaluation.profile is not None
    profile = evaluation.profile.model_copy(update={"device": text, "method": text, "versions": {text: text}})
    evaluation = evaluation.model_copy(update={"task_id": text, "profile": profile})
    trajectory = build_hostile_trajectory(text, evaluation)
    files = {text: text, "kernels/fused.cpp": f"// {text}\nint x;"}
    record = build_record(evaluation, place=text, policy=text).model_copy(update={"reason": text})
    return Material(
        episodes=(
            EpisodeFound(run=text, trajectory=trajectory, files=files),
            EpisodeFound(run=text, trajectory=trajectory, step=1),
        ),
        evaluations=(EvaluationFound(run=text, evaluation=evaluation),),
        benches=(BenchFound(run=f"{text}b", records=(record,)),),
        trainings=(
            Training(
                run=text,
                steps=({"step": 1.0, text: 2.0}, {"step": 2.0, text: 3.0}),
                stages=("", text),
            ),
        ),
        cases=(build_hostile_case(text),),
        syntheses=(Synthesis(run=text, fates=(build_hostile_fate(text), build_hostile_fate(text, "gate"))),),
        runs=(SavedRun(name=text, digest=text, verb="run", config={text: text, "tasks": [{"name": text}]}),),
        under_way=(EpisodeUnderWay(run=text, name=text, turns=trajectory.turns),),
        left_out=(text,),
    )


def build_hostile_trajectory(text: str, evaluation: Evaluation) -> Trajectory:
    """An episode of one turn."""
    return Trajectory(
        task_id=text,
        target=Target.CPU,
        policy=text,
        prompt=(Message(role=Role.USER, content=text),),
        tools=(),
        turns=(build_hostile_turn(text),),
        stop_reason=StopReason.POLICY_ERROR,
        stop_detail=text,
        submissions=(SubmissionRecord(turn=0, sha=text, evaluation=evaluation, reward=3.0),),
        final=evaluation,
        reward=3.0,
    )


def build_hostile_turn(text: str) -> Turn:
    """A reply with three calls, one of which cannot be read, and what came of them."""
    calls = (
        ToolCall(id="1", name=text, arguments={"command": text, text: text}),
        ToolCall(id="2", name="bash", arguments=None, raw_arguments=text),
        ToolCall(id="3", name="edit", arguments={"command": "create", "path": text, "file_text": text}),
    )
    answers = tuple(
        Message(role=Role.TOOL, content="wrote it" if call.id == "3" else text, tool_call_id=call.id)
        for call in calls
    )
    reply = Reply(message=Message(role=Role.ASSISTANT, content=text, tool_calls=calls))
    return Turn(reply=reply, observations=answers, seconds_model=1, seconds_tools=1)


def build_hostile_case(text: str) -> CaseResult:
    """A verdict."""
    return CaseResult(
        corpus="hacks",
        name=text,
        kind=text,
        mechanism=text,
        source=text,
        target=Target.CPU,
        expect=(text,),
        verdict=text,
        reward=-1.0,
        is_right=True,
        reason=text,
        seconds=1.0,
    )


def build_hostile_fate(text: str, dropped_by: str = "") -> Fate:
    """A candidate, kept or dropped."""
    return Fate(
        candidate=Candidate(number=0, seed=0, ops=(text,), data_source=text, code=text),
        dropped_by=Filter(dropped_by) if dropped_by else None,
        reason=text,
        nearest=Nearest(name=text, similarity=0.5),
        measured=Measured(device=text, eager_ms=2.0, compile_ms=1.0),
    )


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
