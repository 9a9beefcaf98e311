"""Is an agent stuck: does it repeat itself, or only look on without changing anything?

A pure function over messages, so that whoever filters finished trajectories applies the loop's own rule.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pydantic import JsonValue

from cuda_agent.llm.chat import Message, Role, ToolCall

CYCLE_TURNS = 3
"""The longest cycle of different turns whose repetition is noticed."""

ERROR = "error: "
"""How a tool's answer begins when it changed nothing."""

LOOKING = re.compile(
    r"awk|cat|cd|cmp|cuda-agent|cuobjdump|cut|date|diff|du|echo|e?grep|exit|false|fgrep|file|find|free|head|"
    r"hexdump|less|ls|lscpu|md5sum|nl|nm|nproc|nvidia-smi|objdump|od|printf|pwd|readelf|rg|sed|set|sleep|sort|"
    r"stat|strings|tail|test|tr|tree|true|uname|uniq|wait|wc|which"
)
"""Programs that change no file, but for what `CHANGING` finds."""

CHANGING = re.compile(
    r">(?!\s*/dev/null\b|&)|\bsed\s+(?:\S+\s+)*-i|\s--in-place\b|\s-(?:delete|exec|execdir|ok)\b|\$\(|`"
)
"""What makes a command of looking programs one that may change files."""

NEXT_COMMAND = re.compile(r"&&|\|\||[;|&\n]")
REDIRECTION = re.compile(r"\d?>\s*/dev/null\b|\d?>&\d|&>\s*/dev/null\b")
ASSIGNMENT = re.compile(r"\w+=\S*")

_Action = tuple[str, dict[str, JsonValue] | None, str]


def find_stuck(messages: Sequence[Message], *, repeated_turns: int, idle_turns: int) -> str:
    """Why the agent was stuck at some point of a conversation; empty when it never was.

    It is when it asks for exactly the same `repeated_turns` times in a row (one turn, or a cycle of up to
    three), or when in `idle_turns` turns in a row it changes no file.
    """
    actions: list[tuple[_Action, ...]] = []
    idle = 0
    for calls, answers in _split_turns(messages):
        # Waiting for a background command is no repetition, however often it is asked after.
        if not calls or not all(map(_only_waits, calls)):
            actions.append(tuple(map(_identify, calls)))
        failed = {answer.tool_call_id for answer in answers if answer.content.startswith(ERROR)}
        changes = any(may_change(call) for call in calls if call.id not in failed)
        idle = 0 if changes else idle + 1
        if cycle := _find_cycle(actions, repeated_turns):
            what = "the same action" if cycle == 1 else f"the same {cycle} actions"
            return f"{what} {repeated_turns} times in a row"
        if idle >= idle_turns:
            return f"no file changed in {idle} turns in a row"
    return ""


def may_change(call: ToolCall) -> bool:
    """Whether a tool call may change a file; in doubt it may."""
    arguments = call.arguments or {}
    command = arguments.get("command")
    if call.name == "edit":
        return command != "view"
    if call.name == "bash":
        return isinstance(command, str) and not _only_looks(command)
    return False


def _only_waits(call: ToolCall) -> bool:
    return call.name == "bash" and (call.arguments or {}).get("job") is not None


def _only_looks(command: str) -> bool:
    if CHANGING.search(command):
        return False
    parts = NEXT_COMMAND.split(REDIRECTION.sub(" ", command))
    words = ([word for word in part.split() if not ASSIGNMENT.fullmatch(word)] for part in parts)
    return all(LOOKING.fullmatch(found[0].rpartition("/")[2]) for found in words if found)


def _find_cycle(actions: Sequence[tuple[_Action, ...]], repeated_turns: int) -> int:
    """How long the cycle is with which the actions end so many times; 0 when they do not."""
    for length in range(1, CYCLE_TURNS + 1):
        last = actions[-length * repeated_turns :]
        if len(last) == length * repeated_turns and list(last) == list(last[-length:]) * repeated_turns:
            return length
    return 0


def _identify(call: ToolCall) -> _Action:
    return call.name, call.arguments, call.raw_arguments


def _split_turns(messages: Sequence[Message]) -> Iterator[tuple[tuple[ToolCall, ...], list[Message]]]:
    """What each turn asked for, with the answers."""
    starts = [place for place, message in enumerate(messages) if message.role is Role.ASSISTANT]
    for start, end in pairwise([*starts, len(messages)]):
        yield messages[start].tool_calls, list(messages[start + 1 : end])
