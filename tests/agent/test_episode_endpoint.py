"""Whole episodes over HTTP: a server that follows a script, with the faults that real ones have."""

from pathlib import Path

import pytest

from cuda_agent.agent.budget import Budget
from cuda_agent.agent.episode import EpisodeConfig, Host, run_episode
from cuda_agent.agent.interruption import Interruption
from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.policy import build_policy
from cuda_agent.agent.trajectory import StopReason, Trajectory
from cuda_agent.environment.admission import Admission
from cuda_agent.expert.chat import ExpertChat
from cuda_agent.llm.endpoint import EndpointConfig, Prices, ToolCallForm
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.kernelbench import load_task
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from tests.chat_server import Answer, ChatServer, Heard, answer_as, read_messages, say

KEY = "sk-marked-0123456789abcdef"
KEY_ENV = "MARKED_ENDPOINT_KEY"


def hold(task: Task, folder: Path, *, address: str, sandbox: Sandbox, **fields: object) -> Trajectory:
    """One episode through a server; the fields are the endpoint's, or `budget`, `limits`, `model`."""
    budget = fields.pop("budget", Budget())
    limits = fields.pop("limits", EpisodeLimits(turns=30))
    model = fields.pop("model", "script")
    endpoint = EndpointConfig.model_validate(
        {"base_url": address, "api_key_env": KEY_ENV, "prices": Prices(prompt=3.0, completion=15.0)} | fields
    )
    config = EpisodeConfig.model_validate(
        {
            "target": Target.CPU,
            "policy": f"openai:{model}",
            "endpoint": endpoint,
            "budget": budget,
            "limits": limits,
        }
    )
    chat = build_policy(
        config.policy, target=config.target, sandbox=sandbox, endpoint=endpoint, local=config.local
    )
    with RunDir.create(folder, config) as run:
        host = Host(
            chat=chat,
            config=config,
            sandbox=sandbox,
            run=run,
            interruption=Interruption(),
            admission=Admission(1),
        )
        return run_episode(task, host=host, on_turn=lambda _: None)


@pytest.fixture(autouse=True)
def marked_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that must not turn up."""
    monkeypatch.setenv(KEY_ENV, KEY)


def find_key(folder: Path) -> list[Path]:
    """The files below a folder that hold the key."""
    return [path for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_faults_and_bad_calls_end_no_episode(tmp_path: Path, tiny_task: Task, sandbox: Sandbox) -> None:
    answers = (
        Answer(429, "later", {"retry-after": "0.1"}),
        say("", calls=[("bash", '{"command": "ls"')]),
        Answer(drops=True),
        say("", calls=[("python", {"code": "1"}), ("bash", {"command": "env; ls"})]),
        Answer(500, f"your key is {KEY}"),
        say("Enough."),
    )
    with ChatServer(*answers) as server:
        trajectory = hold(tiny_task, tmp_path / "run", address=server.address, sandbox=sandbox)
    assert trajectory.stop_reason is StopReason.FINISHED
    assert trajectory.policy == "openai:script"
    seen = [[message.content for message in turn.observations] for turn in trajectory.turns]
    assert seen[0] == ["error: the arguments of bash are not a JSON object; write them again"]
    assert seen[1][0].startswith("error: there is no tool 'python'; the tools are bash, edit, search")
    assert "SKILL.md" in seen[1][1]
    assert KEY not in seen[1][1]
    assert KEY_ENV not in seen[1][1]
    assert [turn.reply.usage.cost for turn in trajectory.turns] == [pytest.approx(0.00045)] * 3
    assert len(server.heard) == 6
    assert all(heard.headers["authorization"] == f"Bearer {KEY}" for heard in server.heard)
    assert find_key(tmp_path) == []


def test_an_endpoint_that_refuses_the_key_ends_it_without_telling(
    tmp_path: Path, tiny_task: Task, sandbox: Sandbox
) -> None:
    with ChatServer(Answer(401, f"Incorrect API key provided: {KEY}")) as server:
        trajectory = hold(tiny_task, tmp_path / "run", address=server.address, sandbox=sandbox)
    assert trajectory.stop_reason is StopReason.POLICY_ERROR
    assert "answered with status 401: Incorrect API key provided: [key]" in trajectory.stop_detail
    assert find_key(tmp_path) == []


@pytest.mark.parametrize(
    ("budget", "turns"), [(Budget(max_cost=0.001), 3), (Budget(max_tokens_total=220), 2)]
)
def test_a_spent_budget_is_a_stop_reason_of_its_own(
    tmp_path: Path, tiny_task: Task, sandbox: Sandbox, budget: Budget, turns: int
) -> None:
    answers = (say("", calls=[("bash", {"command": f"echo {turn}"})]) for turn in range(5))
    with ChatServer(*answers) as server:
        trajectory = hold(tiny_task, tmp_path / "run", address=server.address, sandbox=sandbox, budget=budget)
    assert trajectory.stop_reason is StopReason.BUDGET
    assert "--max-" in trajectory.stop_detail
    assert len(trajectory.turns) == len(server.heard) == turns


def test_a_model_without_tool_calls_acts_in_text(tmp_path: Path, tiny_task: Task, sandbox: Sandbox) -> None:
    answers = (
        say('I write.\n<tool_call name="bash">\n<command>echo "a<b"</command>\n</tool_call>'),
        say('<tool_call name="bash">echo</tool_call>'),
        say("Done."),
    )
    with ChatServer(*answers) as server:
        trajectory = hold(
            tiny_task, tmp_path / "run", address=server.address, sandbox=sandbox, tool_calls=ToolCallForm.TEXT
        )
    assert trajectory.stop_reason is StopReason.FINISHED
    assert trajectory.turns[0].observations[0].content == "a<b"
    assert trajectory.turns[1].observations[0].content.startswith("error: ")
    assert all("tools" not in heard.body for heard in server.heard)
    last = server.heard[2].body["messages"][-1]
    assert last["role"] == "user"
    assert "The call could not be read." in last["content"]


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.timeout(900)
def test_a_server_with_every_fault_drives_an_episode_to_reward_3(
    tmp_path: Path, repository: Path, sandbox: Sandbox
) -> None:
    """The kernels are the expert's, who sits behind the server and hears what it was sent."""
    expert = ExpertChat(sandbox=sandbox, target=Target.CPU, tries=1)
    faults = [
        Answer(429, "later", {"retry-after": "1"}),
        say("", calls=[("edit", '{"command": "create", "path": "model_new.py", "file_text": "import')]),
        Answer(drops=True),
        say("", calls=[("compile", {"target": "cpu"})]),
        Answer(503, "restarting"),
    ]

    def answer(heard: Heard) -> Answer:
        return faults.pop(0) if faults else answer_as(expert.reply(read_messages(heard), ()))

    task = load_task(repository / "examples" / "bias_gelu_scale.py")
    with ChatServer(script=answer) as server:
        trajectory = hold(task, tmp_path / "run", address=server.address, sandbox=sandbox)
    observed = [message.content for turn in trajectory.turns for message in turn.observations]
    assert trajectory.reward == 3.0, observed
    assert trajectory.stop_reason is StopReason.FINISHED
    assert "are not a JSON object" in observed[0]
    assert "there is no tool 'compile'" in observed[1]
    assert len(server.heard) == len(trajectory.turns) + 3
    assert find_key(tmp_path) == []
