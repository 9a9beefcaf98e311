"""Right shape, other device."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.zeros(x.shape)
