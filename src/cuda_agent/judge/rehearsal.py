"""A small task that goes once through the gate and all that a judgement asks of a reference."""

import torch
from torch import nn

from cuda_agent.judge.device import Device
from cuda_agent.judge.gatekeeper import Gatekeeper
from cuda_agent.judge.inputs import (
    VARIANTS,
    perturb_values,
    refresh_values,
    reshape_distribution,
    swap_values,
)
from cuda_agent.judge.policy import load_policy

_SHAPE = (8, 64)
_POINTWISE = (torch.tanh, torch.sigmoid, torch.exp, torch.relu, torch.abs, torch.sqrt, torch.erf)


class _Rehearsed(nn.Module):
    """Pointwise functions, a product, a softmax and a reduction."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(_SHAPE[1], _SHAPE[1])
        self.norm = nn.LayerNorm(_SHAPE[1])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.linear(x))
        for function in _POINTWISE:
            x = x * 1.5 + function(x.abs()) - 0.25
        return torch.softmax(x, dim=-1) + x.sum(dim=-1, keepdim=True) + x.amax(dim=0)


def rehearse(device: Device) -> None:
    """Run it on the device: whatever is loaded when it first runs is there afterwards."""
    model = _Rehearsed().to(device.torch_device).eval()

    def make_inputs() -> tuple[torch.Tensor]:
        return (torch.randn(_SHAPE, device=device.torch_device),)

    Gatekeeper(model, make_inputs, device=device, policy=load_policy("strict")).run()
    values = list(make_inputs())
    for variant in range(2, VARIANTS):
        reshape_distribution(values[0], variant)
    for change in (refresh_values, perturb_values, swap_values):
        change(values, 1)
