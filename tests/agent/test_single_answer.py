import pytest

from cuda_agent.agent.single_answer import is_single_answer
from cuda_agent.agent.trajectory import Turn
from cuda_agent.llm.chat import FinishReason, Message, Reply, Role, ToolCall


def create(path: str, **more: str) -> ToolCall:
    arguments = {"command": "create", "path": path, "file_text": "x"} | more
    return ToolCall(id=path, name="edit", arguments=dict(arguments))


MODEL, KERNEL = create("model_new.py"), create("kernels/fused.cpp")


def answer(*calls: ToolCall, seen: str = "wrote it", reason: FinishReason = FinishReason.STOP) -> list[Turn]:
    message = Message(role=Role.ASSISTANT, content="", tool_calls=calls)
    observations = tuple(Message(role=Role.TOOL, content=seen, tool_call_id=call.id) for call in calls)
    reply = Reply(message=message, finish_reason=reason)
    return [Turn(reply=reply, observations=observations, seconds_model=0.0, seconds_tools=0.0)]


def test_files_alone_are_an_answer() -> None:
    assert is_single_answer(answer(MODEL, KERNEL))
    assert is_single_answer(answer(KERNEL, create("kernels/more.h"), MODEL))


@pytest.mark.parametrize(
    "turns",
    [
        [],
        answer(),
        answer(MODEL),
        answer(KERNEL, create("kernels/more.h")),
        answer(MODEL, KERNEL, KERNEL),
        answer(MODEL, KERNEL, create("notes.txt")),
        answer(MODEL, KERNEL, create("../kernels/x.cpp")),
        answer(MODEL, KERNEL, create("kernels/x.cpp", command="view")),
        answer(MODEL, KERNEL, create("kernels/x.cpp", old_str="y")),
        answer(MODEL, KERNEL, ToolCall(id="b", name="bash", arguments={"command": "cuda-agent submit"})),
        answer(MODEL, KERNEL, ToolCall(id="e", name="edit", arguments=None, raw_arguments="<tool_call")),
        answer(MODEL, KERNEL, seen="error: read-only"),
        answer(MODEL, KERNEL, reason=FinishReason.LENGTH),
        answer(MODEL, KERNEL) * 2,
    ],
)
def test_anything_else_is_none(turns: list[Turn]) -> None:
    assert not is_single_answer(turns)
