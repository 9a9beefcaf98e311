"""The data set of exact tokens that verl's supervised trainer is given."""

from pathlib import Path

import pytest

from cuda_agent.errors import ConfigError, UserError
from cuda_agent.rl.batch import TokenSequence
from cuda_agent.rl.verl_adapter.dataset import TrajectoryTokens, count_steps
from cuda_agent.rl.verl_adapter.token_rows import write_token_rows


def test_a_row_is_the_tokens_and_what_to_learn(tmp_path: Path) -> None:
    sequence = TokenSequence((7, 8, 9, 6), (False, True, False, True), (0.0, -1.0, 0.0, -2.0), 3.0)
    write_token_rows(tmp_path / "tokens.parquet", [sequence, sequence])
    rows = TrajectoryTokens(str(tmp_path / "tokens.parquet"), tokenizer=None, config=None, max_samples=1)
    assert len(rows) == 1
    assert {name: tensor.tolist() for name, tensor in rows[0].items()} == {
        "input_ids": [7, 8, 9, 6],
        "position_ids": [0, 1, 2, 3],
        "loss_mask": [0, 1, 0, 1],
    }


def test_an_epoch_leaves_a_short_batch_out() -> None:
    assert [count_steps(count, 4) for count in (4, 7, 8)] == [1, 1, 2]
    with pytest.raises(ConfigError, match="there are 3 trajectories, fewer than a batch of 4"):
        count_steps(3, 4)


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokens.parquet").write_text("no")
    with pytest.raises(UserError, match="not readable as parquet"):
        TrajectoryTokens([str(tmp_path / "tokens.parquet")])
