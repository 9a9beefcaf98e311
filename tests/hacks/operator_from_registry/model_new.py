"""The registry has every operator."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.ops.aten.relu(x)
