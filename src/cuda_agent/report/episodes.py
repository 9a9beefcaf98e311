"""The pages of the agent: all episodes, and each as a timeline that can be replayed."""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from cuda_agent.agent.file_history import FileHistory
from cuda_agent.agent.trajectory import SubmissionRecord, Turn
from cuda_agent.environment.result import Evaluation
from cuda_agent.judge.result import Ratio
from cuda_agent.llm.chat import Message, ToolCall
from cuda_agent.report.charts import Chart, ChartKind, Mark, Series
from cuda_agent.report.material import EpisodeFound, EpisodeUnderWay, Material
from cuda_agent.report.page import Page
from cuda_agent.report.shown import clip

SHOWN_EPISODES = 400
"""How many episodes have a page of their own."""
DIFF_LINES = 400
"""The most lines of one change that are shown."""
LINE_CHARACTERS = 400
"""The most characters of one of them."""
OWN_TEXTS = ("file_text", "old_str", "new_str", "insert_text")


def build_agent_pages(material: Material) -> list[Page]:
    """The page of all episodes, which holds the best one's timeline, and one page each."""
    shown = material.episodes[:SHOWN_EPISODES]
    pages = [build_episode_page(each) for each in shown]
    best = max(range(len(shown)), key=lambda index: _rank(shown[index]), default=None)
    missing = () if shown else ("No finished episode was found: run `cuda-agent run TASK.py` first.",)
    if len(shown) < len(material.episodes):
        missing = (f"{len(material.episodes) - len(shown)} further episodes have no page here.",)
    overview = Page(
        name="agent",
        template="agent",
        title="The agent",
        lead="One task, one workspace: think, call a tool, read what came of it, until nothing is gained.",
        data={
            "episodes": [{**page.data["facts"], "href": f"{page.name}.html"} for page in pages],
            "under_way": [_describe_under_way(each) for each in material.under_way],
            "best": None if best is None else pages[best].data,
        },
        charts={} if best is None else pages[best].charts,
        missing=missing,
        is_empty=not material.episodes and not material.under_way,
    )
    return [overview, *pages]


def name_episode(found: EpisodeFound) -> str:
    """The name of an episode's page: harmless as a file's name and in a link, and no other episode's."""
    task_id, number = found.trajectory.task_id, found.trajectory.episode
    which = f"{found.run}\n{task_id}\n{number}"
    if found.step is not None:
        which += f"\n{found.step}\n{found.sample}"
    digest = hashlib.sha256(which.encode(errors="surrogatepass")).hexdigest()[:6]
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", task_id)[:60].strip("-")
    return f"episode-{readable}-{number}-{digest}"


def build_episode_page(found: EpisodeFound) -> Page:
    """One episode: its turns, its submissions, the kernel."""
    trajectory = found.trajectory
    final = trajectory.final
    data: dict[str, Any] = {
        "facts": {
            "run": found.run,
            "task": trajectory.task_id,
            "number": trajectory.episode + 1,
            "step": found.step,
            "policy": trajectory.policy,
            "target": trajectory.target.value,
            "reward": trajectory.reward,
            "turns": len(trajectory.turns),
            "submissions": len(trajectory.submissions),
            "stopped": trajectory.stop_reason.value,
            "detail": trajectory.stop_detail,
            "seconds": trajectory.seconds,
            "times": None if final is None else describe_times(final),
        },
        "turns": describe_turns(trajectory.turns, trajectory.submissions),
        "submissions": [describe_submission(each) for each in trajectory.submissions],
        "final": None if final is None else describe_verdict(final),
        "files": [{"path": path, "text": text} for path, text in found.files.items()],
        "prompt": [{"role": each.role.value, "text": clip(each.content)} for each in trajectory.prompt],
    }
    met = "" if found.step is None else f", met by step {found.step} of training"
    missing = () if found.files else ("The files of its submission were not kept, so no kernel is shown.",)
    return Page(
        name=name_episode(found),
        template="episode",
        title=trajectory.task_id,
        lead=f"Episode {trajectory.episode + 1} of {found.run}, held by {trajectory.policy}{met}.",
        data=data,
        charts=_build_charts(found),
        missing=missing,
        in_menu=False,
    )


def describe_turns(turns: Sequence[Turn], submissions: Sequence[SubmissionRecord]) -> list[dict[str, Any]]:
    """Each turn's thought, calls with what came of them, and what was submitted in it."""
    history = FileHistory()
    described = []
    for number, turn in enumerate(turns):
        message = turn.reply.message
        answers: dict[str | None, Message] = {each.tool_call_id: each for each in turn.observations}
        calls = [_describe_call(call, answers.get(call.id), history=history) for call in message.tool_calls]
        described.append(
            {
                "number": number + 1,
                "thought": clip(message.content),
                "calls": calls,
                "observations": []
                if message.tool_calls
                else [clip(each.content) for each in turn.observations],
                "seconds_model": turn.seconds_model,
                "seconds_tools": turn.seconds_tools,
                "tokens": turn.reply.usage.completion_tokens,
                "submissions": [describe_submission(each) for each in submissions if each.turn == number],
            }
        )
    return described


