"""The record of one episode."""

from enum import StrEnum

from cuda_agent.config import Record
from cuda_agent.environment.result import Evaluation
from cuda_agent.llm.chat import Message, Reply, ToolSchema
from cuda_agent.tasks.target import Target

SCHEMA_VERSION = 2
"""Which version of the record this package writes; 1 had one episode a task."""


class StopReason(StrEnum):
    """Why an episode ended."""

    FINISHED = "finished"
    """The agent answered without calling a tool."""
    MAX_TURNS = "max_turns"
    """The turn limit."""
    MAX_TOKENS = "max_tokens"
    """The token limit of the whole episode."""
    INVALID_CALLS = "invalid_calls"
    """Too many calls in a row of unknown tools or with unusable arguments."""
    STUCK = "stuck"
    """The same action again and again, or no file changed for many turns."""
    WALL_CLOCK = "wall_clock"
    """The time limit of the whole episode."""
    BUDGET = "budget"
    """What the episode may spend on its model, in tokens or money."""
    POLICY_ERROR = "policy_error"
    """The model could not answer, after retries."""


class Turn(Record):
    """One reply of the model and what its tool calls brought."""

    reply: Reply
    """What the model answered."""
    observations: tuple[Message, ...]
    """One tool message for each call, in order; one user message when a reply could not be acted on."""
    seconds_model: float
    """Wall-clock seconds the model took."""
    seconds_tools: float
    """Wall-clock seconds the tools took."""
    elided: int = 0
    """How many older tool messages the model read as a note only, from this reply on, to save room."""


class SubmissionRecord(Record):
    """One judged submission of an episode."""

    turn: int
    """0-based turn in which it was submitted."""
    sha: str
    """Content hash; its files are in the run folder under `submissions/<sha>`."""
    evaluation: Evaluation
    """What the judge found."""
    reward: float
    """Its reward."""


class Trajectory(Record):
    """The record of one episode; one line of `trajectories.jsonl`."""

    schema_version: int = SCHEMA_VERSION
    """Raised when a field changes meaning."""
    task_id: str
    """The task's readable id."""
    episode: int = 0
    """Which of the task's episodes in this run, from 0."""
    target: Target
    """Where its kernels ran."""
    policy: str
    """The model's name."""
    prompt: tuple[Message, ...]
    """System and user messages before the first turn."""
    tools: tuple[ToolSchema, ...]
    """The tools as shown to the model."""
    turns: tuple[Turn, ...]
    """What happened."""
    stop_reason: StopReason
    """Why it ended."""
    stop_detail: str = ""
    """What went wrong, when something did."""
    submissions: tuple[SubmissionRecord, ...] = ()
    """Every judged submission, in order."""
    final: Evaluation | None = None
    """The evaluation that counts, with seeds the agent never met; None when nothing was submitted."""
    reward: float = -1.0
    """The episode's reward."""
    seconds: float = 0.0
    """Wall-clock seconds of the whole episode."""
