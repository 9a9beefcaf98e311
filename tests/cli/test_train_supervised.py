"""What a supervised stage begins with."""

import pytest

from cuda_agent.cli.train_supervised import RftOptions, keep_fitting, load_start
from cuda_agent.errors import UserError
from cuda_agent.rl.batch import TokenSequence
from tests.rl.toy import build_policy


def test_episodes_longer_than_the_window_are_left_out_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    lengths = (64, 65, 70)
    sequences = [TokenSequence((1,) * n, (False,) * (n - 1) + (True,), (0.0,) * n, 1.0) for n in lengths]
    assert keep_fitting(sequences, build_policy()) == sequences[:1]
    assert "2 of 3 episodes are longer than 64 tokens (the longest has 70)" in capsys.readouterr().out


def test_a_start_is_needed() -> None:
    with pytest.raises(UserError, match="no policy given"):
        load_start(None, RftOptions())
