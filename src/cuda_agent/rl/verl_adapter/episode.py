"""An episode as an engine's trainer wants it: tokens, a mask, log-probabilities, and the judge's reward.

It knows no engine. The loop of tools and the judging run in a thread; the engine is asked through `Generate`.
"""

import asyncio
import functools
import itertools
import logging
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pydantic import PositiveInt

from cuda_agent.agent.episode import EpisodeConfig, Host, run_episode
from cuda_agent.agent.interruption import Interruption
from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.trajectory import StopReason, Trajectory
from cuda_agent.config import Config, Record
from cuda_agent.environment.admission import Admission
from cuda_agent.environment.elsewhere import Elsewhere, open_pool
from cuda_agent.errors import InfrastructureError
from cuda_agent.llm.chat import ChatModel
from cuda_agent.rl.batch import build_sequence
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.tasks.task import Task

ATTEMPTS = 3
"""How often an episode is held when the machine fails, before its failure is told."""

_logger = logging.getLogger(__name__)


class Hosting(Config):
    """How an engine's episodes are held."""

    episode: EpisodeConfig
    """Target, judge, containment and limits."""
    out: Path
    """Folder in which each episode has a run folder of its own."""
    pool: str = ""
    """Who evaluates: `ray:NAME` or a server's URL (`open_pool`); this machine where none is given."""
    response_tokens: PositiveInt
    """Most tokens of a response, tool tokens included."""


class AgentEpisode(Record):
    """One episode as tokens."""

    prompt_ids: tuple[int, ...]
    """What the policy read first."""
    response_ids: tuple[int, ...]
    """Generated and tool tokens as they came; the last one is generated."""
    response_mask: tuple[int, ...]
    """1 where a token was generated, 0 where a tool said it."""
    response_logprobs: tuple[float, ...]
    """Natural-log probability of each generated token, 0 elsewhere."""
    reward: float
    """The judge's."""
    turns: int
    """Replies in it."""
    stop_reason: StopReason
    """Why it ended."""
    is_cut: bool
    """Whether the end is left out: a prompt did not go on from the tokens before, or there were too many."""
    generate_s: float
    """Seconds that the engine took."""
    tools_s: float
    """Seconds that the tools took."""


def build_limits(*, turns: int, prompt_tokens: int, response_tokens: int) -> EpisodeLimits:
    """The limits of an episode that an engine bounds so; the prompt tells the policy of them."""
    total_tokens = prompt_tokens + response_tokens
    return EpisodeLimits(turns=turns, total_tokens=total_tokens, reply_tokens=response_tokens)


async def hold_episode(task: Task, hosting: Hosting, *, build_chat: Callable[[], ChatModel]) -> AgentEpisode:
    """Hold an episode; a failing machine is tried again, so that it is never taken for the policy's fault.

    Raises:
        InfrastructureError: the machine failed every time.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            trajectory = await _run_in_thread(functools.partial(_hold, task, hosting, chat=build_chat()))
            return build_agent_episode(trajectory, response_tokens=hosting.response_tokens)
        except InfrastructureError as error:
            if attempt == ATTEMPTS:
                raise
            _logger.warning("%s, attempt %d of %d: %s", task.task_id, attempt, ATTEMPTS, error)
    raise AssertionError("unreachable")


def build_agent_episode(trajectory: Trajectory, *, response_tokens: int) -> AgentEpisode:
    """The tokens of a trajectory, up to where its prompts go on from them; the last one is generated.

    Raises:
        InfrastructureError: the policy's engine failed, so the reward says nothing about the policy.
    """
    turns = tuple(itertools.takewhile(lambda turn: not turn.elided, trajectory.turns))
    if trajectory.stop_reason is StopReason.POLICY_ERROR or not turns:
        raise InfrastructureError(f"{trajectory.task_id}: no usable reply: {trajectory.stop_detail}")
    sequence = build_sequence(trajectory.model_copy(update={"turns": turns}))
    start = len(turns[0].reply.prompt_ids or ())
    stop = min(len(sequence.ids), start + response_tokens)
    while not sequence.is_generated[stop - 1]:
        stop -= 1
    return AgentEpisode(
        prompt_ids=sequence.ids[:start],
        response_ids=sequence.ids[start:stop],
        response_mask=tuple(map(int, sequence.is_generated[start:stop])),
        response_logprobs=sequence.logprobs[start:stop],
        reward=trajectory.reward,
        turns=len(turns),
        stop_reason=trajectory.stop_reason,
        is_cut=len(turns) < len(trajectory.turns) or stop < len(sequence.ids),
        generate_s=sum(turn.seconds_model for turn in turns),
        tools_s=sum(turn.seconds_tools for turn in turns),
    )


def _hold(task: Task, hosting: Hosting, *, chat: ChatModel) -> Trajectory:
    folder = hosting.out / f"{task.task_id}-{secrets.token_hex(6)}"
    with RunDir.create(folder, hosting.episode) as run:
        host = Host(
            chat=chat,
            config=hosting.episode,
            sandbox=build_sandbox(hosting.episode.sandbox),
            run=run,
            interruption=Interruption(),
            admission=_find_judges(hosting.pool),
        )
        return run_episode(task, host=host, on_turn=lambda turn: None)


@functools.cache
def _find_judges(pool: str) -> Admission | Elsewhere:
    """The same for all episodes of a process: they share its judges, or its way to a pool."""
    return Elsewhere(open_pool(pool)) if pool else Admission()


async def _run_in_thread(act: Callable[[], Trajectory]) -> Trajectory:
    """An episode mostly waits, so each has a thread of its own: a pool's size would be a hidden limit."""
    executor = ThreadPoolExecutor(1, thread_name_prefix="episode")
    try:
        return await asyncio.get_running_loop().run_in_executor(executor, act)
    finally:
        executor.shutdown(wait=False)
