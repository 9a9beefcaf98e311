"""One agent on one task, from an empty workspace to a trajectory."""

import dataclasses
from collections.abc import Callable
from typing import Annotated, Literal, Self

import tyro
from pydantic import model_validator

from cuda_agent.agent.budget import Budget, BudgetedChat, BudgetError
from cuda_agent.agent.capture import CapturedChat, PolicyError
from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.loop import Stop, run_loop
from cuda_agent.agent.prompt import build_prompt
from cuda_agent.agent.record import EpisodeRecord
from cuda_agent.agent.tools.bash import BashTool
from cuda_agent.agent.tools.edit import EditTool
from cuda_agent.agent.tools.search import SearchTool
from cuda_agent.agent.tools.tool import Tool
from cuda_agent.agent.trajectory import StopReason, Trajectory, Turn
from cuda_agent.config import Config
from cuda_agent.environment.environment import Environment
from cuda_agent.judge.policy import load_policy
from cuda_agent.llm.chat import ChatModel, Message
from cuda_agent.llm.endpoint import EndpointConfig, Prices
from cuda_agent.llm.patient import PatientChat
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Containment, Limits, Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


class EpisodeOptions(Config):
    """How an episode is held, but for where: this machine's target is found out when none is wished."""

    policy: str = "expert"
    """Who acts: `expert`, `openai:MODEL`, or `scripted:FILE` (a trajectories.jsonl, or a .toml script)."""
    endpoint: Annotated[EndpointConfig, tyro.conf.arg(name="")] = EndpointConfig()
    """Where the model of `openai:MODEL` is, and how it is asked."""
    budget: Annotated[Budget, tyro.conf.arg(name="")] = Budget()
    """What an episode may spend on its model."""
    judge: Literal["strict", "paper"] = "strict"
    """How strictly submissions are judged."""
    sandbox: Containment = Containment.AUTO
    """How untrusted commands are contained."""
    limits: EpisodeLimits = EpisodeLimits()
    """How long an episode may go on."""

    @model_validator(mode="after")
    def _check_prices(self) -> Self:
        """A limit of money needs prices."""
        if self.budget.max_cost is not None and self.endpoint.prices == Prices():
            raise ValueError("--max-cost needs --prices.prompt and --prices.completion")
        return self


class EpisodeConfig(EpisodeOptions):
    """How an episode is held."""

    target: Target
    """Where kernels run."""


def run_episode(
    task: Task,
    *,
    chat: ChatModel,
    config: EpisodeConfig,
    sandbox: Sandbox,
    run: RunDir,
    on_turn: Callable[[Turn], None],
) -> Trajectory:
    """Let `chat` work on `task`, judge what it submitted, and write all of it into `run`.

    A policy that fails ends the episode with a StopReason; what it submitted before still counts.

    Raises:
        InfrastructureError: this machine failed, and the episode is not on record.
    """
    prompt = build_prompt(task, target=config.target, limits=config.limits)
    with Environment(
        task, target=config.target, sandbox=sandbox, policy=load_policy(config.judge), folder=run.path
    ) as environment:
        record = EpisodeRecord(environment, run=run, on_turn=on_turn)
        tools = build_tools(environment, sandbox=sandbox, limits=config.limits)
        stop = _converse(chat, tools, prompt=prompt, config=config, record=record)
        final = record.judge_finally(retries=config.limits.retries)
        trajectory = Trajectory(
            task_id=task.task_id,
            target=config.target,
            policy=chat.name,
            prompt=prompt,
            tools=tuple(tool.schema for tool in tools.values()),
            turns=tuple(record.turns),
            stop_reason=stop.reason,
            stop_detail=stop.detail,
            submissions=tuple(record.submissions),
            final=final,
            reward=record.compute_reward(final),
            seconds=record.seconds,
        )
        record.finish(trajectory)
    return trajectory


def _converse(
    chat: ChatModel,
    tools: dict[str, Tool],
    *,
    prompt: tuple[Message, ...],
    config: EpisodeConfig,
    record: EpisodeRecord,
) -> Stop:
    """Run the loop; a policy that fails, or has spent its budget, is one more reason to stop."""
    captured = CapturedChat(PatientChat(chat, retries=config.limits.retries))
    budgeted = BudgetedChat(captured, config.budget)
    try:
        return run_loop(budgeted, tools, prompt=prompt, limits=config.limits, on_turn=record.add)
    except BudgetError as error:
        return Stop(StopReason.BUDGET, str(error))
    except PolicyError as error:
        return Stop(StopReason.POLICY_ERROR, str(error))


def build_tools(environment: Environment, *, sandbox: Sandbox, limits: EpisodeLimits) -> dict[str, Tool]:
    """The three tools, by name, acting in an environment's workspace."""
    shell = dataclasses.replace(environment.shell, limits=Limits(wall_s=limits.command_s))
    tools: list[Tool] = [
        BashTool(sandbox, shell),
        EditTool(environment.workspace),
        SearchTool(sandbox, shell),
    ]
    return {tool.schema.name: tool for tool in tools}
