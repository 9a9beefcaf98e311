"""A method instead of a function."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x):
        return x.clamp(min=0)
