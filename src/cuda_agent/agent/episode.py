"""One agent on one task, from an empty workspace to a trajectory."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Self

import tyro
from pydantic import model_validator

from cuda_agent.agent.budget import Budget, BudgetedChat, BudgetError
from cuda_agent.agent.capture import CapturedChat, PolicyError
from cuda_agent.agent.interruption import Interruption
from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.loop import Stop, Surroundings, run_loop
from cuda_agent.agent.prompt import PromptForm, build_prompt
from cuda_agent.agent.record import EpisodeRecord
from cuda_agent.agent.single_answer import EDIT, is_single_answer
from cuda_agent.agent.tools.bash import BashTool
from cuda_agent.agent.tools.commands import Commands
from cuda_agent.agent.tools.edit import EditTool
from cuda_agent.agent.tools.outputs import Outputs
from cuda_agent.agent.tools.search import SearchTool
from cuda_agent.agent.tools.tool import Tool
from cuda_agent.agent.trajectory import StopReason, Trajectory, Turn
from cuda_agent.agent.verdicts import RememberingEnvironment, Verdicts
from cuda_agent.config import Config
from cuda_agent.environment.admission import Admission
from cuda_agent.environment.elsewhere import Elsewhere
from cuda_agent.environment.environment import Environment
from cuda_agent.expert.study import read_headers
from cuda_agent.judge.policy import load_policy
from cuda_agent.llm.chat import ChatModel, Message, ToolSchema
from cuda_agent.llm.endpoint import EndpointConfig, Prices
from cuda_agent.llm.local_config import LocalConfig
from cuda_agent.llm.patient import PatientChat
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Containment, Limits, Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


class EpisodeOptions(Config):
    """How an episode is held, but for where: this machine's target is found out when none is wished."""

    policy: str = "expert"
    """Who acts: `expert`, `openai:MODEL`, `local:FOLDER`, or `scripted:FILE` (.jsonl or .toml)."""
    endpoint: Annotated[EndpointConfig, tyro.conf.arg(name="")] = EndpointConfig()
    """Where the model of `openai:MODEL` is, and how it is asked; its sampling is the checkpoint's too."""
    local: LocalConfig = LocalConfig()
    """How the checkpoint of `local:FOLDER` is run."""
    budget: Annotated[Budget, tyro.conf.arg(name="")] = Budget()
    """What an episode may spend on its model."""
    prompt: PromptForm = PromptForm.FULL
    """How much the agent is told: `brief` is for small models, and puts the expert's headers in place."""
    judge: Literal["strict", "paper"] = "strict"
    """How strictly submissions are judged."""
    sandbox: Containment = Containment.AUTO
    """How untrusted commands are contained."""
    limits: EpisodeLimits = EpisodeLimits()
    """How long an episode may go on."""
    verdicts: Path | None = None
    """A folder where verdicts are kept: the same files for the same task are judged once, by all runs that
    name it. Saves most of training's time on a small machine; not for results."""

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


@dataclass(frozen=True, kw_only=True)
class Host:
    """What all episodes of a run share; they may be held at once, each in a thread of its own."""

    chat: ChatModel
    """Who acts; called from several threads."""
    config: EpisodeConfig
    """How each episode is held."""
    sandbox: Sandbox
    """How untrusted commands are contained."""
    run: RunDir
    """Where all of it is written."""
    interruption: Interruption
    """Ends all of them."""
    admission: Admission | Elsewhere
    """How many of their judges may work at once, or who evaluates in their place."""


def run_episode(task: Task, number: int = 0, *, host: Host, on_turn: Callable[[Turn], None]) -> Trajectory:
    """Let the host's policy work on `task`, judge what it submitted, and write all of it into the run.

    `number` tells the task's episodes apart. A policy that fails ends the episode with a StopReason; what
    it submitted before still counts.

    Raises:
        InfrastructureError: this machine failed, and the episode is not on record.
        EpisodeInterruptedError: the host wanted it to end, and it is not on record.
    """
    config = host.config
    prompt = _tell(task, config)
    with _open_environment(task, host) as environment:
        if config.prompt.has_headers:
            for path, text in read_headers(config.target).items():
                environment.workspace.write_text(path, text)
        record = EpisodeRecord(environment, number, run=host.run, on_turn=on_turn)
        stop, tools = _converse(environment, record, prompt=prompt, host=host)
        if config.prompt is PromptForm.SINGLE and is_single_answer(record.turns):
            host.interruption.call(environment.submit)
            stop = Stop(StopReason.FINISHED, "")
        final = host.interruption.call(lambda: record.judge_finally(retries=config.limits.retries))
        trajectory = Trajectory(
            task_id=task.task_id,
            episode=number,
            target=config.target,
            policy=host.chat.name,
            prompt=prompt,
            tools=tools,
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


def _tell(task: Task, config: EpisodeConfig) -> tuple[Message, Message]:
    return build_prompt(
        task,
        target=config.target,
        limits=config.limits,
        form=config.prompt,
        precision=load_policy(config.judge).precision,
    )


def _open_environment(task: Task, host: Host) -> Environment:
    verdicts = host.config.verdicts
    kind = partial(RememberingEnvironment, verdicts=Verdicts(verdicts)) if verdicts else Environment
    return kind(
        task,
        target=host.config.target,
        sandbox=host.sandbox,
        policy=load_policy(host.config.judge),
        folder=host.run.path,
        admission=host.admission,
    )


def _converse(
    environment: Environment, record: EpisodeRecord, *, prompt: tuple[Message, ...], host: Host
) -> tuple[Stop, tuple[ToolSchema, ...]]:
    """Run the loop, and end every command; a policy that fails, or has spent its budget, is one more."""
    limits = host.config.limits
    is_single = host.config.prompt is PromptForm.SINGLE
    if is_single:
        limits = limits.model_copy(update={"turns": 1})
    outputs = Outputs(environment.workspace.root, shown_characters=limits.shown_characters)
    around = Surroundings(
        limits=limits, keep=outputs.keep, on_turn=record.add, interruption=host.interruption
    )
    captured = CapturedChat(PatientChat(host.chat, retries=limits.retries))
    budgeted = BudgetedChat(captured, host.config.budget)
    with Commands(host.sandbox, environment.company) as commands:
        tools = build_tools(environment, commands, outputs=outputs, limits=limits)
        if is_single:
            tools = {EDIT: tools[EDIT]}
        try:
            stop = run_loop(budgeted, tools, prompt=prompt, around=around)
        except BudgetError as error:
            stop = Stop(StopReason.BUDGET, str(error))
        except PolicyError as error:
            stop = Stop(StopReason.POLICY_ERROR, str(error))
    return stop, tuple(tool.schema for tool in tools.values())


def build_tools(
    environment: Environment, commands: Commands, *, outputs: Outputs, limits: EpisodeLimits
) -> dict[str, Tool]:
    """The three tools, by name, acting in an environment's workspace."""
    shell = dataclasses.replace(environment.shell, limits=Limits(wall_s=limits.command_s))
    tools: list[Tool] = [
        BashTool(commands, shell, outputs),
        EditTool(environment.workspace, shown_characters=limits.shown_characters),
        SearchTool(commands, shell, outputs),
    ]
    return {tool.schema.name: tool for tool in tools}