def _describe_call(call: ToolCall, answer: Message | None, *, history: FileHistory) -> dict[str, Any]:
    text = "" if answer is None else answer.content
    changed = history.apply(call, text)
    diff = [clip(line, LINE_CHARACTERS) for line in changed[:DIFF_LINES]]
    text = clip(text)
    arguments = call.arguments
    if arguments is None:
        return {
            "name": call.name,
            "asked": clip(call.raw_arguments),
            "rest": "unreadable",
            "diff": [],
            "diff_lines": 0,
            "answer": text,
        }
    command = arguments.get("command")
    asked = clip(str(command)) if call.name == "bash" and command else ""
    hidden = {*(OWN_TEXTS if diff else ()), *(("command",) if asked else ())}
    rest = {key: value for key, value in arguments.items() if value is not None and key not in hidden}
    told = " ".join(f"{key}={clip(str(value), 400)}" for key, value in rest.items())
    return {
        "name": call.name,
        "asked": asked,
        "rest": told,
        "diff": diff,
        "diff_lines": len(changed),
        "answer": text,
    }


def describe_submission(submission: SubmissionRecord) -> dict[str, Any]:
    """What was handed in and what came of it."""
    return {
        "turn": submission.turn + 1,
        "sha": submission.sha,
        "reward": submission.reward,
        **describe_verdict(submission.evaluation),
    }


def describe_verdict(evaluation: Evaluation) -> dict[str, Any]:
    """The verdict with its reason, and the times where it has any."""
    return {
        "verdict": evaluation.verdict,
        "reason": evaluation.reason,
        "times": describe_times(evaluation),
        "seconds": dict(evaluation.seconds),
    }


def describe_times(evaluation: Evaluation) -> dict[str, Any] | None:
    """Median times and both ratios with their intervals; None where nothing was timed."""
    profile = evaluation.profile
    if profile is None or profile.candidate is None or profile.eager is None:
        return None
    return {
        "candidate_ms": profile.candidate.median_ms,
        "eager_ms": profile.eager.median_ms,
        "compiled_ms": None if profile.compiled is None else profile.compiled.median_ms,
        "over_eager": _describe_ratio(profile.over_eager),
        "over_compiled": _describe_ratio(profile.over_compiled),
        "floor_ms": profile.floor_ms or None,
        "calls": len(profile.candidate.calls_ms),
        "device": profile.device,
        "method": profile.method,
    }


def _describe_ratio(ratio: Ratio | None) -> dict[str, float] | None:
    return None if ratio is None else {"point": ratio.point, "low": ratio.low, "high": ratio.high}


def _build_charts(found: EpisodeFound) -> dict[str, Chart]:
    """Every timed call of the evaluation that counts, and the ratio of each submission."""
    final = found.trajectory.final
    profile = None if final is None else final.profile
    if profile is None or profile.candidate is None:
        return {}
    timings = [
        ("kernel", profile.candidate),
        ("eager", profile.eager),
        ("torch.compile", profile.compiled),
    ]
    series = [
        Series(name=name, xs=tuple(map(float, range(1, len(timing.calls_ms) + 1))), ys=timing.calls_ms)
        for name, timing in timings
        if timing is not None
    ]
    calls = ", ".join(f"{each.name} {len(each.xs)}" for each in series)
    floor = (Mark(axis="y", value=profile.floor_ms, label="floor by bytes"),) if profile.floor_ms else ()
    return {
        "calls": Chart(
            kind=ChartKind.SCATTER,
            title="Every timed call of the evaluation that counts",
            caption=f"Each dot is one call on {profile.device}; n: {calls}. {profile.method}",
            series=tuple(series),
            x_label="call, in the order taken",
            y_label="ms",
            y_log=True,
            marks=floor,
            unit=" ms",
        )
    }


def _rank(found: EpisodeFound) -> tuple[float, float, int]:
    final = found.trajectory.final
    times = None if final is None else describe_times(final)
    ratio = (times["over_compiled"] or times["over_eager"]) if times else None
    return found.trajectory.reward, ratio["point"] if ratio else 0.0, len(found.trajectory.turns)


def _describe_under_way(each: EpisodeUnderWay) -> dict[str, Any]:
    return {"run": each.run, "name": each.name, "turns": describe_turns(each.turns, ())}
