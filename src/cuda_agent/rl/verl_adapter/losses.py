"""The local trainer's losses of rejection fine-tuning and value pretraining, as verl calls a loss.

verl cuts a batch into parts, on one process or on many, adds the parts' losses up, and takes the mean over
processes. So each part counts by its share of the batch's trajectories, times the number of processes.
"""

from typing import Any

from torch import Tensor
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence

from cuda_agent.rl.gae import compute_gae
from cuda_agent.rl.losses import compute_rft_loss, compute_value_loss


class RftLoss:
    """The negative log-likelihood of what was generated: a mean over each trajectory, and then over them."""

    def __init__(self, *, batch: int) -> None:
        """`batch` is how many trajectories a step has on all processes together."""
        self._batch = batch

    def __call__(self, model_output: dict[str, Tensor], data: Any, **_options: Any) -> tuple[Tensor, Any]:  # noqa: ANN401
        """This part's loss, and no further metrics."""
        is_generated_BT = _pad(data["loss_mask"]).bool()
        loss = compute_rft_loss(_pad_shifted(model_output["log_probs"]), is_generated_BT=is_generated_BT)
        return loss * compute_share(is_generated_BT, batch=self._batch) * data["dp_size"], {}


class ValueLoss:
    """Half the mean of (V - V_target)^2, with targets from the current V, of which no gradient is taken."""

    def __init__(self, *, batch: int, gamma: float, gae_lambda: float) -> None:
        """`batch` is how many trajectories a step has on all processes together."""
        self._batch = batch
        self._gamma = gamma
        self._gae_lambda = gae_lambda

    def __call__(self, model_output: dict[str, Tensor], data: Any, **_options: Any) -> tuple[Tensor, Any]:  # noqa: ANN401
        """This part's loss, and no further metrics."""
        values_BT, is_generated_BT = _pad_shifted(model_output["values"]), _pad(data["loss_mask"]).bool()
        # A loop over tokens, each a few small operations: quicker on processors than on a GPU.
        _, targets_BT = compute_gae(
            _pad(data["rewards"]).cpu(),
            values_BT.detach().cpu(),
            is_generated_BT=is_generated_BT.cpu(),
            gamma=self._gamma,
            gae_lambda=self._gae_lambda,
        )
        loss = compute_value_loss(values_BT, targets_BT.to(values_BT.device), is_generated_BT=is_generated_BT)
        return loss * compute_share(is_generated_BT, batch=self._batch) * data["dp_size"], {}


def compute_share(is_generated_BT: Tensor, *, batch: int) -> float:
    """The share of a batch's trajectories that is in a part of it."""
    return is_generated_BT.any(dim=1).sum().item() / batch


def _pad_shifted(outputs: Tensor) -> Tensor:
    """Outputs (B, T) in float32, moved by one: what is said of token t is said after reading t - 1."""
    return pad_sequence([pad(row[:-1].float(), (1, 0)) for row in outputs.unbind()], batch_first=True)


def _pad(rows: Tensor) -> Tensor:
    return pad_sequence(list(rows.unbind()), batch_first=True)
