"""Sampled trajectories as a parquet file of exact tokens: what policy and critic learn from before PPO."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow
import pyarrow.parquet

from cuda_agent.atomic import write_aside
from cuda_agent.errors import UserError
from cuda_agent.rl.batch import TokenSequence

SCHEMA = pyarrow.schema(
    {
        "input_ids": pyarrow.list_(pyarrow.int64()),
        "loss_mask": pyarrow.list_(pyarrow.int64()),
        "logprobs": pyarrow.list_(pyarrow.float32()),
        "reward": pyarrow.float32(),
    }
)


def write_token_rows(path: Path, sequences: Sequence[TokenSequence]) -> None:
    """Write sequences, one a row; those without a generated token teach nothing and are left out.

    Raises:
        UserError: none is left, or the place cannot be written.
    """
    rows = [
        {
            "input_ids": sequence.ids,
            "loss_mask": [int(sampled) for sampled in sequence.is_generated],
            "logprobs": sequence.logprobs,
            "reward": sequence.reward,
        }
        for sequence in sequences
        if any(sequence.is_generated)
    ]
    if not rows:
        raise UserError(f"{path}: no trajectory with a generated token is left to train on")
    write_table(path, pyarrow.Table.from_pylist(rows, schema=SCHEMA))


def write_table(path: Path, table: pyarrow.Table) -> None:
    """Write a parquet file as a whole: several nodes may write the same one at once.

    Raises:
        UserError: the place cannot be written.
    """
    try:
        with write_aside(path) as aside:
            pyarrow.parquet.write_table(table, aside)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}; give another place") from error


def read_token_rows(path: Path) -> tuple[TokenSequence, ...]:
    """The sequences of a file that `write_token_rows` wrote.

    Raises:
        UserError: it is not readable, or another kind of file.
    """
    try:
        table = pyarrow.parquet.read_table(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise UserError(f"{path}: not readable as parquet ({error})") from error
    if missing := set(SCHEMA.names) - set(table.column_names):
        raise UserError(f"{path}: has no column {min(missing)}; write it with write_token_rows")
    return tuple(
        TokenSequence(
            ids=tuple(row["input_ids"]),
            is_generated=tuple(map(bool, row["loss_mask"])),
            logprobs=tuple(row["logprobs"]),
            reward=row["reward"],
        )
        for row in table.to_pylist()
    )
