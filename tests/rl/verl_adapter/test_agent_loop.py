"""Our episode under verl's own instantiation, with a scripted server, to a judged reward."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.environment.evaluator import SERVED
from cuda_agent.llm.chat import ToolCall
from cuda_agent.llm.scripted import load_scripted_chat
from cuda_agent.llm.text_form import render_call
from cuda_agent.rl.scale import load_scale
from cuda_agent.rl.verl_adapter.overrides import Places, build_ppo_overrides
from cuda_agent.rl.verl_adapter.task_rows import write_task_rows
from cuda_agent.rundir import read_records
from cuda_agent.tasks.dataset import Row
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from tests.rl.verl_adapter.test_overrides import compose
from tests.rl.verl_adapter.tiny import write_tiny_policy

pytestmark = [pytest.mark.verl, pytest.mark.slow, pytest.mark.timeout(900)]
PATHS = os.pathsep.join(str(Path(__file__).parents[3] / part) for part in (".", "src"))
SCRIPT = Path(__file__).parents[2] / "tiny.toml"


class ScriptedServer:
    """What verl's agent loop talks to: says a script's replies, and fails once in between."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401
        self.tokenizer = tokenizer
        self.prompts: list[list[int]] = []
        self.replies: list[list[int]] = []
        self.requests: set[str] = set()
        recording = load_scripted_chat(SCRIPT)._recordings[0]
        self._said = [
            self._render(reply.message.content, reply.message.tool_calls) for reply in recording.replies
        ]
        self._has_failed = False

    def _render(self, text: str, calls: tuple[ToolCall, ...]) -> list[int]:
        said = "\n".join([text, *map(render_call, calls)])
        return [*self.tokenizer.encode(said, add_special_tokens=False), self.tokenizer.eos_token_id]

    async def generate(
        self, request_id: str, *, prompt_ids: list[int], sampling_params: dict[str, Any]
    ) -> Any:  # noqa: ANN401
        from verl.workers.rollout.replica import TokenOutput

        if len(self.prompts) == 1 and not self._has_failed:
            self._has_failed = True
            raise ConnectionError("the server restarts")
        assert sampling_params["logprobs"] is True
        self.requests.add(request_id)
        self.prompts.append(prompt_ids)
        ids = (
            self._said[len(self.replies)]
            if len(self.replies) < len(self._said)
            else self._render("Done.", ())
        )
        assert len(ids) <= sampling_params["max_tokens"]
        self.replies.append(ids)
        return TokenOutput(token_ids=ids, log_probs=[-0.5] * len(ids))


@pytest.fixture(params=["", "ray:benches"], ids=["here", "pool"])
def pool(request: pytest.FixtureRequest) -> Iterator[str]:
    """Who judges: this machine, or a named pool in the cluster that the trainer is in."""
    place: str = request.param
    if not place:
        yield place
        return
    import ray

    from cuda_agent.workers.ray_pool import PoolSize, start_ray_pool

    runtime = {"env_vars": {"PYTHONPATH": PATHS}}
    ray.init(num_cpus=2, resources={"eval_gpu": 1}, include_dashboard=False, runtime_env=runtime)
    size = PoolSize(devices=1, host_workers=1, device_resource="eval_gpu")
    with start_ray_pool("benches", SERVED, size=size):
        yield place
    ray.shutdown()


@pytest.fixture
def settings(tmp_path: Path, tiny_task: Task, pool: str) -> Any:  # noqa: ANN401
    """verl's whole configuration for one tiny task on the cpu target."""
    row = Row(ops=("relu", "mul"), data_source="torch#2", code=tiny_task.source, id="tiny", split="train")
    tasks = tmp_path / "tasks.parquet"
    write_task_rows(tasks, [row], target=Target.CPU, limits=EpisodeLimits(turns=15))
    loop = tmp_path / "agent_loop.yaml"
    loop.write_text(
        "- name: cuda_agent\n  _target_: cuda_agent.rl.verl_adapter.agent_loop.CudaAgentLoop\n"
        f"  target: cpu\n  out: {tmp_path / 'rollouts'}\n  pool: '{pool}'\n"
    )
    policy = write_tiny_policy(tmp_path)
    places = Places(model=str(policy), train=tasks, out=tmp_path / "out", agent_loop=loop)
    config = load_scale("two_gpus")
    episode = {**config.episode.model_dump(), "prompt_tokens": 16384, "response_tokens": 24576}
    layout = {**config.layout.model_dump(), "tokens_per_gpu": 40960}
    return compose("ppo_trainer", build_ppo_overrides(config.replace(episode=episode, layout=layout), places))


def test_an_episode_ends_with_the_judges_reward(settings: Any, tmp_path: Path) -> None:  # noqa: ANN401
    from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
    from verl.protocol import DataProto
    from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn
    from verl.utils.tokenizer import hf_tokenizer

    tokenizer = hf_tokenizer(settings.actor_rollout_ref.model.path)
    rows = RLHFDataset(data_files=settings.data.train_files, tokenizer=tokenizer, config=settings.data)
    batch = DataProto.from_single_dict(collate_fn([rows[0]]))
    server = ScriptedServer(tokenizer)

    async def hold() -> Any:  # noqa: ANN401
        return await AgentLoopWorker(settings, server).generate_sequences(batch)

    output = asyncio.run(hold())
    (mask,), (scores,) = output.batch["response_mask"].tolist(), output.batch["rm_scores"].tolist()
    (responses,), (logprobs,) = output.batch["responses"].tolist(), output.batch["rollout_log_probs"].tolist()
    generated = [token for token, sampled in zip(responses, mask, strict=True) if sampled]
    assert generated == [token for reply in server.replies for token in reply]  # as they were sampled
    assert {logprob for logprob, sampled in zip(logprobs, mask, strict=True) if sampled} == {-0.5}
    last = max(place for place, sampled in enumerate(mask) if sampled)
    assert scores[last] >= 1.0  # verified, and not only built
    assert sum(scores) == scores[last]  # on the last generated token, and nowhere else
    assert 0 in mask[:last]  # what tools said is not trained on
    for before, prompt, reply in zip(server.prompts, server.prompts[1:], server.replies, strict=False):
        assert prompt[: len(before) + len(reply)] == before + reply  # nothing was tokenised anew
    assert len(server.requests) == 1  # the failure on the way did not begin another episode
    assert output.non_tensor_batch["stop_reason"].tolist() == ["finished"]
    (record,) = (tmp_path / "rollouts").glob("tiny-*/trajectories.jsonl")
    (trajectory,) = read_records(record, Trajectory)
    assert trajectory.reward == scores[last]
    # What the episode spent, shown with -s: most of it waits for the judge.
    tools = ", ".join(f"{turn.seconds_tools:.1f}" for turn in trajectory.turns)
    judged = trajectory.final.seconds if trajectory.final else {}
    print(f"in all {trajectory.seconds:.1f} s; each turn's tools {tools} s; judged in {judged}")
