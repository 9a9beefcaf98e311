"""Generalised advantage estimation over the tokens that the policy generated.

Schulman et al. 2016, equation 16, with the generated tokens as the only time steps: tool tokens between
two turns carry neither reward nor decay, so an advantage does not depend on how much a tool printed.
"""

import torch
from torch import Tensor


def compute_gae(
    rewards_BT: Tensor,
    values_BT: Tensor,
    *,
    is_generated_BT: Tensor,
    gamma: float = 1.0,
    gae_lambda: float = 0.95,
) -> tuple[Tensor, Tensor]:
    """Advantages and value targets, both (B, T), 0 where nothing was generated.

    delta_t = r_t + gamma V(s_{t+1}) - V(s_t), A_t = delta_t + gamma lambda A_{t+1}, with t+1 the next
    generated token and V(s_T) = A_T = 0 after the last one; V_target = V + A. `values_BT` holds at t the
    value of the state before token t.
    """
    advantages_BT = torch.zeros_like(values_BT)
    next_values_B = torch.zeros_like(values_BT[:, :1]).sum(dim=1)
    next_advantages_B = torch.zeros_like(next_values_B)
    for t in reversed(range(values_BT.shape[1])):
        is_step_B = is_generated_BT[:, t]
        deltas_B = rewards_BT[:, t] + gamma * next_values_B - values_BT[:, t]
        steps_B = deltas_B + gamma * gae_lambda * next_advantages_B
        advantages_BT[:, t] = torch.where(is_step_B, steps_B, 0.0)
        next_advantages_B = torch.where(is_step_B, steps_B, next_advantages_B)
        next_values_B = torch.where(is_step_B, values_BT[:, t], next_values_B)
    return advantages_BT, torch.where(is_generated_BT, values_BT + advantages_BT, 0.0)


def normalise_advantages(advantages_BT: Tensor, is_generated_BT: Tensor, *, epsilon: float = 1e-8) -> Tensor:
    """Advantages with mean 0 and standard deviation 1 over all generated tokens, 0 elsewhere.

    A single token, or equal ones, become 0.
    """
    count = is_generated_BT.sum().clamp(min=1)
    mean = torch.where(is_generated_BT, advantages_BT, 0.0).sum() / count
    centred_BT = torch.where(is_generated_BT, advantages_BT - mean, 0.0)
    deviation = (centred_BT.square().sum() / count).sqrt()
    return centred_BT / (deviation + epsilon)
