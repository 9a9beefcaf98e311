"""Trajectories of random tokens, and stages run as torchrun would, on processors."""

import os
import subprocess
import sys
from pathlib import Path

import torch

from cuda_agent.agent.trajectory import StopReason, Trajectory, Turn
from cuda_agent.llm.chat import Message, Reply, Role
from cuda_agent.rl.batch import TokenSequence
from cuda_agent.rl.scale import PRESETS
from cuda_agent.rl.verl_adapter.platform_cpu_environment import CPU_ENVIRONMENT
from cuda_agent.tasks.target import Target

ROOT = Path(__file__).parents[3]


def make_sequences(count: int, *, vocabulary: int) -> list[TokenSequence]:
    """Three turns with tool output between them, of different lengths, with rewards from -1 to 3."""
    generator = torch.Generator().manual_seed(3)

    def draw(length: int) -> list[int]:
        return torch.randint(6, vocabulary, (length,), generator=generator).tolist()

    sequences = []
    for number in range(count):
        parts = [(draw(5 + number), False), (draw(4), True), (draw(3 + number % 2), False), (draw(6), True)]
        ids = [token for part, _ in parts for token in part]
        is_generated = [sampled for part, sampled in parts for _ in part]
        logprobs = [-1.0 if sampled else 0.0 for sampled in is_generated]
        sequences.append(
            TokenSequence(tuple(ids), tuple(is_generated), tuple(logprobs), float((-1, 1, 2, 3)[number % 4]))
        )
    return sequences


def write_tiny_scale(folder: Path, *, nodes: int = 1, gpus: int = 1) -> Path:
    """A configuration for a tiny policy on processors; gives its file."""
    place = folder / "tiny.toml"
    preset = (PRESETS / "two_gpus.toml").read_text().replace("nodes = 1", f"nodes = {nodes}")
    preset = preset.replace("gpus_per_node = 1", f"gpus_per_node = {gpus}")
    preset = preset.replace("offload = true", 'offload = false\npacked = false\nprecision = "float32"')
    place.write_text(f"{preset}\n[rft]\nbatch = 4\nlr = 1e-3\n\n[value]\nbatch = 4\nlr = 1e-3\n")
    return place


def make_trajectories(count: int) -> list[Trajectory]:
    """Episodes of one reply of random tokens, with rewards from -1 to 3."""
    return [
        Trajectory(
            task_id=f"task-{number}",
            target=Target.CPU,
            policy="random",
            prompt=(),
            tools=(),
            turns=(make_turn(sequence),),
            stop_reason=StopReason.FINISHED,
            reward=sequence.reward,
        )
        for number, sequence in enumerate(make_sequences(count, vocabulary=200))
    ]


def make_turn(sequence: TokenSequence) -> Turn:
    """A reply to the sequence's first five tokens, which are all that was read."""
    reply = Reply(
        message=Message(role=Role.ASSISTANT, content=""),
        prompt_ids=sequence.ids[:5],
        completion_ids=sequence.ids[5:],
        completion_logprobs=(-1.0,) * len(sequence.ids[5:]),
    )
    return Turn(reply=reply, observations=(), seconds_model=1.0, seconds_tools=0.0)


def run_ranks(module: str, arguments: list[str], *, ranks: int) -> str:
    """Run a module in so many processes that train together; gives what they print."""
    command = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={ranks}", "--standalone"]
    command += ["-m", module, *arguments]
    env = {
        **os.environ,
        **CPU_ENVIRONMENT,
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "HYDRA_FULL_ERROR": "1",
    }
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
    return done.stdout
