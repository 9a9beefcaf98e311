"""One reply that is a whole submission: files and nothing else."""

from collections.abc import Sequence

from cuda_agent.agent.tools.edit import EditCommand
from cuda_agent.agent.trajectory import Turn
from cuda_agent.environment.submission import MODEL_FILE, may_be_handed_in
from cuda_agent.llm.chat import FinishReason, ToolCall

EDIT = "edit"


def is_single_answer(turns: Sequence[Turn]) -> bool:
    """Whether the only reply created `model_new.py` and at least one kernel's source, each once, no more."""
    if len(turns) != 1 or turns[0].reply.finish_reason is not FinishReason.STOP:
        return False
    paths = [_read_path(call) for call in turns[0].reply.message.tool_calls]
    is_written = all(seen.content.startswith("wrote ") for seen in turns[0].observations)
    is_each_once = len(set(paths)) == len(paths) >= 2
    return is_written and is_each_once and MODEL_FILE in paths and None not in paths


def _read_path(call: ToolCall) -> str | None:
    """The path that a call creates, if that is what it does and the file may be handed in."""
    arguments = call.arguments or {}
    path, text = arguments.get("path"), arguments.get("file_text")
    is_whole = call.name == EDIT and set(arguments) == {"command", "path", "file_text"}
    if not is_whole or arguments["command"] != EditCommand.CREATE.value or not isinstance(text, str):
        return None
    return path if isinstance(path, str) and may_be_handed_in(path) else None
