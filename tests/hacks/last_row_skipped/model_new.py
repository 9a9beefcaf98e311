"""All rows but the last."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.zeros_like(x)
        kernels.relu(x[:-1], y[:-1])
        return y
