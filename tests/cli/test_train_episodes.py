"""PPO's parts from a command line: the ablations are flags."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch

from cuda_agent.agent.prompt import PromptForm
from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.cli.train_episodes import PpoOptions, SingleTurnOptions, build_ppo, choose_solved
from cuda_agent.environment.reward import RewardKind
from cuda_agent.errors import UserError
from cuda_agent.rl.checkpoint import find_network, save_checkpoint
from cuda_agent.rl.learner import Learner
from cuda_agent.rl.policy import Policy, build_actor, build_critic, load_critic, save_network
from cuda_agent.rl.single_turn import SingleTurn
from cuda_agent.rl.tokenizer import train_tokenizer
from cuda_agent.rundir import RunDir
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from tests.rl.toy import SIZES, build_trajectory


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """A run with an actor and a critic, whose head is not a new one."""
    tokenizer = train_tokenizer(["a text"], 300)
    model = build_actor(SIZES, len(tokenizer), seed=0)
    policy, critic = Policy(model, tokenizer), build_critic(model, seed=7)
    writers: dict[str, Callable[[Path], None]] = {
        "actor": policy.save,
        "critic": partial(save_network, critic),
    }
    learners: dict[str, Learner] = {}
    save_checkpoint(tmp_path / "trained", 1, writers=writers, learners=learners, keep=1)
    return tmp_path / "trained"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    source = Path("examples/rotary.py").read_text()
    (tmp_path / "task.py").write_text(source)
    return tmp_path / "task.py"


def test_ppo_takes_the_critic_that_was_pretrained(trained: Path, task: Path, tmp_path: Path) -> None:
    options = PpoOptions(
        tasks=(task,), start=str(trained), critic_start=str(trained), target=Target.CPU, device="cpu"
    )
    assert options.reward is RewardKind.MILESTONE
    assert options.episode.prompt is PromptForm.BRIEF
    fresh = options.replace(value_pretraining=False, critic_start=None)
    heads = []
    for name, each in (("with", options), ("without", fresh)):
        with RunDir.create(tmp_path / name, each) as run:
            model = build_ppo(each, run).learners["critic"].model
            heads.append(model.get_parameter("score.weight").detach())
    saved = load_critic(str(find_network(trained, "critic")), device=torch.device("cpu"))
    assert heads[0].equal(saved.get_parameter("score.weight"))
    assert not heads[1].equal(heads[0])


def test_without_a_critic_the_ablation_has_to_be_asked_for(trained: Path, tmp_path: Path) -> None:
    options = PpoOptions(start=str(trained))
    with RunDir.create(tmp_path / "run", options) as run, pytest.raises(UserError, match="no critic given"):
        build_ppo(options, run)


def test_single_answers_need_no_critic(trained: Path, task: Path, tmp_path: Path) -> None:
    options = SingleTurnOptions(tasks=(task,), start=str(trained), target=Target.CPU, device="cpu")
    assert options.episode.prompt is PromptForm.SINGLE
    with RunDir.create(tmp_path / "run", options) as run:
        assert isinstance(build_ppo(options, run), SingleTurn)


def test_only_tasks_that_were_solved_before_are_met(tmp_path: Path) -> None:
    tasks = [Task(name=name, source=f"# {name}\n") for name in ("easy", "hard", "never")]
    for name, reward, task in (("a", 3.0, tasks[0]), ("b", -1.0, tasks[1])):
        (tmp_path / name).mkdir()
        line = build_trajectory(reward=reward, task_id=task.task_id).model_dump_json()
        (tmp_path / name / TRAJECTORIES).write_text(line + "\n")
    assert choose_solved(tasks, (tmp_path / "a", tmp_path / "b")) == tasks[:1]
    assert choose_solved(tasks, ()) == tasks
    with pytest.raises(UserError, match="none of 3 tasks was solved in --solved-in"):
        choose_solved(tasks, (tmp_path / "b",))
