"""Rejection fine-tuning: of the policy's own episodes only the good ones are learnt from.

What passes the filter is learnt by imitation's own step. Without it the paper's PPO collapses: reward climbs
until step 16 and is gone at step 19.
"""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from cuda_agent.agent.stuck import find_stuck
from cuda_agent.agent.tools.bash import BashArguments
from cuda_agent.agent.tools.edit import EditArguments
from cuda_agent.agent.tools.search import SearchArguments
from cuda_agent.agent.tools.tool import InvalidCallError, parse_arguments
from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.config import Record
from cuda_agent.errors import UserError
from cuda_agent.llm.chat import FinishReason, Message, ToolCall
from cuda_agent.rl.batch import TokenSequence, build_sequence
from cuda_agent.rl.config import RftConfig

ARGUMENTS: dict[str, type[Record]] = {
    "bash": BashArguments,
    "edit": EditArguments,
    "search": SearchArguments,
}


class Rejection(StrEnum):
    """Why a trajectory is not learnt from; the first that fits counts."""

    REWARD = "reward"
    """Its reward is not above 0."""
    CUT = "cut"
    """A reply was cut by its length, so that it was never acted on."""
    INVENTED = "invented"
    """A call of a tool that there is not."""
    MALFORMED = "malformed"
    """A call whose arguments do not fit the tool's schema."""
    STUCK = "stuck"
    """The same again and again, or no file changed for many turns."""
    BROKEN = "broken"
    """Its tokens are missing, or are not one sequence."""


class FilterRecord(Record):
    """What became of the trajectories; `filter.json` of a run."""

    kept: int
    """How many are learnt from."""
    rejected: dict[Rejection, int]
    """How many were left out, by reason."""


def filter_trajectories(
    trajectories: Sequence[Trajectory], config: RftConfig
) -> tuple[list[TokenSequence], FilterRecord]:
    """The token sequences to learn from, and a count of all that were not, by reason."""
    kept: list[TokenSequence] = []
    rejected: Counter[Rejection] = Counter()
    for trajectory in trajectories:
        reason = find_rejection(trajectory, config)
        if reason is None:
            kept.append(build_sequence(trajectory))
        else:
            rejected[reason] += 1
    return kept, FilterRecord(kept=len(kept), rejected=dict(sorted(rejected.items())))


def find_rejection(trajectory: Trajectory, config: RftConfig) -> Rejection | None:
    """Why a trajectory is left out; None for one to learn from."""
    if not trajectory.reward > 0:
        return Rejection.REWARD
    if any(turn.reply.finish_reason is FinishReason.LENGTH for turn in trajectory.turns):
        return Rejection.CUT
    calls = [call for turn in trajectory.turns for call in turn.reply.message.tool_calls]
    known = {tool.name for tool in trajectory.tools}
    if any(call.name not in known for call in calls):
        return Rejection.INVENTED
    if any(map(is_malformed, calls)):
        return Rejection.MALFORMED
    if find_stuck(
        _list_messages(trajectory), repeated_turns=config.repeated_turns, idle_turns=config.idle_turns
    ):
        return Rejection.STUCK
    try:
        is_trained = any(build_sequence(trajectory).is_generated)
    except UserError:
        return Rejection.BROKEN
    return None if is_trained else Rejection.BROKEN


def is_malformed(call: ToolCall) -> bool:
    """Whether a call's arguments are no object, or not what its tool takes."""
    if call.arguments is None:
        return True
    kind = ARGUMENTS.get(call.name)
    if kind is None:
        return False
    try:
        parse_arguments(kind, call.arguments)
    except InvalidCallError:
        return True
    return False


def _list_messages(trajectory: Trajectory) -> list[Message]:
    return [message for turn in trajectory.turns for message in (turn.reply.message, *turn.observations)]
