"""Nothing here but a call of a kernel."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernels.relu(x, y)
        return y
