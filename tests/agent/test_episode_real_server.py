"""Whole episodes through a server that is not ours: `transformers serve`, with a real network behind it."""

import importlib.util
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.prompt import build_prompt
from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.trajectory import StopReason, Trajectory
from cuda_agent.llm.chat import Message, Role, ToolCall
from cuda_agent.llm.endpoint import Sampling, ToolCallForm
from cuda_agent.llm.text_tools import render_messages
from cuda_agent.llm.wire import build_messages
from cuda_agent.rundir import read_records
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from tests.agent.test_episode_endpoint import hold

NEEDED = ("requests", "transformers", "accelerate", "fastapi", "uvicorn")
CHECKPOINT = "CUDA_AGENT_TEST_CHECKPOINT"
START_S = 300.0
REPLY_TOKENS = 100

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, NEEDED)),
        reason="needs transformers serve: pip install 'transformers[serving]'",
    ),
]


@contextmanager
def serve(folder: Path, log: Path) -> Iterator[str]:
    """The address of a server of a checkpoint; gone with its processes afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = ["--host", "127.0.0.1", "--port", str(port)]
    command = ["transformers", "serve", str(folder), "--device", "cpu", *place]
    with log.open("wb") as said, subprocess.Popen(command, stdout=said, stderr=said) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/health", server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    """Return when a server answers."""
    end_s = time.monotonic() + START_S
    while time.monotonic() < end_s and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5.0):
                return
        except (OSError, urllib.error.URLError):
            time.sleep(0.5)
    raise AssertionError(f"no server came up within {START_S:g} s, or it ended ({server.poll()})")


def teach_an_episode(task: Task, folder: Path) -> Path:
    """A checkpoint that calls bash once, in either form of call, and is content with what it then sees."""
    from tests.llm.tiny_llama import build_tokenizer, write_call
    from tests.llm.tiny_qwen import save_taught

    tokenizer = build_tokenizer()

    def render(messages: tuple[Message, ...]) -> str:
        text = tokenizer.apply_chat_template(
            read_as_server(messages), tokenize=False, add_generation_prompt=True
        )
        assert isinstance(text, str)
        return text

    prompt = build_prompt(task, target=Target.CPU, limits=EpisodeLimits())
    call = ToolCall(id="c", name="bash", arguments={"command": "echo seen"})
    said = Message(role=Role.ASSISTANT, content="", tool_calls=(call,))
    seen = Message(role=Role.TOOL, content="seen", tool_call_id="c")
    native, text = (*prompt, said, seen), render_messages((*prompt, said, seen), ())
    lessons = [(render(prompt), write_call("bash", {"command": "echo seen"}))]
    return save_taught(folder, [*lessons, (render(native), "Done."), (render(text), "Done.")])


def read_as_server(messages: tuple[Message, ...]) -> list[dict[str, object]]:
    """Messages with the arguments of calls as objects, which is how the server gives them to the template."""
    built = build_messages(messages)
    for message, original in zip(built, messages, strict=True):
        for call, written in zip(message.get("tool_calls", ()), original.tool_calls, strict=True):
            call["function"]["arguments"] = written.arguments
    return built


@dataclass(frozen=True)
class Served:
    """A server that is up, and what it serves."""

    address: str
    """What --base-url is given."""
    model: str
    """How it calls its model."""


@dataclass(frozen=True)
class End:
    """A limit, and the end that it makes."""

    reason: StopReason
    """The episode's."""
    turns: int
    """How many there are by then."""
    limits: EpisodeLimits
    """Those of the episode."""
    max_tokens: int = REPLY_TOKENS
    """The cap of a reply."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, tiny_task: Task) -> Iterator[Served]:
    taught = teach_an_episode(tiny_task, tmp_path_factory.mktemp("taught"))
    with serve(taught, tmp_path_factory.mktemp("served") / "log") as address:
        yield Served(address, str(taught))


@pytest.mark.parametrize("form", ToolCallForm)
def test_calls_in_either_form_are_carried_out_and_the_end_is_the_models(
    tmp_path: Path, tiny_task: Task, sandbox: Sandbox, served: Served, form: ToolCallForm
) -> None:
    sampling = Sampling(temperature=0.0, max_tokens=REPLY_TOKENS)
    trajectory = hold(
        tiny_task, tmp_path / "run", address=served.address, sandbox=sandbox,
        model=served.model, api_key_env=None, tool_calls=form, sampling=sampling,
    )  # fmt: skip
    first, last = trajectory.turns
    (call,) = first.reply.message.tool_calls
    assert (call.name, call.arguments) == ("bash", {"command": "echo seen"})
    assert [message.content for message in first.observations] == ["seen"]
    assert last.reply.message.content == "Done."
    assert trajectory.stop_reason is StopReason.FINISHED
    check_counts(trajectory, tmp_path / "run")
    assert last.reply.usage.prompt_tokens > first.reply.usage.prompt_tokens


@pytest.mark.parametrize(
    "end",
    [
        End(StopReason.MAX_TURNS, turns=1, limits=EpisodeLimits(turns=1)),
        End(StopReason.INVALID_CALLS, turns=2, limits=EpisodeLimits(invalid_turns=2), max_tokens=5),
        End(StopReason.MAX_TOKENS, turns=0, limits=EpisodeLimits(total_tokens=2000)),
        End(StopReason.WALL_CLOCK, turns=0, limits=EpisodeLimits(episode_s=0.001)),
    ],
    ids=lambda end: end.reason.value,
)
def test_limits_end_episodes_with_their_reasons(
    tmp_path: Path, tiny_task: Task, sandbox: Sandbox, served: Served, end: End
) -> None:
    trajectory = hold(
        tiny_task, tmp_path / "run", address=served.address, sandbox=sandbox, model=served.model,
        api_key_env=None, limits=end.limits, sampling=Sampling(temperature=0.0, max_tokens=end.max_tokens),
    )  # fmt: skip
    assert trajectory.stop_reason is end.reason
    assert len(trajectory.turns) == end.turns
    check_counts(trajectory, tmp_path / "run")


@pytest.mark.parametrize("form", ToolCallForm)
def test_a_language_model_that_people_use_runs_to_a_limit(
    tmp_path: Path, tiny_task: Task, sandbox: Sandbox, form: ToolCallForm
) -> None:
    """It writes no kernels; what it writes is counted, capped, answered and recorded."""
    folder = os.environ.get(CHECKPOINT)
    if folder is None or folder.endswith(".gguf"):
        pytest.skip(f"needs {CHECKPOINT}: a folder, such as of SmolLM2-135M-Instruct")
    with serve(Path(folder), tmp_path / "log") as address:
        trajectory = hold(
            tiny_task, tmp_path / "run", address=address, sandbox=sandbox, model=folder, api_key_env=None,
            tool_calls=form, limits=EpisodeLimits(turns=2), sampling=Sampling(max_tokens=24, seed=1),
        )  # fmt: skip
    assert trajectory.stop_reason in (StopReason.MAX_TURNS, StopReason.FINISHED)
    assert all(0 < turn.reply.usage.completion_tokens <= 24 for turn in trajectory.turns)
    check_counts(trajectory, tmp_path / "run")


def check_counts(trajectory: Trajectory, folder: Path) -> None:
    """What the server counted has its price, and the episode is on record as it was returned."""
    for turn in trajectory.turns:
        usage = turn.reply.usage
        assert usage.prompt_tokens > 100
        assert usage.cost == pytest.approx((usage.prompt_tokens * 3.0 + usage.completion_tokens * 15.0) / 1e6)
    assert read_records(folder / TRAJECTORIES, Trajectory) == (trajectory,)
