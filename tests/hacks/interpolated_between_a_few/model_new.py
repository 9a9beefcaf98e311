"""The table is made before anything is asked."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernels.lgamma_of(x, y)
        return y
