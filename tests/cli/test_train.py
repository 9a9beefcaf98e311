"""The verb train: from episodes on disk to a policy and a critic on disk, stage by stage."""

from pathlib import Path

import pytest

from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.cli.main import main
from cuda_agent.llm.chat import Message, Role
from cuda_agent.rl.rft import FilterRecord
from cuda_agent.rl.training import METRICS, StepRecord
from cuda_agent.rundir import read_records
from tests.rl.toy import build_trajectory, build_turn

SMALL = ["--micro", "--device", "cpu", "--steps", "3"]
PROMPT = (Message(role=Role.SYSTEM, content="Say yes."), Message(role=Role.USER, content="Now."))


def build_episode(*, reward: float = 1.0) -> Trajectory:
    turn = build_turn((5, 6), (7, 8), logprobs=(-1.0, -1.0))
    said = turn.reply.model_copy(update={"message": Message(role=Role.ASSISTANT, content="yes, yes")})
    turn = turn.model_copy(update={"reply": said})
    return build_trajectory(turn, reward=reward).model_copy(update={"prompt": PROMPT})


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sampled")
    episodes = [build_episode(reward=reward) for reward in (1.0, 3.0, -1.0)]
    (folder / TRAJECTORIES).write_text("".join(f"{each.model_dump_json()}\n" for each in episodes))
    return folder


@pytest.fixture(scope="module")
def imitated(sampled: Path) -> Path:
    run = sampled / "imitate"
    assert main(["train", "imitate", str(sampled), "--out", str(run), *SMALL]) == 0
    return run


def read_figure(run: Path, name: str) -> list[float]:
    return [record.metrics[name] for record in read_records(run / METRICS, StepRecord)]


def test_imitation_leaves_a_policy_that_can_be_loaded(imitated: Path) -> None:
    losses = read_figure(imitated, "train/loss")
    assert len(losses) == 3
    assert losses[-1] < losses[0]
    actor = imitated / "checkpoints" / "step-000003" / "actor"
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {path.name for path in actor.iterdir()}


def test_rft_counts_what_it_leaves_out(imitated: Path, sampled: Path, tmp_path: Path) -> None:
    run = tmp_path / "rft"
    assert main(["train", "rft", str(sampled), "--start", str(imitated), "--out", str(run), *SMALL]) == 0
    counted = FilterRecord.model_validate_json((run / "filter.json").read_text())
    assert counted.model_dump(mode="json") == {"kept": 2, "rejected": {"reward": 1}}
    assert read_figure(run, "train/loss")[-1] < read_figure(run, "train/loss")[0]


def test_value_pretraining_leaves_a_critic(imitated: Path, sampled: Path, tmp_path: Path) -> None:
    run = tmp_path / "value"
    assert main(["train", "value", str(sampled), "--start", str(imitated), "--out", str(run), *SMALL]) == 0
    assert (run / "checkpoints" / "step-000003" / "critic" / "model.safetensors").exists()
    assert read_figure(run, "critic/vf_loss")[-1] < read_figure(run, "critic/vf_loss")[0]


def test_a_resumed_run_has_to_be_the_same(
    imitated: Path, sampled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = ["train", "imitate", str(sampled), "--resume", str(imitated), *SMALL]
    assert main(again) == 0
    assert main([*again, "--batch", "3"]) == 2
    assert "batch: 8, now 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["imitate"], "no episodes given"),
        (["imitate", "EMPTY"], "holds no episodes"),
        (["rft", "DATA"], "no policy given: --start RUN"),
        (["ppo", "tasks.py"], "no critic given: --critic-start RUN of train value"),
    ],
)
def test_what_is_missing_is_named(
    arguments: list[str], words: str, sampled: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    places = {"EMPTY": str(tmp_path / "empty"), "DATA": str(sampled)}
    given = [places.get(argument, argument) for argument in arguments]
    assert main(["train", *given, "--out", str(tmp_path / "run"), *SMALL]) == 2
    told = capsys.readouterr()
    assert words in told.err
    assert told.out == ""
    assert not (tmp_path / "run").exists()
