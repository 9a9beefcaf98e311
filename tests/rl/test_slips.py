"""A slip changes what it names, in one reply of its own, and leaves the expert's episode as it was."""

import pytest

from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.llm.chat import Message, Role, ToolCall
from cuda_agent.rl.slips import SLIPS, add_slips
from tests.rl.toy import build_trajectory, build_turn

MODEL = """class ModelNew(nn.Module):
    def forward(self, x):
        out0 = torch.empty([64, 32], dtype=torch.float32, device=x.device)
        kernels.fused(x.contiguous(), out0)
        return out0
"""
KERNELS = """#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (int64_t start = 0; start < 2097152; start += 8192)
"""
SLIPPED = (
    KERNELS.replace("omp parallel", "omp parallel num_threads(1)"),
    KERNELS.replace("start += 8192", "start += 16384"),
    MODEL.replace("return out0", "return torch.abs(out0)"),
)


def build_episode(**files: str) -> Trajectory:
    """An episode of two turns, whose first creates the files."""
    paths = {"model": "model_new.py", "kernels": "kernels/fused.cpp"}
    calls = tuple(
        ToolCall(
            id=f"call-0-{name}",
            name="edit",
            arguments={"command": "create", "path": paths[name], "file_text": text},
        )
        for name, text in files.items()
    )
    turn = build_turn((5,), (6,), logprobs=(-1.0,))
    reply = turn.reply.model_copy(
        update={"message": Message(role=Role.ASSISTANT, content="", tool_calls=calls)}
    )
    return build_trajectory(turn.model_copy(update={"reply": reply}), turn)


def read_files(trajectory: Trajectory) -> list[str]:
    calls = trajectory.turns[0].reply.message.tool_calls
    return [str((call.arguments or {})["file_text"]) for call in calls]


def test_every_slip_is_shown_once_and_alone() -> None:
    whole = build_episode(model=MODEL, kernels=KERNELS)
    own, *slipped = add_slips(whole)
    assert own is whole
    assert len(SLIPS) == len(slipped)
    for text, trajectory in zip(SLIPPED, slipped, strict=True):
        assert set(read_files(trajectory)) - {MODEL, KERNELS} == {text}
        assert len(trajectory.turns) == 1  # what the tools would have said is not known
        assert trajectory.turns[0].observations == ()


@pytest.mark.parametrize("text", ["for (r0 = 0; r0 < 4; ++r0)\n", KERNELS.replace("8192", "819")])
def test_a_slip_that_does_not_fit_is_not_shown(text: str) -> None:
    text = text.replace("#pragma omp parallel\n", "")
    assert len(list(add_slips(build_episode(kernels=text)))) == 1
    assert len(list(add_slips(build_episode(kernels=text, model=MODEL)))) == 2
