"""Softmax kept in float16 between its steps."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernels.softmax(x, y)
        return y.half().float()
