"""What a supervised stage begins with."""

from pathlib import Path

import pytest

from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.cli.train_supervised import (
    ImitateOptions,
    RftOptions,
    build_imitation,
    keep_fitting,
    load_start,
)
from cuda_agent.errors import UserError
from cuda_agent.llm.chat import Message, Role
from cuda_agent.rl.batch import TokenSequence
from cuda_agent.rl.config import ScratchConfig
from tests.rl.test_slips import KERNELS, MODEL, build_episode
from tests.rl.toy import build_policy

SMALL = ScratchConfig(layers=2, hidden=32, heads=2, intermediate=64, window_tokens=1024)


def test_episodes_longer_than_the_window_are_left_out_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    lengths = (64, 65, 70)
    sequences = [TokenSequence((1,) * n, (False,) * (n - 1) + (True,), (0.0,) * n, 1.0) for n in lengths]
    assert keep_fitting(sequences, build_policy()) == sequences[:1]
    assert "2 of 3 episodes are longer than 64 tokens (the longest has 70)" in capsys.readouterr().out


def test_a_start_is_needed() -> None:
    with pytest.raises(UserError, match="no policy given"):
        load_start(None, RftOptions())


def test_slips_are_shown_beside_what_the_expert_wrote(tmp_path: Path) -> None:
    prompt = (Message(role=Role.SYSTEM, content="Write it."), Message(role=Role.USER, content="cpu"))
    episode = build_episode(model=MODEL, kernels=KERNELS).model_copy(update={"prompt": prompt})
    (tmp_path / TRAJECTORIES).write_text(f"{episode.model_dump_json()}\n")
    options = ImitateOptions(
        data=(tmp_path,), vocabulary=512, scratch=SMALL, batch=64, micro_batch=64, device="cpu"
    )
    alone = build_imitation(options).take_step(0).metrics["train/tokens"]
    beside = build_imitation(options.replace(slips=True)).take_step(0).metrics["train/tokens"]
    assert beside > 3.5 * alone  # four first replies, and once the expert's second
