"""A world of a dozen tokens, in which all of training takes seconds: networks, episodes, a reward."""

from collections.abc import Sequence

import torch

from cuda_agent.agent.trajectory import StopReason, Trajectory, Turn
from cuda_agent.llm.chat import Message, Reply, Role
from cuda_agent.rl.batch import TokenSequence
from cuda_agent.rl.config import ScratchConfig
from cuda_agent.rl.policy import Policy, build_actor
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

VOCABULARY = 12
SIZES = ScratchConfig(layers=1, hidden=16, heads=2, intermediate=32, window_tokens=64)
TASKS = tuple(Task(name=f"toy{number}", source=f"# {number}\n") for number in range(2, 5))


def build_policy(seed: int = 0) -> Policy:
    return Policy(build_actor(SIZES, VOCABULARY, seed=seed))


def build_trajectory(*turns: Turn, reward: float = 1.0, task_id: str = "toy") -> Trajectory:
    return Trajectory(
        task_id=task_id, target=Target.CPU, policy="toy", prompt=(), tools=(), turns=turns,
        stop_reason=StopReason.FINISHED, reward=reward,
    )  # fmt: skip


def build_turn(prompt: Sequence[int], sampled: Sequence[int], *, logprobs: Sequence[float]) -> Turn:
    reply = Reply(
        message=Message(role=Role.ASSISTANT, content=""), prompt_ids=tuple(prompt),
        completion_ids=tuple(sampled), completion_logprobs=tuple(logprobs),
    )  # fmt: skip
    return Turn(reply=reply, observations=(), seconds_model=0.0, seconds_tools=0.0)


class ToyRollout:
    """Asks for one token again and again: the reward, from -1 to 1, is how often it was said.

    Each episode has some turns of four tokens, and between two of them an answer that says how it goes.
    """

    def __init__(self, turns: int = 2) -> None:
        self._turns = turns

    @torch.no_grad()
    def __call__(self, policy: Policy, tasks: Sequence[Task], *, seed: int) -> list[Trajectory]:
        random = torch.Generator().manual_seed(seed)
        wanted = torch.tensor([int(task.name.removeprefix("toy")) for task in tasks])
        ids = torch.stack([torch.zeros_like(wanted), wanted], dim=1)
        said = torch.zeros(len(tasks))
        turns: list[list[Turn]] = [[] for _ in tasks]
        for number in range(self._turns):
            prompts = ids
            if number:
                prompts = ids = torch.cat([ids, torch.stack([said.long() % 2 + 5, wanted], dim=1)], dim=1)
            logprobs = []
            for _ in range(4):
                predicted = policy.model(input_ids=ids).logits[:, -1].float().log_softmax(dim=-1)
                sampled = torch.multinomial(predicted.exp(), 1, generator=random)
                logprobs.append(predicted.gather(1, sampled))
                said += (sampled[:, 0] == wanted).float()
                ids = torch.cat([ids, sampled], dim=1)
            for row, chosen in enumerate(torch.cat(logprobs, dim=1)):
                read = prompts[row].tolist()
                sampled_ids = ids[row, len(read) :].tolist()
                turns[row].append(build_turn(read, sampled_ids, logprobs=chosen.tolist()))
        rewards = said / (2 * self._turns) - 1
        return [
            build_trajectory(*its, reward=float(reward), task_id=task.task_id)
            for its, reward, task in zip(turns, rewards, tasks, strict=True)
        ]


def build_sequences(count: int, *, seed: int = 0) -> list[TokenSequence]:
    """Sequences that a policy can learn: a token, an answer that is no generated one, and the token again."""
    random = torch.Generator().manual_seed(seed)
    wanted = torch.randint(2, 5, (count,), generator=random).tolist()
    tool = torch.randint(5, 12, (count,), generator=random).tolist()
    return [
        TokenSequence(
            ids=(0, token, token, token, answer, token),
            is_generated=(False, False, True, True, False, True),
            logprobs=(0.0, 0.0, -2.0, -2.0, 0.0, -2.0),
            reward=1.0 if token == 2 else -1.0,
        )
        for token, answer in zip(wanted, tool, strict=True)
    ]
