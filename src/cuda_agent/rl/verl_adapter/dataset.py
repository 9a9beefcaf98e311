"""The data set class that verl's supervised trainer is given: exact tokens, nothing tokenised anew."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from cuda_agent.errors import ConfigError
from cuda_agent.rl.batch import TokenSequence
from cuda_agent.rl.verl_adapter.token_rows import read_token_rows


class TrajectoryTokens(torch.utils.data.Dataset[dict[str, Tensor]]):
    """Trajectories as input_ids, position_ids and loss_mask, without padding."""

    def __init__(
        self,
        parquet_files: str | Sequence[str],
        *,
        max_samples: int = -1,
        **_options: Any,  # noqa: ANN401 - tokenizer, processor and settings, which tokens do not need
    ) -> None:
        """Read the files' rows, at most `max_samples` where that is positive.

        Raises:
            UserError: a file is not readable, or another kind of file.
        """
        files = [parquet_files] if isinstance(parquet_files, str) else parquet_files
        sequences = [sequence for file in files for sequence in read_token_rows(Path(file))]
        self.sequences = sequences[:max_samples] if max_samples > 0 else sequences
        """What was read."""

    def __len__(self) -> int:
        """How many trajectories."""
        return len(self.sequences)

    def __getitem__(self, number: int) -> dict[str, Tensor]:
        """One trajectory's tensors, each (T,)."""
        return build_row(self.sequences[number])


def count_steps(count: int, batch: int) -> int:
    """Steps of an epoch over so many trajectories; a short last batch is left out.

    Raises:
        ConfigError: there are fewer trajectories than a batch has.
    """
    if count < batch:
        raise ConfigError(
            f"there are {count} trajectories, fewer than a batch of {batch}: give more, or a smaller batch"
        )
    return count // batch


def build_row(sequence: TokenSequence) -> dict[str, Tensor]:
    """A sequence as verl's supervised trainer reads it: the mask is 1 at each token to learn."""
    return {
        "input_ids": torch.tensor(sequence.ids, dtype=torch.int64),
        "position_ids": torch.arange(len(sequence.ids)),
        "loss_mask": torch.tensor(sequence.is_generated, dtype=torch.int64),
    }
