"""Right values, but the caller's tensor is gone."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x):
        kernels.relu(x, x)
        return x
